"""The report over the real exports: what it draws is bounded by its roofs and adds up to the capture."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from npu_roofline.analyzer.report_data import ReportInput, report_data
from npu_roofline.reports.html_report import roofline_report

from tests.analyzer.conftest import OpenReal

PROFILES = (
    "d01_text_level0",
    "d02_text_level1",
    "d03_text_level2",
    "d06_qwen3_train_cann83",
    "d07_gpt3_2023_memoryl0",
    "d08_advisor_tampered_shapes",
    "d10_msprof_cli_and_op_910b",
    "longcat_910c_decode",
)
# The L2 figure is a measured one and 10 % is what the label's own sanity check allows above it.
ABOVE_L2 = 1.1


@pytest.fixture(scope="module")
def asked(real_session: OpenReal) -> Callable[[str], ReportInput]:
    """The report's data of a profile, worked out once."""
    known: dict[str, ReportInput] = {}

    def of(profile: str) -> ReportInput:
        if profile not in known:
            with real_session(profile) as session:
                known[profile] = report_data(session)
        return known[profile]

    return of


def test_longcat_shows_its_median_step(asked: Callable[[str], ReportInput]) -> None:
    """Walls are 25,626 / 10,666 / 10,718 / 11,125 / 10,403 us: the median is step 5.

    757 rows of a step less 30 listed twice are 727 bars, 30 of them AI_CPU; nothing is left out. The step
    begins with a stretch of idle time of about 2.3 ms.
    """
    timeline = asked("longcat_910c_decode").timeline
    assert timeline is not None
    assert (timeline.step.step_id, timeline.steps) == (5, 5)
    assert timeline.step.wall_us == pytest.approx(10_718, abs=1)
    assert len(timeline.kernels) == 757 - 30
    assert sum(kernel.bound == "other" for kernel in timeline.kernels) == 30
    assert (timeline.left_out, timeline.left_out_us) == (0, 0.0)
    assert {kernel.layer for kernel in timeline.kernels} == {None, *range(14)}
    assert sum(gap.idle_us for gap in timeline.gaps if gap.start_us < 2_400) > 2_000


def test_longcat_experts_are_ranges(asked: Callable[[str], ReportInput]) -> None:
    """w13 reads 10.6 to 205.7 MB: drawn from 455 FLOP/B down to what HBM at most can move in its time."""
    points = [point for point in asked("longcat_910c_decode").points if point.type == "GroupedMatmul"]
    w13 = points[0]
    assert w13.bytes_lo / 1e6 == pytest.approx(10.6, abs=0.1)
    assert w13.bytes_hi / 1e6 == pytest.approx(205.7, abs=0.1)
    assert w13.intensity_low is not None
    # tflops x 1e12 / intensity_low is the bandwidth at the far end of the bar: 1.8 TB/s, the highest figure.
    assert w13.tflops * 1e12 / w13.intensity_low == pytest.approx(1.8e12, rel=0.01)


@pytest.mark.parametrize("profile", PROFILES)
def test_no_point_is_above_its_roofs(asked: Callable[[str], ReportInput], profile: str) -> None:
    """Under L2 x intensity and under the peak of its unit and dtype; anomalies are not drawn but counted."""
    data = asked(profile)
    peaks = {roof.name: roof.value for roof in data.roofs if roof.kind == "compute"}
    l2 = next((roof.value for roof in data.roofs if roof.name == "L2"), None)
    for point in data.points:
        peak = peaks.get(f"{point.unit} {point.dtype}")
        assert peak is None or point.tflops <= peak * 1.05, point
        assert l2 is None or point.tflops <= ABOVE_L2 * l2 * point.intensity / 1e3, point


@pytest.mark.parametrize("profile", PROFILES)
def test_points_and_the_undrawn_are_all_the_time(asked: Callable[[str], ReportInput], profile: str) -> None:
    """What is drawn and what is not add up to the AI-core time of the coverage line."""
    data = asked(profile)
    assert data.summary.coverage is not None
    total = sum(point.total_us for point in data.points) + sum(each.total_us for each in data.undrawn)
    assert total == pytest.approx(data.summary.coverage.aicore_us)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_capture_gives_the_same_page_twice(
    asked: Callable[[str], ReportInput], real_session: OpenReal, profile: str
) -> None:
    """A page for every capture, whatever it lacks, and the same bytes from a second look at the database."""
    with real_session(profile) as session:
        again = roofline_report(report_data(session))
    assert again == roofline_report(asked(profile))
    assert again.count("<h1>") == 1


def test_a_point_stands_where_the_table_says(asked: Callable[[str], ReportInput]) -> None:
    """Figure and table give one answer: TFLOP/s and intensity of every point are those of its row."""
    data = asked("longcat_910c_decode")
    rows = {row.id: row for row in data.hotspots.rows}
    for point in data.points:
        row = rows[point.id]
        assert (point.tflops, point.intensity) == (
            pytest.approx(row.achieved_tflops),
            pytest.approx(row.arithmetic_intensity),
        )
