"""The columns of every table of every command, read from `columns.toml`."""

from __future__ import annotations

import functools
import importlib.resources
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .formats import Format, format_named

# Terminals narrower than this get only the columns marked for them; a wider one gets more.
NARROWEST: Final = 80


@dataclass(frozen=True)
class Column:
    """One column: which fields of a row it shows, under which header, how printed, and from which width on.

    Several `fields` are printed together, joined by `separator` (`memory/hbm`); equal neighbours are printed
    once.
    """

    fields: tuple[str, ...]  # dotted paths into the row
    header: str
    format_name: str
    separator: str = "/"
    from_width: int = NARROWEST  # terminal columns; HTML and Markdown show every column
    least: int | None = None  # least width in a terminal before text is folded
    filter: bool = False  # HTML: a select beside the table
    help: str = ""
    none: str = ""  # what a cell without a value says, where that has a meaning of its own
    html_only: bool = False

    @property
    def format(self) -> Format:
        """How its values are printed."""
        return format_named(self.format_name)

    @property
    def unit(self) -> str:
        """The unit that stands in the header."""
        return self.format.unit

    @property
    def numeric(self) -> bool:
        """Whether the column holds numbers."""
        return self.format.numeric

    @property
    def align(self) -> str:
        """`right` for numbers, `left` for text."""
        return "right" if self.numeric else "left"

    @property
    def css(self) -> str:
        """The classes of its HTML cells."""
        return f"{self.align} {self.format.css}".strip()

    @property
    def kind(self) -> str:
        """The name of its format, by which HTML and terminal give bounds and changes their colour."""
        return self.format_name


@dataclass(frozen=True)
class TableColumns:
    """The declared columns of one table of one command."""

    title: str
    columns: tuple[Column, ...]
    empty: str = ""  # said in place of an empty table; '' = leave the table out
    lead: str = ""  # one sentence on how to read it
    detail: str = ""  # a field that is listed below where the terminal has no room for its column


@functools.cache
def declared() -> Mapping[str, Mapping[str, TableColumns]]:
    """Command -> table name -> columns. `rows` are the answer's rows, other names its extras."""
    text = importlib.resources.files("npu_roofline.reports").joinpath("columns.toml").read_text("utf-8")
    return {
        command: {name: _table(command, name, entry) for name, entry in tables.items()}
        for command, tables in tomllib.loads(text).items()
    }


def columns_for(command: str, table: str) -> TableColumns | None:
    """What `columns.toml` declares for the table, or None: then the columns follow from the rows."""
    return declared().get(command, {}).get(table)


def _table(command: str, name: str, entry: Mapping[str, Any]) -> TableColumns:
    where = f"columns.toml [{command}.{name}]"
    return TableColumns(
        title=entry.get("title", ""),
        columns=tuple(_column(each, where) for each in entry["columns"]),
        empty=entry.get("empty", ""),
        lead=entry.get("lead", ""),
        detail=entry.get("detail", ""),
    )


def _column(entry: Mapping[str, Any], where: str) -> Column:
    known = {"field", "header", "format", "separator", "from", "least", "filter", "help", "none", "html_only"}
    if unknown := set(entry) - known:
        raise ValueError(f"{where}: unknown key {', '.join(sorted(unknown))}")
    field = entry["field"]
    column = Column(
        fields=(field,) if isinstance(field, str) else tuple(field),
        header=entry["header"],
        format_name=entry.get("format", "text"),
        separator=entry.get("separator", "/"),
        from_width=entry.get("from", NARROWEST),
        least=entry.get("least"),
        filter=entry.get("filter", False),
        help=entry.get("help", ""),
        none=entry.get("none", ""),
        html_only=entry.get("html_only", False),
    )
    column.format  # noqa: B018  an unknown format name fails here, at load, with its name
    return column
