"""The kernel that a change was made for, and the window that was to pay for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import InputMissing, WrongUsage
from ..answer import CandidateRow
from ..answer_compare import CompareRow
from ..candidates import candidates

if TYPE_CHECKING:
    from ..session import Session

_CANDIDATES_SHOWN = 8  # keys named in a message


@dataclass(frozen=True)
class TargetChange:
    """The target's row and the rows of its window, per call; None where not there or not known."""

    id: str  # as the user named it
    key: str  # of the target's row
    type: str
    input_shapes: str | None
    before_us: float | None
    after_us: float | None
    delta_us: float | None
    delta_pct: float | None
    change: str
    min_effect_pct: float | None  # what delta_pct must reach to count, negative: less time
    calls_per_step: float
    delta_step_us: float  # of the target, mean per step
    window_keys: tuple[str, ...]  # () = no window is known
    window_before_us: float | None  # summed medians per call of the window's kernels
    window_after_us: float | None
    window_delta_pct: float | None
    window_slower: tuple[str, ...]  # keys of window rows that are slower beyond noise
    window_delta_step_us: float | None
    predicted_step_us: tuple[float, float] | None  # saving per step that `candidates` predicted, low to high
    candidate: str | None = None  # id of the candidate that stands at this place
    weight_bytes: int | None = None  # of the candidate
    planned_bytes: int | None = None  # its max_size as `candidates` proposes it


def find_target(session: Session, rows: Sequence[CompareRow], steps_before: int, text: str) -> TargetChange:
    """The target that `text` names: a candidate id (c-...), a hotspot id (k-...), a row's key, or a type.

    `session` is the run before; its candidates say which kernels are the target's window. Raises InputMissing
    when nothing has the name, WrongUsage when several rows have it.
    """
    proposed = _candidates(session)
    chosen = _named_candidate(proposed, text)
    row = _row_of(rows, chosen) if chosen else _named_row(rows, text)
    if chosen is None:
        chosen = next((each for each in proposed if _is_at(row, each)), None)
    window = _window(rows, row, chosen)
    sums = [_sum([getattr(each, side) for each in window]) for side in ("before_us", "after_us")]
    before, after = sums
    pct = (after - before) / before * 100 if before and after is not None else None
    predicted = chosen.predicted_saving_step_range_us if chosen else None
    return TargetChange(
        id=text,
        key=row.key,
        type=row.type,
        input_shapes=row.input_shapes,
        before_us=row.before_us,
        after_us=row.after_us,
        delta_us=row.delta_us,
        delta_pct=row.delta_pct,
        change=row.change,
        min_effect_pct=_per_cent(row.min_effect_us, row.before_us),
        calls_per_step=row.n_before / max(1, steps_before),
        delta_step_us=row.delta_step_us or 0.0,
        window_keys=tuple(each.key for each in window),
        window_before_us=before,
        window_after_us=after,
        window_delta_pct=pct,
        window_slower=tuple(each.key for each in window if each.change == "slower"),
        window_delta_step_us=sum(each.delta_step_us or 0.0 for each in window) if window else None,
        predicted_step_us=(predicted.low, predicted.high) if predicted else None,
        candidate=chosen.id if chosen else None,
        weight_bytes=chosen.weight_bytes if chosen else None,
        planned_bytes=chosen.max_size if chosen else None,
    )


def candidate_of(session: Session, identity: str | None) -> CandidateRow | None:
    """The candidate of exactly this id; None where there is none."""
    if identity is None:
        return None
    return next((each for each in _candidates(session) if each.id == identity), None)


def _candidates(session: Session) -> tuple[CandidateRow, ...]:
    """Every target that `candidates` looked at, proposed or not."""
    answer = candidates(session, top=None)
    return (*answer.rows, *answer.extras.get("rejected", ()))


def _named_candidate(proposed: Sequence[CandidateRow], text: str) -> CandidateRow | None:
    if not text.startswith("c-"):
        return None
    found = [each for each in proposed if each.id == text] or [
        each for each in proposed if each.id.startswith(text)
    ]
    if not found:
        raise InputMissing(
            f"no candidate {text!r} in the run before", "npu-roofline candidates lists the ids"
        )
    if len(found) > 1:
        raise WrongUsage(
            f"{text!r} is the beginning of {len(found)} candidates",
            f"write one of {', '.join(each.id for each in found[:_CANDIDATES_SHOWN])}",
        )
    return found[0]


def _row_of(rows: Sequence[CompareRow], candidate: CandidateRow) -> CompareRow:
    found = next((row for row in rows if _is_at(row, candidate)), None)
    if found is None:
        raise InputMissing(
            f"candidate {candidate.id} has no place in this comparison",
            "name the row by its key, as --format json has it",
        )
    return found


def _is_at(row: CompareRow, candidate: CandidateRow) -> bool:
    """Whether a row is the candidate's target: the signature of its id, at its position."""
    signature = candidate.id.split("-")[1]
    return (row.signature_before or "").startswith(signature) and row.position == candidate.position


def _named_row(rows: Sequence[CompareRow], text: str) -> CompareRow:
    found = [row for row in rows if row.key == text]
    if not found and text.startswith("k-"):
        found = [row for row in rows if (row.signature_before or "").startswith(text[2:])]
    found = found or [row for row in rows if row.type == text]
    if not found:
        raise InputMissing(
            f"nothing in this comparison is called {text!r}",
            "name a candidate (c-...), a hotspot (k-...), a type, or a row's key as --format json has it",
        )
    if len(found) > 1:
        keys = ", ".join(repr(row.key) for row in found[:_CANDIDATES_SHOWN])
        raise WrongUsage(f"{text!r} stands at {len(found)} places", f"name one of them: {keys}")
    return found[0]


def _window(
    rows: Sequence[CompareRow], target: CompareRow, candidate: CandidateRow | None
) -> tuple[CompareRow, ...]:
    """The rows of the candidate's window, by part and position; empty where no window is known."""
    if candidate is None or candidate.window is None:
        return ()
    positions = {kernel.position: kernel.type for kernel in candidate.window.kernels}
    return tuple(
        row
        for row in sorted(rows, key=lambda row: (row.position or 0, row.key))
        if row.part == target.part and row.position in positions and row.type == positions[row.position]
    )


def _per_cent(effect_us: float | None, before_us: float | None) -> float | None:
    return -effect_us / before_us * 100 if effect_us is not None and before_us else None


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if values and len(known) == len(values) else None
