"""Tables and figures in the language of a document: words of the tool are translated, data is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from .tables import Cell, Table
from .words import Words

# Cells of these formats hold words of the tool; and all cells of these columns.
_FORMATS: Final = ("change", "status")
_FIELDS: Final = ("name", "meaning", "confidence", "note", "side", "met", "outcome", "part", "verdict")
_BREAK: Final = "<br>"
# The keys of a figure under which people read strings.
_SHOWN: Final = ("name", "text", "hovertext", "x", "y", "categoryarray", "ticktext")


def translated_table(made: Table, text: Words) -> Table:
    """Title, lead, headers and the words in its cells; sorting and filters keep their keys."""
    if text.lang == "en":
        return made
    translate = [
        column.format_name in _FORMATS or column.fields[0] in _FIELDS or column.fields[-1] in _FIELDS
        for column in made.columns
    ]
    return replace(
        made,
        title=text.say(made.title),
        lead=text.say(made.lead),
        empty=text.say(made.empty),
        columns=tuple(
            replace(column, header=_header(made.name, column.header, text), help=text.say(column.help))
            for column in made.columns
        ),
        rows=tuple(
            tuple(_cell(cell, text) if words else cell for cell, words in zip(row, translate, strict=True))
            for row in made.rows
        ),
    )


def _header(table: str, header: str, text: Words) -> str:
    """A header; one that means something else in this table stands as `table|header` in the file."""
    return text.said.get(f"{table}|{header}") or text.say(header)


def _cell(cell: Cell, text: Words) -> Cell:
    return cell if cell.text is None else replace(cell, text=text.say(cell.text))


def translated_figure(figure: Mapping[str, Any], text: Words) -> Mapping[str, Any]:
    """Titles, legends, categories, and the names of the facts in hover texts."""
    return figure if text.lang == "en" else _walk(figure, text, False)


def _walk(value: Any, text: Words, shown: bool) -> Any:
    """`shown`: the value is read by people; the library's own words, such as "none", stay as they are."""
    if isinstance(value, str):
        return _said(value, text) if shown else value
    if isinstance(value, list):
        return [_walk(each, text, shown) for each in value]
    if isinstance(value, Mapping):
        return {name: _walk(each, text, name in _SHOWN) for name, each in value.items()}
    return value


def _said(value: str, text: Words) -> str:
    """The whole string, or in each line of a hover text the part up to its colon and what follows it."""
    if value in text.said:
        return text.said[value]
    if _BREAK not in value:
        return value
    return _BREAK.join(_line(line, text) for line in value.split(_BREAK))


def _line(line: str, text: Words) -> str:
    name, colon, rest = line.partition(": ")
    if colon and f"{name}:" in text.said:
        return f"{text.said[f'{name}:']} {text.say(rest)}"
    bare = line.removeprefix("<b>").removesuffix("</b>")
    return line.replace(bare, text.say(bare)) if bare in text.said else line
