"""Tasks of a trace beside the kernels of a small run, written by hand in the form that ingest gives them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from npu_roofline.analyzer.session import Session

from tests.analyzer.tiny_run import START_NS

_TASK = (
    "INSERT INTO trace_tasks BY NAME SELECT 1 AS run_id, 0 AS rank_id, ? AS task_number, ? AS kind, "
    "? AS name, ? AS stream_id, ? AS task_id, ? AS connection_id, ? AS start_ns, ? AS end_ns, "
    "? AS duration_us, ? AS bytes"
)
_CALL = (
    "INSERT INTO api_calls BY NAME SELECT 1 AS run_id, 0 AS rank_id, 'acl' AS level, ? AS name, "
    "? AS start_ns, ? AS end_ns, ? AS connection_id"
)


@dataclass(frozen=True)
class Task:
    """One task beside the kernels; times us from the start of the capture, as in tiny_run."""

    kind: str  # as in trace_tasks.kind
    stream: int
    start: float
    end: float
    bytes: int | None = None
    connection: int | None = None


def at(us: float) -> int:
    """A time of the capture in ns."""
    return START_NS + round(us * 1000)


def add_trace(session: Session, tasks: Iterable[Task] = (), main: int = 2) -> Session:
    """Every kernel of the session as a task of its stream, and these tasks beside them."""
    con = session.con
    con.execute(
        "INSERT INTO trace_tasks BY NAME SELECT run_id, rank_id, kernel_id AS task_number, 'kernel' AS kind, "
        "name, stream_id, kernel_id AS task_id, 100000 + kernel_id AS connection_id, start_ns, end_ns, "
        "duration_us, kernel_id FROM kernels"
    )
    con.execute("DELETE FROM streams")
    con.execute(
        "INSERT INTO streams (run_id, rank_id, stream_id, is_main) "
        "SELECT DISTINCT 1, 0, stream_id, stream_id = ? FROM kernels",
        [main],
    )
    for number, task in enumerate(tasks, 50_000):
        span = (at(task.start), at(task.end), task.end - task.start, task.bytes)
        con.execute(_TASK, [number, task.kind, task.kind, task.stream, number, task.connection, *span])
    return session


def add_call(session: Session, name: str, start: float, end: float, connection: int | None = None) -> None:
    """A call of the host; a kernel's connection is 100000 and its number."""
    session.con.execute(_CALL, [name, at(start), at(end), connection])
