"""What a profiler database says about itself: its rank, its chip family, the steps of analysis.db."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import NpuRooflineError
from .columns import Column, resolve
from .options import IngestOptions
from .probe import fingerprint
from .small_tables import SmallTable
from .sqlite_source import SqliteSource, is_sqlite, open_sqlite

_RANK_IN_NAME = re.compile(r"ascend_\w+_profiler_(\d{1,9})\.db")
_STEP_TABLE = "STEPTRACETIME"


def database_rank(path: Path) -> int | None:
    """The rank that a database says it is of, else the number in its name; None when neither says it."""
    named = _RANK_IN_NAME.fullmatch(path.name)
    rank = None if named is None else int(named[1])
    if not is_sqlite(path):
        return rank
    try:
        with open_sqlite(path) as source:
            said = _column(source, "RANK_DEVICE_MAP", "rankId")
    except NpuRooflineError:
        return rank  # it is reported when it is read
    return said[0] if len(said) == 1 and isinstance(said[0], int) and 0 <= said[0] < 2**31 else rank


def database_devices(path: Path) -> list[int]:
    """The devices whose tasks a database holds, ascending; nothing when it cannot be read."""
    try:
        with open_sqlite(path) as source:
            found = source.tables.get("TASK")
            if found is None or "deviceId" not in found[1]:
                return []
            rows = source.rows(
                f'SELECT DISTINCT "deviceId" FROM "{found[0]}" WHERE typeof("deviceId") = \'integer\''
            )
            return sorted(device for (device,) in rows if 0 <= device < 2**31)
    except NpuRooflineError:
        return []  # it is reported when it is read


def chip_names(source: SqliteSource) -> list[str]:
    """The names in NPU_INFO: a family (`Ascend910B`), never a chip."""
    return sorted({name for name in _column(source, "NPU_INFO", "name") if isinstance(name, str) and name})


def read_step_trace(path: Path, kind: str, options: IngestOptions) -> SmallTable:
    """StepTraceTime of analysis.db as the rows of step_trace_time.csv; a damaged database says why.

    `kind` is the kind of the file, which every reader of a small table is given.
    """
    del kind
    try:
        table = SmallTable(print=fingerprint(path))
        with open_sqlite(path, options) as source:
            found = source.tables.get(_STEP_TABLE)
            if found is None:
                return SmallTable(print=table.print)
            header = resolve(found[1], "step_trace_time", f"{path.name}: {found[0]}")
            for cells in source.rows(f'SELECT * FROM "{found[0]}"'):
                row = _step(cells, header.fields)
                if row is None:
                    table.skipped += 1
                else:
                    table.rows.append(row)
    except NpuRooflineError as error:
        return SmallTable(problem=error.message)
    return table


def _step(cells: Sequence[Any], columns: Sequence[Column | None]) -> dict[str, Any] | None:
    """One row by column name; None when a cell is no number."""
    row: dict[str, Any] = {}
    for cell, column in zip(cells, columns, strict=True):
        if column is None:
            continue
        if isinstance(cell, str) and column.type == "INTEGER":
            cell = int(cell) if re.fullmatch(r"-?\d{1,9}", cell, re.ASCII) else cell or None
        if cell is not None and not isinstance(cell, int | float):
            return None
        row[column.name] = cell
    return row


def _column(source: SqliteSource, table: str, column: str) -> list[Any]:
    """The values of one column of a small table; nothing when it is not there."""
    found = source.tables.get(table)
    if found is None or column not in found[1]:
        return []
    return [value for (value,) in source.rows(f'SELECT DISTINCT "{column}" FROM "{found[0]}" LIMIT 1000')]
