"""The prefetches that ran: CMO tasks of a trace or a profiler database, which no kernel table lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .sqlfiles import run_sql

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
    weight_dims: str | None = None  # '6144,2048' as the launching operator took it; None = not recorded


def has_trace(session: Session) -> bool:
    """Whether a trace was ingested for this rank, so that anything is known of tasks beside its kernels."""
    return bool(
        session.value(
            "SELECT count(*) FROM (FROM trace_tasks WHERE run_id = ? AND rank_id = ? LIMIT 1)",
            [session.run.run_id, session.rank_id],
        )
    )


def find_prefetch_tasks(session: Session) -> bool:
    """Put the prefetches of the selected steps into the temporary table prefetch_tasks, once a session.

    False when no trace was ingested, so that nothing is known of them and there is no table.
    """
    known: bool | None = session.cache.get("prefetch_tasks")
    if known is None:
        known = has_trace(session)
        if known:
            run_sql(session.con, "prefetch_tasks.sql")
        session.cache["prefetch_tasks"] = known
    return known


def prefetch_tasks(session: Session) -> tuple[PrefetchTask, ...] | None:
    """The prefetches that start between the first and the last kernel of a selected step, by start.

    Empty when the trace holds none; None when no trace was ingested, so that nothing is known of them.
    """
    if not find_prefetch_tasks(session):
        return None
    rows = session.con.execute(
        "SELECT start_ns, end_ns, duration_us, stream_id, bytes, weight_dims FROM prefetch_tasks "
        "ORDER BY start_ns, end_ns, stream_id"
    ).fetchall()
    return tuple(PrefetchTask(*row) for row in rows)
