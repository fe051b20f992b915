"""The report in a real browser: it opens from a file, draws, sorts and filters, and runs no kernel's name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from npu_roofline.reports.html_report import roofline_report
from npu_roofline.reports.render import render

from tests.browser.webdriver import Browser, browser, browser_missing
from tests.reports import hostile
from tests.reports.answers import every_answer
from tests.reports.report_input import report_input
from tests.reports.test_hostile import answer_named

pytestmark = pytest.mark.skipif(bool(browser_missing()), reason=browser_missing() or "a browser is here")

HOTSPOTS = "#table-hotspots-rows"
HOVER_EVERYTHING = (
    "document.querySelectorAll('*').forEach(each => each.dispatchEvent(new Event('mouseover')))"
)


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    """One browser for all tests; each opens its own page."""
    with browser() as opened:
        yield opened


@pytest.fixture
def report(window: Browser, tmp_path: Path) -> Browser:
    """The report, opened from a file as a reader would."""
    return show(window, roofline_report(report_input()), tmp_path)


def show(window: Browser, page: str, folder: Path) -> Browser:
    """Write a page, open it, and make sure that nothing is left of the page before."""
    file = folder / "report.html"
    file.write_text(page, encoding="utf-8")
    window.resize(1400, 1000)
    window.errors()  # those of the page before
    window.open(file.as_uri())
    return window


def column(window: Browser, title: str) -> list[str]:
    """The texts of one column of the hotspots in the order shown, hidden rows left out."""
    return window.run(
        """
        const table = document.querySelector(arguments[0]);
        const at = Array.from(table.tHead.rows[0].cells).findIndex(
            cell => cell.querySelector("button").firstChild.textContent.trim() === arguments[1]);
        return Array.from(table.tBodies[0].rows).filter(row => !row.hidden)
            .map(row => row.cells[at].textContent.trim());
        """,
        HOTSPOTS,
        title,
    )


def header(window: Browser, title: str) -> str:
    """A selector of the sort button of a column."""
    at = window.run(
        """
        const cells = Array.from(document.querySelector(arguments[0]).tHead.rows[0].cells);
        return 1 + cells.findIndex(
            cell => cell.querySelector("button").firstChild.textContent.trim() === arguments[1]);
        """,
        HOTSPOTS,
        title,
    )
    return f"{HOTSPOTS} th:nth-child({at}) button"


def test_the_page_opens_without_an_error(report: Browser) -> None:
    """Four figures are drawn, and the console holds no error, no warning and no refused request."""
    assert report.errors() == []
    assert report.run("return document.querySelectorAll('.figure .main-svg').length > 0")
    drawn = """
        return Array.from(document.querySelectorAll(".figure")).map(
            figure => figure.querySelectorAll(".point path, path.point").length > 0);
    """
    assert report.run(drawn) == [True] * 4


def test_nothing_is_asked_of_a_network(report: Browser) -> None:
    """The browser's own list of loaded resources is empty: the file is all there is."""
    assert report.run("return performance.getEntriesByType('resource').map(entry => entry.name)") == []


def test_a_click_on_a_header_sorts(report: Browser) -> None:
    """Median: largest first, then smallest first; the unknown intensity stays last both ways."""
    assert column(report, "median") == ["29.70", "28.70", "4.00"]
    report.click(header(report, "median"))
    assert column(report, "median") == ["29.70", "28.70", "4.00"]
    report.click(header(report, "median"))
    assert column(report, "median") == ["4.00", "28.70", "29.70"]
    report.click(header(report, "intensity"))
    assert column(report, "intensity") == ["455.1", "7.9", "\N{EN DASH}"]
    report.click(header(report, "intensity"))
    assert column(report, "intensity") == ["7.9", "455.1", "\N{EN DASH}"]
    report.click(header(report, "type"))
    assert column(report, "type") == ["AutomaticBufferFusionOp", "GroupedMatmul", "QuantBatchMatmulV3"]


