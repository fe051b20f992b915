"""Rows added up by type, by group, by signature over all its places; and where the waiting moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..answer_compare import CompareRow, GroupChange, SignatureChange, WaitChange
from ..options import AnalysisOptions
from .judgement import Samples, judge, known
from .rows import Compared
from .table import SideTable


def changes_by(
    rows: Iterable[CompareRow], name: Callable[[CompareRow], str], steps: tuple[int, int]
) -> tuple[GroupChange, ...]:
    """Calls and time per step added up by a name of the row, largest change first; `steps` on either side."""
    sums: dict[str, list[float]] = {}
    for row in rows:
        cell = sums.setdefault(name(row), [0.0, 0.0, 0.0, 0.0])
        cell[0] += row.n_before / steps[0]
        cell[1] += row.n_after / steps[1]
        cell[2] += row.before_step_us or 0.0
        cell[3] += row.after_step_us or 0.0
    found = [
        GroupChange(
            name=each,
            kernels_before=calls_before,
            kernels_after=calls_after,
            before_step_us=before,
            after_step_us=after,
            delta_step_us=after - before,
            delta_pct=(after - before) / before * 100 if before > 0 else None,
        )
        for each, (calls_before, calls_after, before, after) in sums.items()
    ]
    return tuple(sorted(found, key=lambda group: (-abs(group.delta_step_us), group.name)))


def wait_changes(
    compared: Compared, keys: Sequence[str], step_us: float, options: AnalysisOptions
) -> tuple[WaitChange, ...]:
    """Before which places the device waited longer or shorter, largest change first, medians over steps.

    Changes below `min_effect_step_share` of the step, and more than `idle_rows` of them, are left out.
    """
    least = options.min_effect_step_share * step_us
    before, after = (np.median(side.waited_us, axis=1) for side in (compared.before, compared.after))
    order = sorted(range(len(keys)), key=lambda at: (-abs(after[at] - before[at]), keys[at]))
    return tuple(
        WaitChange(
            key=keys[at],
            type=(place := compared.pairs[at].places[0]).type,
            part=place.part,
            position=place.position,
            before_step_us=float(before[at]),
            after_step_us=float(after[at]),
            delta_step_us=float(after[at] - before[at]),
        )
        for at in order[: options.idle_rows]
        if abs(after[at] - before[at]) > least
    )


def signature_changes(
    compared: Compared, step_us: float, options: AnalysisOptions
) -> tuple[SignatureChange, ...]:
    """One row per signature that occurs on both sides, all its places together, largest change first.

    Positions of one signature are judged together: more calls per step make a smaller change visible.
    """
    members: dict[tuple[int, int], list[int]] = {}
    chosen = compared.both & compared.busy
    for at in np.flatnonzero(chosen).tolist():
        pair = compared.pairs[at]
        members.setdefault((pair.before[0].signature, pair.after[0].signature), []).append(at)
    if not members:
        return ()
    sides = [_merged(side, list(members.values())) for side in (compared.before, compared.after)]
    judged = judge(sides[0], sides[1], np.arange(len(members)), step_us, options)
    found = []
    for row, ((signature, _), inside) in enumerate(members.items()):
        text = compared.texts.get(signature)
        before_us = float(sides[0].median_us[row])
        step = [float(side.step_us[inside].sum()) for side in (compared.before, compared.after)]
        found.append(
            SignatureChange(
                name=compared.pairs[inside[0]].places[0].type,
                input_shapes=text.input_shapes if text else None,
                places=len(inside),
                before_us=before_us,
                after_us=float(sides[1].median_us[row]),
                delta_us=float(judged.delta_us[row]),
                delta_pct=float(judged.delta_us[row]) / before_us * 100 if before_us > 0 else 0.0,
                ci_low_us=known(judged.ci_low_us[row]),
                ci_high_us=known(judged.ci_high_us[row]),
                noise_us=known(judged.noise_us[row]),
                before_step_us=step[0],
                after_step_us=step[1],
                delta_step_us=step[1] - step[0],
                change=judged.change[row],
                note=judged.why[row],
            )
        )
    return tuple(
        sorted(found, key=lambda each: (-abs(each.delta_step_us), each.name, each.input_shapes or ""))
    )


def _merged(side: SideTable, groups: Sequence[list[int]]) -> Samples:
    """Samples of several pairs together; medians are averaged by calls, so that a place that is always slower
    does not make the median jump between places.
    """
    parts = [_one(side, np.array(group)) for group in groups]
    columns = zip(*parts, strict=True)
    return Samples(*(np.array(column) for column in columns))


def _one(side: SideTable, group: NDArray[np.int64]) -> tuple[object, ...]:
    calls, total = side.calls[group], side.total_us[group]
    in_step = calls.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        step_mean = np.where(in_step > 0, total.sum(axis=0) / in_step, np.nan)
        weighted = np.nansum(np.where(calls > 0, calls * side.step_median_us[group], 0.0), axis=0) / in_step
        step_median = np.where(in_step > 0, weighted, np.nan)
    count = calls.sum(axis=1)
    degrees = side.scatter_degrees[group]
    return (
        float((side.median_us[group] * count).sum() / count.sum()),
        step_median,
        step_mean,
        float(in_step[in_step > 0].mean()),
        _pooled(side.scatter_us[group], degrees),
        _pooled(side.scatter_robust_us[group], degrees),
        float(degrees.sum()),
    )


def _pooled(scatter: NDArray[np.float64], degrees: NDArray[np.float64]) -> float:
    """Root mean square by degrees of freedom; NaN where there are none."""
    if degrees.sum() == 0:
        return float("nan")
    return float(np.sqrt((np.nan_to_num(scatter) ** 2 * degrees).sum() / degrees.sum()))
