"""An answer for a terminal: the answer in the first line, how far to trust it, the tables, the notes.

Made for 80 columns and better at 120: `columns.toml` says which columns a width has room for. Nothing is
coloured unless the caller says that a terminal will read it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.style import Style
from rich.table import Table as RichTable
from rich.text import Text

from ..analyzer.answer import Answer, Coverage, DeviceInfo
from ..units import NOT_KNOWN
from .columns import Column
from .escape import shown
from .folding import BREAK, WORDS, fold
from .headline import device_line, headline
from .palette import BOUNDS, PALETTE
from .tables import Cell, Table, facts_of, tables_of

# Reasons listed below a table whose width has no room for the column: the first ones matter most.
DETAILS_SHOWN: Final = 5
SHAPE_LINES: Final = 3


class Folded:
    """Text that folds after a separator where it can: `384,192,16,32` never breaks inside a number."""

    def __init__(self, text: str, column: Column, style: Style) -> None:
        self.text, self.style = text, style
        self.least = column.least or len(text)
        # A fused kernel lists a dozen operands; the terminal shows the first ones, the other formats all.
        self.most_lines = SHAPE_LINES if column.format_name == "shapes" else None
        self.breaks = WORDS if column.format.css == "long" else BREAK

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Between the declared least width and the whole text on one line, in terminal cells."""
        whole = Text(self.text).cell_len
        return Measurement(min(whole, self.least), whole).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """One Text per line of the width that the table gives."""
        lines = list(fold(self.text, options.max_width, self.breaks))
        if self.most_lines is not None and len(lines) > self.most_lines:
            kept = lines[: self.most_lines]
            kept[-1] = kept[-1][: options.max_width - 1] + "…"
            lines = kept
        yield Text("\n".join(lines), style=self.style)


def render_console(answer: Answer, width: int = 80, color: bool = False) -> str:
    """The answer as text of at most `width` columns; ANSI colours only where `color` says so."""
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=color,
        color_system="truecolor" if color else None,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(Text(shown(headline(answer), 600), style="bold"))
    for line in _trust(answer.coverage, answer.device, answer):
        console.print(Text(shown(line, 1000)))
    for table in tables_of(answer):
        _print_table(console, table, width)
    for name, text in facts_of(answer):
        console.print(Text(shown(f"{name.replace('_', ' ')}: {text}", 1000)))
    if answer.notes:
        console.print()
        for note in answer.notes:
            console.print(Padding(Text(f"- {shown(note, 2000)}"), (0, 0)))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _trust(coverage: Coverage | None, device: DeviceInfo | None, answer: Answer) -> Iterator[str]:
    if coverage:
        yield coverage.sentence
    if device and (line := device_line(device)) != headline(answer):
        yield line
    if answer.run:
        yield f"Run {answer.run.name}, {_selection(answer)}."


def _selection(answer: Answer) -> str:
    run = answer.run
    assert run is not None
    rank = "no rank with kernels" if run.rank is None else f"rank {run.rank}"
    if len(run.ranks) > 1:
        rank += f" of {len(run.ranks)}"
    steps = run.steps
    if not steps:
        return rank
    span = f"{steps[0]}" if len(steps) == 1 else f"{steps[0]} to {steps[-1]}"
    return f"{rank}, {'step' if len(steps) == 1 else f'{len(steps)} steps'} {span}"


def _print_table(console: Console, table: Table, width: int) -> None:
    if table.terminal_rows == 0:
        return
    if not table.rows:
        if table.empty:
            console.print(Text(f"\n{table.empty}"))
        return
    shown_at = [
        at for at, column in enumerate(table.columns) if column.from_width <= width and not column.html_only
    ]
    # No padding at the edges and one blank between columns: 80 columns hold eight of them.
    made = RichTable(box=SIMPLE_HEAD, padding=(0, 0, 0, 1), pad_edge=False, show_edge=False)
    for at in shown_at:
        _add_column(made, table.columns[at])
    for row in table.rows[: table.terminal_rows]:
        made.add_row(*(_renderable(table.columns[at], row[at]) for at in shown_at))
    console.print()
    if table.title:
        console.print(Text(shown(table.title), style="bold"))
    if table.lead:
        console.print(Text(table.lead, style="dim"))
    console.print(made)
    if table.terminal_rows is not None and (left := len(table.rows) - table.terminal_rows) > 0:
        console.print(Text(f"… and {left:,} more rows: --format md, csv or json", style="dim"))
    _print_details(console, table, width)


def _print_details(console: Console, table: Table, width: int) -> None:
    if not table.details or any(
        column.from_width <= width for column in table.columns if column.format_name == "long"
    ):
        return
    listed = [(row[0].text, detail) for row, detail in zip(table.rows, table.details, strict=True) if detail]
    if listed:
        console.print(Text("\nwhy", style="bold"))
    for name, detail in listed[:DETAILS_SHOWN]:
        console.print(Padding(Text(f"{shown(name or '')}  {shown(detail, 1000)}"), (0, 0)))
    if (left := len(listed) - DETAILS_SHOWN) > 0:
        console.print(Text(f"… and {left} more: npu-roofline explain ID, or --format md", style="dim"))


def _add_column(made: RichTable, column: Column) -> None:
    header = shown(column.header)
    if column.unit:
        header += f"\n{column.unit}"
    if column.numeric:
        made.add_column(header, justify="right", no_wrap=True)
    else:
        made.add_column(header, justify="left", overflow="fold")


def _renderable(column: Column, cell: Cell) -> Text | Folded:
    if cell.text is None:
        return Text(NOT_KNOWN, style="dim")
    text = shown(cell.text, column.format.characters)
    style = _style(column, cell)
    if column.numeric:
        return Text(text, style=style)
    return Folded(text, column, style)


def _style(column: Column, cell: Cell) -> Style:
    if column.kind == "bound":
        bound = cell.text.split("/")[0] if cell.text else ""
        return Style(color=PALETTE[f"bound-{bound}"][1]) if bound in BOUNDS else Style()
    if column.kind == "change" and cell.text in ("faster", "slower"):
        return Style(color=PALETTE["good" if cell.text == "faster" else "bad"][1])
    return Style()
