"""The API tables of a profiler database -> what a trace gives: operators, calls, ranges, tasks, arrows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import NpuRooflineError
from .database import read_sql
from .profiler_schema import find_table, schema_data
from .sqlite_source import SqliteSource
from .trace_views import engine, task_kind

if TYPE_CHECKING:
    import duckdb

_CALLS = frozenset({"PYTORCH_API", "CANN_API"})
# Tables of kernels that the statements read too; an absent one is empty.
_KERNELS = ("TASK", "COMPUTE_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO", "COMMUNICATION_OP")


def add_database_trace(con: duckdb.DuckDBPyConnection, source: SqliteSource) -> list[str]:
    """CREATE TABLE t_ops, t_apis, t_ranges, t_tasks and t_flows in a scratch database; returns remarks.

    db_texts must be there. A database without calls of the host, or without tasks, gives nothing, and so does
    one whose tables are damaged: its kernels are another matter.
    """
    if not _CALLS & set(source.tables) or "TASK" not in source.tables:
        return []
    try:
        _copy_tables(con, source)
    except NpuRooflineError as error:
        return [f"the calls of the host were not read: {error.message}"]
    kind = task_kind("coalesce(name, '')", "coalesce(task_type, '')")
    statements = read_sql("trace_database.sql")
    con.execute(statements.replace("/*kind*/", kind).replace("/*core*/", engine("task_type", "context_id")))
    return []


def _copy_tables(con: duckdb.DuckDBPyConnection, source: SqliteSource) -> None:
    there = {name for (name,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    for name in _KERNELS:
        if f"db_{name.lower()}" not in there:
            source.copy_into(con, f"db_{name.lower()}", name, find_table(source, name).columns)
    for name in schema_data()["host"]:
        source.copy_into(con, f"db_{name.lower()}", name, find_table(source, name, "host").columns)
    con.execute(
        "CREATE OR REPLACE TABLE db_api_types AS "
        "SELECT id, any_value(name) AS name FROM db_enum_api_type WHERE id IS NOT NULL GROUP BY id"
    )
    con.executemany(
        "INSERT INTO db_api_types SELECT $1, $2 WHERE $1 NOT IN (SELECT id FROM db_api_types)",
        [[int(number), name] for number, name in schema_data()["api_type"].items()],
    )
