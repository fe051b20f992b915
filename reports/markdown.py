"""An answer as Markdown: the same order as the terminal, every column, every reason, nothing acted on."""

from __future__ import annotations

from ..analyzer.answer import Answer
from ..units import NOT_KNOWN
from .columns import Column
from .escape import NOTE_CHARACTERS, markdown
from .headline import device_line, headline
from .tables import Cell, Table, facts_of, tables_of


def render_markdown(answer: Answer) -> str:
    """Headline, coverage and device, one section per table, then the notes; ends in a line end."""
    parts = [f"**{markdown(headline(answer), 600)}**"]
    if answer.coverage:
        parts.append(markdown(answer.coverage.sentence, 1000))
    if answer.device and (line := device_line(answer.device)) != headline(answer):
        parts.append(markdown(line, 1000))
    if answer.run:
        sources = ", ".join(answer.run.source_paths)
        parts.append(f"Run {markdown(answer.run.name)} from {markdown(sources, 600)}.")
    parts += [text for table in tables_of(answer) if (text := _section(table))]
    facts = [
        f"- {markdown(name.replace('_', ' '))}: {markdown(text, 1000)}" for name, text in facts_of(answer)
    ]
    if facts:
        parts.append("\n".join(facts))
    if answer.notes:
        parts.append(
            "## Notes\n\n" + "\n".join(f"- {markdown(note, NOTE_CHARACTERS)}" for note in answer.notes)
        )
    return "\n\n".join(parts) + "\n"


def _section(table: Table) -> str:
    if not table.rows:
        return markdown(table.empty) if table.empty else ""
    lines = [f"| {' | '.join(_header(column) for column in table.columns)} |"]
    lines.append(f"| {' | '.join('---:' if column.numeric else '---' for column in table.columns)} |")
    lines += [
        f"| {' | '.join(_cell(column, cell) for column, cell in zip(table.columns, row, strict=True))} |"
        for row in table.rows
    ]
    head = f"## {markdown(table.title)}\n\n" if table.title else ""
    lead = f"{markdown(table.lead, 600)}\n\n" if table.lead else ""
    return head + lead + "\n".join(lines)


def _header(column: Column) -> str:
    return markdown(f"{column.header}, {column.unit}" if column.unit else column.header)


def _cell(column: Column, cell: Cell) -> str:
    return NOT_KNOWN if cell.text is None else markdown(cell.text, column.format.characters)
