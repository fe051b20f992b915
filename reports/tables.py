"""An answer as tables of cells, the one shape that console, Markdown and HTML render."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..analyzer.answer import Answer
from .columns import Column, TableColumns, columns_for
from .formats import format_named

# A single record of more fields than this is read down, as name and value, not across.
_FIELDS_ACROSS: Final = 6


@dataclass(frozen=True)
class Cell:
    """One value: `text` as printed (None = not known), `number` where it is one, `css` for its colour.

    `text` is still untrusted: each renderer passes it through `escape` on its way out.
    """

    text: str | None
    number: float | int | None = None
    css: str = ""
    filter_key: str = ""


@dataclass(frozen=True)
class Table:
    """A titled table; `omitted` counts rows that a capped document leaves out."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    empty: str = ""
    lead: str = ""
    details: tuple[str, ...] = ()  # one text per row, for terminals without room for its column
    omitted: int = 0

    @property
    def id(self) -> str:
        """The id of its HTML element."""
        return "table-" + re.sub(r"[^a-z0-9]+", "-", self.name.lower())[:60]

    def options(self, column: Column) -> list[str]:
        """The distinct values that a filter on the column can choose, sorted."""
        at = self.columns.index(column)
        return sorted({row[at].filter_key for row in self.rows if row[at].filter_key})


def tables_of(answer: Answer) -> tuple[Table, ...]:
    """The answer's rows and every extra that is a table, in that order."""
    made = [table(answer.command, "rows", answer.rows)]
    made += [
        table(answer.command, name, rows)
        for name, value in answer.extras.items()
        if (rows := _records(value)) is not None
    ]
    return tuple(made)


def facts_of(answer: Answer) -> tuple[tuple[str, str], ...]:
    """Extras that are plain values, as (name, text)."""
    return tuple(
        (name, _generic_text(value))
        for name, value in answer.extras.items()
        if _records(value) is None and value not in (None, "", ())
    )


def table(command: str, name: str, rows: Sequence[Any], cap: int | None = None) -> Table:
    """Rows as a table with the declared columns, or with the rows' own fields where none are declared.

    Columns without a single known value are left out; `cap` limits the rows, and the rest is counted.
    """
    spec = columns_for(command, name) or TableColumns(name.replace("_", " "), _own_columns(rows))
    if spec.columns == () and len(rows) == 1:
        spec, rows = _RECORD, _read_down(rows[0])
    kept = rows if cap is None else rows[:cap]
    cells = [[_cell(row, column) for column in spec.columns] for row in kept]
    used = [
        at for at in range(len(spec.columns)) if not rows or any(row[at].text is not None for row in cells)
    ]
    return Table(
        name=f"{command}-{name}",
        title=spec.title,
        columns=tuple(spec.columns[at] for at in used),
        rows=tuple(tuple(row[at] for at in used) for row in cells),
        empty=spec.empty,
        lead=spec.lead,
        details=tuple(str(field_value(row, spec.detail) or "") for row in kept) if spec.detail else (),
        omitted=len(rows) - len(kept),
    )


def field_value(row: Any, path: str) -> Any:
    """The value at a dotted path of a record or mapping; None where a part of the path is None or absent."""
    if isinstance(row, Mapping) and path in row:  # a column of a query may have a dot in its name
        return row[path]
    value = row
    for name in path.split("."):
        if value is None:
            return None
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return value


def is_record(value: Any) -> bool:
    """Whether the value is a frozen record or a mapping, that is, can be a row."""
    return isinstance(value, Mapping) or (dataclasses.is_dataclass(value) and not isinstance(value, type))


def record_fields(row: Any) -> tuple[str, ...]:
    """The names of a row's fields in their declared order."""
    return tuple(row) if isinstance(row, Mapping) else tuple(each.name for each in dataclasses.fields(row))


def _cell(row: Any, column: Column) -> Cell:
    values = [field_value(row, path) for path in column.fields]
    known = [value for value in values if _is_known(value)]
    if not known:
        return Cell(column.none or None)
    texts = [column.format.print(value) for value in known]
    texts = [text for at, text in enumerate(texts) if at == 0 or text != texts[at - 1]]
    number = known[0] if column.numeric and isinstance(known[0], int | float) else None
    first = str(known[0])
    text = column.separator.join(text for text in texts if text != "") or None
    return Cell(text, number, css=_css_name(first), filter_key=first if column.filter else "")


def _is_known(value: Any) -> bool:
    return value is not None and value != () and not (isinstance(value, float) and not math.isfinite(value))


def _css_name(text: str) -> str:
    """A class name that only the tool's own words can become: a hostile value gives none."""
    return text if text.isascii() and text.isalpha() and len(text) < 20 else ""


def _records(value: Any) -> Sequence[Any] | None:
    if is_record(value):
        return (value,)
    if isinstance(value, Sequence) and not isinstance(value, str) and value and all(map(is_record, value)):
        return value
    if isinstance(value, tuple | list) and not value:
        return ()
    return None


_RECORD: Final = TableColumns(
    "", (Column(("name",), "field", "raw"), Column(("value",), "value", "list", least=24))
)


def _read_down(row: Any) -> list[dict[str, Any]]:
    return [{"name": name, "value": field_value(row, name)} for name in record_fields(row)]


def _own_columns(rows: Sequence[Any]) -> tuple[Column, ...]:
    """A column per field; none where a single long record is better read down."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(record_fields(row)))
    if len(rows) == 1 and len(names) > _FIELDS_ACROSS:
        return ()
    return tuple(Column((name,), name, _own_format(field_value(row, name) for row in rows)) for name in names)


def _own_format(values: Iterable[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {int, float}:
        return "id_number"
    return "list" if any(issubclass(kind, tuple | list | Mapping) for kind in kinds) else "raw"


def _generic_text(value: Any) -> str:
    return format_named("list").print(value)
