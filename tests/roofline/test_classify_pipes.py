"""Steps 6 and 7 of the decision procedure, and what holds for every label."""

from __future__ import annotations

import dataclasses

import pytest
from npu_roofline.roofline.classify import classify
from npu_roofline.roofline.device import load_device
from npu_roofline.roofline.device_model import Device
from npu_roofline.roofline.measure import Measurement
from npu_roofline.roofline.work import Signature, work_of

from tests.roofline.labelling import B2, B4, DOWN, GATE_UP, OPTIONS, fp32, label, named
from tests.roofline.operands import measured, work


def test_step_6a_few_cores() -> None:
    """4 of 48 vector cores: underparallel, with the time that its bytes need through so few."""
    result = label(
        work("ArgMaxV2", "4,1,131072", "4,1", out_dtypes="INT32"),
        measured(17.84, 4, aiv_vec=0.3, aiv_mte2=0.3),
    )
    assert named(result) == "latency/underparallel"
    assert "1.02 us" in result.reason  # 1,048,592 bytes / (4 x 256.9e9)


@pytest.mark.parametrize("mte2", [9.9, -0.2, 1e308])
@pytest.mark.parametrize("device", [B2, None])
def test_a_pipe_that_is_busy_for_longer_than_its_core_says_nothing(
    mte2: float, device: Device | None
) -> None:
    """mte2 9.90 is damage, not a full pipe: the label is that of a kernel whose pipes were not recorded."""
    pipes = {"aic_mac": 0.1, "aic_mte2": mte2, "aic_scalar": 0.9, "aiv_vec": 0.0, "aiv_mte2": 0.0}
    found = work("MatMulV2", "4,3072;3072,3072", "4,3072")
    result, without = label(found, measured(30.0, **pipes), device), label(found, measured(30.0), device)
    assert (result.bound, result.limiter, result.reason) == (without.bound, without.limiter, without.reason)
    assert result.confidence == without.confidence
    assert result.notes == (
        *without.notes,
        f"busy shares that cannot be, so no pipe is believed: aic_mte2 {mte2:.3g}",
    )


def test_a_pipe_share_may_be_rounded_up() -> None:
    """A share just above 1 is rounding: 1.02 of mte2 is a full load pipe."""
    found = work("MatMulV2", "4,3072;3072,3072", "4,3072")
    assert named(label(found, measured(30.0, aic_mac=0.1, aic_mte2=1.02), None)) == "memory/mte2"


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
    """95 % of 0.8 TB/s is 48 % of 1.6: on a die whose bandwidth is that range, HBM is said at low
    confidence.
    """
    result = label(
        GATE_UP,
        measured(50.0, 20, core_us=45.0, occupancy=90.0, aic_mac=0.1, aic_mte2=0.95),
        load_device("910_9362"),
    )
    assert (named(result), result.confidence) == ("memory/hbm", "low")
    assert any("only known as 800 GB/s to 1,600 GB/s" in note for note in result.notes)


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
