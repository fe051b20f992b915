"""Sampled counters of a profiler database (clock, HBM, LLC, ...) -> one long table, by profiler_db.toml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .profiler_schema import schema_data
from .sqlite_source import SourceColumn, SqliteSource

if TYPE_CHECKING:
    import duckdb

_TIMESTAMP = "timestampNs"
_DEVICE = "deviceId"


def create_counters(con: duckdb.DuckDBPyConnection) -> None:
    """The table of samples of a scratch database, if it is not there yet."""
    con.execute(
        "CREATE TABLE IF NOT EXISTS raw_counters (device_id BIGINT, timestamp_ns BIGINT, counter VARCHAR, "
        "value DOUBLE, unit VARCHAR, detail VARCHAR)"
    )


def copy_counters(con: duckdb.DuckDBPyConnection, source: SqliteSource) -> list[str]:
    """Fill raw_counters from every table that is there (db_texts must be); remarks about samples left out."""
    create_counters(con)
    notes = []
    for row in schema_data()["counter"]:
        left_out = _copy(con, source, row)
        if left_out:
            notes.append(f"{row['table']}: {left_out:,} samples of {row['value']} have no time or no value")
    return notes


def _copy(con: duckdb.DuckDBPyConnection, source: SqliteSource, row: Mapping[str, Any]) -> int:
    """One value column of one table; the number of samples that were left out."""
    found = source.tables.get(row["table"])
    if found is None:
        return 0
    spelled = {name.lower(): name for name in found[1]}
    columns = [
        SourceColumn(name, spelled.get(spelling.lower()), kind)
        for name, spelling, kind in (
            ("device_id", _DEVICE, "integer"),
            ("at_ns", _TIMESTAMP, "integer"),
            ("cell", row["value"], "number"),
            ("kind", row.get("kind", ""), "integer"),
            ("number", row.get("number", ""), "integer"),
        )
    ]
    source.copy_into(con, "db_samples", row["table"], columns)
    con.execute(
        "INSERT INTO raw_counters SELECT s.device_id, s.at_ns, "
        "$counter || coalesce('_' || t.value, ''), s.cell / $divisor, $unit, $label || ' ' || s.number "
        "FROM db_samples AS s LEFT JOIN db_texts AS t ON t.id = s.kind "
        "WHERE s.at_ns > 0 AND isfinite(s.cell)",
        {
            "counter": row["counter"],
            "divisor": row["divisor"],
            "unit": row["unit"],
            "label": row["table"].lower(),
        },
    )
    left_out = con.execute(
        "SELECT count(*) FROM db_samples WHERE NOT coalesce(at_ns > 0 AND isfinite(cell), false)"
    ).fetchall()
    return left_out[0][0]
