"""Steps 0 to 5 of the decision procedure, on measurements of real kernels and on hand-built edges."""

from __future__ import annotations

import pytest
from npu_roofline.roofline.device import load_device
from npu_roofline.roofline.work import Signature, work_of

from tests.roofline.labelling import B4, GATE_UP, W13, fp32, label, named
from tests.roofline.operands import measured, work


def test_step_0_other_engines_and_collectives() -> None:
    """AI_CPU, DSA and communication are told from the class, whatever the numbers."""
    rows = {
        "other/ai_cpu": Signature("Cumsum", "AI_CPU", "ai_cpu"),
        "other/dsa": Signature("DSAGenBitMask", "DSA_SQE", "dsa"),
        "other/host": Signature("X", None, "other"),
        "communication/link": Signature("HcomAllReduce", "COMMUNICATION", "communication"),
    }
    for expected, signature in rows.items():
        assert named(label(work_of(signature), measured(9.2))) == expected
    dispatch = work("MoeDistributeDispatchV2", "4,3072;4,12", "384,3072", dtypes="DT_BF16;INT32")
    assert named(label(dispatch, measured(32.7, aiv_vec=0.1))) == "communication/link"


def test_step_0_fused_collective_belongs_to_its_longer_part() -> None:
    """A matmul that needs less than half the time is communication, low confidence; else it is a matmul."""
    fused = work("MatMulAllReduce", "4096,4096;4096,1024", "4096,1024")  # 97 us at the B2's peak
    slow = label(fused, measured(400.0, aic_mac=0.2, aic_mte2=0.3))
    assert (named(slow), slow.confidence) == ("communication/link", "low")
    assert named(label(fused, measured(110.0, aic_mac=0.9, aic_mte2=0.6))) == "compute/cube"


def test_contradictory_shapes_stay_unknown_with_full_pipes() -> None:
    """Edited shapes are unknown with the reason, even though mte2 is 0.96."""
    result = label(
        work("MatMulV2", "81920,4096;8192,512", "4096,512"), measured(187.3, aic_mac=0.82, aic_mte2=0.96)
    )
    assert named(result) == "unknown/shapes contradict"
    assert "K would be 81920 in A and 8192 in B" in result.reason
    assert "mte2 0.96" in result.notes[0]
    assert (result.floors.floor_us, result.confidence) == (None, "low")


def test_step_2_more_than_the_peak_is_a_wrong_model() -> None:
    """A matmul faster than the peak is unknown, and the anomaly is named."""
    result = label(work("MatMul", "4096,4096;4096,4096", "4096,4096"), measured(100.0))  # needs 388 us
    assert named(result) == "unknown/above the compute peak"
    assert result.anomaly is not None
    assert result.potential_us is None


def test_step_2_more_than_l2_can_move_is_a_wrong_byte_model() -> None:
    """33.6 MB in 1 us is 33 TB/s: no memory moves that, the largest operand is suspected."""
    result = label(work("Add", "4096,2048;4096,2048", "4096,2048"), measured(1.0))
    assert named(result) == "unknown/above the L2 roof"
    assert "suspect input 0" in result.reason


@pytest.mark.parametrize(
    ("median", "core", "expected"),
    [
        (2.6, 1.0, "latency/launch"),  # below 3 us
        (4.8, 4.5, "latency/launch"),  # below 5 us and a tenth of it is work
        (7.0, 3.2, "latency/launch"),  # 3.8 us of 7.0 outside the cores
        (12.0, 5.5, "latency/pipeline"),  # 6.5 us is longer than a launch of a vector kernel: imbalance
    ],
)
def test_step_3_launch(median: float, core: float, expected: str) -> None:
    """Short kernels, and kernels mostly outside the cores, are launch-limited; a longer gap is
    imbalance.
    """
    result = label(
        work("Add", "4,3072;4,3072", "4,3072"),
        measured(median, block=48, core_us=core, aiv_vec=0.1, aiv_mte2=0.2),
    )
    assert named(result) == expected
    assert any("load imbalance" in note for note in result.notes) == (expected == "latency/pipeline")


def test_step_4_a_write_absorbed_by_l2() -> None:
    """d02's 32,4096;32,4096 -> 4096,4096: 68 MB in 30.66 us is 2.2 TB/s, above HBM: stores go to L2.

    Its floor is at L2 speed: bytes 68,157,440 / 7.78e12 = 8.76 us, FLOPs 1.0737e9 / 88.47e12 = 12.14 us.
    """
    result = label(
        fp32("32,4096;32,4096", "4096,4096"),
        measured(30.661, 22, aic_mac=0.546, aic_mte2=0.064, aic_fixpipe=0.802),
    )
    assert named(result) == "memory/l2"
    assert "stores are absorbed" in result.reason
    assert result.fed_by_l2
    assert result.floors.floor_us == pytest.approx(12.14, abs=0.01)
    assert result.anomaly is None


