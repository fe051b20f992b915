"""The real MoE decode capture (3,785 kernels, 5 steps, one A3 die): hotspots, coverage, steps and idle time.

Expected values were counted from the CSV file by other means, or worked by hand beside the assertion.
"""

from __future__ import annotations

from typing import Any

import pytest
from npu_roofline.analyzer.answer import HotspotRow
from npu_roofline.analyzer.hotspots import hotspot_rows, hotspots
from npu_roofline.analyzer.summary import summary

from tests.analyzer.conftest import OpenReal

LONGCAT = "longcat_910c_decode"


@pytest.fixture(scope="module")
def rows(real_session: OpenReal) -> tuple[HotspotRow, ...]:
    """Every hotspot of the capture."""
    with real_session(LONGCAT) as session:
        return hotspot_rows(session)


@pytest.fixture(scope="module")
def answer(real_session: OpenReal) -> Any:
    """The summary of all five steps."""
    with real_session(LONGCAT) as session:
        return summary(session)


def _row(rows: tuple[HotspotRow, ...], operator_type: str, shapes: str) -> HotspotRow:
    [found] = [
        row for row in rows if row.type == operator_type and (row.input_shapes or "").startswith(shapes)
    ]
    return found


def test_gate_up_runs_at_80_percent_of_hbm(rows: tuple[HotspotRow, ...]) -> None:
    """x 4x3072 int8, weight 3072x12288 int8, scale 12288 fp32, output 4x12288 int32: 38.0 MB in 29.72 us."""
    row = _row(rows, "QuantBatchMatmulV3", "4,3072;384,192,16,32;12288")
    assert (row.count, row.weight_bytes, row.flops) == (140, 3072 * 12288, 2 * 4 * 3072 * 12288)
    assert row.bytes_lo == 4 * 3072 + 3072 * 12288 + 12288 * 4 + 4 * 12288 * 4  # 38,006,784
    assert row.median_us == pytest.approx(29.72, abs=0.01)
    assert row.hbm_fraction == pytest.approx(38_006_784 / 29.72e-6 / 1.6e12, abs=1e-3)  # 0.799
    assert (row.bound, row.limiter) == ("memory", "hbm")
    assert row.floor_us == pytest.approx(38_006_784 / 1.8e12 * 1e6)  # 21.1


def test_a_collective_that_waited_once_does_not_lead(rows: tuple[HotspotRow, ...]) -> None:
    """All-reduce takes 14,345 / 625 / 488 / 979 / 404 us in the five steps: 625 us by the median, behind
    attention with 1,086, although its total of 16,840 us is three times that of attention.
    """
    times = [(row.type, round(row.step_us or 0)) for row in rows[:4]]
    assert times == [
        ("FusedInferAttentionScore", 1086),
        ("MlaPrologV3", 867),
        ("QuantBatchMatmulV3", 837),
        ("HcomAllReduce", 625),
    ]


def test_down_projection_loads_in_a_single_pass_on_half_the_cores(rows: tuple[HotspotRow, ...]) -> None:
    """Block 12 of 24 cores, 18.9 MB of weight read once, mte2 .82: memory/mte2 and not HBM."""
    row = _row(rows, "QuantBatchMatmulV3", "4,6144;96,384,16,32;3072;4")
    assert (row.count, row.weight_bytes, row.block) == (140, 6144 * 3072, 12)
    assert (row.bound, row.limiter) == ("memory", "mte2")
    assert "single pass" in row.reason
    assert "12 of 24 cores in use" in row.notes


def test_lm_head_is_bound_by_hbm(rows: tuple[HotspotRow, ...]) -> None:
    """100.8 MB in 83.0 us = 1,215 GB/s, 76 % of the nominal bandwidth."""
    row = _row(rows, "MatMul", "4,3072;1024,192,16,16")
    assert (row.count, row.bound, row.limiter) == (5, "memory", "hbm")
    assert row.achieved_gb_s == pytest.approx(1215, abs=1)


def test_grouped_matmul_is_a_range_and_never_8_tb_s(rows: tuple[HotspotRow, ...]) -> None:
    """Which of the 32 experts were hit is not exported: 10.6 to 205.7 MB, low confidence, achieved from
    the lower.
    """
    row = _row(rows, "GroupedMatmul", "384,3072;32,64,192,16,32")
    assert (row.bytes_lo, row.bytes_hi) == (10_617_088, 205_652_224)
    assert (row.bound, row.confidence, row.outcome) == ("memory", "low", "upper_bound")
    for each in rows:
        if each.type == "GroupedMatmul":
            assert each.achieved_gb_s is not None
            assert each.achieved_gb_s < 1800
            assert each.achieved_tflops is not None
            assert each.achieved_tflops < 10
            assert each.potential_us is None


def test_no_other_engine_is_a_hotspot_and_no_kernel_beats_its_floor(rows: tuple[HotspotRow, ...]) -> None:
    """AI_CPU has no roofline; a median below its floor would be an anomaly, and there is none here."""
    assert {row.core for row in rows}.isdisjoint({"AI_CPU", "DSA_SQE"})
    assert [row.anomaly for row in rows if row.anomaly] == []
    assert [row.id for row in rows if row.floor_us is not None and row.median_us < row.floor_us] == []


