"""Every public column of the database says its unit, range and source."""

from __future__ import annotations

import duckdb
from npu_roofline.ingest.database import create_schema

TABLES = {
    "communication",
    "api_statistics",
    "api_calls",
    "counters",
    "device_info",
    "files",
    "group_statistics",
    "kernel_origins",
    "kernels",
    "l2_cache",
    "memory_events",
    "op_statistics",
    "operator_details",
    "operator_measurements",
    "operator_metrics",
    "ranks",
    "rejects",
    "runs",
    "signatures",
    "steps",
    "streams",
    "task_times",
    "tensors",
    "torch_ops",
    "trace_flows",
    "trace_ranges",
    "trace_tasks",
}

# They outlive the runs that they name, so they are no run's.
LEDGERS = {"experiments", "tunings"}


def columns_without_comment(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Public columns and tables that say nothing about themselves."""
    rows = con.execute(
        "SELECT table_name || '.' || column_name FROM duckdb_columns() "
        "WHERE NOT internal AND NOT starts_with(table_name, '_') AND coalesce(length(comment), 0) < 10 "
        "UNION ALL SELECT table_name FROM duckdb_tables() "
        "WHERE NOT internal AND NOT starts_with(table_name, '_') AND comment IS NULL ORDER BY 1"
    ).fetchall()
    return [name for (name,) in rows]


def test_every_public_column_and_table_has_a_comment() -> None:
    """No public column or table of the schema is without a comment."""
    con = duckdb.connect()
    create_schema(con)
    assert columns_without_comment(con) == []


def test_a_column_without_comment_is_found() -> None:
    """The check goes red when a public column has no comment, and does not look at internal tables."""
    con = duckdb.connect()
    create_schema(con)
    con.execute("CREATE TABLE extra (a INTEGER); CREATE TABLE _internal (b INTEGER)")
    assert columns_without_comment(con) == ["extra", "extra.a"]


def test_the_tables_are_those_of_the_design() -> None:
    """The schema creates exactly the tables that this version fills; all but the ledgers have a run_id."""
    con = duckdb.connect()
    create_schema(con)
    rows = con.execute(
        "SELECT table_name FROM duckdb_columns() WHERE column_name = 'run_id' AND data_type = 'INTEGER'"
    ).fetchall()
    assert {name for (name,) in rows} == TABLES
    public = con.execute(
        "SELECT table_name FROM duckdb_tables() WHERE NOT starts_with(table_name, '_')"
    ).fetchall()
    assert {name for (name,) in public} == TABLES | LEDGERS
