"""The path through a step's streams and events that its time rests on, where the trace is enough to tell it.

It is told for a step only if the trace holds the step's kernels, no task starts before the one before it on
its stream has ended, and almost all of the time has a reason; else the step is refused with what is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..units import format_duration, format_share
from .path_walk import KINDS, Numbers, Path, StepTasks, largest_overlap_ns, walk
from .prefetch_tasks import has_trace
from .sqlfiles import rows_of, run_sql, sql

if TYPE_CHECKING:
    import duckdb

    from .session import Session

STEPS_WALKED = 20  # of a run, spread evenly: what the path is made of does not get better known with more


@dataclass(frozen=True)
class PathLimits:
    """When a path is believed. Times us."""

    open_share: float = 0.05  # of the step's time may be without a reason; ours
    kernels_share: float = 0.99  # of the step's kernels must be tasks of the trace; ours
    overlap_us: float = 1.0  # of two tasks of a stream: the clock; 0 in the five captures that hold streams
    blocked_us: float = 3.0  # a shorter wait did not hold its stream up: those seen take 0 to 0.02 us
    event_us: float = (
        2.0  # from a record to the end of the wait: 0.38 to 0.52 us in 25 waits of five captures
    )
    gap_us: float = (
        20.0  # between two tasks of a stream: launch and scheduling; above it there must be a reason
    )


@dataclass(frozen=True)
class CriticalPath:
    """What the steps' time rests on. Times us, means per validated step; `spent_us` adds up to `wall_us`."""

    status: str  # validated | refused | not measured
    steps: int = 0  # validated
    refused: int = 0
    reason: str = ""  # why not, for the most steps; with what would record it
    wall_us: float = 0.0
    spent_us: dict[str, float] = field(default_factory=dict)  # by kind of path_walk.KINDS
    crossings: float = 0.0  # from one stream to another through an event
    calls: int = 0  # of the kernels asked for, in the validated steps
    calls_on_path: int = 0
    calls_on_path_us: float = 0.0  # per step


NOT_MEASURED = CriticalPath(
    "not measured",
    reason="no trace was ingested: ingest the folder that holds trace_view.json, or the profiler database",
)


@dataclass(frozen=True)
class _Step:
    """One step's result: `reason` says why there is none."""

    reason: str = ""
    wall_us: float = 0.0
    spent_us: Any = None
    crossings: int = 0
    calls: int = 0
    calls_on_path: int = 0
    calls_us: float = 0.0


def critical_path(
    session: Session, kernels: Numbers | None = None, limits: PathLimits | None = None
) -> CriticalPath:
    """The path of the selected steps (20 at most, spread evenly); `kernels`: ids to look for on it."""
    known = limits or PathLimits()
    where = [session.run.run_id, session.rank_id]
    if not has_trace(session):
        return NOT_MEASURED
    host_calls = bool(
        session.value("SELECT count(*) FROM (FROM api_calls WHERE run_id = ? AND rank_id = ? LIMIT 1)", where)
    )
    wanted = np.zeros(0, np.int64) if kernels is None else kernels
    steps = [_walked(session, span, wanted, known, host_calls) for span in _spans(session)]
    return _together(steps)


