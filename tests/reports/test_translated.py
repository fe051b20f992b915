"""A page in Chinese: what the tool wrote is Chinese, data and composed reasons are as they were."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.analyzer.compare import compare
from npu_roofline.reports.columns import records, text_for
from npu_roofline.reports.compare_html import compare_report
from npu_roofline.reports.html_report import roofline_report
from npu_roofline.reports.translated import translated_figure
from npu_roofline.reports.words import words

from tests.analyzer.compare.test_compare import capture, step
from tests.reports.report_input import report_input

CHINESE = re.compile(r"[\u4e00-\u9fff]")
# Headings and headers that are the same in both languages.
ALIKE = re.compile(r"(HBM|L2|Cube|max_size|us|%|p10|no\.|MiB|GB/s|TFLOP/s|FLOP/B|GFLOP|\d+ %|[^A-Za-z]*)+")


@pytest.fixture(scope="module")
def answer() -> Answer:
    """A comparison with a faster and a new kernel."""
    from tests.analyzer.compare.made import Op

    return compare(capture(step(), "before"), capture([*step(gemm_us=18.0), Op("Cast", 2.0)], "after"))


def texts(page: str, tag: str) -> Iterator[str]:
    """The visible text of every element of a kind, before scripts."""
    body = page[: page.index("<script")]
    for found in re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", body, re.DOTALL):
        yield unescape(re.sub(r"<[^>]+>", " ", found)).strip()


@pytest.mark.parametrize("tag", ["h1", "h2", "h3", "th", "nav", "summary", "dt"])
@pytest.mark.parametrize("page", ["compare", "roofline"])
def test_no_heading_is_left_in_english(answer: Answer, page: str, tag: str) -> None:
    """Every heading and column header of both pages holds Chinese or only names and units."""
    made = (
        compare_report(answer, lang="zh") if page == "compare" else roofline_report(report_input(), lang="zh")
    )
    assert 'lang="zh"' in made[:200]
    left = [text for text in texts(made, tag) if not CHINESE.search(text) and not ALIKE.fullmatch(text)]
    assert left == []


def test_the_verdict_comes_in_chinese(answer: Answer) -> None:
    """165 -> 159 us is 3.6 % faster; what to do next is told in Chinese, the kernel by its name."""
    page = compare_report(answer, lang="zh")
    assert "无法判定:单步 165.00 us → 159.00 us,-3.6 % (变快);1 处变快,0 处变慢,1 处新增,0 处消失。" in page
    assert "比较两次运行的输出(--outputs BEFORE AFTER),再作判断" in page
    assert "MatMulV2" in page


def test_every_declared_text_is_translated() -> None:
    """All headers, their help, titles and leads of the tables of both pages have a Chinese text."""
    rows = ("CompareRow", "GroupChange", "SignatureChange", "WaitChange", "StreamChange", "Residual")
    rows += ("StepRow", "IdleRow", "OtherEngineRow", "HotspotRow")
    said = words("zh").said
    needed = {
        text for row in rows for column in records()[row].columns for text in (column.header, column.help)
    }
    for name in ("rows", "residual", "groups", "types", "signatures", "waits", "streams", "other_engines"):
        found = text_for("compare", name)
        needed |= {found.title, found.lead, found.empty}
    assert {text for text in needed if re.search(r"[A-Za-z]", text)} - set(said) == set()


def test_a_figure_keeps_the_words_of_its_library() -> None:
    """Names and hovers change; `none` of a position, a colour and a type do not; numbers stay."""
    figure = {
        "data": [
            {"type": "bar", "name": "before", "textposition": "none", "hovertext": ["<b>new</b><br>calls: 3"]}
        ],
        "layout": {"xaxis": {"title": {"text": "change in us per step"}}, "width": 3},
    }
    made = translated_figure(figure, words("zh"))
    assert made["data"][0] == {
        "type": "bar",
        "name": "优化前",
        "textposition": "none",
        "hovertext": ["<b>新增</b><br>调用数: 3"],
    }
    assert made["layout"] == {"xaxis": {"title": {"text": "每步变化,us"}}, "width": 3}
    assert translated_figure(figure, words("en")) is figure
