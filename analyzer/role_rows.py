"""Every weight-carrying kernel with its role, one row per signature and role."""

from __future__ import annotations

from collections import Counter

from .answer import RoleRow
from .labels import LabelledGroup
from .roles_match import RoleName, RoleNames
from .sequence import KernelSequence
from .targets import is_weighted


def role_rows(sequence: KernelSequence, roles: RoleNames) -> tuple[RoleRow, ...]:
    """The rows by falling time per step; kernels without a role are among them, with role None."""
    groups: dict[tuple[str | None, int], list[tuple[LabelledGroup, RoleName | None]]] = {}
    for place, group in enumerate(sequence.places):
        if is_weighted(group):
            role = roles.of(place)
            groups.setdefault((role.name if role else None, group.signature_id), []).append((group, role))
    rows = [_row(members, sequence.steps) for members in groups.values()]
    return tuple(sorted(rows, key=lambda row: (-row.step_us, row.role or "", row.input_shapes or "")))


def _row(members: list[tuple[LabelledGroup, RoleName | None]], steps: int) -> RoleRow:
    group, role = members[0]
    return RoleRow(
        role=role.name if role else None,
        type=group.row.type or "",
        input_shapes=group.row.input_shapes,
        positions=_positions([each for each, _ in members]),
        occurrences_per_step=sum(each.statistics.count for each, _ in members) / steps,
        step_us=sum(each.statistics.total_us for each, _ in members) / steps,
        source=role.source if role else "",
        alternatives=role.alternatives if role else (),
        weights=role.weights if role else (),
    )


def _positions(groups: list[LabelledGroup]) -> tuple[str, ...]:
    """Positions in the layer; outside layers only the part of the step and how many there are."""
    inside = sorted(each.position for each in groups if each.part == "layer" and each.position is not None)
    outside = Counter(each.part for each in groups if each.part not in ("layer", None))
    return (*map(str, inside), *(f"{part} ({count})" for part, count in sorted(outside.items())))