def _spans(session: Session) -> list[dict[str, Any]]:
    """First start and last end of each step's kernels, as the step's wall time is measured."""
    rows = rows_of(
        session.con,
        "SELECT step_id, min(start_ns) AS first_ns, max(end_ns) AS last_ns, "
        "count(*) FILTER (kernel_class = 'aicore') AS kernels FROM selected_kernels "
        "WHERE kernel_class IN ('aicore', 'communication') GROUP BY step_id ORDER BY step_id",
    )
    if len(rows) <= STEPS_WALKED:
        return rows
    return [rows[at * (len(rows) - 1) // (STEPS_WALKED - 1)] for at in range(STEPS_WALKED)]


def _walked(
    session: Session, span: dict[str, Any], wanted: Any, limits: PathLimits, host_calls: bool
) -> _Step:
    con = session.con
    for name, value in (
        ("path_first_ns", span["first_ns"]),
        ("path_last_ns", span["last_ns"]),
        ("path_blocked_ns", round(limits.blocked_us * 1000)),
        ("path_event_ns", round(limits.event_us * 1000)),
    ):
        con.execute(f"SET VARIABLE {name} = ?", [value])
    run_sql(con, "path_tasks.sql")
    columns = con.execute("FROM path_tasks ORDER BY place").fetchnumpy()
    main = session.value(
        "SELECT stream_id FROM streams WHERE run_id = ? AND rank_id = ? AND is_main",
        [session.run.run_id, session.rank_id],
    )
    tasks = _tasks(con, columns, main, limits)
    found = _numbers(columns["kernel_id"])
    if reason := _unusable(columns, tasks, span, found, limits):
        return _Step(reason)
    path = walk(tasks, span["first_ns"], span["last_ns"])
    if path is None:
        return _Step("the tasks of the trace lead to no beginning")
    wall = span["last_ns"] - span["first_ns"]
    spent: dict[str, float] = dict(zip(KINDS, (path.spent_ns / 1000).tolist(), strict=True))
    if reason := _unexplained(columns, spent, path, limits, host_calls):
        return _Step(reason)
    asked = np.isin(found, wanted) if len(wanted) else np.zeros(len(found), bool)
    on_path = asked & path.on_path
    return _Step(
        wall_us=wall / 1000,
        spent_us=spent,
        crossings=path.crossings,
        calls=int(asked.sum()),
        calls_on_path=int(on_path.sum()),
        calls_us=float((tasks.end - tasks.start)[on_path].sum()) / 1000,
    )


def _tasks(
    con: duckdb.DuckDBPyConnection, columns: dict[str, Any], main: int | None, limits: PathLimits
) -> StepTasks:
    stream, start, end = (_numbers(columns[name]) for name in ("stream_id", "start_ns", "end_ns"))
    names = np.ma.filled(columns["kind"], "").astype(str)
    record = _numbers(columns["record"])
    blocked = (names == "wait") & (end - start > limits.blocked_us * 1000) & (record < 0)
    kind = np.full(len(names), KINDS.index("other engines and tasks"))
    for name, meaning in (
        ("kernels", "kernels of other streams"),
        ("communication", "communication"),
        ("copies", "copies"),
        ("prefetch", "prefetch"),
        ("wait", "events and gaps between tasks"),
        ("record", "events and gaps between tasks"),
    ):
        kind[names == name] = KINDS.index(meaning)
    kind[(names == "kernels") & (stream == main)] = KINDS.index("kernels of the main stream")
    kind[blocked] = KINDS.index("not explained")
    syncs = con.execute(sql("path_syncs.sql")).fetchnumpy()
    return StepTasks(
        stream=stream,
        start=start,
        end=end,
        kind=kind,
        is_work=(names != "wait") & (names != "record") & (names != "other"),
        launched=_numbers(columns["launched_ns"]),
        record=record,
        syncs=np.stack([_numbers(syncs["start_ns"]), _numbers(syncs["end_ns"])], axis=1),
        gap_ns=round(limits.gap_us * 1000),
    )


def _numbers(values: Any) -> Any:
    """A column as whole numbers, -1 where it is NULL."""
    return np.ma.filled(np.ma.asanyarray(values), -1).astype(np.int64)


def _unusable(
    columns: dict[str, Any], tasks: StepTasks, span: dict[str, Any], found: Any, limits: PathLimits
) -> str:
    """What makes the tasks of a step no basis for a path; empty = nothing does."""
    seen = int((found >= 0).sum())
    if seen < span["kernels"] * limits.kernels_share:
        return f"the trace holds {seen:,} of the step's {span['kernels']:,} kernels"
    overlap = largest_overlap_ns(tasks) / 1000
    if overlap > limits.overlap_us:
        return f"tasks of one stream overlap by up to {overlap:,.1f} us: no order on it can be told"
    names = np.ma.filled(columns["kind"], "").astype(str)
    streams = len(np.unique(tasks.stream[tasks.is_work]))
    if streams > 1 and not np.isin(names, ("wait", "record")).any():
        return (
            f"{streams} streams work and no event record or wait is among the tasks, so that no edge between "
            "streams is known: event waits were not recorded (trace_view.json and the profiler database "
            "list them at every profiler level)"
        )
    return ""


def _unexplained(
    columns: dict[str, Any], spent: dict[str, float], path: Path, limits: PathLimits, host_calls: bool
) -> str:
    """Why a path is not believed: too much of it has no reason; empty = it is."""
    wall_us = sum(spent.values())
    if spent["host"] > limits.open_share * wall_us and not host_calls:
        share = format_share(spent["host"] / wall_us, 0)
        return (
            f"for {share} of the step the host launched too late, and the calls in which it waits for the "
            "device are not in this export (text exports list them from profiler_level=Level1)"
        )
    if spent["not explained"] <= limits.open_share * wall_us:
        return ""
    names = np.ma.filled(columns["kind"], "").astype(str)
    lasted = _numbers(columns["end_ns"]) - _numbers(columns["start_ns"])
    lost = (names == "wait") & (lasted > limits.blocked_us * 1000) & (_numbers(columns["record"]) < 0)
    longest, stream = path.longest_open
    told = (
        f"{format_duration(spent['not explained'])} of the step have no reason in the trace, "
        f"the longest part {format_duration(longest / 1000)} on stream {stream}"
    )
    if lost.any():
        return (
            f"{told}; event waits that held their stream up without a single other stream's record right "
            f"before they ended: {int(lost.sum())}"
        )
    if (_numbers(columns["launched_ns"]) < 0).all():
        return f"{told}: no event wait explains it, and no launch by the host is recorded that could"
    return f"{told}: no event wait and no late launch explains it"


def _together(steps: Sequence[_Step]) -> CriticalPath:
    good = [each for each in steps if not each.reason]
    reasons = Counter(each.reason for each in steps if each.reason)
    reason = reasons.most_common(1)[0][0] if reasons else ""
    if not good:
        return CriticalPath("refused", refused=len(steps), reason=reason or "no step is selected")
    count = len(good)
    return CriticalPath(
        "validated",
        steps=count,
        refused=len(steps) - count,
        reason=reason,
        wall_us=sum(each.wall_us for each in good) / count,
        spent_us={name: sum(each.spent_us[name] for each in good) / count for name in KINDS},
        crossings=sum(each.crossings for each in good) / count,
        calls=sum(each.calls for each in good),
        calls_on_path=sum(each.calls_on_path for each in good),
        calls_on_path_us=sum(each.calls_us for each in good) / count,
    )
