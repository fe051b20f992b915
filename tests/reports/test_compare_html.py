"""The comparison report: what it says, that its bars add up, and that no kernel's name acts in it."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.analyzer.compare import compare
from npu_roofline.reports.compare_figures import places_figure, steps_figure, usual_change, waterfall_figure
from npu_roofline.reports.compare_html import compare_report
from npu_roofline.reports.compare_roofline import moves_figure
from npu_roofline.reports.render import render

from tests.analyzer.compare.made import Op, run
from tests.analyzer.compare.test_compare import capture, step
from tests.reports import hostile
from tests.reports.test_hostile import elements


@pytest.fixture(scope="module")
def answer() -> Answer:
    """A faster matmul, a new cast and a slow step: 165 -> 157 + 2 us."""
    slow = [replace(op, us=500.0) if op.type == "AllReduce" else op for op in step()]
    before = run([slow, *[step() for _ in range(5)]], "before")
    return compare(before, capture([*step(gemm_us=18.0)[:-1], Op("Cast", 2.0), Op("ArgMax", 12.0)], "after"))


def named(answer: Answer, text: str) -> Answer:
    """The same comparison with the hostile text wherever an export can put one."""
    rows = tuple(
        replace(row, type=text, input_shapes=text, key=text, note=text, name=text) for row in answer.rows
    )
    streams = tuple(replace(stream, note=text) for stream in answer.extras["streams"])
    times = tuple(replace(each, step=text, set_aside=text) for each in answer.extras["step_times"])
    runs = {
        side: replace(answer.extras[side], name=text, source_paths=(text,)) for side in ("before", "after")
    }
    groups = tuple(replace(group, name=text) for group in answer.extras["groups"])
    usual = replace(answer.extras["usual"], groups=groups)
    extras = {
        **answer.extras,
        **runs,
        "sentence": text,
        "sides": (text, text),
        "streams": streams,
        "step_times": times,
        "groups": groups,
        "types": groups,
        "usual": usual,
    }
    return replace(answer, rows=rows, notes=(text,), extras=extras)


def test_the_first_heading_is_the_answer(answer: Answer) -> None:
    """The page begins with the sentence of the comparison: step, change, what is behind it."""
    page = compare_report(answer)
    heading = re.search(r"<h1>(.*?)</h1>", page, re.DOTALL)
    assert heading is not None
    assert heading.group(1).startswith(
        "Inconclusive until the outputs are compared: step 165.00 → 159.00 us (-3.6 %, faster); "
        "MatMulV2 2.0 us faster a call"
    )
    assert "1 place new (+2.0 us a step)" in heading.group(1)


def test_the_bars_of_the_waterfall_add_up(answer: Answer) -> None:
    """From the mean step before, all bars lead to the mean step after, and the slow step is in neither."""
    figure = waterfall_figure(answer.extras["usual"])
    (trace,) = figure["data"]
    assert trace["y"][0] == "before"
    assert trace["y"][-1] == "after"
    reached = trace["x"][0] + sum(trace["x"][1:-1])
    assert reached == pytest.approx(answer.extras["usual"].after_wall_us, abs=0.02)
    assert trace["x"][0] == pytest.approx(165.0, abs=0.01)
    assert dict(zip(trace["y"], trace["x"], strict=True))["matmul"] == pytest.approx(-8.0, abs=0.01)


def test_every_step_is_a_point_and_outliers_are_crosses(answer: Answer) -> None:
    """Six steps before, one of them set aside, five after."""
    traces = {trace["name"]: trace for trace in steps_figure(answer.extras["step_times"])["data"]}
    assert {name: len(trace["x"]) for name, trace in traces.items()} == {
        "before": 5,
        "before, not used to judge": 1,
        "after": 5,
    }
    assert traces["before, not used to judge"]["marker"]["symbol"] == "x"


def test_places_are_coloured_by_what_can_be_said(answer: Answer) -> None:
    """The faster matmul is a green bar of 4 calls x -2 us, the new cast a red one of 2 us."""
    figure = places_figure(answer.rows, (6, 5))
    bars = {trace["name"]: dict(zip(trace["y"], trace["x"], strict=True)) for trace in figure["data"]}
    assert bars["faster or gone"] == {"MatMulV2 · layer 1": pytest.approx(-8.0)}
    assert bars["slower or new"] == {"Cast · after 0": pytest.approx(2.0)}


def test_a_slow_step_moves_no_bar(answer: Answer) -> None:
    """The all-reduce took 500 us in one step of six: its mean fell by 328 us, its usual change is none."""
    (row,) = [row for row in answer.rows if row.type == "AllReduce"]
    assert row.delta_step_us == pytest.approx(4 * (8 - (500 + 5 * 8) / 6), abs=0.1)
    assert usual_change(row, (6, 5)) == pytest.approx(0.0, abs=0.1)


def test_the_same_answer_gives_the_same_bytes(answer: Answer) -> None:
    """No clock and no chance is in the page, and the door of all reports leads to it."""
    assert compare_report(answer) == compare_report(answer) == render(answer, "html")


def test_the_page_needs_no_network(answer: Answer) -> None:
    """No element of the page loads anything from elsewhere."""
    page = compare_report(answer)
    loads = [
        (tag, attributes)
        for tag, attributes in elements(page)
        if any(name in attributes for name in ("src", "srcset", "data", "background"))
        or (tag == "link")
        or (attributes.get("href") or "#")[0] != "#"
    ]
    assert loads == []


@pytest.mark.parametrize("name", hostile.EVERY)
def test_no_kernel_name_acts(answer: Answer, name: str) -> None:
    """A hostile text adds neither an element nor an attribute, and ends no script of the page."""
    ordinary = elements(compare_report(named(answer, "ordinary")))
    attacked = elements(compare_report(named(answer, hostile.EVERY[name])))
    strip = [(tag, sorted(attributes)) for tag, attributes in ordinary if tag != "wbr"]
    assert [(tag, sorted(attributes)) for tag, attributes in attacked if tag != "wbr"] == strip


def test_figure_texts_are_escaped_for_plotly(answer: Answer) -> None:
    """Plotly reads tags in labels and hover texts: a name with a tag arrives there as text."""
    figures = [
        places_figure(named(answer, hostile.SCRIPT).rows, (6, 5)),
        waterfall_figure(named(answer, hostile.SCRIPT).extras["usual"]),
        steps_figure(named(answer, hostile.SCRIPT).extras["step_times"]),
    ]
    for figure in figures:
        assert "<script" not in json.dumps(figure["data"])
        assert "&lt;script" in json.dumps(figure["data"])


def test_a_run_against_itself_says_so_and_draws_no_change() -> None:
    """No waterfall and no bars where nothing changed; the first line says that there is no difference."""
    session = capture(step(), "a")
    page = compare_report(compare(session, session))
    assert "<h1>No difference: the same numbers on both sides; the step takes 165.0 us.</h1>" in page
    assert 'id="figure-waterfall"' not in page
    assert 'id="figure-places"' not in page


def test_an_undecided_step_is_not_sold_as_an_effect() -> None:
    """With one step a side the page says above its bars that they show no effect of the change."""
    page = compare_report(compare(capture(step(), "a", 1), capture(step(gemm_us=18.0), "b", 1)))
    assert "the bars are what these steps did, not what the change of the code did" in page


@pytest.mark.parametrize("format", ["table", "json", "csv", "md"])
def test_every_other_form_renders(answer: Answer, format: str) -> None:
    """The comparison renders in every form; JSON has null, not NaN, where a side is missing."""
    text = render(answer, format, width=120)
    assert "MatMulV2" in text
    if format == "json":
        rows = json.loads(text)["rows"]
        (cast,) = [row for row in rows if row["type"] == "Cast"]
        assert (cast["before_us"], cast["delta_us"], cast["change"]) == (None, None, "new")
        assert {"step", "residual", "verdict"} <= set(json.loads(text))


def test_a_changed_place_is_an_arrow_in_the_roofline(answer: Answer) -> None:
    """The matmul does 2 x 4 x 64 x 128 = 65,536 FLOP: in 20 us 0.0032768, in 18 us 0.0036409 TFLOP/s."""
    found = answer.extras["roofline"]
    (move,) = found.moves
    assert (move.type, move.change) == ("MatMulV2", "faster")
    assert move.before_tflops == pytest.approx(65_536 / 20 / 1e6)
    assert move.after_tflops == pytest.approx(65_536 / 18 / 1e6)
    arrows = [each for each in moves_figure(found)["layout"]["annotations"] if each.get("showarrow")]
    assert len(arrows) == 1
    assert 10 ** arrows[0]["ay"] == pytest.approx(move.before_tflops, rel=1e-3)
    assert 10 ** arrows[0]["y"] == pytest.approx(move.after_tflops, rel=1e-3)
    assert arrows[0]["x"] == arrows[0]["ax"]