def test_coverage_of_the_capture(answer: Any) -> None:
    """36.87 ms of AI core (7,759 + 4,992 + 7,803 + 16,316 us by core type), 150 rows listed twice,
    AI_CPU apart.
    """
    found = answer.coverage
    assert (found.rows_read, found.rows_kept, found.rows_rejected, found.duplicate_rows) == (
        3785,
        3785,
        0,
        150,
    )
    assert found.aicore_us == pytest.approx(7759.276 + 4991.698 + 7802.740 + 16315.859)
    assert (found.aicore_rows, found.communication_rows, found.other_engine_rows) == (3335, 150, 150)
    assert found.communication_us == pytest.approx(16933.08)
    assert found.generic_us + found.unresolved_us < 0.02 * found.aicore_us


def test_steps_and_their_medians(answer: Any) -> None:
    """Walls of 25,626 / 10,666 / 10,718 / 11,125 / 10,403 us: the median is 10,718, and step 3 is named."""
    steps = answer.extras["steps"]
    assert [round(step.wall_us) for step in steps] == [25626, 10666, 10718, 11125, 10403]
    assert [step.step_id for step in steps if step.outlier] == [3]
    assert "HcomAllReduce with 14.1 ms" in steps[0].note
    assert answer.extras["spread"].wall_us == pytest.approx(10718.174)
    assert [round(step.idle_us) for step in steps] == [3846, 2693, 2827, 2704, 2665]
    assert {step.phase for step in steps} == {"decode"}


def test_a_quarter_of_a_step_is_idle(answer: Any) -> None:
    """Medians: 2,704 us of 10,718 us."""
    assert answer.extras["spread"].idle_share == pytest.approx(0.2525, abs=1e-3)
    assert any("the device is idle for 25 % of a step" in note for note in answer.notes)


def test_step_4_begins_with_the_largest_idle_stretch(real_session: OpenReal) -> None:
    """From 0 to 2,275 us only 45 short kernels run (138 us) and AI_CPU 150 us: 0.3 ms, shown first."""
    with real_session(LONGCAT, steps="4") as session:
        first = summary(session).extras["idle"][0]
    assert (first.step_id, first.start_us, first.before) == (4, 0.0, None)
    assert first.span_us == pytest.approx(2275.2, abs=0.1)
    assert (first.kernels, first.busy_us, first.other_engine_us) == (
        45,
        pytest.approx(137.6, abs=0.1),
        150.203,
    )


def test_the_stretch_at_the_start_of_a_step_leads_the_summary(answer: Any) -> None:
    """Steps 4 to 7 wait 2,138 / 2,265 / 2,129 / 2,139 us before Range: one row, the second of the four sorted
    (step 4), 8,671 us in all. In step 3 it begins after the first kernels, 3,250 us: a row of its own.
    """
    first, second = answer.extras["idle"][:2]
    assert (first.step_id, first.in_steps, first.occurrences, first.before) == (4, 4, 4, None)
    assert first.idle_us == pytest.approx(2138, abs=1)
    assert first.place_idle_us == pytest.approx(2138 + 2265 + 2129 + 2139, abs=2)
    assert (second.step_id, second.in_steps, second.after.type) == (3, 1, "Range")
    assert second.idle_us == second.place_idle_us == pytest.approx(3250, abs=1)


def test_other_engines_are_listed_apart(answer: Any) -> None:
    """140 tiling rows of attention and 10 Cumsum on AI_CPU: 18.9 ms that are in no total."""
    apart = {row.type: (row.kernels, round(row.total_us)) for row in answer.extras["other_engines"]}
    assert apart == {"FusedInferAttentionScore": (140, 18081), "Cumsum": (10, 815)}
    assert sum(row.kernels for row in answer.rows) == 3335 + 150


def test_the_main_stream_is_named(real_session: OpenReal) -> None:
    """Stream 166 holds 3,100 kernels and most AI-core time; its busy time is below the wall of the steps."""
    with real_session(LONGCAT) as session:
        rows = {row.key: row for row in summary(session, by="stream").rows}
    assert [key for key, row in rows.items() if row.note.startswith("main stream")] == ["stream 166"]
    assert rows["stream 166"].kernels == 3100
    assert rows["stream 166"].busy_us == pytest.approx(36_086, abs=1)


def test_selected_steps_have_medians_of_their_own(real_session: OpenReal) -> None:
    """With --steps 4,6 there are 56 gate-up calls, and the total is that of two steps."""
    with real_session(LONGCAT, steps="4,6") as session:
        answer = hotspots(session)
    row = _row(answer.rows, "QuantBatchMatmulV3", "4,3072;384,192,16,32;12288")
    assert (row.count, answer.coverage.steps if answer.coverage else None) == (56, 2)
    assert sum(row.total_us for row in answer.rows if row.share) == pytest.approx(7331.187 + 7425.072)


def test_the_device_is_named_with_both_candidates(real_session: OpenReal) -> None:
    """43,200 cores x MHz at 1800 MHz are 24 cores: an A3 die or an A2 376T, with the same roofs."""
    with real_session(LONGCAT) as session:
        info = session.device_info
    assert info.soc is not None
    assert "A3 die" in info.soc
    assert "A2 376T" in info.soc
    assert (info.cube_cores, info.clock_mhz, info.hbm_gb_s, info.l2_mib) == (24, 1800, 1600, 192)


def test_an_unknown_potential_is_no_zero(answer: Any) -> None:
    """The 140 GroupedMatmul have no roof to be above: the 317 us of memory/hbm are those of the other 145."""
    rows = {row.key: row for row in answer.rows}
    assert rows["memory/hbm"].kernels == 285
    assert rows["memory/hbm"].note == "potential leaves out 140 kernels whose roof is not known"
    assert rows["memory/mte2"].note == ""
    assert rows["communication/link"].potential_us is None
