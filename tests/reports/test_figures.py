"""The figures draw what the numbers say, in plotly's schema and in palette colours only."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import pytest
from npu_roofline.analyzer.report_data import TypeTime
from npu_roofline.reports.figure_roofline import roofline_figure
from npu_roofline.reports.figure_time import steps_figure, time_figure
from npu_roofline.reports.figure_timeline import timeline_figure
from npu_roofline.reports.figures import Figure, wrapped
from npu_roofline.reports.palette import PALETTE, css_variable

from tests.reports.answers import step_row
from tests.reports.report_input import EXPERTS, GATE_UP, NORM, ROOFS, TYPES, timeline

FIGURES = {
    "roofline": roofline_figure((GATE_UP, EXPERTS, NORM), ROOFS),
    "roofline without a device": roofline_figure((GATE_UP,), ()),
    "time": time_figure(TYPES),
    "steps": steps_figure((step_row(3, 25626.0), step_row(4, 10666.0))),
    "timeline": timeline_figure(timeline()),
}


def strings(value: Any) -> list[str]:
    """Every string anywhere in a figure."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings(item)]
    return [text for item in value for text in strings(item)] if isinstance(value, list | tuple) else []


def lines(figure: Figure) -> list[dict[str, Any]]:
    """The roofs of a roofline figure."""
    return [trace for trace in figure["data"] if trace["mode"] == "lines"]


@pytest.mark.parametrize("name", FIGURES)
def test_the_figure_is_in_plotlys_schema(name: str) -> None:
    """Plotly's own validation accepts every property and value; a misspelt one raises."""
    go.Figure(FIGURES[name])


def test_plotlys_validation_can_fail() -> None:
    """The check above is one: a property that does not exist is refused."""
    with pytest.raises(ValueError, match="colour"):
        go.Figure({"data": [{"type": "bar", "marker": {"colour": "red"}}]})


@pytest.mark.parametrize("name", FIGURES)
def test_colours_follow_the_theme(name: str) -> None:
    """No colour is fixed: each is a palette variable or clear, so dark mode and paper get their own."""
    for text in strings(FIGURES[name]):
        assert not re.fullmatch(r"#[0-9a-fA-F]{3,8}|rgb\(.*\)", text)
        if text.startswith("var("):
            assert text in {css_variable(each) for each in PALETTE}


def test_bandwidth_roofs_have_slope_one_and_end_at_the_ridge() -> None:
    """HBM at 1,600 GB/s meets 707.8 TFLOP/s at 707.8e12 / 1.6e12 = 442.4 FLOP/B."""
    hbm = lines(FIGURES["roofline"])[0]
    (x0, x1), (y0, y1) = hbm["x"], hbm["y"]
    assert math.log(y1 / y0) / math.log(x1 / x0) == pytest.approx(1.0)
    assert (x1, y1) == (pytest.approx(442.375), pytest.approx(707.8))


def test_every_point_lies_under_its_roofs() -> None:
    """No circle and no end of a range is above HBM max or above the highest peak."""
    for trace in FIGURES["roofline"]["data"]:
        if not trace.get("meta", {}).get("filtered"):
            continue
        for x, y in zip(trace["x"], trace["y"], strict=True):
            assert x is None or y <= min(1800.0 * x / 1e3, 707.8) * 1.01


def test_a_range_is_drawn_as_a_range() -> None:
    """GroupedMatmul stands at its one certain row, as in the table, and is hollow: at least 0.438 TFLOP/s.

    One line leads left to where HBM would be full (0.2436 FLOP/B), one up to all rows: 168.36 TFLOP/s at
    1.185 x 168.36 / 0.4384 = 455.1 FLOP/B.
    """
    lines_of = [trace for trace in FIGURES["roofline"]["data"] if trace["mode"] == "lines+markers"]
    assert len(lines_of) == 1
    assert lines_of[0]["x"] == [0.2436, 1.185, None, pytest.approx(455.1, rel=1e-3), 1.185, None]
    assert lines_of[0]["y"] == [0.4384, 0.4384, None, 168.36, 0.4384, None]
    said = lines_of[0]["hovertext"][0]
    assert "10.6 MB to 205.7 MB (a range" in said
    assert "at least 0.438 TFLOP/s (FLOPs up to 168 TFLOP/s if" in said
    marks = {
        text.split("</b>")[0].removeprefix("<b>"): (x, y, symbol)
        for trace in FIGURES["roofline"]["data"]
        if trace["mode"] == "markers" and trace.get("meta")
        for x, y, symbol, text in zip(
            trace["x"], trace["y"], trace["marker"]["symbol"], trace["hovertext"], strict=True
        )
    }
    assert marks["GroupedMatmul"] == (1.185, 0.4384, "circle-open")
    assert marks["QuantBatchMatmulV3"] == (7.945, 10.168, "circle")


