"""The columns of every kind of row (`columns.toml`) and the words around every table (`tables.toml`)."""

from __future__ import annotations

import functools
import importlib.resources
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    on_page: bool = True  # False: the HTML page has no room for it; every other form has it
    at_least: str = ""  # field that is 'upper_bound' in rows where the value is only the least it can be

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
class RecordColumns:
    """The declared columns of one kind of row; `detail` is the field listed below a narrow table."""

    columns: tuple[Column, ...]
    detail: str = ""


@dataclass(frozen=True)
class TableText:
    """What a table of a command is called and says."""

    title: str
    record: str = ""  # name of the rows' record, for a table that may be empty
    empty: str = ""  # said in place of an empty table; '' = leave the table out
    lead: str = ""  # one sentence on how to read it
    terminal_rows: int | None = None  # how many rows a terminal gets; None = all
    without: tuple[str, ...] = ()  # fields whose columns mean nothing in this table
    first: Mapping[str, Any] = field(default_factory=dict)  # `field` and `values`: such rows stand first
    details: int = 5  # reasons listed below the table in a terminal: the first ones matter most


@functools.cache
def records() -> Mapping[str, RecordColumns]:
    """Name of a record -> its columns."""
    return {
        name: RecordColumns(
            tuple(_column(each, f"columns.toml [{name}]") for each in entry["columns"]),
            entry.get("detail", ""),
        )
        for name, entry in _data("columns.toml").items()
    }


def text_for(command: str, table: str) -> TableText:
    """What `tables.toml` says about a table; its own name as the title where it says nothing."""
    entry = _data("tables.toml").get(command, {}).get(table)
    if entry is None:
        return TableText(table.replace("_", " "))
    return TableText(**entry | {"without": tuple(entry.get("without", ()))})


def table_order(command: str) -> tuple[str, ...]:
    """Names of the tables that come first, in that order; the others follow as the answer has them."""
    return tuple(_data("tables.toml")["order"].get(command, ()))


def silent_extras() -> frozenset[str]:
    """Plain extras that people are not shown, because the answer says them elsewhere."""
    return frozenset(_data("tables.toml")["silent"])


@functools.cache
def _data(name: str) -> Mapping[str, Any]:
    return tomllib.loads(importlib.resources.files("npu_roofline.reports").joinpath(name).read_text("utf-8"))


def _column(entry: Mapping[str, Any], where: str) -> Column:
    known = {
        *("field", "header", "format", "separator", "from", "least", "filter", "help", "none"),
        *("html_only", "on_page", "at_least"),
    }
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
        on_page=entry.get("on_page", True),
        at_least=entry.get("at_least", ""),
    )
    column.format  # noqa: B018  an unknown format name fails here, at load, with its name
    return column
