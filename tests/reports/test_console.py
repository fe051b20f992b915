"""The terminal: the answer first, nothing wider than the terminal, colour only where asked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.reports.folding import WORDS, fold
from npu_roofline.reports.render import render

from tests.reports.answers import COVERAGE, candidates_answer, every_answer, hotspots_answer, summary_answer


@pytest.mark.parametrize("command", every_answer())
@pytest.mark.parametrize("width", [80, 100, 120, 160, 240])
def test_no_line_is_wider_than_the_terminal(command: str, width: int) -> None:
    """A terminal that wraps makes a table unreadable, so no line is longer than it is wide."""
    lines = render(every_answer()[command], "table", width).splitlines()
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_the_answer_comes_first_and_coverage_second() -> None:
    """Line one answers the question; how much of the capture that rests on follows before any table."""
    text = render(hotspots_answer(), "table", 200)
    lines = text.splitlines()
    assert lines[0] == (
        "The longest of 3 kernel groups: QuantBatchMatmulV3 4,3072;384,192,16,32;12288, 6 calls, "
        "178.2 us = 60 % of the AI-core time, memory/hbm (medium confidence)."
    )
    coverage = (  # 70, 20, 6 and 4 of 100 us; 4 us have no label
        "Coverage: of the AI-core time 70 % modelled, 20 % an upper bound, 6.0 % generic, "
        "4.0 % unresolved; 4.0 % unlabelled; 1 of 12 rows rejected."
    )
    assert lines[1] == coverage
    assert lines[2].startswith("Device 910_9382 (A3 die) (medium confidence), from cube cores x clock")
    assert text.index(coverage) < text.index("Kernels by time")


def test_a_summary_says_the_whole_coverage() -> None:
    """What every other command says in a line, `summary` says in full."""
    assert render(summary_answer(), "table", 200).splitlines()[1] == COVERAGE.sentence


def test_colour_only_where_a_terminal_reads_it() -> None:
    """Without `color` there is no escape sequence; with it the bound carries the palette's blue."""
    assert "\x1b" not in render(hotspots_answer(), "table", 120)
    assert "\x1b[38;2;86;168;224m" in render(hotspots_answer(), "table", 120, color=True)  # #56a8e0


def test_the_narrowest_terminal_keeps_what_decides() -> None:
    """At 80 columns id, type, shapes, time, share and bound are there, and reasons are listed below."""
    answer = hotspots_answer()
    answer = replace(answer, rows=tuple(replace(row, step_us=row.total_us / 3) for row in answer.rows))
    text = render(answer, "table", 80)
    for word in ("id", "type", "input shapes", "per step", "share", "median", "bound"):
        assert word in text
    assert "k-11223344  38.0 MB in 29.70 us is 1280 GB/s" in text


def test_unknown_is_a_dash_and_never_zero() -> None:
    """A group without shapes shows no bandwidth and no intensity, not 0."""
    text = render(hotspots_answer(), "table", 240)
    line = next(each for each in text.splitlines() if each.startswith("k-99aabbcc"))
    assert " - " in line
    assert " 0.0 " not in line


def test_an_empty_answer_says_so() -> None:
    """No row is not a blank screen."""
    empty = Answer("hotspots", None, None, None, (), ())
    assert render(empty, "table") == "No kernel matches.\n\nNo kernel matches.\n"


def test_shapes_break_between_numbers() -> None:
    """A shape folds after a comma or semicolon, a type between its words; a word too long is cut."""
    assert list(fold("4,3072;384,192,16,32;12288", 12)) == ["4,3072;384,", "192,16,32;", "12288"]
    assert list(fold("MoeDistributeCombineV2", 14)) == ["MoeDistribute", "CombineV2"]
    assert list(fold("MoeGatingTopK", 12)) == ["MoeGating", "TopK"]
    assert list(fold("communication/link, uses 5%", 16, WORDS)) == ["communication/", "link, uses 5%"]
    assert list(fold("ProfilerLevel.Level1", 16)) == ["ProfilerLevel.", "Level1"]
    assert list(fold("…/ASCEND_PROFILER_OUTPUT/kernel_details.csv", 26)) == [
        "…/ASCEND_PROFILER_OUTPUT/",
        "kernel_details.csv",
    ]
    assert list(fold("aaaaaaaaaa", 4)) == ["aaaa", "aaaa", "aa"]
    assert list(fold("矩阵乘法", 4)) == ["矩阵", "乘法"]  # two cells each


def test_reasons_that_make_rows_tall_stand_below_the_table() -> None:
    """At 200 columns a reason of 60 words would need more than four lines beside the rest: it goes below."""
    answer = hotspots_answer()
    tall = replace(answer, rows=(replace(answer.rows[0], reason="many words to read " * 60),))
    text = render(tall, "table", 200)
    assert "\nwhy\n" in text
    assert "\nwhy\n" not in render(answer, "table", 320)


def test_ids_are_never_folded() -> None:
    """What is copied into `explain` stays in one piece, however narrow the terminal is."""
    text = render(candidates_answer(), "table", 80)
    for row in candidates_answer().rows:
        assert row.id in text
