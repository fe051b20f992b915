"""Header names of the text exports -> canonical columns, by columns.toml."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..errors import UnsupportedExport

# Cells that say "not recorded" (formats.md 8.3); an empty cell says the same.
NOT_RECORDED = ("N/A", "NA", "NULL", "")
_ANY_MODE = "any"
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Column:
    """One row of columns.toml; `mode` is the PMU metric mode that adds it, None for other columns."""

    name: str
    spellings: tuple[str, ...]
    type: str
    unit: str
    source: str
    required: bool = False
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """A resolved header: one entry per field of the file, None where the field is not kept."""

    fields: tuple[Column | None, ...]
    unknown: tuple[str, ...]
    metric_mode: str

    @property
    def names(self) -> frozenset[str]:
        """Canonical names of the columns that are there."""
        return frozenset(column.name for column in self.fields if column is not None)


def resolve(header: Sequence[str], table: str, where: str) -> Header:
    """Match the names of a header to the columns of a table ('kernel', 'step_trace_time', 'op_statistic').

    Raises UnsupportedExport when a column occurs twice or a required one is missing; `where` names the file.
    """
    known, ignored = _spellings(table)
    fields = tuple(known.get(_bare(name)) for name in header)
    _refuse_headless(header, fields, where)
    _refuse_duplicates(header, fields, where)
    found = {column.name for column in fields if column is not None}
    missing = [column for column in known.values() if column.required and column.name not in found]
    if missing:
        wanted = ", ".join(dict.fromkeys(" or ".join(column.spellings) for column in missing))
        raise UnsupportedExport(
            f"{where}: no column {wanted}",
            f"the header has: {', '.join(name.strip() for name in header if name.strip()) or 'nothing'}",
        )
    unknown = tuple(
        name.strip()
        for name, column in zip(header, fields, strict=True)
        if column is None and name.strip() and _bare(name) not in ignored
    )
    return Header(fields, unknown, _metric_mode(fields))


def header_of(fields: Sequence[Column], unknown: Sequence[str] = ()) -> Header:
    """The header of a table that is no text: columns that were found under other names."""
    return Header(tuple(fields), tuple(unknown), _metric_mode(fields))


def is_kernel_header(header: Sequence[str]) -> bool:
    """Whether a header is that of a kernel table, whatever the file is called."""
    known, _ = _spellings("kernel")
    found = {column.name for name in header if (column := known.get(_bare(name)))}
    return {"name", "start", "duration_us"} <= found


def kernel_columns() -> tuple[Column, ...]:
    """Every column of a kernel table, in the order of columns.toml."""
    return tuple(dict.fromkeys(_spellings("kernel")[0].values()))


def _bare(name: str) -> str:
    """A header name without blanks and case: `cube_utilization( %)` is `cube_utilization(%)`."""
    return "".join(name.split()).lower()


def _refuse_headless(header: Sequence[str], fields: Sequence[Column | None], where: str) -> None:
    """A first line of values and no known name is a row: the header was cut off."""
    cells = [name.strip().strip("\"'") for name in header]
    values = sum(cell.upper() in NOT_RECORDED or bool(_NUMBER.fullmatch(cell)) for cell in cells)
    if any(fields) or len(cells) < 2 or values < len(cells) / 4:
        return
    raise UnsupportedExport(
        f"{where}: no header row: the first line holds values ({', '.join(cells[:4])}, ...)",
        "put back the line with the column names, or export the profile again",
    )


def _refuse_duplicates(header: Sequence[str], fields: Sequence[Column | None], where: str) -> None:
    """Two fields of one meaning cannot both be right, so neither is believed."""
    keys = [
        column.name if column is not None else _bare(name)
        for name, column in zip(header, fields, strict=True)
    ]
    twice = {key for key, count in Counter(keys).items() if count > 1 and key}
    if twice:
        names = ", ".join(
            dict.fromkeys(name.strip() for name, key in zip(header, keys, strict=True) if key in twice)
        )
        raise UnsupportedExport(
            f"{where}: columns occur twice: {names}", "export the profile again, or remove one of each pair"
        )


def _metric_mode(fields: Sequence[Column | None]) -> str:
    """The metric mode whose columns the header has most of; 'none' when it has no PMU columns."""
    modes = Counter(
        column.mode for column in fields if column is not None and column.mode not in (None, _ANY_MODE)
    )
    if not modes:
        return "none"
    return min(modes, key=lambda mode: (-modes[mode], mode or "")) or "none"


@lru_cache(maxsize=8)
def _spellings(table: str) -> tuple[dict[str, Column], frozenset[str]]:
    """Bare spelling -> column, and the bare spellings that are known and not kept."""
    data = _data()
    rows = dict(data[table])
    if table == "kernel":
        rows.update(data["pmu"])
    known = {}
    for name, row in rows.items():
        column = Column(
            name=name,
            spellings=tuple(row["spellings"]),
            type=row["type"],
            unit=row["unit"],
            source=row["source"],
            required=row.get("required", False),
            mode=row.get("mode"),
        )
        known.update({_bare(spelling): column for spelling in column.spellings})
    ignored = data.get(f"{table}_ignored", {}).get("spellings", [])
    return known, frozenset(_bare(spelling) for spelling in ignored)


@lru_cache(maxsize=1)
def _data() -> dict:
    return tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))