def test_the_longest_groups_carry_their_names() -> None:
    """All three are named beside their circles, not on them; the figure without neighbours names its one."""
    names = [trace for trace in FIGURES["roofline"]["data"] if trace["mode"] == "markers+text"]
    assert names[0]["text"] == ["QuantBatchMatmulV3", "GroupedMatmul", "RmsNorm"]
    assert all(side != "middle center" for side in names[0]["textposition"])


def test_names_do_not_cover_each_other() -> None:
    """Nine equal groups at one place: four sides at most are free, and those that lie on others are not."""
    figure = roofline_figure((GATE_UP,) * 9, ROOFS)
    assert not [
        trace for trace in figure["data"] if trace["mode"] == "markers+text" and len(trace["text"]) > 4
    ]


def test_area_is_time() -> None:
    """178.2 us against 86.1 us: areas, and so squared diameters, are 2.07 to 1."""
    sizes = {
        trace["hovertext"][at].split("</b>")[0].removeprefix("<b>"): size
        for trace in FIGURES["roofline"]["data"]
        if trace.get("meta") and trace["mode"] == "markers"
        for at, size in enumerate(trace["marker"]["size"])
    }
    ratio = (sizes["QuantBatchMatmulV3"] / sizes["GroupedMatmul"]) ** 2
    assert ratio == pytest.approx(178.2 / 86.1, rel=0.02)


def test_without_a_device_there_are_points_and_no_roofs() -> None:
    """An unknown device takes away the roofs, not the measurements, and none is made up."""
    figure = FIGURES["roofline without a device"]
    assert lines(figure) == []
    assert figure["layout"]["annotations"] == []
    assert [trace["x"] for trace in figure["data"]] == [[7.945], [7.945]]  # the circle and its name


def test_one_tiny_group_does_not_set_the_view() -> None:
    """A group with under 1 % of the time, six decades down, is drawn but not in the first view."""
    speck = replace(NORM, total_us=0.1, intensity=1e-5, tflops=1e-7)
    figure = roofline_figure((GATE_UP, speck), ROOFS)
    assert figure["layout"]["xaxis"]["range"][0] > -1
    assert any(1e-5 in trace["x"] for trace in figure["data"])


def test_time_bars_are_step_times_by_bound() -> None:
    """MatMul is 100 us memory and 20 us compute in a step, Add 10 us latency; the longest type first."""
    bars = {
        trace["name"]: dict(zip(trace["y"], trace["x"], strict=True)) for trace in FIGURES["time"]["data"]
    }
    assert bars == {
        "memory": {"MatMul": 100.0, "Add": 0},
        "compute": {"MatMul": 20.0, "Add": 0},
        "latency": {"MatMul": 0, "Add": 10.0},
    }
    assert FIGURES["time"]["data"][0]["y"] == ["MatMul", "Add"]


def test_many_types_are_gathered_and_counted() -> None:
    """Twenty types give the sixteen longest and one bar for the other four: 84 + 83 + 82 + 81 = 330 us."""
    times = [TypeTime(f"Op{at:02}", "memory", 1, 100.0 - at, 100.0 - at) for at in range(20)]
    bars = time_figure(times)["data"][0]
    assert len(bars["y"]) == 16 + 1
    assert (bars["y"][-1], bars["x"][-1]) == ("4 other types", 330.0)


def test_steps_are_busy_and_idle() -> None:
    """25,626 us of wall are 19.2195 ms busy and 6.4065 ms idle."""
    busy, idle = FIGURES["steps"]["data"]
    assert (busy["x"][0], idle["x"][0]) == (19.2195, 6.4065)


def test_the_timeline_has_a_lane_per_stream_and_marks_the_gap() -> None:
    """Six bars on two streams, the busiest first, one idle stretch from 30 to 80 us, two layers."""
    figure = FIGURES["timeline"]
    layout = figure["layout"]
    assert layout["yaxis"]["categoryarray"] == ["device idle", "stream 166", "stream 162"]
    assert sum(len(trace["x"]) for trace in figure["data"] if trace["name"] != "idle") == 6
    assert [(shape["x0"], shape["x1"]) for shape in layout["shapes"]] == [(30.0, 80.0)]
    assert layout["meta"]["layers"] == [[0, 0.0, 30.0], [1, 80.0, 100.0]]


def test_hover_texts_fold() -> None:
    """A long reason is folded at blanks and cut after its last line, with a mark."""
    assert wrapped("aaa bbb ccc", 8) == ["aaa bbb", "ccc"]
    assert wrapped("word " * 100, 10, most=2)[-1].endswith(" …")


def test_on_a_phone_peaks_are_named_right_of_the_circles() -> None:
    """The axis goes on for the names: each ends inside it, beyond where the wide view ends."""
    layout = FIGURES["roofline"]["layout"]
    end = layout["meta"]["narrow_x"][1]
    labels = layout["meta"]["narrow"]["annotations"]
    assert [each["text"] for each in labels] == ["cube int8", "vector fp32"]
    assert all(layout["xaxis"]["range"][1] < each["x"] < end for each in labels)