def test_step_4_one_l2_of_bytes_may_hide() -> None:
    """A 929 MB fill at 1,863 GB/s drains at 1,459 once 192 MiB are subtracted: HBM, low, and named an
    anomaly.
    """
    result = label(
        work("ZerosLike", "232138240", "232138240", dtypes="FLOAT", out_dtypes="FLOAT"),
        measured(498.4, block=48),
        load_device("910B1"),
    )
    assert (named(result), result.confidence) == ("memory/hbm", "low")
    assert "1,459 GB/s" in (result.anomaly or "")


def test_step_4_too_many_bytes_name_the_operand() -> None:
    """2 GB at 2.5 TB/s cannot be hidden by L2: over-counted, with the operand that is suspected."""
    result = label(work("Add", "16384,16384;16384,16384", "16384,16384"), measured(640.0))
    assert named(result) == "unknown/bytes over-counted"
    assert "suspect input 0 (16384,16384 bf16)" in result.reason


def test_step_4_between_the_two_hbm_figures() -> None:
    """25.2 MB at 806 GB/s on a B4 (0.80 to 0.88 TB/s) is HBM, inside the uncertainty of the roof."""
    result = label(
        work("Add", "4096,1,1024;4096,1,1024", "4096,1,1024"), measured(31.2, 40, aiv_mte2=0.8), B4
    )
    assert named(result) == "memory/hbm"
    assert any("uncertainty" in note for note in result.notes)
    assert result.confidence != "high"


def test_step_5_gate_up_of_longcat() -> None:
    """80 % of HBM with a full load pipe and a cube share that fits the FLOPs: memory/hbm, high."""
    result = label(
        GATE_UP, measured(29.72, core_us=26.0, occupancy=88.0, aic_mac=0.12, aic_mte1=0.36, aic_mte2=0.87)
    )
    assert (named(result), result.confidence) == ("memory/hbm", "high")
    assert "1,279 GB/s, 80 % of 1,600 GB/s HBM" in result.reason
    assert (result.shape_bound, result.pmu_bound) == ("memory", "memory")


def test_step_5_needs_a_busy_data_pipe() -> None:
    """An RmsNorm at 97 % of HBM with mte2 .17 and vec .85 is fed by L2: the vector unit is the limit."""
    result = label(
        work("RmsNorm", "4096,1,16,128;128", "4096,1,16,128;4096,1,16,1", out_dtypes="DT_BF16;FLOAT"),
        measured(43.62, 40, aiv_vec=0.85, aiv_mte2=0.17, aiv_mte3=0.27),
        B4,
    )
    assert named(result) == "compute/vector"
    assert result.fed_by_l2
    assert any("fed by L2" in note for note in result.notes)


def test_step_5_compute_near_the_roof() -> None:
    """4096,1024;1024,2048 in 79.1 us is 80 % of the B4's peak: compute/cube, high."""
    result = label(
        work("MatMulV3", "4096,1024;1024,2048", "4096,2048"),
        measured(79.1, 20, core_us=75.0, occupancy=96.4, aic_mac=0.87, aic_mte2=0.83),
        B4,
    )
    assert (named(result), result.confidence) == ("compute/cube", "high")


def test_ranges_grouped_matmul() -> None:
    """w13: 10.6 to 205.7 MB in 28.7 us, mte2 .74 against mac .11: HBM at low confidence, with the
    experts it allows.

    28.7e-6 * 1.8e12 / 6,291,456 = 8.2 experts of 32.
    """
    result = label(W13, measured(28.7, aic_mac=0.11, aic_mte1=0.3, aic_mte2=0.74, aic_scalar=0.4))
    assert (named(result), result.confidence) == ("memory/hbm", "low")
    assert "10.6 MB to 205.7 MB" in result.reason
    assert "8.2 of 32 experts" in result.reason
    assert result.potential_us is None


def test_ranges_need_the_load_pipe() -> None:
    """A grouped matmul whose cube is busy is not called HBM-bound because of its upper bound."""
    result = label(W13, measured(28.7, aic_mac=0.75, aic_mte2=0.6))
    assert named(result) == "compute/cube"


def test_attention_is_never_labelled_from_the_pool() -> None:
    """FIA's pools would explain its time; Q and output do not, so pipes decide."""
    found = work(
        "FusedInferAttentionScore", "4,8,512;161,1,32,128,16;161,1,32,128,16", "4,8,512", core="MIX_AIC"
    )
    result = label(found, measured(20.0, 14, aic_mac=0.15, aic_mte2=0.53))
    assert named(result) == "latency/pipeline"


def test_at_the_roof_with_data_that_fits_l2_neither_memory_is_sure() -> None:
    """d06: an Add of 25.2 MB in 31.23 us is 806 GB/s of 800 to 880, and L2 holds 100.7 MB: memory, HBM only
    at low confidence; 2 GB at the same rate cannot have been in L2 and stay medium.
    """
    small = label(work("Add", "4096,1,1024;4096,1,1024", "4096,1,1024"), measured(31.23, 40), B4)
    assert (named(small), small.confidence) == ("memory/hbm", "low")
    assert any("fit L2" in note for note in small.notes)
    large = label(
        work("Add", "320000,1024;320000,1024", "320000,1024"), measured(31.23 * 320_000 / 4096, 40), B4
    )
    assert (named(large), large.confidence) == ("memory/hbm", "medium")
