"""An answer for a terminal: the answer in the first line, how far to trust it, the tables, the notes.

Made for 80 columns and better at 120: `columns.toml` says which columns a width has room for. Nothing is
coloured unless the caller says that a terminal will read it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
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
from .escape import NOTE_CHARACTERS, shown
from .folding import BREAK, WORDS, fold, least_width
from .headline import coverage_line, device_line, headline
from .palette import BOUNDS, PALETTE
from .tables import Cell, Table, facts_of, tables_of

SHAPE_LINES: Final = 3
UNCUT_SHARE: Final = 0.31  # of the terminal that a column gets at most so that no word of it is cut
HEADER_CELLS: Final = 9  # a number's header of several words takes a line for each rather than more than this
WHOLE_COVERAGE: Final = ("summary",)  # elsewhere one line of it stands between the answer and its rows
ROW_LINES: Final = 4  # a reason that makes a row taller than this stands below the table


class Folded:
    """Text that folds after a separator where it can: `384,192,16,32` never breaks inside a number."""

    def __init__(self, text: str, column: Column, style: Style) -> None:
        self.text, self.style = text, style
        self.least = column.least or len(text)
        # A fused kernel lists a dozen operands; the terminal shows the first ones, the other formats all.
        self.most_lines = SHAPE_LINES if column.format_name == "shapes" else None
        self.breaks = WORDS if column.format.css == "long" else BREAK

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Between the least width and the whole text on one line, in terminal cells.

        The least is what the column declares, and more where that would cut a word; a hash or a name without
        an end may be cut.
        """
        whole = Text(self.text).cell_len
        uncut = min(least_width(self.text, self.breaks), int(console.width * UNCUT_SHARE))
        return Measurement(min(whole, max(self.least, uncut)), whole).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """One Text per line of the width that the table gives."""
        lines = list(fold(self.text, options.max_width, self.breaks))
        if self.most_lines is not None and len(lines) > self.most_lines:
            kept = lines[: self.most_lines]
            kept[-1] = kept[-1][: options.max_width - 1] + "…"
            lines = kept
        yield Text("\n".join(lines), style=self.style)


def render_console(answer: Answer, width: int = 80, color: bool = False, top: int | None = None) -> str:
    """The answer as text of at most `width` columns; ANSI colours only where `color` says so.

    `top`: rows of the main table, 0 = all rows of all tables; None = as `tables.toml` says.
    """
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
    tables = [_with_rows(table, top, f"{answer.command}-rows") for table in tables_of(answer)]
    for table in tables:
        _print_table(console, table, width)
    if top is not None and (line := _left_out(tables)):
        console.print(Text(f"\n{line}", style="dim"))
    for name, text in facts_of(answer):
        console.print(Text(shown(f"{name.replace('_', ' ')}: {text}", 1000)))
    if answer.notes:
        console.print()
        for note in answer.notes:
            console.print(Padding(Text(f"- {shown(note, NOTE_CHARACTERS)}"), (0, 0)))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _with_rows(table: Table, top: int | None, main: str) -> Table:
    """The table with the rows that the user asked to see."""
    if top is None or (top and table.name != main):
        return table
    return replace(table, terminal_rows=top or None)


def _left_out(tables: Sequence[Table]) -> str:
    """The tables that a terminal gets only when all is asked for, with their rows."""
    hidden = [
        f"{table.title} ({len(table.rows)})" for table in tables if table.terminal_rows == 0 and table.rows
    ]
    return (
        f"Not shown: {', '.join(hidden)}. --top 0 shows all, --format md, json and -o FILE.html too."
        if hidden
        else ""
    )


def _trust(coverage: Coverage | None, device: DeviceInfo | None, answer: Answer) -> Iterator[str]:
    if coverage:
        yield coverage.sentence if answer.command in WHOLE_COVERAGE else coverage_line(coverage)
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
    made = _made(table, shown_at)
    why = [at for at in shown_at if table.details and table.columns[at].format_name == "long"]
    if why and _tallest_row(console, made) > ROW_LINES:
        shown_at = [at for at in shown_at if at not in why]
        made = _made(table, shown_at)
    console.print()
    if table.title:
        console.print(Text(shown(table.title), style="bold"))
    if table.lead:
        console.print(Text(table.lead, style="dim"))
    console.print(made)
    if table.terminal_rows is not None and (left := len(table.rows) - table.terminal_rows) > 0:
        console.print(Text(f"… and {left:,} more rows: --format md, csv or json", style="dim"))
    if not any(table.columns[at].format_name == "long" for at in shown_at):
        _print_details(console, table)


def _made(table: Table, shown_at: Sequence[int]) -> RichTable:
    # No padding at the edges and one blank between columns: 80 columns hold eight of them.
    made = RichTable(box=SIMPLE_HEAD, padding=(0, 0, 0, 1), pad_edge=False, show_edge=False)
    for at in shown_at:
        _add_column(made, table.columns[at])
    for row in table.rows[: table.terminal_rows]:
        made.add_row(*(_renderable(table.columns[at], row[at]) for at in shown_at))
    return made


def _tallest_row(console: Console, made: RichTable) -> int:
    """Lines of the tallest row; rows with a reason begin with an id, which never folds."""
    lines = ["".join(part.text for part in line) for line in console.render_lines(made, pad=False)]
    body = lines[next((at for at, line in enumerate(lines) if "─" in line), 0) + 1 :]
    starts = [at for at, line in enumerate(body) if line[:1].strip()]
    return max((end - at for at, end in pairwise([*starts, len(body)])), default=0)


def _print_details(console: Console, table: Table) -> None:
    if not table.details:
        return
    listed = [(row[0].text, detail) for row, detail in zip(table.rows, table.details, strict=True) if detail]
    if listed:
        console.print(Text("\nwhy", style="bold"))
    for name, detail in listed[: table.details_shown]:
        console.print(Padding(Text(f"{shown(name or '')}  {shown(detail, 1000)}"), (0, 0)))
    if (left := len(listed) - table.details_shown) > 0:
        console.print(Text(f"… and {left} more: npu-roofline explain ID, or --format md", style="dim"))


def _add_column(made: RichTable, column: Column) -> None:
    header = shown(column.header)
    if column.numeric:
        header = "\n".join(fold(header, HEADER_CELLS))
    if column.unit:
        header += f"\n{column.unit}"
    if column.numeric:
        made.add_column(header, justify="right", no_wrap=True)
    else:
        made.add_column(header, justify="left", overflow="fold", no_wrap=column.format_name == "id")


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
