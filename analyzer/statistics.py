"""Per signature and place: counts, durations and median PMU values, written at ingest and again for
selected steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sqlfiles import run_sql

if TYPE_CHECKING:
    import duckdb

# Columns of group_statistics that describe durations; all other DOUBLE columns are medians of a PMU column
# of the same name in kernels.
_DURATION_COLUMNS = ("total_us", "median_us", "p10_us", "p90_us", "min_us", "max_us", "gap_us")

# A median over no column at all is not SQL; this one is then NULL in every row, which is the truth.
_WHEN_NOTHING_IS_MEASURED = "aicore_time_us"


def fill_group_statistics(con: duckdb.DuckDBPyConnection) -> None:
    """Fill the table group_statistics of a staging database, over all ranks and steps of its one run.

    Kernels outside every step are left out, as they are in every question.
    """
    con.execute(
        "CREATE OR REPLACE TEMP VIEW selected_kernels AS "
        "SELECT * FROM kernels WHERE duplicate_of IS NULL AND step_id IS NOT NULL"
    )
    con.execute("DELETE FROM group_statistics")
    insert_statistics(con, "group_statistics", source="kernels")
    con.execute("DROP VIEW statistics_of_selection")
    con.execute("DROP VIEW selected_kernels")


def insert_statistics(con: duckdb.DuckDBPyConnection, target: str, source: str) -> None:
    """Insert the statistics of the view selected_kernels into `target`, a table with group_statistics'
    columns.

    `source` is the relation that says which PMU columns hold any value: `kernels`, or `group_statistics`
    where that is filled already and a thousand times smaller.
    """
    con.execute("SET VARIABLE measured_columns = ?", [measured_columns(con, source)])
    for by_position in (False, True):
        con.execute("SET VARIABLE by_position = ?", [by_position])
        run_sql(con, "statistics.sql")
        con.execute(f"INSERT INTO {target} BY NAME FROM statistics_of_selection")


def pmu_columns(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Names of the PMU columns whose medians group_statistics keeps, in the order of the table."""
    rows = con.execute(
        "SELECT column_name FROM duckdb_columns() WHERE table_name = 'group_statistics' "
        "AND database_name = current_database() AND data_type = 'DOUBLE' ORDER BY column_index"
    ).fetchall()
    return [name for (name,) in rows if name not in _DURATION_COLUMNS]


def measured_columns(con: duckdb.DuckDBPyConnection, source: str) -> list[str]:
    """The PMU columns that hold at least one value in `source` (kernels or group_statistics)."""
    con.execute("SET VARIABLE measured_columns = ?", [pmu_columns(con)])
    measured = "lambda name: list_contains(getvariable('measured_columns'), name)"
    cursor = con.execute(f"SELECT count(COLUMNS({measured})) FROM {source}")
    names = [column[0] for column in cursor.description or ()]
    counts = cursor.fetchone() or ()
    held = [name for name, count in zip(names, counts, strict=True) if count > 0]
    return held or [_WHEN_NOTHING_IS_MEASURED]
