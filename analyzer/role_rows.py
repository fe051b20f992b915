"""Every weight-carrying kernel with its role, one row per signature and role."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from .answer import RoleRow
from .labels import LabelledGroup
from .roles_match import RoleName, RoleNames
from .sequence import NS_PER_US, KernelSequence
from .targets import is_weighted


def role_rows(sequence: KernelSequence, roles: RoleNames) -> tuple[RoleRow, ...]:
    """The rows by falling time per step; kernels without a role are among them, with role None."""
    groups: dict[tuple[str | None, int], list[int]] = {}
    for place, group in enumerate(sequence.places):
        if is_weighted(group):
            role = roles.of(place)
            groups.setdefault((role.name if role else None, group.signature_id), []).append(place)
    times = _step_times(sequence, list(groups.values()))
    rows = [
        _row(
            [sequence.places[place] for place in members],
            roles.of(members[0]),
            sequence.steps,
            float(np.median(us)),
        )
        for members, us in zip(groups.values(), times, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: (-row.step_us, row.role or "", row.input_shapes or "")))


def _step_times(sequence: KernelSequence, groups: list[list[int]]) -> NDArray[np.float64]:
    """Summed duration of the places of each group in each step, us: (groups, steps)."""
    row_of = np.full(len(sequence.places), len(groups))  # one row more takes what is in no group
    for row, members in enumerate(groups):
        row_of[members] = row
    times = np.zeros((len(groups) + 1) * sequence.steps)
    for lane in (sequence, sequence.beside):
        if lane is not None:
            cell = row_of[lane.place] * sequence.steps + lane.step
            times += np.bincount(cell, lane.end_ns - lane.start_ns, minlength=len(times))
    return times.reshape(len(groups) + 1, sequence.steps)[:-1] / NS_PER_US


def _row(members: list[LabelledGroup], role: RoleName | None, steps: int, step_us: float) -> RoleRow:
    group = members[0]
    return RoleRow(
        role=role.name if role else None,
        type=group.row.type or "",
        input_shapes=group.row.input_shapes,
        positions=_positions(members),
        occurrences_per_step=sum(each.statistics.count for each in members) / steps,
        step_us=step_us,
        source=role.source if role else "",
        alternatives=role.alternatives if role else (),
        weights=role.weights if role else (),
    )


def _positions(groups: list[LabelledGroup]) -> tuple[str, ...]:
    """Positions in the layer; outside layers only the part of the step and how many there are."""
    inside = sorted(each.position for each in groups if each.part == "layer" and each.position is not None)
    outside = Counter(each.part for each in groups if each.part not in ("layer", None))
    return (*map(str, inside), *(f"{part} ({count})" for part, count in sorted(outside.items())))
