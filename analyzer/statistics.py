"""Per signature and place: counts, durations and median PMU values, written at ingest and for selected
steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sqlfiles import run_sql, sql

if TYPE_CHECKING:
    import duckdb

# Columns of group_statistics that describe durations; all other DOUBLE columns are medians of a PMU column
# of the same name in kernels.
_DURATION_COLUMNS = ("total_us", "median_us", "p10_us", "p90_us", "min_us", "max_us", "gap_us")

_TYPES_NAMED = 5  # operator types of a note before it says how many more there are

# A median over no column at all is not SQL; this one is then NULL in every row, which is the truth.
_WHEN_NOTHING_IS_MEASURED = "aicore_time_us"

# A median keeps every value: this many at once take about 200 MB, whatever the size of the capture.
_VALUES_AT_ONCE = 24_000_000
# What the state of one median costs per group, in values (measured with a million groups of one kernel each).
_VALUES_PER_GROUP = 16


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
    con.execute("DROP VIEW selected_kernels")


def insert_statistics(con: duckdb.DuckDBPyConnection, target: str, source: str) -> None:
    """Insert the statistics of the view selected_kernels into `target`, a table like group_statistics.

    `source` is the relation that says which PMU columns hold any value: the kernels, or group_statistics
    where that is filled already and a thousand times smaller.
    """
    columns = measured_columns(con, source)
    for by_position in (False, True):
        con.execute("SET VARIABLE by_position = ?", [by_position])
        run_sql(con, "statistics.sql")
        con.execute("SET VARIABLE measured_columns = ?", [columns])
        con.execute(f"INSERT INTO {target} BY NAME {sql('statistics_singles.sql')}")
        at_once = _columns_at_once(con)
        for first in range(0, len(columns), at_once):
            con.execute("SET VARIABLE measured_columns = ?", [columns[first : first + at_once]])
            run_sql(con, "statistics_medians.sql")
        con.execute(f"INSERT INTO {target} BY NAME FROM _statistics")
    run_sql(con, "statistics_drop.sql")


def zero_duration_notes(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Nothing, or one sentence on the kernels of the selection that were exported with a duration of 0.

    They ran, but nobody measured how long: they count as kernels and are in no median, floor or label.
    """
    found = con.execute(
        "SELECT coalesce(type, '(no type)') AS type, sum(zero_duration)::BIGINT AS kernels "
        "FROM selected_statistics JOIN selected_signatures USING (signature_id) "
        "WHERE part IS NULL AND position IS NULL AND zero_duration > 0 GROUP BY type "
        "ORDER BY kernels DESC, type"
    ).fetchall()
    if not found:
        return []
    named = ", ".join(f"{type_} ({kernels:,})" for type_, kernels in found[:_TYPES_NAMED])
    left = len(found) - _TYPES_NAMED
    more = f" and {left} more type{'s' if left > 1 else ''}" if left > 0 else ""
    total = sum(kernels for _, kernels in found)
    what = "1 kernel has" if total == 1 else f"{total:,} kernels have"
    return [
        f"{what} a duration of 0 in the export, which is no measurement: counted, "
        f"but in no median, floor or label: {named}{more}"
    ]


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


def _columns_at_once(con: duckdb.DuckDBPyConnection) -> int:
    """How many medians fit into memory together, from the kernels and groups of _statistics."""
    row = con.execute(
        "SELECT coalesce(sum(count), 0) + ? * count(*) FROM _statistics", [_VALUES_PER_GROUP]
    ).fetchone()
    values = 0 if row is None else int(row[0])
    return max(1, _VALUES_AT_ONCE // max(1, values))
