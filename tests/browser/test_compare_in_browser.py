"""The comparison report in a real browser: it draws, sorts, filters, follows the theme and fits a phone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from npu_roofline.analyzer.compare import compare
from npu_roofline.reports.compare_html import compare_report

from tests.analyzer.compare.made import Op
from tests.analyzer.compare.test_compare import capture, step
from tests.browser.webdriver import Browser, browser, browser_missing
from tests.reports import hostile

pytestmark = pytest.mark.skipif(bool(browser_missing()), reason=browser_missing() or "a browser is here")

ROWS = "#table-compare-rows"
TYPES = (
    "return Array.from(document.querySelector(arguments[0]).tBodies[0].rows)"
    ".filter(row => !row.hidden).map(row => row.cells[1].textContent.trim())"
)
HEADERS = (
    "return Array.from(document.querySelector(arguments[0]).tHead.rows[0].cells)"
    ".map(cell => cell.textContent.trim())"
)


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    """One browser for all tests; each opens its own page."""
    with browser() as opened:
        yield opened


@pytest.fixture
def report(window: Browser, tmp_path: Path) -> Browser:
    """A comparison with a faster, a new and a hostile kernel, opened from a file as a reader would."""
    evil = Op(hostile.CLOSING, 3.0)
    before = capture([*step(), evil], "before")
    after = capture([*step(gemm_us=18.0), Op("Cast", 2.0), evil], "after")
    file = tmp_path / "compare.html"
    file.write_text(compare_report(compare(before, after)), encoding="utf-8")
    window.resize(1400, 1000)
    window.errors()  # those of the page before
    window.open(file.as_uri())
    return window


def test_the_page_opens_without_an_error_and_draws(report: Browser) -> None:
    """Five figures are drawn, the console is silent, and no kernel's name ran as code."""
    assert report.run("return document.querySelectorAll('.figure .main-svg').length") >= 5
    assert report.errors() == []
    assert report.run("return window.pwned === undefined")


def test_rows_sort_and_filter(report: Browser) -> None:
    """A click on 'per step' brings the new kernel up and the gain down; the filter 'new' leaves one row."""
    assert report.run(TYPES, ROWS)[0] == "MatMulV2"
    at = next(n for n, text in enumerate(report.run(HEADERS, ROWS), 1) if text.startswith("per step"))
    report.click(f"{ROWS} th:nth-child({at}) button")
    names = report.run(TYPES, ROWS)
    assert (names[0], names[-1]) == ("Cast", "MatMulV2")
    report.run(
        "const box = document.querySelector(arguments[0]).closest('.filterable');"
        "const select = box.querySelector('select'); select.value = 'new';"
        "select.dispatchEvent(new Event('input', {bubbles: true}));",
        ROWS,
    )
    assert report.run(TYPES, ROWS) == ["Cast"]


def test_the_theme_button_changes_page_and_figures(report: Browser) -> None:
    """Dark and light differ in the page's background and in the ink of the figures."""
    look = (
        "return [getComputedStyle(document.body).backgroundColor, "
        "getComputedStyle(document.querySelector('#figure-waterfall .xtick text')).fill]"
    )
    light = report.run(look)
    report.click("#theme")
    assert report.wait_for(
        f"const was = {json.dumps(light)}, now = (() => {{ {look} }})(); "
        "return now[0] !== was[0] && now[1] !== was[1]"
    )


def test_a_phone_needs_no_sideways_scrolling(report: Browser) -> None:
    """At 500 px the page itself does not scroll sideways; wide tables scroll in their own boxes."""
    report.resize(500, 900)
    assert report.wait_for(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1"
    )
