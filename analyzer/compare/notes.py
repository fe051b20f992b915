"""What the reader of a comparison must know beside the numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...units import format_duration
from ..answer_compare import CompareRow, StepComparison
from ..step_times import rank_step_times, step_notes, step_rows
from .pairing import Pair
from .paths import PathEvidence
from .prefetch_checks import PrefetchEvidence
from .sides import Side

if TYPE_CHECKING:
    from ..session import Session

_SHOWN = 3  # steps named before it is said how many more there are
_HOW = {
    "same": "by place and signature",
    "shapes": "by place and operator, with other shapes",
    "renamed": "by place and operator, under another name",
    "moved": "by signature, at another place",
}


def comparison_notes(
    before: Side, after: Side, pairs: Sequence[Pair], rows: Sequence[CompareRow], step: StepComparison
) -> tuple[str, ...]:
    """Pairing, steps set aside, differences of the two captures that weaken any conclusion."""
    notes = [_pairing(pairs, rows)]
    for name, side in (("before", step.before), ("after", step.after)):
        if side.set_aside:
            more = len(side.set_aside) - _SHOWN
            told = "; ".join(side.set_aside[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
            notes.append(
                f"{name}: {len(side.set_aside)} of {side.steps} steps are not used to judge the step time "
                f"(medians and means hold them): {told}"
            )
    notes += _captures(before, after)
    few = min(step.before.steps, step.after.steps)
    if few < 2:
        notes.append(
            "one step on a side: there is no noise to hold a change against; capture at least 3, better 20"
        )
    return (*notes, *_session_notes(before, after))


def _session_notes(before: Side, after: Side) -> list[str]:
    """What holds for single runs, each sentence once with the runs that it holds for."""
    runs: dict[str, dict[str, None]] = {}
    for session in (*before.sessions, *after.sessions):
        for note in (*session.notes, *_trace_notes(session)):
            runs.setdefault(note, {})[session.run.name] = None
    return [f"{', '.join(names)}: {note}" for note, names in runs.items()]


def _pairing(pairs: Sequence[Pair], rows: Sequence[CompareRow]) -> str:
    """How much of the time was paired and how; what could not be is said with its time."""
    counts = Counter(pair.how for pair in pairs if pair.places[0].busy)
    told = [f"{counts[how]} {words}" for how, words in _HOW.items() if counts[how]]
    text = (
        f"{sum(counts[how] for how in _HOW)} places are paired: {', '.join(told)}"
        if told
        else "no place is paired"
    )
    for change, side in (("gone", "before_step_us"), ("new", "after_step_us")):
        left = [row for row in rows if row.change == change]
        if left:
            time = sum(getattr(row, side) or 0.0 for row in left)
            text += f"; {len(left)} {change}, {format_duration(time)} a step"
    return text


def trace_notes(prefetches: PrefetchEvidence, path: PathEvidence) -> tuple[str, ...]:
    """What is not measured for want of a trace."""
    if path.measured or prefetches.before.traced or prefetches.after.traced:
        return ()
    return (
        "not measured: which prefetches ran and whether they were in time, and the critical path through "
        "streams and events; no trace was ingested (trace_view.json or the profiler database holds both)",
    )


def _captures(before: Side, after: Side) -> list[str]:
    """Where the two captures differ in what they are, a change may have nothing to do with the code."""
    notes = []
    one, other = before.first, after.first
    for what, left, right in (
        ("device", one.device.soc, other.device.soc),
        ("CANN version", one.run.cann_version, other.run.cann_version),
        ("torch_npu version", one.run.torch_npu_version, other.run.torch_npu_version),
        ("profiler level", one.run.level, other.run.level),
        ("metric mode", one.run.metric_mode, other.run.metric_mode),
        ("rank", one.rank_id, other.rank_id),
    ):
        if left is not None and right is not None and left != right:
            notes.append(f"the two runs differ in {what}: {left} before, {right} after")
    if max(len(side.repeats[0]) for side in (before, after)) > 1:
        notes.append("captures joined with + are added up: their walls, busy and idle times are summed")
    return notes


def _trace_notes(session: Session) -> list[str]:
    """A step trace of another extent is named; no time of it is used."""
    traced = any(
        row["trace_computing_us"] is not None for row in rank_step_times(session, (session.rank_id,))
    )
    return [note for note in step_notes(step_rows(session)) if "step_trace_time" in note] if traced else []
