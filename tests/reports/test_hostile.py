"""No format acts on what a kernel is called."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.reports.render import render

from tests.reports import hostile
from tests.reports.answers import COVERAGE, DEVICE, GATE_UP, RUN


def answer_named(text: str) -> Answer:
    """Hotspots in which every text that an export can set is the hostile one."""
    row = replace(GATE_UP, type=text, input_shapes=text, input_dtypes=text, core=text, reason=text)
    run = replace(RUN, name=text, source_paths=(text,))
    return Answer("hotspots", run, DEVICE, COVERAGE, (row,), (text,), {text: ({text: text},), "plain": text})


class Elements(HTMLParser):
    """Collects elements with their attributes, as a browser would see them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember the element."""
        self.found.append((tag, dict(attrs)))


def elements(page: str) -> list[tuple[str, dict[str, str | None]]]:
    """The page's elements in document order."""
    parser = Elements()
    parser.feed(page)
    return parser.found


@pytest.mark.parametrize("name", hostile.EVERY)
def test_html_gains_no_element_and_no_handler(name: str) -> None:
    """A hostile name adds neither an element nor an attribute that a harmless one would not have."""
    ordinary = elements(render(answer_named("ordinary"), "html"))
    attacked = elements(render(answer_named(hostile.EVERY[name]), "html"))
    strip = [(tag, sorted(attributes)) for tag, attributes in ordinary if tag != "wbr"]
    assert [(tag, sorted(attributes)) for tag, attributes in attacked if tag != "wbr"] == strip


@pytest.mark.parametrize("name", hostile.EVERY)
@pytest.mark.parametrize("width", [80, 120, 220])
def test_a_terminal_gets_no_control_character(name: str, width: int) -> None:
    """The table holds printable text and line ends only, and stays within the width."""
    text = render(answer_named(hostile.EVERY[name]), "table", width)
    assert all(each == "\n" or each.isprintable() for each in text)
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("name", hostile.EVERY)
def test_markdown_keeps_its_rows(name: str) -> None:
    """Every table row has as many unescaped pipes as its header, and no raw HTML or link comes through."""
    text = render(answer_named(hostile.EVERY[name]), "md")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    pipes = [line.replace("\\|", "").count("|") for line in rows]
    assert pipes[0] == pipes[1] == pipes[2] > 10
    assert not re.search(r"(?<!\\)(<|\]\(|`)", text)


@pytest.mark.parametrize("name", hostile.EVERY)
def test_csv_is_read_back_without_formulas(name: str) -> None:
    """A CSV reader gets rows of equal length in which no text cell begins like a formula."""
    rows = list(csv.reader(io.StringIO(render(answer_named(hostile.EVERY[name]), "csv"))))
    assert len({len(row) for row in rows}) == 1
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@"))]
    assert all(each.isprintable() for row in rows for cell in row for each in cell)


@pytest.mark.parametrize("name", hostile.EVERY)
def test_json_holds_the_name_whole(name: str) -> None:
    """JSON is for programs: the name comes back exactly, a megabyte of it too."""
    text = render(answer_named(hostile.EVERY[name]), "json")
    assert json.loads(text)["rows"][0]["type"] == hostile.EVERY[name]
    assert all(each == "\n" or each.isprintable() for each in text)


@pytest.mark.parametrize("format", ["table", "md", "html"])
def test_a_megabyte_name_is_cut_and_counted(format: str) -> None:
    """What people read stays short, and says how much was cut."""
    text = render(answer_named(hostile.LONG), format, 120)
    assert len(text) < 120_000
    assert "characters" in text
