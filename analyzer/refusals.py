"""Weight-carrying kernels that are no targets, with their reasons; and why nothing at all is proposed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..units import format_us
from .answer import CandidateRow
from .candidate_rows import rejected_row
from .labels import LabelledGroup
from .roles_match import RoleName
from .targets import Judgement

if TYPE_CHECKING:
    from .session import Session

_RECORD = "record with profiler_level=Level1, aic_metrics=PipeUtilization and record_shapes=True"
_NAMED = 3  # operator types named where no kernel reads a weight
_EXCERPT = 2.0  # times the kernels' sum, from which the exporter's step times are of more kernels than these


class Refusals:
    """Weight-carrying kernels that are no targets, one row per signature however many places it stands at.

    whole: the group of each signature over all its places; its times are shown where all of them are refused.
    """

    def __init__(self, steps: int, whole: Mapping[int, LabelledGroup]) -> None:
        self.groups: dict[int, list[tuple[LabelledGroup, Judgement]]] = {}
        self._roles: dict[int, RoleName] = {}
        self._steps = steps
        self._whole = whole

    def add(self, group: LabelledGroup, judgement: Judgement, role: RoleName | None) -> None:
        """Take in one place of a signature."""
        if role is not None:
            self._roles.setdefault(group.signature_id, role)
        self.groups.setdefault(group.signature_id, []).append((group, judgement))

    def rows(self) -> list[CandidateRow]:
        """The rows, by falling duration; other reasons than the first are notes."""
        rows = []
        for places in self.groups.values():
            group, judgement = places[0]
            count = sum(each.statistics.count for each, _ in places)
            whole = self._whole.get(group.signature_id)
            if whole is not None and whole.statistics.count == count:
                group = whole
            row = rejected_row(group, judgement, count / self._steps, self._roles.get(group.signature_id))
            others = dict.fromkeys(each.reason for _, each in places if each.reason != judgement.reason)
            rows.append(replace(row, notes=tuple(f"elsewhere: {reason}" for reason in others)))
        return sorted(rows, key=lambda row: (-row.target_us, row.id))


def none_is_a_target(rejected: Sequence[CandidateRow]) -> str:
    """Why no weight-carrying kernel is a target, where there are some: the reason of most of their time."""
    times: dict[str, float] = {}
    for row in rejected:
        times[row.reason] = times.get(row.reason, 0.0) + row.target_us * row.occurrences_per_step
    most = max(times, key=lambda reason: (times[reason], reason))
    kinds = sum(row.reason == most for row in rejected)
    if len(rejected) == 1:
        return f"the only kind of weight-carrying kernel is no target: {most}"
    each = "all" if kinds == len(rejected) else f"{kinds}"
    return f"of {len(rejected)} kinds of weight-carrying kernels none is a target; of {each}: {most}"


def nothing_weighted(session: Session, places: Sequence[LabelledGroup]) -> str:
    """Why nothing was even looked at: what runs instead, or that shapes are missing."""
    times: dict[str, float] = {}
    for group in places:
        if group.is_aicore:
            name = group.row.type or "no type"
            times[name] = times.get(name, 0.0) + (group.statistics.total_us or 0.0)
    total = sum(times.values())
    if not total:
        return "No kernel of an AI core is in this selection."
    if not has_shapes(session):
        return f"No kernel has a known weight: shapes are not in this export; {_RECORD}."
    most = sorted(times, key=lambda name: (-times[name], name))
    named = ", ".join(f"{name} ({times[name] / total:.0%})" for name in most[:_NAMED])
    more = len(most) - _NAMED
    others = f" and {more} more type{'s' if more > 1 else ''}" if more > 0 else ""
    return (
        "No kernel of this selection reads a weight: no matmul or fused product is among them. "
        f"Its {format_us(total)} of AI-core time are {named}{others}{_excerpt(session, total)}."
    )


def _excerpt(session: Session, total_us: float) -> str:
    """That the exporter counted far more than the kernels that are here, where it did."""
    computing = session.value(
        "SELECT sum(trace_computing_us) FROM steps WHERE run_id = ? AND rank_id = ? "
        "AND list_contains(?::INTEGER[], step_id)",
        [session.run.run_id, session.rank_id, list(session.step_ids)],
    )
    if computing is None or computing < _EXCERPT * total_us:
        return ""
    return (
        f"; the exporter's step times say {format_us(computing)} of computing, so most kernels of the step "
        "are not in this export, and matmuls may be among those"
    )


def has_shapes(session: Session) -> bool:
    """Whether any AI-core kernel of the selection has shapes."""
    return bool(
        session.value(
            "SELECT count(*) FROM selected_signatures WHERE kernel_class = 'aicore' "
            "AND nullif(input_shapes, '') IS NOT NULL"
        )
    )


def also_without_shapes(session: Session, refusal: Sequence[str]) -> list[str]:
    """The refusal for an unknown device, with what more is missing: naming the device would not be enough."""
    if not refusal or has_shapes(session):
        return list(refusal)
    return [
        f"{refusal[0]} That would not be enough: this export holds no shapes, without which no weight is "
        f"known; {_RECORD}.",
        *refusal[1:],
    ]
