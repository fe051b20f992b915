"""The report is one file that asks for nothing, the same bytes for the same input, and safe to open."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from npu_roofline.analyzer.report_data import Undrawn
from npu_roofline.reports.html_report import limits_of, roofline_report, timeline_sentence, undrawn_line
from npu_roofline.reports.page import plotly_js
from npu_roofline.reports.render import render

from tests.reports import hostile
from tests.reports.report_input import report_input, timeline
from tests.reports.test_hostile import elements

PAGE = roofline_report(report_input(), "2026-01-02")
# Attributes through which an element loads something.
LOADING = {"src", "href", "srcset", "data", "action", "formaction", "poster", "background", "xlink:href"}


def test_nothing_is_loaded_from_anywhere() -> None:
    """No element has an address outside the page, and the page's policy forbids every request."""
    for tag, attributes in elements(PAGE):
        for name in LOADING & set(attributes):
            assert (attributes[name] or "").startswith("#"), (tag, name)
        assert tag not in {"link", "iframe", "object", "embed", "base"}
    assert "default-src 'none'" in PAGE
    own = PAGE.replace(plotly_js(), "")
    assert not re.search(r"@import|url\(", own)
    assert not re.search(r"https?://", own)


def test_plotly_is_there_once() -> None:
    """The library is inlined exactly once, however many figures there are."""
    assert PAGE.count(plotly_js()) == 1
    assert PAGE.count('class="figure"') == 4


def test_the_same_input_gives_the_same_bytes() -> None:
    """Nothing in the page comes from a clock or from chance; the date is an argument."""
    assert roofline_report(report_input(), "2026-01-02") == PAGE
    assert roofline_report(report_input(), "2026-01-03") != PAGE


def test_the_answer_comes_first() -> None:
    """Headline, coverage, device, tiles, figure, tables, prefetch, limits: in this order."""
    order = [
        "<h1>A decode step takes 10.7 ms",
        "96 % of the AI-core time is labelled",
        "Device 910_9382",
        'class="tiles"',
        'id="roofline"',
        'id="time"',
        'id="steps"',
        'id="timeline"',
        'id="kernels"',
        'id="prefetch"',
        'id="limits"',
    ]
    places = [PAGE.index(each) for each in order]
    assert places == sorted(places)


def test_ids_are_unique() -> None:
    """Links and scripts find one element each."""
    ids = [attributes["id"] for _, attributes in elements(PAGE) if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {"figure-roofline", "figure-time", "figure-steps", "figure-timeline"} <= set(ids)


@pytest.mark.parametrize("name", hostile.EVERY)
def test_a_hostile_type_adds_no_element(name: str) -> None:
    """The page of a hostile name has the elements and attributes of the page of a harmless one."""

    def shape(page: str) -> list[tuple[str, list[str]]]:
        return [(tag, sorted(attributes)) for tag, attributes in elements(page) if tag != "wbr"]

    assert shape(roofline_report(report_input(hostile.EVERY[name]))) == shape(
        roofline_report(report_input("Plain"))
    )


def test_what_cannot_be_told_is_said() -> None:
    """Notes of every answer appear once, with the shares that coverage leaves open: 4, 20, 6 of 100 us."""
    said = limits_of(report_input())
    assert said == [
        "the group list is not in the export",
        "4.0 % of the AI-core time has no label: its bound is unknown.",
        "20 % of the AI-core time has bytes known only as a range; it is labelled from the least bytes.",
        "6.0 % of the AI-core time is of types without a model of their own: inputs and outputs are "
        "counted once.",
        "Set aside because they could not be read: 1 row of the export.",
    ]


def test_what_the_timeline_leaves_out_is_said() -> None:
    """The sentence names the step, the gaps it marks, and the kernels that the cap left out."""
    assert timeline_sentence(timeline()) == (
        "Step 4, the median of 3 by wall time: 100.0 us, 50.0 us of it idle. No AI-core and no "
        "communication kernel runs in 1 stretch of at least 10 us, 50.0 us together; the rest of the idle "
        "time is in shorter gaps between kernels."
    )
    assert (
        "1,200 stretches of at least 10 us, 9.0 ms together (the 1 longest are marked)"
        in timeline_sentence(replace(timeline(), all_gaps=1200, all_gaps_us=9000.0))
    )
    assert "The 7 shortest kernels (1.5 us) are not drawn." in timeline_sentence(
        replace(timeline(), left_out=7, left_out_us=1.5)
    )


def test_a_run_without_shapes_or_device_still_gives_a_page() -> None:
    """Without points, roofs, steps and timeline the tables and the limits remain."""
    bare = report_input()
    empty = replace(
        bare,
        points=(),
        roofs=(),
        timeline=None,
        summary=replace(bare.summary, device=None, extras={}),
        candidates=replace(bare.candidates, rows=()),
    )
    page = roofline_report(empty)
    assert 'id="figure-roofline"' not in page
    assert "No weight of this capture is a prefetch target." in page


def test_types_without_a_point_are_named_with_their_share() -> None:
    """What takes most of the time must not be missing in silence: type, share of AI-core time, and why."""
    data = report_input()
    aicore_us = data.summary.coverage.aicore_us if data.summary.coverage else 0.0
    attention = Undrawn(
        "no FLOPs are certain: …", 1, aicore_us / 4, (("FusedInferAttentionScore", aicore_us / 4),)
    )
    speck = Undrawn("no FLOPs are counted", 1, aicore_us / 1e4, (("Cast", aicore_us / 1e4),))
    said = undrawn_line(replace(data, undrawn=(attention, speck)))
    assert said == (
        "Not in the figure: 25 % of the AI-core time, most of it "
        "FusedInferAttentionScore (25 %: no FLOPs are certain)."
    )


def test_the_prefetch_tile_says_why_nothing_is_proposed() -> None:
    """On a training capture the reason is the capture, not the windows: the words of `candidates` itself."""
    answer = report_input().candidates
    stopped = replace(answer, rows=(), extras={"stopped": "Nothing is proposed: no decode step is selected."})
    page = roofline_report(replace(report_input(), candidates=stopped))
    assert "no decode step is selected." in page
    assert "no target with a safe window" not in page


def test_columns_that_a_page_has_no_room_for_stay_in_the_other_forms() -> None:
    """`why` begins with the bound, so the page leaves that column out; Markdown has it."""
    prefetch = PAGE[PAGE.index('id="prefetch"') : PAGE.index('id="limits"')]
    assert ">bound<" not in prefetch
    assert ">why<" in prefetch
    assert "| bound" in render(report_input().candidates, "md")
