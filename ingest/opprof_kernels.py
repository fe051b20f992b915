"""Operators of `msprof op` that stand alone -> a rank whose kernels they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import UnsupportedExport
from .cells import duration_problem
from .columns import Header, header_of, kernel_columns
from .grouping import FoundRank
from .kernel_sql import KEY_COLUMNS, create_raw, raw_columns
from .kernel_table import KernelFile
from .naming import binary_type
from .opprof import Operator, counters, operator_type, read_operators
from .options import IngestOptions
from .probe import fingerprint

if TYPE_CHECKING:
    import duckdb

METRIC_MODE = "msprof_op"
_OWN = ("name", "core", "start", "duration_us", "block", "mix_block", "device_id")
_LAUNCHES = (
    "msprof op measured these operators alone: the n-th launch of each is step n here, one after the other, "
    "so order and idle time mean nothing"
)
_ALONE = (
    "msprof op measured these operators alone, one at a time: they stand here one after the other, so order, "
    "idle time and steps mean nothing"
)


def read_operator_kernels(
    con: duckdb.DuckDBPyConnection, rank: FoundRank, options: IngestOptions
) -> list[KernelFile]:
    """Fill `raw` and `raw_rejects` of a scratch database with one kernel per measured launch.

    Raises UnsupportedExport when no operator has a name and a duration.
    """
    operators = [each for each in read_operators(rank.files, options) if each.basic is not None]
    measured = [_row(number, each, options) for number, each in enumerate(operators)]
    header = _header(measured)
    con.execute(create_raw(raw_columns([header])))
    con.execute("CREATE TABLE raw_rejects (file INTEGER, line BIGINT, reason VARCHAR, text VARCHAR)")
    for number, row in enumerate(measured):
        if "problem" in row:
            con.execute("INSERT INTO raw_rejects VALUES (?, 2, ?, ?)", [number, row["problem"], ""])
    repeated = _in_time([row for row in measured if "problem" not in row])
    start_ns = 0
    for row in repeated:
        _insert(con, {**row, "start_ns": start_ns})
        start_ns += round(row["duration_us"] * 1000)
    files = [
        _file(operator, header, kept="problem" not in row)
        for operator, row in zip(operators, measured, strict=True)
    ]
    if not any(file.rows_kept for file in files):
        raise UnsupportedExport(
            f"{rank.root}: no operator there has a name and a duration", "run msprof op again"
        )
    files[0].notes.append(_LAUNCHES if any("step_id" in row for row in repeated) else _ALONE)
    return files


def _in_time(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The launches in the order in which they stand; where kernels were launched several times, the n-th
    launch of each is step n, so that repeats are told apart from one another.
    """
    nth = [sum(other["name"] == row["name"] for other in rows[:at]) + 1 for at, row in enumerate(rows)]
    if max(nth, default=1) == 1:
        return rows
    return [
        {**row, "step_id": step}
        for step, row in sorted(zip(nth, rows, strict=True), key=lambda pair: pair[0])
    ]


def _row(number: int, operator: Operator, options: IngestOptions) -> dict[str, Any]:
    """The kernel of one launch, or why there is none."""
    cells = operator.cells
    if cells is None:
        return {"problem": operator.table.problem or "OpBasicInfo.csv has no readable row"}
    duration = cells.get("duration_us")
    problem = duration_problem("" if duration is None else str(duration), options)
    if problem or duration is None:
        return {"problem": problem or "no duration"}
    own = {"file": number, "line": 2, "name": cells["name"], "type": _type(cells["name"])}
    plain = {name: cells.get(name) for name in ("duration_us", "block", "mix_block", "device_id")}
    return {**own, "core": operator.core, **plain, **counters(operator.block_rows(), duration, options)}


def _type(name: str) -> str | None:
    """The name itself, as msprof gives the type of a custom kernel; None where the name holds a type."""
    return operator_type(name) if binary_type(name) is None else None


def _header(rows: list[dict[str, Any]]) -> Header:
    present = {name for row in rows for name in row} | set(_OWN)
    header = header_of([column for column in kernel_columns() if column.name in present])
    return replace(header, metric_mode=METRIC_MODE)


def _insert(con: duckdb.DuckDBPyConnection, row: dict[str, Any]) -> None:
    """One row of raw; columns that are not named are NULL."""
    known = dict(
        con.execute("SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'raw'").fetchall()
    )
    cells = ", ".join(
        f"CAST(${name} AS {type_}) AS {name}" if name in row else f"CAST(NULL AS {type_}) AS {name}"
        for name, type_ in known.items()
        if name not in ("untyped_name", "signature_key")
    )
    con.execute(
        f"INSERT INTO raw BY NAME SELECT *, {KEY_COLUMNS} FROM (SELECT {cells})",
        {name: value for name, value in row.items() if name in known},
    )


def _file(operator: Operator, header: Header, kept: bool) -> KernelFile:
    assert operator.basic is not None
    path = operator.basic.path
    return KernelFile(path, header, fingerprint(path), 1, int(kept), int(not kept))
