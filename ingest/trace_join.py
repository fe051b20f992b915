"""The trace of one rank, as read, -> its tables, and the origin of each kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .database import read_sql, transaction
from .trace_events import trace_data

if TYPE_CHECKING:
    import duckdb

_STREAMS_SHOWN = 5


def add_trace(con: duckdb.DuckDBPyConnection, rank_id: int, source: str) -> list[str]:
    """Fill the trace tables of one rank from the attached scratch database; returns remarks.

    The kernels of the rank must be in the table kernels already: the trace adds none. `source` is what it is
    called: trace or database.
    """
    variables = {
        "trace_rank": rank_id,
        "trace_operator": trace_data()["operator"]["pattern"],
        "trace_framework": trace_data()["framework"]["pattern"],
    }
    for name, value in variables.items():
        con.execute(f"SET VARIABLE {name} = ?", [value])
    before = {
        row[0] for row in con.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall()
    }
    try:
        con.execute(read_sql("trace_kernels_join.sql"))
        with transaction(con):
            con.execute(read_sql("trace_fill.sql"))
            con.execute(read_sql("trace_origins.sql"))
    finally:
        for name in variables:
            con.execute(f"RESET VARIABLE {name}")
        _forget(con, before)
    return [*_joined(con, rank_id, source), *_prefetches(con, rank_id)]


def _forget(con: duckdb.DuckDBPyConnection, before: set[str]) -> None:
    rows = con.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall()
    for (name,) in rows:
        if name not in before:
            con.execute(f'DROP TABLE "{name}"')


def _joined(con: duckdb.DuckDBPyConnection, rank_id: int, source: str) -> list[str]:
    """How many kernels were found in the trace, and for how many it says what launched them."""
    kernels, tasks, ops, sources = con.execute(
        "SELECT count(*), count(t.kernel_id), count(o.torch_op), count(o.source) FROM kernels AS k "
        "LEFT JOIN (SELECT DISTINCT kernel_id FROM trace_tasks WHERE rank_id = $rank) AS t USING (kernel_id) "
        "LEFT JOIN (FROM kernel_origins WHERE rank_id = $rank) AS o USING (kernel_id) "
        "WHERE k.rank_id = $rank",
        {"rank": rank_id},
    ).fetchall()[0]
    if not kernels:
        return []
    return [
        f"of {kernels:,} kernels {_part(tasks, kernels)} are tasks of the {source}, for "
        f"{_part(ops, kernels)} it says which operator launched them, for "
        f"{_part(sources, kernels)} from which source line"
    ]


def _prefetches(con: duckdb.DuckDBPyConnection, rank_id: int) -> list[str]:
    rows = con.execute(
        "SELECT stream_id, count(*) FROM trace_tasks WHERE rank_id = ? AND kind = 'prefetch' "
        "GROUP BY stream_id ORDER BY count(*) DESC, stream_id",
        [rank_id],
    ).fetchall()
    if not rows:
        return []
    total = sum(count for _, count in rows)
    where = ", ".join(f"{count:,} on stream {stream}" for stream, count in rows[:_STREAMS_SHOWN])
    more = "" if len(rows) <= _STREAMS_SHOWN else f" and {len(rows) - _STREAMS_SHOWN} more"
    return [f"{total:,} prefetch (CMO) tasks: {where}{more}"]


def _part(count: int, total: int) -> str:
    return f"{count:,} ({count / total:.1%})"


def trace_source(con: duckdb.DuckDBPyConnection) -> str | None:
    """Where the attached scratch database has tasks and operators from: trace, database, or None."""
    for source, catalog in (("trace", "duckdb_views()"), ("database", "duckdb_tables()")):
        column = "view_name" if source == "trace" else "table_name"
        query = f"SELECT count(*) FROM {catalog} WHERE database_name = 'scratch' AND {column} = 't_ops'"
        if _value(con, query):
            return source
    return None


def _value(con: duckdb.DuckDBPyConnection, query: str) -> Any:
    return con.execute(query).fetchall()[0][0]
