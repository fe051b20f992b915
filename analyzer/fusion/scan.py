"""`fuse scan`: which kernel sequences of a capture one torch_npu call would replace, and what it would
save.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...units import format_duration
from ..answer import Answer
from ..answer_fusion import FusedRow, FusionRow, FusionShare, RuleRow
from ..coverage import coverage
from ..origins import origin_of
from .finding import CHECK, EXCLUDED, FITS, INFORM, NO_OPERATOR, Found, Judge, find_in
from .lanes import Lanes, StepKind, lanes, microseconds
from .leftovers import Chain, part_name, rest_of
from .opindex import OperatorIndex
from .row import Gathered, median, row_of
from .rules import LEVELS, Rule, RuleBook, rule_book
from .types import normalised

if TYPE_CHECKING:
    from ..session import Session

_SOURCES_SHOWN = 8  # kernels of a long chain whose source line is looked up
_ORDER = (FITS, CHECK, EXCLUDED, NO_OPERATOR, INFORM)
_MODEL = (
    "saving: the time of the kernels minus that of the fused kernel, at the rates they reach now (low) and "
    "at its floor (high); never more than the time of the kernels; gaps between kernels are not counted"
)


def fuse_scan(
    session: Session,
    top: int | None = None,
    status: str | None = None,
    indexes: Sequence[OperatorIndex] = (),
) -> Answer:
    """Kernel sequences that a fused call would replace, then what is left without an operator, by saving.

    `status` keeps rows of one status; `top` is applied last. A call that is in none of `indexes`, where any
    are given, is excluded. Every counted kernel is in one class of `extras["shares"]`, so no potential is
    counted twice.
    """
    rows, fused, shares = scan_rows(session, indexes)
    kept = tuple(row for row in rows if status in (None, row.status))
    return Answer(
        command="fuse-scan",
        run=session.run,
        device=session.device_info,
        coverage=coverage(session),
        rows=kept if top is None else kept[:top],
        notes=(*session.notes, *session.device.notes, *_notes(session, rows)),
        extras={"sentence": _sentence(rows), "fused": fused, "shares": shares, "matching": len(kept)},
    )


def _sentence(rows: tuple[FusionRow, ...]) -> str:
    """The answer in one sentence, over all rows whatever is shown of them."""
    usable = [row for row in rows if row.saving_high_us is not None]
    left = [row for row in rows if row.status == NO_OPERATOR]
    said = ["No kernel sequence of the rule table can be one call here"]
    if usable:
        low = [row.saving_low_us for row in usable if row.saving_low_us is not None]
        high = format_duration(sum(row.saving_high_us or 0.0 for row in usable))
        worth = f"{format_duration(sum(low))} to {high}" if low else f"at most {high}"
        said = [
            f"{_plural(len(usable), 'kernel sequence')} could be one call, "
            f"worth {worth} per step by the model"
        ]
    if refused := sum(row.status == EXCLUDED for row in rows):
        said.append(f"{_plural(refused, 'sequence')} refused by a documented limit")
    if left:
        us = format_duration(sum(row.step_us for row in left))
        said.append(f"{us} per step in {_plural(len(left), 'place')} without a known operator")
    return f"{'; '.join(said)}."


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def scan_rows(
    session: Session, indexes: Sequence[OperatorIndex] = ()
) -> tuple[tuple[FusionRow, ...], tuple[FusedRow, ...], tuple[FusionShare, ...]]:
    """The rows of a scan, what is fused already, and the class of every kernel's time. Cached."""
    key = f"fusion_rows {[index.label for index in indexes]}"
    if key not in session.cache:
        session.cache[key] = _scan(session, indexes)
    return session.cache[key]


def _scan(
    session: Session, indexes: Sequence[OperatorIndex]
) -> tuple[tuple[FusionRow, ...], tuple[FusedRow, ...], tuple[FusionShare, ...]]:
    read, book = lanes(session), rule_book()
    judge = Judge.of(session, read, indexes)
    gathered: dict[tuple[object, ...], Gathered] = {}
    fused = _FusedTimes(read)
    classes: Counter[str] = Counter()
    kernels: Counter[str] = Counter()
    for kind in read.kinds:
        found, taken = find_in(kind, read, book, judge)
        rest = rest_of(kind, read, book, taken)
        members: dict[str, list[int]] = {}
        for each in found:
            _gather_found(gathered, kind, read, each)
            members.setdefault(each.judged.status, []).extend(each.claimed)
        fused.elsewhere(kind, np.flatnonzero(taken), book)
        fused.add(kind, rest.fused, book)
        for chain in rest.chains:
            _gather_chain(gathered, kind, read, chain)
            members.setdefault(NO_OPERATOR, []).extend(chain.kernels)
        for name, chosen in {**members, "fused": rest.fused, "other": rest.other}.items():
            _count(classes, kernels, kind, np.asarray(chosen, dtype=np.int64), name)
    rows = [replace(row_of(each), code=_sources(session, each)) for each in gathered.values()]
    rows.sort(key=lambda row: (_ORDER.index(row.status), -(row.saving_high_us or 0.0), -row.step_us, row.id))
    steps = max(1, len(session.step_ids))
    return tuple(rows), fused.rows(steps, book), _shares(classes, kernels, steps)


def _sources(session: Session, entry: Gathered) -> tuple[str, ...]:
    """The source lines that a trace names for the kernels of a sequence, in their order; often there are
    none.
    """
    found: dict[str, None] = {}
    for group in entry.groups[:_SOURCES_SHOWN]:
        origin = origin_of(session, group.signature_id)
        if origin is not None and origin.source is not None:
            found[origin.source] = None
    return tuple(found)


