"""The selected steps as events of a Chrome trace: kernels with their labels, windows, idle gaps, counters.

A capture may hold ten million kernels: DuckDB writes the events, Python only passes on text of some thousand
at a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..errors import InputMissing
from .answer import StepRow
from .idle import prepare_busy_rows
from .sqlfiles import run_sql, sql
from .step_times import step_rows
from .steps import name_steps
from .trace_labels import publish_trace_labels
from .trace_windows import publish_windows

if TYPE_CHECKING:
    from .session import Session

# Without --steps so many kernels are drawn: 130 MB of text, which a viewer in a browser still opens.
KERNELS_WITHOUT_CHOICE: Final = 150_000
# Kernels turned into text at a time: 20 MB.
_KERNELS_AT_A_TIME: Final = 25_000
_EVENTS_AT_A_TIME: Final = 5_000
# Collectives without a stream overlap a few deep; what overlaps deeper shares the last lane.
_LANES: Final = 16
# No memory moves faster; shapes that claim it are damaged, and must not overflow the sum.
_MOST_MB_S: Final = 1e12
# Who is who in the trace: process id, name, order on the page.
KERNELS, WINDOWS, IDLE, STEPS = 1, 2, 3, 4


@dataclass(frozen=True)
class LabelledTrace:
    """What a labelled trace shows; `events` gives its text, to be joined by `,` and a line end, once."""

    steps: tuple[int, ...]
    steps_of_selection: int
    kernels: int
    windows: int
    candidates: int
    notes: tuple[str, ...]
    events: Iterator[str]


def labelled_trace(session: Session, show: Callable[[str], str], whole: bool) -> LabelledTrace:
    """The selection as trace events; labels and windows are those of the whole selection.

    `show` makes a text of an export harmless to look at. `whole` draws every selected step; otherwise steps
    are chosen until KERNELS_WITHOUT_CHOICE: the one of median wall, the longest, the shortest, then in time.
    Raises InputMissing where no step holds a kernel to draw.
    """
    rows = step_rows(session)
    if not rows:
        raise InputMissing(
            "the selected steps hold no AI-core or communication kernel", "choose other --steps"
        )
    steps, notes = _choose(rows, KERNELS_WITHOUT_CHOICE if not whole else None)
    end, cut = (None, []) if whole or len(steps) > 1 else _cut(session, min(steps))
    kernels = _publish_kernels(session, steps, end)
    prepare_busy_rows(session)
    publish_trace_labels(session, show)
    _publish_names(session, show)
    windows, candidates, stopped = publish_windows(session, show, steps)
    return LabelledTrace(
        steps=steps,
        steps_of_selection=len(rows),
        kernels=kernels,
        windows=windows,
        candidates=candidates,
        notes=(*notes, *cut, *stopped),
        events=_events(session, show, rows, steps),
    )


def _choose(rows: tuple[StepRow, ...], most: int | None) -> tuple[tuple[int, ...], list[str]]:
    """(steps to draw, what is said about it): as many as fit into `most` kernels, those worth looking at
    first.
    """
    by_wall = sorted(rows, key=lambda row: (row.wall_us, row.step_id))
    worth = [by_wall[(len(rows) - 1) // 2], by_wall[-1], by_wall[0], *rows]
    chosen: dict[int, int] = {}
    for row in worth:
        fits = most is None or sum(chosen.values()) + row.kernels <= most
        if row.step_id not in chosen and (fits or not chosen):
            chosen[row.step_id] = row.kernels
    steps = tuple(row.step_id for row in rows if row.step_id in chosen)
    if len(steps) == len(rows):
        return steps, []
    return steps, [
        f"{len(steps)} of {len(rows)} steps are drawn ({name_steps(steps)}): the median, the longest and the "
        f"shortest step, then in time up to {most:,} kernels; --steps draws what it names"
    ]


def _cut(session: Session, step: int) -> tuple[int | None, list[str]]:
    """(first kernel that is not drawn, what is said) where one step alone is too large."""
    end = session.value(
        "SELECT kernel_id FROM selected_kernels WHERE step_id = ? ORDER BY kernel_id LIMIT 1 OFFSET ?",
        [step, KERNELS_WITHOUT_CHOICE],
    )
    if end is None:
        return None, []
    return end, [
        f"step {step} is drawn up to its first {KERNELS_WITHOUT_CHOICE:,} kernels; "
        f"--steps {step} draws all of it"
    ]


def _publish_kernels(session: Session, steps: tuple[int, ...], end: int | None) -> int:
    """Tables of the steps, kernels and tracks to draw; the number of kernels."""
    con = session.con
    con.execute(
        "CREATE OR REPLACE TEMP TABLE trace_steps AS SELECT unnest(?::INTEGER[]) AS step_id", [list(steps)]
    )
    con.execute("SET VARIABLE trace_kernels_end = ?", [2**62 if end is None else end])
    run_sql(con, "trace_kernels.sql")
    for lane in range(1, _LANES + 1):
        if not con.execute(sql("trace_lanes.sql"), {"lane": lane, "last": lane == _LANES}).fetchone():
            break
    run_sql(con, "trace_tracks.sql")
    return session.value("SELECT count(*) FROM trace_kernels")


def _publish_names(session: Session, show: Callable[[str], str]) -> None:
    """Names that may not stand as they are, and what stands there instead; ordinary ones cost nothing."""
    odd = session.con.execute(
        "SELECT DISTINCT name FROM selected_kernels JOIN trace_kernels USING (kernel_id) "
        "WHERE length(name) > 200 OR regexp_matches(name, '[^ -~]')"
    ).fetchall()
    names = [name for (name,) in odd]
    session.con.execute(
        "CREATE OR REPLACE TEMP TABLE trace_names AS "
        "SELECT unnest($names::VARCHAR[]) AS name, unnest($texts::VARCHAR[]) AS json",
        {"names": names, "texts": [json.dumps(show(name)) for name in names]},
    )


def _events(
    session: Session, show: Callable[[str], str], rows: tuple[StepRow, ...], steps: tuple[int, ...]
) -> Iterator[str]:
    """Text of all events: who is who, the steps, the kernels, then what points at them."""
    yield from _metadata(session, show)
    yield from _step_events(session, rows, steps)
    first, last = session.con.execute("SELECT min(kernel_id), max(kernel_id) FROM trace_kernels").fetchall()[
        0
    ]
    for begin in range(first, last + 1, _KERNELS_AT_A_TIME):
        bounds = {"first": begin, "last": begin + _KERNELS_AT_A_TIME}
        yield from _texts(session, "trace_kernel_events.sql", bounds)
    chunk = {"chunk": _EVENTS_AT_A_TIME}
    yield from _texts(session, "trace_idle.sql", chunk)
    yield from _texts(session, "trace_traffic.sql", chunk | {"most_mb_s": _MOST_MB_S})
    yield from _texts(session, "trace_counters.sql", chunk)
    yield from _texts(session, "trace_window_events.sql", chunk)


def _texts(session: Session, name: str, parameters: dict[str, Any]) -> Iterator[str]:
    cursor = session.con.execute(sql(name), parameters)
    while row := cursor.fetchone():
        if row[0]:
            yield row[0]


def _metadata(session: Session, show: Callable[[str], str]) -> Iterator[str]:
    """Names and order of processes and tracks."""
    run, device = show(session.run.name), show(session.device_info.soc or "device not known")
    names = {
        KERNELS: f"npu-roofline: kernels of run {run}, rank {session.rank_id} ({device})",
        WINDOWS: "prefetch: windows of the candidates",
        IDLE: "the device waits",
        STEPS: "steps",
    }
    order = {STEPS: 1, KERNELS: 2, WINDOWS: 3, IDLE: 4}
    for process, name in names.items():
        yield _meta("process_name", process, 0, {"name": name})
        yield _meta("process_sort_index", process, 0, {"sort_index": order[process]})
    tracks = session.con.execute("SELECT tid, name FROM trace_tracks ORDER BY tid").fetchall()
    candidates = session.con.execute("SELECT number, track FROM trace_candidates ORDER BY number").fetchall()
    named = [
        *((KERNELS, tid, name) for tid, name in tracks),
        *((WINDOWS, number, name) for number, name in candidates),
        (IDLE, 1, "idle gaps"),
        (STEPS, 1, "steps"),
    ]
    for process, tid, name in named:
        yield _meta("thread_name", process, tid, {"name": name})
        yield _meta("thread_sort_index", process, tid, {"sort_index": tid})


def _meta(kind: str, process: int, thread: int, args: dict[str, Any]) -> str:
    return _event({"name": kind, "pid": process, "tid": thread, "args": args, "ph": "M"})


def _step_events(session: Session, rows: tuple[StepRow, ...], steps: tuple[int, ...]) -> Iterator[str]:
    starts = dict(
        session.con.execute(
            "SELECT step_id, start_ns FROM busy_steps WHERE rank_id = ?", [session.rank_id]
        ).fetchall()
    )
    for row in rows:
        if row.step_id in steps:
            args = {
                "kernels": row.kernels,
                "busy_us": row.busy_us,
                "idle_us": row.idle_us,
                "phase": row.phase,
            }
            if row.note:
                args["note"] = row.note
            start = starts[row.step_id]
            yield _event(
                {
                    "name": f"step {row.step_id}",
                    "pid": STEPS,
                    "tid": 1,
                    "ts": f"{start // 1000}.{start % 1000:03d}",
                    "dur": row.wall_us,
                    "args": args,
                    "ph": "X",
                }
            )


def _event(event: dict[str, Any]) -> str:
    """One event; "ph" must be its last key, see trace_kernel_events.sql."""
    return json.dumps(event, separators=(",", ":"), allow_nan=False)
