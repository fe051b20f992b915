"""The decision procedure, step by step, on measurements of real kernels and on hand-built edges."""

from __future__ import annotations

import dataclasses

import pytest
from npu_roofline.roofline.classify import Label, classify
from npu_roofline.roofline.device import load_device
from npu_roofline.roofline.measure import Measurement
from npu_roofline.roofline.model import Work
from npu_roofline.roofline.options import RooflineOptions
from npu_roofline.roofline.work import Signature, work_of

from tests.roofline.operands import measured, work

OPTIONS = RooflineOptions()
B2 = load_device("910B2")
B4 = load_device("910B4")


def label(found: Work, measurement: Measurement, device=B2) -> Label:
    """The label with default thresholds."""
    return classify(found, measurement, device, OPTIONS)


def named(result: Label) -> str:
    """`bound/limiter`."""
    return f"{result.bound}/{result.limiter}"


def fp32(inputs: str, outputs: str) -> Work:
    """An FP32 matmul of d02."""
    return work("MatMulV2", inputs, outputs, dtypes="FLOAT", out_dtypes="FLOAT")


GATE_UP = work(
    "QuantBatchMatmulV3",
    "4,3072;384,192,16,32;12288",
    "4,12288",
    dtypes="INT8;INT8;FLOAT",
    formats="ND;FRACTAL_NZ;ND",
    out_dtypes="INT32",
)
DOWN = work(
    "QuantBatchMatmulV3",
    "4,6144;96,384,16,32;3072;4",
    "4,3072",
    dtypes="INT8;INT8;DT_BF16;FLOAT",
    formats="ND;FRACTAL_NZ;ND;ND",
)
W13 = work(
    "GroupedMatmul",
    "384,3072;32,64,192,16,32;;;;;;32",
    "384,2048",
    dtypes="INT8;INT8;INT32;UINT64;FLOAT;FLOAT16;FLOAT16;INT64",
    formats="ND;FRACTAL_NZ;ND;ND;ND;ND;ND;ND",
    out_dtypes="INT32",
)


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


def test_step_6a_few_cores() -> None:
    """4 of 48 vector cores: underparallel, with the time that its bytes need through so few."""
    result = label(
        work("ArgMaxV2", "4,1,131072", "4,1", out_dtypes="INT32"),
        measured(17.84, 4, aiv_vec=0.3, aiv_mte2=0.3),
    )
    assert named(result) == "latency/underparallel"
    assert "1.02 us" in result.reason  # 1,048,592 bytes / (4 x 256.9e9)


def test_step_6a_a_small_chip_is_not_underparallel() -> None:
    """One of one core is all there is."""
    result = label(
        work("Add", "512,512;512,512", "512,512"), measured(200.0, 1, aiv_vec=0.3), load_device("310B1")
    )
    assert result.limiter != "underparallel"


def test_step_6b_scalar() -> None:
    """d02's N = 1000 matmul: scalar .90 is the busiest pipe."""
    result = label(
        fp32("32,4096;1000,4096;1000", "32,1000"),
        measured(57.24, 21, aic_mac=0.19, aic_mte2=0.31, aic_scalar=0.9),
    )
    assert named(result) == "latency/scalar"


def test_step_6c_single_pass() -> None:
    """The down projection on 12 blocks: mte2 .81 at 58 % of HBM, M = 4: memory/mte2, single pass."""
    result = label(DOWN, measured(20.5, 12, aic_mac=0.18, aic_mte1=0.5, aic_mte2=0.81))
    assert (named(result), result.single_pass) == ("memory/mte2", True)
    assert "12 of 24 cores in use" in result.notes


def test_step_6c_tile_re_reads() -> None:
    """1024 x 4096 x 3072 on the B4: mte2 .94, 27 % of HBM: tiles read again from L2, about 302 MB.

    2 B x 4096 x (1024 x ceil(3072/256) + 3072 x ceil(1024/128)) = 8192 x (12288 + 24576) = 301,989,888.
    """
    result = label(
        work("MatMulV3", "4096,1024;4096,3072", "1024,3072"),
        measured(187.5, 20, core_us=184.0, occupancy=95.3, aic_mac=0.55, aic_mte2=0.94),
        B4,
    )
    assert (named(result), result.single_pass) == ("memory/mte2", False)
    assert "302.0 MB" in result.reason
    assert result.confidence == "low"


def test_step_6d_balanced() -> None:
    """mac .85 with mte2 .84 is a balanced cube kernel, not a memory-bound one."""
    result = label(
        work("MatMulV3", "4096,1024;6144,1024", "4096,6144"),
        measured(240.0, 20, aic_mac=0.85, aic_mte2=0.84),
        B4,
    )
    assert named(result) == "compute/cube"
    assert result.reason.startswith("balanced")


@pytest.mark.parametrize(
    ("pipes", "expected"),
    [
        ({"aic_mac": 0.3, "aic_mte1": 0.9, "aic_mte2": 0.4}, "compute/cube"),
        ({"aic_mac": 0.3, "aic_mte2": 0.4, "aic_fixpipe": 0.85}, "memory/store"),
        ({"aic_mac": 0.3, "aic_mte2": 0.4, "aic_fixpipe": 0.3}, "latency/pipeline"),
        ({}, "latency/pipeline"),
    ],
)
def test_steps_6e_to_6h(pipes: dict[str, float], expected: str) -> None:
    """L1-to-L0 feed, full store pipe, no full pipe, and no pipes at all."""
    result = label(work("MatMul", "256,4096;4096,4096", "256,4096"), measured(200.0, **pipes))
    assert named(result) == expected
    if not pipes:
        assert result.confidence == "low"