def _gather_found(
    gathered: dict[tuple[object, ...], Gathered], kind: StepKind, read: Lanes, found: Found
) -> None:
    rule = found.match.rule
    going = tuple(read.groups[int(kind.group[kernel])] for kernel in found.claimed)
    staying = tuple(
        read.groups[int(kind.group[kernel])] for kernel in found.kernels if kernel not in found.claimed
    )
    part = part_name(kind, found.claimed[0])
    key = (rule.id, found.judged.status, part, tuple(each.signature_id for each in (*going, *staying)))
    entry = gathered.setdefault(key, Gathered(found, going, staying, part))
    entry.add(kind, found.claimed)
    entry.fallbacks |= dict.fromkeys(found.fallbacks)


def _gather_chain(
    gathered: dict[tuple[object, ...], Gathered], kind: StepKind, read: Lanes, chain: Chain
) -> None:
    groups = tuple(read.groups[int(kind.group[kernel])] for kernel in chain.kernels)
    part = part_name(kind, chain.kernels[0])
    # Dynamic shapes change from step to step; a chain is known by its types.
    key = ("", NO_OPERATOR, part, tuple(each.row.type for each in groups))
    gathered.setdefault(key, Gathered(chain, groups, (), part)).add(kind, chain.kernels)


def _count(
    classes: Counter[str], kernels: Counter[str], kind: StepKind, chosen: NDArray[np.int64], name: str
) -> None:
    classes[name] += int(kind.durations_ps[:, chosen].sum())
    kernels[name] += len(chosen) * len(kind.step_ids)


class _FusedTimes:
    """Count and time of the kernels that are fused already, by type as exported."""

    def __init__(self, read: Lanes) -> None:
        self._names = np.array([group.row.type or "" for group in read.groups] or [""])
        self._of: dict[str, tuple[str, dict[int, int], dict[int, float]]] = {}
        self._elsewhere: Counter[str] = Counter()

    def add(self, kind: StepKind, kernels: NDArray[np.int64], book: RuleBook) -> None:
        """Count kernels, in every step of the kind."""
        names = self._names[kind.group[kernels]]
        for name in np.unique(names).tolist():
            chosen = kernels[names == name]
            _, count, us = self._of.setdefault(name, (book.call_of(name), {}, {}))
            sums = microseconds(kind.durations_ps[:, chosen].sum(axis=1))
            for step, total in zip(kind.step_ids, sums.tolist(), strict=True):
                count[step] = count.get(step, 0) + len(chosen)
                us[step] = us.get(step, 0.0) + total

    def elsewhere(self, kind: StepKind, kernels: NDArray[np.int64], book: RuleBook) -> None:
        """Remember fused kernels that a sequence takes, so that the listing says where the others are."""
        names, counts = np.unique(self._names[kind.group[kernels]], return_counts=True)
        for name, count in zip(names.tolist(), counts.tolist(), strict=True):
            if normalised(name) in book.fused:
                self._elsewhere[name] += count * len(kind.step_ids)

    def rows(self, steps: int, book: RuleBook) -> tuple[FusedRow, ...]:
        """One row per type, most time first."""
        rows = [
            FusedRow(
                name,
                call,
                book.fused[normalised(name)].id,
                median(count),
                median(us),
                sum(us.values()),
                self._note(name, steps),
            )
            for name, (call, count, us) in self._of.items()
        ]
        return tuple(sorted(rows, key=lambda row: (-row.total_us, row.type)))

    def _note(self, name: str, steps: int) -> str:
        more = self._elsewhere[name]
        return f"{more / steps:g} more per step in the sequences above" if more else ""


def _shares(classes: Counter[str], kernels: Counter[str], steps: int) -> tuple[FusionShare, ...]:
    total = sum(classes.values())
    return tuple(
        FusionShare(name, kernels[name] / steps, ps / 1e6 / steps, ps / total if total else None)
        for name, ps in sorted(classes.items(), key=lambda item: -item[1])
        if kernels[name]
    )


def _notes(session: Session, rows: tuple[FusionRow, ...]) -> list[str]:
    notes = []
    if any(row.status in (FITS, CHECK) for row in rows):
        notes.append(_MODEL)
        if session.device.device is None:
            notes.append("without a known device there are no floors: only the time of the kernels is shown")
    if rows and all(row.input_shapes is None for row in rows):
        notes.append(
            "no shapes in this capture: sequences are told by their types alone, limits are not checked"
        )
    return notes


def fuse_rules() -> Answer:
    """The rule table: what is looked for, with the limits and the source of each rule."""
    rows = tuple(
        RuleRow(
            rule.number, rule.id, rule.api or "no operator known", LEVELS[rule.level],
            tuple(_sequence_text(rule, number) for number in range(len(rule.sequences))),
            tuple(f"{each.check} {_values_text(each.values)}".strip() for each in rule.constraints),
            rule.priority, rule.source,
        )
        for rule in sorted(rule_book().rules, key=lambda rule: rule.number)
    )  # fmt: skip
    return Answer("fuse-rules", None, None, None, rows)


def _sequence_text(rule: Rule, number: int) -> str:
    items = []
    for item in rule.sequences[number]:
        text = "|".join(sorted(item.types)) + (f"{{{item.least},}}" if item.repeats else "")
        items.append(f"[{text}]" if item.optional else text)
    return " ".join(items)


def _values_text(values: object) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items()) if isinstance(values, dict) else ""