def test_search_and_select_filter_rows(report: Browser) -> None:
    """A word keeps its rows, a select keeps its value, and the count says how many."""
    count = "return document.querySelector('#kernels [data-count]').textContent"
    report.type("#kernels input[type=search]", "groupedmatmul")
    assert column(report, "type") == ["GroupedMatmul"]
    assert report.run(count) == "1 of 3 rows"
    report.run(
        """
        document.querySelector("#kernels input[type=search]").value = "";
        const select = Array.from(document.querySelectorAll("#kernels select")).find(
            each => each.parentElement.textContent.trim().startsWith("bound"));
        select.value = "memory";
        select.dispatchEvent(new Event("input", { bubbles: true }));
        """
    )
    assert column(report, "type") == ["QuantBatchMatmulV3", "GroupedMatmul"]
    assert report.run(count) == "2 of 3 rows"


def test_the_roofline_filters_by_type_and_stream(report: Browser) -> None:
    """GroupedMatmul alone is one circle; stream 46 holds only the norm; reset shows all."""
    count = "return document.getElementById('roofline-count').textContent"
    choose = """
        const select = document.getElementById(arguments[0]);
        select.value = arguments[1];
        select.dispatchEvent(new Event("change"));
    """
    drawn = """
        return document.getElementById("figure-roofline").data
            .filter(trace => trace.meta && trace.meta.filtered && trace.mode === "markers")
            .flatMap(trace => trace.x.filter(x => x !== null));
    """
    assert report.run(count) == "3 of 3 groups"
    report.run(choose, "roofline-type", "GroupedMatmul")
    assert report.run(count) == "1 of 3 groups"
    assert report.run(drawn) == [1.185]  # one sure row: 12,582,912 FLOPs over 10,616,832 bytes
    report.run(choose, "roofline-type", "")
    report.run(choose, "roofline-stream", "46")
    assert report.run(drawn) == [0.5]
    report.click("#roofline-reset")
    assert report.run(count) == "3 of 3 groups"
    assert report.errors() == []


def test_the_timeline_jumps_to_a_layer(report: Browser) -> None:
    """Choosing layer 1 shows 80 to 100 us; the whole step comes back."""
    choose = """
        const select = document.getElementById("timeline-span");
        select.selectedIndex = arguments[0];
        select.dispatchEvent(new Event("change"));
        return document.getElementById("figure-timeline").layout.xaxis.range;
    """
    assert report.run(choose, 2) == [80, 100]
    assert report.run(choose, 0) == [-1, 101]


def test_the_theme_changes_figures_too(report: Browser) -> None:
    """The button swaps the palette of the page and redraws the figures in it."""
    colour = "return document.getElementById('figure-roofline').layout.font.color"
    light = report.run(colour)
    report.click("#theme")
    assert (light, report.run(colour)) == ("#1a1f27", "#e7eaee")


def test_a_phone_needs_no_sideways_scrolling(report: Browser) -> None:
    """At phone width the page is as wide as the window; wide tables scroll inside their own box."""
    report.resize(500, 900)
    assert report.wait_for("return document.documentElement.scrollWidth <= window.innerWidth")
    narrow = "return document.getElementById('figure-roofline').querySelector('.main-svg').clientWidth < 500"
    assert report.wait_for(narrow)


def test_a_hostile_name_runs_nothing(window: Browser, tmp_path: Path) -> None:
    """Whatever kernels are called, no script of theirs runs, in the report and in an answer's own page."""
    data = report_input()
    names = tuple(hostile.EVERY.values())
    points = tuple(replace(data.points[0], type=name, shapes=name, reason=name) for name in names)
    rows = tuple(replace(data.hotspots.rows[0], type=name, reason=name) for name in names)
    attacked = replace(data, points=points, hotspots=replace(data.hotspots, rows=rows, notes=names))
    answers = [render(answer_named(name), "html") for name in (hostile.CLOSING, hostile.ATTRIBUTE)]
    for page in (roofline_report(attacked), *answers):
        show(window, page, tmp_path)
        window.run(HOVER_EVERYTHING)
        assert window.run("return typeof window.pwned") == "undefined"
        assert window.errors() == []


@pytest.mark.parametrize("command", every_answer())
def test_every_answer_has_a_page(window: Browser, tmp_path: Path, command: str) -> None:
    """The page of any command opens without an error and shows its headline."""
    show(window, render(every_answer()[command], "html"), tmp_path)
    assert window.errors() == []
    assert window.run("return document.querySelector('h1').textContent.length > 5")