def test_step_6c_copies_that_take_turns() -> None:
    """A copy with mte2 .53 and mte3 .47 loads and stores in turn: memory/mte2, or store when that is
    larger.
    """
    copy = work(
        "TensorMove", "4096,4096", "4096,4096", dtypes="FLOAT", out_dtypes="FLOAT", core="AI_VECTOR_CORE"
    )
    assert named(label(copy, measured(204.0, 48, aiv_mte2=0.53, aiv_mte3=0.47))) == "memory/mte2"
    assert named(label(copy, measured(204.0, 48, aiv_mte2=0.40, aiv_mte3=0.55))) == "memory/store"


def test_a_mixed_kernel_is_judged_by_the_part_it_belongs_to() -> None:
    """The vector part of a MIX_AIC matmul waits as long as the cube works; its empty pipes say nothing."""
    mixed = Measurement(
        140,
        20.5,
        2870.0,
        block=12,
        aicore_time_us=18.0,
        aiv_time_us=19.0,
        ratios={"aic_mac": 0.18, "aic_mte2": 0.81, "aiv_vec": 0.01, "aiv_mte2": 0.03, "aiv_scalar": 0.95},
    )
    assert named(label(DOWN, mixed)) == "memory/mte2"


def test_step_7_without_a_device_pipes_say_likely() -> None:
    """No device: a full load pipe is likely memory/mte2, never HBM; floors are None."""
    result = label(GATE_UP, measured(29.7, aic_mac=0.12, aic_mte2=0.87), device=None)
    assert named(result) == "memory/mte2"
    assert result.reason.startswith("likely")
    assert (result.confidence, result.floors.floor_us) == ("low", None)


def test_step_7_nothing_known_is_unknown() -> None:
    """Level 0: neither shapes nor pipes, so no label, with the reason."""
    result = label(work_of(Signature("MatMul", None, "aicore")), measured(5.3, block=None), device=None)
    assert named(result) == "unknown/no evidence"
    assert "no pipes were recorded" in result.reason


def test_measured_l2_misses_decide() -> None:
    """An L2Cache run: misses x 128 B confirm HBM at high confidence; hits deny it.

    38,006,784 bytes are 296,928 misses of 128 B.
    """
    missed = {"aic_r0_read_cache_hit": 0.0, "aic_r0_read_cache_miss_allocate": 296_928.0}
    confirmed = label(GATE_UP, measured(29.72, metric_mode="l2_cache", other=missed))
    assert (named(confirmed), confirmed.confidence) == ("memory/hbm", "high")
    hit = {"aic_r0_read_cache_hit": 280_000.0, "aic_r0_read_cache_miss_allocate": 10_000.0}
    denied = label(GATE_UP, measured(29.72, metric_mode="l2_cache", other=hit))
    assert named(denied) != "memory/hbm"
    assert denied.fed_by_l2


def test_measured_bytes_reveal_hbm_where_shapes_do_not() -> None:
    """Tile re-reads that reach HBM: 40 MB by shape, but 250 MB measured in 187.5 us is 83 % of 1.6 TB/s."""
    result = label(
        work("MatMulV3", "4096,1024;4096,3072", "1024,3072"),
        measured(
            187.5, 20, metric_mode="memory_access", other={"aic_read_main_memory_datas_kb": 250e6 / 1024}
        ),
    )
    assert named(result) == "memory/hbm"
    assert "measured 1,333 GB/s" in result.reason


def test_the_cube_cannot_compute_more_than_it_was_busy() -> None:
    """The consistency check: 80 % of the peak with mac .40 means a wrong device, dtype or shape."""
    result = label(
        work("MatMulV3", "4096,1024;1024,2048", "4096,2048"),
        measured(79.1, 20, core_us=75.0, occupancy=96.4, aic_mac=0.40, aic_mte2=0.83),
        B4,
    )
    assert result.contradicts_pipes
    assert "wrong device, dtype or shapes" in (result.anomaly or "")


def test_a_median_below_its_floor_is_an_anomaly() -> None:
    """A compute-labelled kernel that HBM could not have fed is fed by L2: its floor is at L2 speed."""
    found = work("Muls", "1024,4096", "1024,4096", core="AI_VECTOR_CORE")
    result = label(found, measured(8.0, 48, aiv_vec=0.9, aiv_mte2=0.5))
    assert named(result) == "compute/vector"
    assert result.anomaly is None
    assert result.floors.floor_us is not None
    assert result.floors.floor_us < 8.0


def test_an_uncertain_bandwidth_caps_confidence() -> None:
    """On a device whose bandwidth is a range, no memory label is high."""
    result = label(
        GATE_UP,
        measured(50.0, 20, core_us=45.0, occupancy=90.0, aic_mac=0.1, aic_mte2=0.95),
        load_device("910_9362"),
    )
    assert named(result) == "memory/hbm"
    assert result.confidence != "high"


def test_thresholds_come_from_the_options() -> None:
    """A stricter HBM threshold moves the label: nothing is hard-coded."""
    strict = dataclasses.replace(OPTIONS, hbm_likely=0.9)
    result = classify(GATE_UP, measured(29.72, aic_mac=0.12, aic_mte2=0.87), B2, strict)
    assert named(result) == "memory/mte2"


def test_potential_is_time_above_the_achievable_roof() -> None:
    """29.72 us against 23.754 / 0.85 = 27.946 us leaves 1.77 us; without a roof there is none."""
    result = label(GATE_UP, measured(29.72, aic_mac=0.12, aic_mte2=0.87))
    assert result.potential_us == pytest.approx(1.77, abs=0.01)
    assert (
        label(
            work_of(Signature("HcomAllReduce", "COMMUNICATION", "communication")), measured(9.0)
        ).potential_us
        is None
    )
