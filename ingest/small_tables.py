"""step_trace_time.csv and op_statistic.csv -> tables, as exported: what the profiler itself says."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import NpuRooflineError
from .cells import number_text
from .columns import NOT_RECORDED, Column, resolve
from .database import insert_rows
from .options import IngestOptions
from .probe import Fingerprint, fingerprint, read_header

if TYPE_CHECKING:
    import duckdb


@dataclass
class SmallTable:
    """The rows of one small file by column name, or the reason why there are none."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    print: Fingerprint | None = None
    problem: str | None = None
    skipped: int = 0


def read_small_table(path: Path, table: str, options: IngestOptions) -> SmallTable:
    """Read a small CSV file by alias; a damaged row is left out and counted, a damaged file says why."""
    try:
        if path.stat().st_size > options.small_file_limit_bytes:
            return SmallTable(problem="far larger than such a file is; not read")
        header = resolve(read_header(path), table, path.name)
        result = SmallTable(print=fingerprint(path))
        with path.open(encoding="utf-8-sig", newline="") as file:
            for fields in _records(file):
                row = _row(fields, header.fields)
                if row is None:
                    result.skipped += 1
                else:
                    result.rows.append(row)
    except NpuRooflineError as error:
        return SmallTable(problem=error.message)
    except OSError as error:
        return SmallTable(problem=f"cannot be read: {error.strerror or error}")
    except (UnicodeDecodeError, csv.Error):
        return SmallTable(problem="not a CSV file in UTF-8")
    return result


def _records(file: Any) -> Any:
    """Data rows; blank lines are none."""
    reader = csv.reader(file)
    next(reader, None)
    return (fields for fields in reader if any(cell.strip() for cell in fields))


def _row(fields: list[str], columns: tuple[Column | None, ...]) -> dict[str, Any] | None:
    """One row by column name; None when it has the wrong number of fields or a cell that is no number."""
    if len(fields) != len(columns):
        return None
    row = {}
    for cell, column in zip(fields, columns, strict=True):
        if column is None:
            continue
        text = cell.strip()
        if column.type == "VARCHAR":
            row[column.name] = None if text in NOT_RECORDED else text
            continue
        number = number_text(text, column)
        if number is None:
            return None
        row[column.name] = (
            None if number == "" else (float(number) if column.type == "DOUBLE" else int(number))
        )
    return row


def add_step_trace(con: duckdb.DuckDBPyConnection, rank_id: int, rows: list[dict[str, Any]]) -> None:
    """Put the profiler's own step times beside the steps; a step without kernels gets a row of its own.

    A file without step numbers describes the whole capture, which is step 0 of a rank without steps.
    """
    for row in rows:
        values = {name: value for name, value in row.items() if name.startswith("trace_")}
        step_id = 0 if row.get("step_id") is None else row["step_id"]
        sets = ", ".join(f"{name} = ?" for name in values)
        where = [rank_id, step_id]
        there = con.execute("SELECT count(*) FROM steps WHERE rank_id = ? AND step_id = ?", where).fetchone()
        if there is None or not there[0]:
            con.execute(
                "INSERT INTO steps BY NAME SELECT 1 AS run_id, ? AS rank_id, ? AS step_id, 0 AS kernels, "
                "'step_trace_time' AS source",
                where,
            )
        con.execute(f"UPDATE steps SET {sets} WHERE rank_id = ? AND step_id = ?", [*values.values(), *where])


def add_op_statistics(con: duckdb.DuckDBPyConnection, rank_id: int, rows: list[dict[str, Any]]) -> None:
    """Keep op_statistic.csv as exported, to reconcile the kernels with it."""
    names = ("type", "core", "count", "total_us", "min_us", "avg_us", "max_us", "ratio_pct")
    insert_rows(con, "op_statistics", [(1, rank_id, *(row.get(name) for name in names)) for row in rows])
