"""The prefetches that ran: CMO tasks of a trace or a profiler database, which no kernel table lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .session import Session


@dataclass(frozen=True)
class PrefetchTask:
    """One prefetch on the device."""

    start_ns: int
    end_ns: int
    duration_us: float
    stream_id: int | None
    bytes: int | None  # None = not exported, which is so in every export seen


def prefetch_tasks(session: Session) -> tuple[PrefetchTask, ...] | None:
    """The prefetches that start between the first and the last kernel of a selected step, by start.

    Empty when the trace holds none; None when no trace was ingested, so that nothing is known of them.
    """
    where = [session.run.run_id, session.rank_id]
    if not session.value(
        "SELECT count(*) FROM (FROM trace_tasks WHERE run_id = ? AND rank_id = ? LIMIT 1)", where
    ):
        return None
    rows = session.con.execute(
        "WITH spans AS (SELECT min(start_ns) AS first_ns, max(end_ns) AS last_ns "
        "FROM selected_kernels GROUP BY step_id) "
        "SELECT t.start_ns, t.end_ns, t.duration_us, t.stream_id, t.bytes FROM trace_tasks AS t "
        "WHERE t.run_id = ? AND t.rank_id = ? AND t.kind = 'prefetch' "
        "AND EXISTS (FROM spans AS s WHERE t.start_ns BETWEEN s.first_ns AND s.last_ns) "
        "ORDER BY t.start_ns, t.end_ns, t.stream_id",
        where,
    ).fetchall()
    return tuple(PrefetchTask(*row) for row in rows)
