"""hotspots: every figure of a row worked by hand, filters that say what there is, and a total order."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.hotspots import hotspots
from npu_roofline.errors import WrongUsage

from tests.analyzer.tiny_run import Kernel, session_of

# M 4, K 4096, N 8192 in bf16: 4*4096*2 + 4096*8192*2 + 4*8192*2 = 32,768 + 67,108,864 + 65,536 bytes.
BYTES = 67_207_168
FLOPS = 2 * 4 * 4096 * 8192  # 268,435,456
DECODE_MATMUL = ("4,4096;4096,8192", "DT_BF16", "4,8192")


def _matmuls(*durations: float) -> list[Kernel]:
    return [
        Kernel(at * 1000, us, "MatMulV3", "AI_CORE", shapes=DECODE_MATMUL, extra={"block": 24})
        for at, us in enumerate(durations)
    ]


def test_every_figure_of_a_row() -> None:
    """A decode matmul of 67.2 MB in 50 us on a 910B2: 1,344 GB/s are 84 % of 1,600, and 37.3 us its floor."""
    [row] = hotspots(session_of(_matmuls(50, 50, 50))).rows
    assert (row.count, row.total_us, row.median_us, row.share) == (3, 150.0, 50.0, 1.0)
    assert (row.flops, row.bytes_lo, row.bytes_hi, row.weight_bytes) == (FLOPS, BYTES, BYTES, 4096 * 8192 * 2)
    assert row.achieved_gb_s == pytest.approx(BYTES / 50e-6 / 1e9)  # 1,344.1
    assert row.hbm_fraction == pytest.approx(0.84009, abs=1e-5)
    assert row.achieved_tflops == pytest.approx(FLOPS / 50e-6 / 1e12)
    assert row.arithmetic_intensity == pytest.approx(FLOPS / BYTES)
    assert row.ridge == pytest.approx(353.8944e12 / 1.6e12)
    assert row.floor_us == pytest.approx(BYTES / 1.8e12 * 1e6)  # 37.34 at the highest HBM figure
    assert row.headroom_us == pytest.approx(50 - BYTES / 1.8e12 * 1e6)
    assert (row.bound, row.limiter) == ("memory", "hbm")
    assert row.id == f"k-{row.signature_id[:8]}"


def test_potential_is_summed_call_by_call() -> None:
    """Achievable are 67.2 MB / (0.85 x 1,600 GB/s) = 49.417 us; of calls of 45, 50 and 80 us only two
    lie above.
    """
    achievable = BYTES / (0.85 * 1.6e12) * 1e6
    [row] = hotspots(session_of(_matmuls(45, 50, 80))).rows
    assert row.potential_us == pytest.approx((50 - achievable) + (80 - achievable))


def test_share_is_of_ai_core_time_only() -> None:
    """30 us of AI core beside 100 us of communication: the share is 1, and the collective has none."""
    rows = hotspots(
        session_of([Kernel(0, 30), Kernel(50, 100, "hcom_allReduce_", "COMMUNICATION", stream=None)])
    ).rows
    assert [(row.type, row.share) for row in rows] == [("hcom_allReduce_", None), ("Add", 1.0)]
    assert (rows[0].bound, rows[0].limiter) == ("communication", "link")


def test_other_engines_are_no_hotspots() -> None:
    """AI_CPU rows have no roofline, however long they are."""
    rows = hotspots(session_of([Kernel(0, 30), Kernel(50, 900, "Cumsum", "AI_CPU")])).rows
    assert [row.type for row in rows] == ["Add"]


def test_rows_are_ordered_by_time_then_id() -> None:
    """Equal totals are ordered by signature, so that two runs of the command print the same."""
    rows = hotspots(session_of([Kernel(0, 5, "B"), Kernel(10, 5, "A"), Kernel(20, 9, "C")])).rows
    assert rows[0].type == "C"
    assert [row.signature_id for row in rows[1:]] == sorted(row.signature_id for row in rows[1:])


def test_time_in_a_step_is_a_median_with_absent_steps_as_zero() -> None:
    """Four steps: A takes 8, 2, 2 and nothing: sorted 0, 2, 2, 8, median 2. B only once 50: 0, 0, 0, 50,
    median 0, so it stands last although its total is the largest.
    """
    kernels = [Kernel(0, 8, "A", step=1), Kernel(100, 2, "A", step=2), Kernel(200, 2, "A", step=3)]
    rows = hotspots(session_of([*kernels, Kernel(300, 50, "B", step=4)])).rows
    assert [(row.type, row.step_us, row.total_us) for row in rows] == [("A", 2.0, 12.0), ("B", 0.0, 50.0)]


def test_top_and_filters_keep_matching_rows() -> None:
    """--top 1 keeps the longest; --family matmul keeps the matmul; both say how many matched."""
    session = session_of([*_matmuls(50), Kernel(5000, 90), Kernel(6000, 1, "Mul")])
    assert [row.type for row in hotspots(session, top=1).rows] == ["Add"]
    assert [row.type for row in hotspots(session, family="matmul").rows] == ["MatMulV3"]
    assert hotspots(session, top=1).extras["matching"] == 3


def test_a_filter_without_match_says_what_there_is() -> None:
    """A word of the tool that does not occur gives no rows and a note; a word of no meaning is wrong
    usage.
    """
    session = session_of(_matmuls(50))
    answer = hotspots(session, bound="compute")
    assert answer.rows == ()
    assert "no kernel here has bound compute; there are: memory" in answer.notes
    with pytest.raises(WrongUsage) as caught:
        hotspots(session, limiter="hmb")
    assert "hbm" in caught.value.hint


def test_without_a_device_nothing_is_claimed() -> None:
    """No device: no floor, no fraction, no ridge; bytes and the achieved rate still stand."""
    [row] = hotspots(session_of(_matmuls(50), device=None)).rows
    assert (row.floor_us, row.hbm_fraction, row.ridge, row.potential_us) == (None, None, None, None)
    assert row.bytes_lo == BYTES
    assert row.achieved_gb_s is not None


def test_level_0_is_unknown_and_says_why() -> None:
    """Without shapes and counters there is nothing to say but the time, and no figure is made up."""
    [row] = hotspots(session_of([Kernel(0, 20, "MatMul", None)])).rows
    assert (row.bound, row.flops, row.bytes_lo, row.achieved_gb_s) == ("unknown", None, None, None)
    assert row.reason
