"""The usual step: the same sums as over all steps, without the steps that say little about it.

One all-reduce of 14 ms in one step of five makes 2.8 ms of every mean; the reader wants to see both.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from ..answer_compare import CompareRow, GroupChange, UsualStep
from ..coverage import check_sum
from ..options import AnalysisOptions
from .rows import Compared
from .step_change import StepTotals, residual_parts, set_aside


def usual_step(
    compared: Compared,
    rows: Sequence[CompareRow],
    totals: tuple[Sequence[StepTotals], Sequence[StepTotals]],
    options: AnalysisOptions,
) -> UsualStep:
    """The mean step over usable steps; over all of a side where none is usable.

    `rows` are those of `compared.pairs`, in their order. Raises InternalError when groups and residuals do
    not give the change of the mean wall.
    """
    kept = [_usable(side, options) for side in totals]
    steps = [[side[at] for at in chosen] for side, chosen in zip(totals, kept, strict=True)]
    wall, busy, idle, kernels = (
        [fmean(getattr(each, name) for each in side) for side in steps]
        for name in ("wall_us", "busy_us", "idle_us", "kernels_us")
    )
    found = UsualStep(
        steps_before=len(steps[0]),
        steps_after=len(steps[1]),
        before_wall_us=wall[0],
        after_wall_us=wall[1],
        groups=_groups(compared, rows, kept),
        residual=residual_parts((busy[0] - kernels[0], busy[1] - kernels[1]), (idle[0], idle[1])),
    )
    changed = sum(group.delta_step_us for group in found.groups)
    changed += sum(part.delta_us for part in found.residual)
    check_sum("groups, overlap and idle of the usual step", wall[0] + changed, wall[1])
    return found


def _usable(steps: Sequence[StepTotals], options: AnalysisOptions) -> list[int]:
    aside = set_aside(steps, options)
    usable = [at for at, each in enumerate(steps) if each.step.number not in aside]
    return usable or list(range(len(steps)))


def _groups(
    compared: Compared, rows: Sequence[CompareRow], kept: Sequence[Sequence[int]]
) -> tuple[GroupChange, ...]:
    sides = (compared.before, compared.after)
    times = [side.total_us[:, chosen].mean(axis=1) for side, chosen in zip(sides, kept, strict=True)]
    calls = [side.calls[:, chosen].mean(axis=1) for side, chosen in zip(sides, kept, strict=True)]
    members: dict[str, list[int]] = {}
    for at, (row, busy) in enumerate(zip(rows, compared.busy, strict=True)):
        if busy:
            members.setdefault(row.group, []).append(at)
    found = []
    for name, inside in members.items():
        at = np.array(inside)
        before, after = float(times[0][at].sum()), float(times[1][at].sum())
        found.append(
            GroupChange(
                name=name,
                kernels_before=float(calls[0][at].sum()),
                kernels_after=float(calls[1][at].sum()),
                before_step_us=before,
                after_step_us=after,
                delta_step_us=after - before,
                delta_pct=(after - before) / before * 100 if before > 0 else None,
            )
        )
    return tuple(sorted(found, key=lambda group: (-abs(group.delta_step_us), group.name)))
