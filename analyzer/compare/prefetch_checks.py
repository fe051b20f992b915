"""Did the prefetch run, beside its window, in time, once, and within L2: what a trace says of either side.

No export names what a prefetch task fetched, and none seen lists its bytes. What follows from that is said in
the notes of the checks: what is counted here is tasks between two calls of the target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...units import format_bytes
from ..answer_compare import PrefetchCheck
from ..prefetch_tasks import find_prefetch_tasks
from ..sqlfiles import rows_of, sql
from .pairing import Pair, Place
from .sides import Side
from .target import TargetChange

if TYPE_CHECKING:
    from ..session import Session

Values = NDArray[np.float64]

# A change for one target adds one prefetch to a call of it; from so many on, it was issued twice.
ADDED_TWICE = 1.5
_TOTALS = """
SELECT count(*) AS tasks, coalesce(sum(duration_us), 0) AS time_us,
    CASE WHEN count(bytes) = count(*) THEN sum(bytes) END AS bytes,
    list(DISTINCT stream_id ORDER BY stream_id) AS streams,
    count(*) FILTER (stream_id = $stream OR stream_id IN (
        SELECT stream_id FROM streams WHERE run_id = $run AND rank_id = $rank AND is_main
    )) AS same_stream
FROM prefetch_tasks
"""


@dataclass(frozen=True)
class PrefetchSide:
    """What is known of the prefetches of one side, times us; nothing where no trace was ingested."""

    traced: bool
    steps: int = 0
    tasks: int = 0
    time_us: float = 0.0
    bytes: int | None = None
    streams: tuple[int | None, ...] = ()
    same_stream: int = 0  # tasks on the stream of the target, or on the main stream
    calls: int | None = None  # of the target; None = no target was named
    with_task: int = 0  # calls with a prefetch since the call before
    window_known: bool = False
    in_window: int = 0  # calls with one that started in the window
    overlap_us: float | None = None  # with the window, per call, median
    late: int = 0  # calls that started before their prefetch had ended
    late_us: float | None = None  # by how much, median of those
    several: int = 0  # calls with more than one since the call before
    alike: int = 0  # calls with two of the same launch, shape and bytes
    per_call: float = 0.0  # mean
    most_own: int = 0
    most_bytes: int | None = None  # since the call before, where bytes are recorded


@dataclass(frozen=True)
class PrefetchEvidence:
    """Both sides, and what the bytes in flight are held against."""

    before: PrefetchSide
    after: PrefetchSide
    weight_bytes: int | None  # of the target: no task fetches more of it
    planned_bytes: int | None
    l2_bytes: float | None

    @property
    def in_flight(self) -> float | None:
        """Bytes fetched for one call of the target after the change, at most; None = not known."""
        if self.after.most_bytes is not None:
            return float(self.after.most_bytes)
        if self.weight_bytes is None or not self.after.most_own:
            return None
        return float(self.weight_bytes * self.after.most_own)

    def facts(self) -> dict[str, bool]:
        """The facts of signals.toml that a trace of the run after can establish."""
        one = self.after
        added = one.per_call - self.before.per_call if self.before.traced else None
        twice = one.alike > 0 or (added is not None and added >= ADDED_TWICE)
        return {
            # Of a target that is no candidate it is not known that its change was to be a prefetch.
            "prefetch_missing": one.traced and not one.tasks and self.weight_bytes is not None,
            "prefetch_same_stream": one.same_stream * 2 > one.tasks,
            "prefetch_late": one.late * 2 > one.with_task,
            "prefetch_outside_window": one.window_known
            and one.with_task > 0
            and one.in_window * 2 < one.with_task,
            "prefetch_twice": twice,
            "prefetch_several": not twice and one.several * 2 > (one.calls or 0) > 0,
            "prefetch_over_l2": (one.most_bytes or 0) > (self.l2_bytes or float("inf")),
        }


NO_TRACE = PrefetchEvidence(PrefetchSide(False), PrefetchSide(False), None, None, None)


def prefetch_evidence(
    sides: tuple[Side, Side], pairs: Sequence[Pair], keys: Sequence[str], target: TargetChange | None
) -> PrefetchEvidence:
    """What the traces of both sides say; `keys` are the names of the pairs in their order."""
    by_key = dict(zip(keys, pairs, strict=True))
    found = []
    for side, name in zip(sides, ("before", "after"), strict=True):
        places = getattr(by_key[target.key], name) if target and target.key in by_key else ()
        window = [
            place for key in (target.window_keys if target else ()) for place in getattr(by_key[key], name)
        ]
        found.append(_side(side, places[0] if places else None, window))
    device = sides[1].first.device.device
    return PrefetchEvidence(
        found[0],
        found[1],
        target.weight_bytes if target else None,
        target.planned_bytes if target else None,
        device.l2_bytes if device else None,
    )


def _side(side: Side, place: Place | None, window: Sequence[Place]) -> PrefetchSide:
    traced = [each for each in side.sessions if find_prefetch_tasks(each)]
    if not traced:
        return PrefetchSide(False)
    totals = [rows_of(each.con, _TOTALS, _of_session(each, place))[0] for each in traced]
    sizes = [row["bytes"] for row in totals if row["tasks"]]
    known: dict[str, Any] = {
        "steps": sum(len(each.step_ids) for each in traced),
        "tasks": sum(row["tasks"] for row in totals),
        "time_us": sum(row["time_us"] for row in totals),
        "bytes": sum(sizes) if sizes and None not in sizes else None,
        "streams": tuple(sorted({each for row in totals for each in row["streams"] or ()}, key=str)),
        "same_stream": sum(row["same_stream"] for row in totals),
    }
    if place is None:
        return PrefetchSide(True, **known)
    first = _first(window, place)
    calls = [_calls_of(each, place, first) for each in traced]
    together = {name: np.concatenate([each[name] for each in calls]) for name in calls[0]}
    return PrefetchSide(True, **known, **_of_calls(together))


def _of_session(session: Session, place: Place | None) -> dict[str, Any]:
    return {"run": session.run.run_id, "rank": session.rank_id, "stream": _stream(session, place)}


def _stream(session: Session, place: Place | None) -> int | None:
    """The stream that most calls of the target are on."""
    if place is None:
        return None
    return session.value(
        "SELECT mode(stream_id) FROM selected_kernels WHERE signature_id = ?", [place.signature]
    )


def _first(window: Sequence[Place], target: Place) -> Place | None:
    """The place where the window begins: one that stands behind the target is of the layer before."""
    known = [each for each in window if each.position is not None]
    behind = [each for each in known if (each.position or 0) > (target.position or 0)]
    return min(behind or known, key=lambda each: each.position or 0, default=None)


def _calls_of(session: Session, place: Place, first: Place | None) -> dict[str, Values]:
    """The calls of the target as columns, NaN where a value is not known."""
    found = session.con.execute(
        sql("prefetch_calls.sql"),
        {
            "part": place.part,
            "position": place.position,
            "signature": place.signature,
            "window_part": first.part if first else None,
            "window_position": first.position if first else None,
        },
    ).fetchnumpy()
    return {name: np.ma.filled(np.ma.asanyarray(each).astype(float), np.nan) for name, each in found.items()}


def _of_calls(calls: dict[str, Values]) -> dict[str, Any]:
    """The numbers of a side that need a target."""
    tasks, late = calls["between_calls"], calls["late_us"]
    sizes = calls["bytes"][tasks > 0]
    return {
        "calls": len(tasks),
        "with_task": int((tasks > 0).sum()),
        "window_known": bool(calls["has_window"].any()),
        "in_window": int((calls["in_window"] > 0).sum()),
        "overlap_us": _median(calls["overlap_us"]),
        "late": int((late > 0).sum()),
        "late_us": _median(late[late > 0]),
        "several": int((tasks > 1).sum()),
        "alike": int((calls["alike"] > 1).sum()),
        "per_call": float(tasks.sum()) / max(1, len(tasks)),
        "most_own": int(calls["own"].max(initial=0)),
        "most_bytes": int(sizes.max()) if len(sizes) and not np.isnan(sizes).any() else None,
    }


def _median(values: Values) -> float | None:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None


def prefetch_rows(found: PrefetchEvidence) -> tuple[PrefetchCheck, ...]:
    """The checks as rows; () where no side has a trace."""
    sides = (found.before, found.after)
    if not any(side.traced for side in sides):
        return ()
    rows = _of_tasks(sides)
    if not any(side.tasks for side in sides):
        return tuple(rows[:1])  # of none there is nothing more to tell
    if any(side.calls for side in sides):
        rows += [*_in_time(sides), *_once(sides), _in_flight(found)]
    return tuple(rows)


def _check(
    name: str,
    sides: tuple[PrefetchSide, PrefetchSide],
    value: Callable[[PrefetchSide], float | None],
    unit: str,
    note: str = "",
    met: Callable[[PrefetchSide], bool | None] = lambda _: None,
) -> PrefetchCheck:
    """One row; a side without a trace has no value, and without a prefetch after nothing is met or missed."""
    before, after = (value(side) if side.traced else None for side in sides)
    return PrefetchCheck(name, before, after, unit, met(sides[1]) if sides[1].tasks else None, note)


def _of_tasks(sides: tuple[PrefetchSide, PrefetchSide]) -> list[PrefetchCheck]:
    streams = ", ".join(str(each) for each in sides[1].streams)
    absent = [name for name, side in zip(("before", "after"), sides, strict=True) if not side.traced]
    return [
        _check(
            "prefetch tasks",
            sides,
            lambda side: side.tasks / max(1, side.steps),
            "a step",
            f"no trace was ingested for the run {absent[0]}" if absent else "",
        ),
        _check("their time", sides, lambda side: side.time_us / max(1, side.steps), "us a step"),
        _check(
            "their bytes",
            sides,
            lambda side: side.bytes / side.steps / 2**20 if side.bytes is not None else None,
            "MiB a step",
            ""
            if sides[1].bytes is not None or not sides[1].tasks
            else "not recorded: the export lists no bytes of them",
        ),
        _check(
            "on the stream of the kernels",
            sides,
            lambda side: float(side.same_stream),
            "tasks",
            f"after: on stream {streams}; on the kernels' own stream nothing overlaps" if streams else "",
            lambda side: not side.same_stream,
        ),
    ]


def _in_time(sides: tuple[PrefetchSide, PrefetchSide]) -> list[PrefetchCheck]:
    window = sides[1].window_known or sides[0].window_known
    late = _check("late by", sides, lambda side: side.late_us, "us", "median of the calls that were late")
    return [
        _check(
            "calls of the target with a prefetch",
            sides,
            lambda side: float(side.with_task),
            "calls",
            f"of {sides[1].calls or 0} after; one that started after the call before it",
        ),
        _check(
            "overlap with the window",
            sides,
            lambda side: side.overlap_us,
            "us a call",
            f"median; it started inside the window of {sides[1].in_window} calls"
            if window
            else "no window is known for this target",
            lambda side: side.in_window * 2 >= side.with_task if side.window_known else None,
        ),
        _check(
            "ended after the target had started",
            sides,
            lambda side: float(side.late),
            "calls",
            "of several tasks the last that started in the window counts" if sides[1].late else "",
            lambda side: side.late * 2 <= side.with_task if side.with_task else None,
        ),
        *([late] if any(side.late for side in sides) else []),
    ]


def _once(sides: tuple[PrefetchSide, PrefetchSide]) -> list[PrefetchCheck]:
    alike = sides[1].alike
    told = f"in {alike} calls the same weight twice, by launch, shape and bytes" if alike else ""
    if sides[1].several and not alike:
        told = "whether of the same weight is not recorded: neither address nor bytes are in the export"
    return [
        _check(
            "calls with more than one prefetch",
            sides,
            lambda side: float(side.several),
            "calls",
            told,
            lambda side: False if side.alike else True if not side.several else None,
        )
    ]


def _in_flight(found: PrefetchEvidence) -> PrefetchCheck:
    """The bytes that wait in L2 for one call, against its size."""
    size, capacity = found.in_flight, found.l2_bytes
    if size is None:
        note = "not measured: neither bytes nor the weight of the target are known"
    elif found.after.most_bytes is not None:
        note = "recorded bytes of all tasks since the call before"
    else:
        note = f"at most: {found.after.most_own} x the whole weight, bytes are not recorded"
        if found.planned_bytes is not None:
            note += f"; planned max_size {format_bytes(found.planned_bytes)}"
    if capacity is not None:
        note += f"; L2 holds {format_bytes(capacity)}"
    met = size <= capacity if size is not None and capacity is not None else None
    if met is False and found.after.most_bytes is None:
        met = None  # a bound above L2 proves nothing
    return PrefetchCheck(
        "in flight for one call", None, None if size is None else size / 2**20, "MiB", met, note
    )
