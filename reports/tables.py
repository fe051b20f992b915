"""An answer as tables of cells, the one shape that console, Markdown and HTML render."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..analyzer.answer import Answer
from .columns import Column, RecordColumns, records, silent_extras, table_order, text_for
from .formats import format_named

if TYPE_CHECKING:
    from ..analyzer.answer import StepComparison, StepTimes

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
class StepSide:
    """One row of a step comparison: a side, or the change from one to the other."""

    side: str
    steps: int | None = None
    wall_us: float | None = None
    busy_us: float | None = None
    idle_us: float | None = None
    wall_mean_us: float | None = None
    busy_mean_us: float | None = None
    idle_mean_us: float | None = None
    note: str = ""

    @classmethod
    def of(cls, side: str, times: StepTimes) -> StepSide:
        """The row of one side; what was set aside is its note."""
        means = (times.wall_mean_us, times.busy_mean_us, times.idle_mean_us)
        return cls(
            side,
            times.steps,
            times.wall_us,
            times.busy_us,
            times.idle_us,
            *means,
            note="; ".join(times.set_aside),
        )


@dataclass(frozen=True)
class Table:
    """A titled table; `omitted` counts rows that a capped document leaves out."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    empty: str = ""
    lead: str = ""
    terminal_rows: int | None = None  # how many rows a terminal gets; None = all
    details: tuple[str, ...] = ()  # one text per row, for terminals without room for its column
    details_shown: int = 5
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
    """The answer's rows and every extra that is a table; `tables.toml` may put some of them first."""
    rows_of = {"rows": answer.rows}
    for name, value in answer.extras.items():
        if name not in silent_extras():
            rows_of |= {f"{name}{part}": rows for part, rows in _row_sets(value).items()}
    first = [name for name in table_order(answer.command) if name in rows_of]
    names = [*first, *(name for name in rows_of if name not in first)]
    return tuple(table(answer.command, name, rows_of[name]) for name in names)


def facts_of(answer: Answer) -> tuple[tuple[str, str], ...]:
    """Extras that are plain values, as (name, text); what a note says already is not said again."""
    return tuple(
        (name, format_named("list").print(value))
        for name, value in answer.extras.items()
        if value not in (None, "", (), *answer.notes) and not _row_sets(value) and name not in silent_extras()
    )


def table(command: str, name: str, rows: Sequence[Any], cap: int | None = None) -> Table:
    """Rows as a table with the columns of their record, or with their own fields where none are declared.

    Columns without a single known value are left out; `cap` limits the rows, and the rest is counted.
    """
    text = text_for(command, name)
    spec, rows = _columns_of(rows, text.record)
    if text.first:  # a slow all-reduce of one step is the largest change, and no finding
        rows = sorted(rows, key=lambda row: field_value(row, text.first["field"]) not in text.first["values"])
    columns = [column for column in spec.columns if column.fields[0] not in text.without]
    kept = rows if cap is None else rows[:cap]
    cells = [[_cell(row, column) for column in columns] for row in kept]
    used = [at for at in range(len(columns)) if not rows or any(row[at].text is not None for row in cells)]
    return Table(
        name=f"{command}-{name}",
        title=text.title,
        columns=tuple(columns[at] for at in used),
        rows=tuple(tuple(row[at] for at in used) for row in cells),
        empty=text.empty,
        lead=text.lead,
        terminal_rows=text.terminal_rows,
        details=tuple(str(field_value(row, spec.detail) or "") for row in kept)
        if spec.detail and spec.detail not in text.without
        else (),
        details_shown=text.details,
        omitted=len(rows) - len(kept),
    )


def _columns_of(rows: Sequence[Any], expected: str) -> tuple[RecordColumns, Sequence[Any]]:
    """The columns for these rows, and the rows as those columns read them."""
    name = type(rows[0]).__name__ if rows else expected
    if name in records():
        return records()[name], rows
    if len(rows) == 1 and len(record_fields(rows[0])) > _FIELDS_ACROSS:
        return _RECORD, [
            {"name": each, "value": field_value(rows[0], each)} for each in record_fields(rows[0])
        ]
    return RecordColumns(_own_columns(rows)), rows


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
    if text and column.at_least and field_value(row, column.at_least) == "upper_bound":
        text = f"≥ {text}"  # attention whose KV bytes are not told moves at least 2 GB/s, not 2 GB/s
    return Cell(text, number, css=_css_name(first), filter_key=first if column.filter else "")


def _is_known(value: Any) -> bool:
    return value is not None and value != () and not (isinstance(value, float) and not math.isfinite(value))


def _css_name(text: str) -> str:
    """A class name that only the tool's own words can become: a hostile value gives none."""
    return text if text.isascii() and text.isalpha() and len(text) < 20 else ""


def _row_sets(value: Any) -> dict[str, Sequence[Any]]:
    """The tables that an extra is made of, by what is added to its name; none for a plain value."""
    if is_record(value):
        return _tables_of_record(value)
    if isinstance(value, list | tuple) and value and all(map(is_record, value)):
        return {"": value}
    return {}


def _tables_of_record(value: Any) -> dict[str, Sequence[Any]]:
    # Loaded here, because most answers hold no record of a comparison and would wait for them.
    from ..analyzer.answer import StepComparison, StepSpread, Verdict

    if isinstance(value, StepSpread) and value.steps == 1:
        return {"": ()}  # the steps table says the same
    if isinstance(value, StepComparison):
        return {"": _sides(value)}
    if isinstance(value, Verdict):
        outcome = {"outcome": value.outcome, "next": value.next_action, "signals": value.failure_signals}
        return {"": (outcome,), "_criteria": value.criteria}
    return {"": (value,)}


def _sides(step: StepComparison) -> tuple[StepSide, ...]:
    change = StepSide(
        "change", wall_us=step.wall_delta_us, busy_us=step.busy_delta_us, idle_us=step.idle_delta_us,
        note="; ".join(part for part in (step.wall_change, step.why) if part),
    )  # fmt: skip
    return (
        *(StepSide.of(name, times) for name, times in (("before", step.before), ("after", step.after))),
        change,
    )


_RECORD: Final = RecordColumns(
    (Column(("name",), "field", "raw"), Column(("value",), "value", "list", least=24))
)


def _own_columns(rows: Sequence[Any]) -> tuple[Column, ...]:
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(record_fields(row)))
    return tuple(Column((name,), name, _own_format(field_value(row, name) for row in rows)) for name in names)


def _own_format(values: Iterable[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {int, float}:
        return "id_number"
    return "list" if any(issubclass(kind, tuple | list | Mapping) for kind in kinds) else "raw"
