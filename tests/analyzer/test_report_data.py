"""What the report draws is what the session holds, and what a cap leaves out is counted."""

from __future__ import annotations

import functools

import pytest
from npu_roofline.analyzer import report_data as room
from npu_roofline.analyzer.report_data import ReportInput, report_data
from npu_roofline.analyzer.session import Session
from npu_roofline.reports.html_report import roofline_report

from tests.analyzer.tiny_run import Kernel, session_of

MATMUL = ("16,4096;4096,4096", "DT_BF16", "16,4096")
ADD = ("16,4096;16,4096", "DT_BF16", "16,4096")


def kernels(step: int) -> list[Kernel]:
    """Two matmuls and an add on stream 2, a collective without a stream, AI_CPU work on stream 5."""
    at = step * 1000.0
    return [
        Kernel(at, 30, "MatMulV2", "AI_CORE", step, 2, shapes=MATMUL),
        Kernel(at + 31, 4, "Add", step=step, stream=2, shapes=ADD),
        Kernel(at + 60, 30, "MatMulV2", "AI_CORE", step, 2, shapes=MATMUL),
        Kernel(at + 95, 5 + step, "hcom_allReduce", "COMMUNICATION", step, None),
        Kernel(at + 10, 200, "Tiling", "AI_CPU", step, 5),
        Kernel(at + 95, 2, "Cast", step=step, stream=3),
    ]


@functools.cache
def session(device: str | None = "910B2") -> Session:
    """Three steps whose walls are 100, 101 and 102 us."""
    return session_of([each for step in range(3) for each in kernels(step)], device=device)


@functools.cache
def asked(device: str | None = "910B2") -> ReportInput:
    """The report of the three steps."""
    return report_data(session(device))


def test_a_point_is_flops_over_bytes_and_time() -> None:
    """Worked by hand for the matmul.

    2 x 16 x 4096 x 4096 = 536,870,912 FLOPs; bytes (16 x 4096 + 4096 x 4096 + 16 x 4096) x 2 = 33,816,576;
    so 15.876 FLOP/B, and in 30 us 17.896 TFLOP/s.
    """
    point = asked().points[0]
    assert (point.type, point.count, point.total_us, point.streams) == ("MatMulV2", 6, 180.0, ("2",))
    assert point.intensity == pytest.approx(15.876, rel=1e-4)
    assert point.tflops == pytest.approx(17.896, rel=1e-4)
    assert point.intensity_low is None


def test_roofs_are_those_of_the_dtypes_present() -> None:
    """HBM, L2 and the cube's bf16 peak: 24 cores x 1.8 GHz x 8192 = 353.9 TFLOP/s; no int8 roof."""
    roofs = {roof.name: roof for roof in asked().roofs}
    assert set(roofs) >= {"HBM", "L2", "cube bf16"}
    assert not [name for name in roofs if "int8" in name]
    assert roofs["cube bf16"].value == pytest.approx(353.8944)
    # A source is cited by its title, not by the key that the device file uses for it ("S1").
    assert all(len(roof.source) > 10 for roof in roofs.values())


def test_no_device_means_no_roofs() -> None:
    """An unknown chip takes the roofs away; the points stay, because they are measured."""
    data = asked(device=None)
    assert data.roofs == ()
    assert len(data.points) > 0


def test_kernels_without_a_point_are_counted_with_their_time() -> None:
    """The Cast has no shapes: one group, 3 x 2 us. Points and the rest are all the AI-core time."""
    data = asked()
    undrawn = sum(each.total_us for each in data.undrawn)
    drawn = sum(point.total_us for point in data.points)
    assert data.summary.coverage is not None
    assert undrawn == pytest.approx(6.0)
    assert drawn + undrawn == pytest.approx(data.summary.coverage.aicore_us)


def test_type_times_are_medians_over_steps() -> None:
    """The collective takes 5, 6 and 7 us in the three steps: 6 us in a step, 18 us in all."""
    times = {(each.type, each.bound): each for each in asked().types}
    collective = times["hcom_allReduce", "communication"]
    assert (collective.step_us, collective.total_us, collective.kernels) == (6.0, 18.0, 3)
    assert times["MatMulV2", "memory"].step_us == 60.0
    assert ("Tiling", "other") not in times


def test_the_timeline_is_the_median_step() -> None:
    """Walls are 100, 101, 102 us, so step 1; its kernels in start order, AI_CPU among them but in no gap."""
    timeline = asked().timeline
    assert timeline is not None
    assert (timeline.step.step_id, timeline.step.wall_us, timeline.steps) == (1, 101.0, 3)
    starts = [kernel.start_us for kernel in timeline.kernels]
    assert starts == sorted(starts) == [0.0, 10.0, 31.0, 60.0, 95.0, 95.0]
    assert {kernel.stream for kernel in timeline.kernels} == {"2", "3", "5", "not recorded"}


def test_gaps_are_where_nothing_counted_runs() -> None:
    """From 35 to 60 us only AI_CPU work runs: idle. The 1 and 5 us gaps are below the threshold of 10."""
    timeline = asked().timeline
    assert timeline is not None
    assert [(gap.start_us, gap.idle_us) for gap in timeline.gaps] == [(35.0, 25.0)]
    assert (timeline.all_gaps, timeline.all_gaps_us) == (1, 25.0)


def test_a_cap_keeps_the_longest_and_counts_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for three, 200, 30 and 30 us stay; 6, 4 and 2 us are left out: 12 us in 3 kernels."""
    monkeypatch.setattr(room, "TIMELINE_KERNELS", 3)
    timeline = report_data(session()).timeline
    assert timeline is not None
    assert [kernel.duration_us for kernel in timeline.kernels] == [30.0, 200.0, 30.0]
    assert (timeline.left_out, timeline.left_out_us) == (3, pytest.approx(12.0))


def test_points_are_capped_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for one point the longest stays and one is counted as left out."""
    monkeypatch.setattr(room, "ROOFLINE_POINTS", 1)
    data = report_data(session())
    assert [point.type for point in data.points] == ["MatMulV2"]
    assert data.points_left_out == 1


@pytest.mark.parametrize("device", ["910B2", None])
def test_it_renders(device: str | None) -> None:
    """From kernels to a page, with and without a device."""
    page = roofline_report(asked(device))
    assert "MatMulV2" in page
    assert page.count("<h1>") == 1
