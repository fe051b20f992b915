"""Tables and columns of profiler databases as profiler_db.toml spells them, matched to a database at hand."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import UnsupportedExport
from .sqlite_source import SourceColumn, SqliteSource

# An id that stands in STRING_IDS is read as the number that it is.
_STRING = "string"


@dataclass(frozen=True)
class FoundTable:
    """One table as it can be read: its columns (absent ones included) and names that nobody knows."""

    name: str
    columns: tuple[SourceColumn, ...]
    unknown: tuple[str, ...]
    present: bool

    @property
    def names(self) -> frozenset[str]:
        """Canonical names of the columns that the file has."""
        return frozenset(column.name for column in self.columns if column.spelling is not None)


def find_table(source: SqliteSource, name: str, section: str = "table") -> FoundTable:
    """Match one table of a section of profiler_db.toml to the database.

    Raises UnsupportedExport when the table must be there and is not, or lacks a column that it needs.
    """
    data = schema_data()[section][name]
    found = source.tables.get(name)
    if found is None and data.get("required"):
        there = ", ".join(sorted(each for each, _ in source.tables.values())[:12])
        raise UnsupportedExport(
            f"{source.path}: no table {name}, so it is no profiler database with kernels",
            f"its tables are: {there or 'none'}",
        )
    spelled = {} if found is None else {column.lower(): column for column in found[1]}
    columns = tuple(_column(key, row, spelled) for key, row in data["columns"].items())
    if found is not None:
        _refuse_missing(source, name, data["columns"], columns)
    known = {spelling.lower() for row in data["columns"].values() for spelling in row["spellings"]}
    known |= {ignored.lower() for ignored in data["ignored"]}
    unknown = tuple(f"{name}.{column}" for key, column in spelled.items() if key not in known)
    return FoundTable(name, columns, unknown, found is not None)


@lru_cache(maxsize=1)
def schema_data() -> dict[str, Any]:
    """profiler_db.toml."""
    return tomllib.loads(Path(__file__).with_name("profiler_db.toml").read_text(encoding="utf-8"))


def _column(name: str, row: Mapping[str, Any], spelled: Mapping[str, str]) -> SourceColumn:
    spelling = next((spelled[each.lower()] for each in row["spellings"] if each.lower() in spelled), None)
    return SourceColumn(name, spelling, "integer" if row["kind"] == _STRING else row["kind"])


def _refuse_missing(
    source: SqliteSource, table: str, rows: Mapping[str, Any], columns: tuple[SourceColumn, ...]
) -> None:
    missing = [
        rows[column.name]["spellings"][0]
        for column in columns
        if column.spelling is None and rows[column.name].get("required")
    ]
    if missing:
        raise UnsupportedExport(
            f"{source.path}: the table {table} has no column {', '.join(missing)}",
            f"its columns are: {', '.join(source.tables[table][1])}",
        )
