"""An answer as CSV: every field of every row, raw values, one rectangular table that any reader takes.

Nested records become dotted columns (`window.duration_us`), lists JSON text, None an empty cell. Where a
command answers with more than one table they stand below each other in the same columns, and the first
column, `table`, says which row belongs to which. Coverage, device and notes are in the other formats: a CSV
holds only rows.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from ..analyzer.answer import Answer
from .columns import records, text_for
from .envelope import plain
from .escape import csv_text, json_text


def render_csv(answer: Answer) -> str:
    """The rows, then the rows of each extra that is a table."""
    tables = _tables(answer)
    rows = [(name, flat(row)) for name, table in tables for row in table]
    columns: dict[str, None] = {}
    for _, row in rows:
        columns.update(dict.fromkeys(row))
    if not rows:
        columns.update(dict.fromkeys(_header_of_nothing(answer)))
    several = len(tables) > 1
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((["table"] if several else []) + [csv_text(name) for name in columns])
    for name, row in rows:
        cells = [_cell(row.get(column)) for column in columns]
        writer.writerow(([csv_text(name)] if several else []) + cells)
    return out.getvalue()


def flat(row: Any, prefix: str = "") -> dict[str, Any]:
    """A plain row with its nested records spread into dotted names."""
    made: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping) and value:
            made |= flat(value, f"{prefix}{name}.")
        else:
            made[f"{prefix}{name}"] = value
    return made


def _tables(answer: Answer) -> list[tuple[str, Sequence[Any]]]:
    found = [("rows", plain(answer.rows))]
    for name, value in answer.extras.items():
        data = plain(value)
        if isinstance(data, Mapping):
            data = [data]
        if isinstance(data, list) and data and all(isinstance(row, Mapping) for row in data):
            found.append((name, data))
    return found


def _header_of_nothing(answer: Answer) -> Sequence[str]:
    """The column names of an answer without rows, so that a script finds the header it reads by."""
    if columns := answer.extras.get("columns"):
        return columns
    spec = records().get(text_for(answer.command, "rows").record)
    return [path for column in spec.columns for path in column.fields] if spec else ()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return csv_text(value)
    if isinstance(value, list | Mapping):
        return csv_text(json_text(value, indent=None))
    return value
