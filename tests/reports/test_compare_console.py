"""A comparison in a terminal: the verdict, what it rests on, the ten largest changes; the rest is counted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.reports.render import render

from tests.analyzer.compare.made import Op, run


@pytest.fixture(scope="module")
def answer() -> Answer:
    """Thirty kernels, three of them faster, over six steps a side."""
    from npu_roofline.analyzer.compare import compare

    ops = [Op(f"Op{at:02}", 10.0 + at) for at in range(30)]
    faster = [replace(op, us=op.us * (0.5 if at < 3 else 1)) for at, op in enumerate(ops)]
    drift = (1.0, 1.002, 0.998, 1.001, 0.999, 1.0)
    sides = [[[replace(op, us=op.us * d) for op in side] for d in drift] for side in (ops, faster)]
    return compare(run(sides[0], "a"), run(sides[1], "b"))


def test_the_terminal_gets_ten_rows_and_a_count(answer: Answer) -> None:
    """The three that changed and seven more, 20 left; below 60 lines; what is not shown is counted."""
    lines = render(answer, "table", 120, top=10).splitlines()
    assert lines[0].startswith("Inconclusive until the outputs are compared: step ")
    assert sum(line.startswith(("faster", "same", "inconclusive  Op")) for line in lines) == 10
    assert [line.split()[1] for line in lines if line.startswith("faster")] == ["Op02", "Op01", "Op00"]
    assert "… and 20 more rows: --format md, csv or json" in lines
    (left_out,) = [line for line in lines if line.startswith("Not shown: ")]
    assert "Every step (12)" in left_out
    assert len(lines) < 60


def test_top_0_shows_everything(answer: Answer) -> None:
    """All 30 places, every step and every sum; nothing is left out."""
    text = render(answer, "table", 120, top=0)
    assert all(f"Op{at:02}" in text for at in range(30))
    assert "By operator type" in text
    assert text.count("step 6 of ") == 2
    assert "more rows" not in text
    assert "Not shown" not in text


def test_other_answers_are_not_folded(answer: Answer) -> None:
    """Without `top` the tables have the rows that tables.toml gives them, and no closing line."""
    assert "Not shown" not in render(answer, "table", 120)
