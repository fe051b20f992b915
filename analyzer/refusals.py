"""Weight-carrying kernels that are no targets, as rows with their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .answer import CandidateRow
from .candidate_rows import rejected_row
from .labels import LabelledGroup
from .roles_match import RoleName
from .targets import Judgement


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
