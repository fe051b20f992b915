"""Floors and shares: worked values, and what must hold for every kernel."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.roofline.device import all_devices, load_device
from npu_roofline.roofline.floors import floors_of
from npu_roofline.roofline.model import Work
from npu_roofline.roofline.options import RooflineOptions
from npu_roofline.roofline.work import work_of

from tests.roofline.operands import measured, signature, work

OPTIONS = RooflineOptions()
B2 = load_device("910B2")


def gate_up() -> Work:
    """The quantised gate-up matmul of longcat."""
    return work(
        "QuantBatchMatmulV3",
        "4,3072;384,192,16,32;12288",
        "4,12288",
        dtypes="INT8;INT8;FLOAT",
        formats="ND;FRACTAL_NZ;ND",
        out_dtypes="INT32",
    )


def test_gate_up_of_longcat() -> None:
    """38,006,784 bytes in 29.7 us on 24 cores of a B2: 80 % of 1.6 TB/s, floor 21.1 us at 1.8 TB/s.

    hbm 38.006784e6/1.6e12 = 23.754 us; floor /1.8e12 = 21.115 us; padded FLOPs 1.208e9/707.8e12 = 1.707 us.
    """
    floors = floors_of(gate_up(), measured(29.7), B2, OPTIONS)
    assert floors.hbm_us == pytest.approx(23.754, abs=1e-3)
    assert floors.u_m == pytest.approx(0.7998, abs=1e-4)
    assert floors.floor_us == pytest.approx(21.115, abs=1e-3)
    assert floors.compute_us == pytest.approx(1.7066, abs=1e-3)
    assert floors.achievable_us == pytest.approx(23.754 / 0.85, abs=1e-3)
    # 301,989,888 / 38,006,784; 707.79e12 / 1.6e12
    assert floors.arithmetic_intensity == pytest.approx(7.9457, abs=1e-4)
    assert floors.ridge == pytest.approx(442.37, abs=1e-2)


def test_compute_time_uses_the_cores_in_use() -> None:
    """On 12 of 24 cores the same FLOPs take twice as long, but the floor still assumes all cores."""
    all_cores = floors_of(gate_up(), measured(29.7, block=24), B2, OPTIONS)
    half = floors_of(gate_up(), measured(29.7, block=12), B2, OPTIONS)
    assert all_cores.compute_us is not None
    assert half.compute_us == pytest.approx(2 * all_cores.compute_us)
    assert half.floor_us == all_cores.floor_us
    assert (half.used_cores, half.present_cores) == (12, 24)


def test_a_logical_block_beyond_the_cores_is_all_cores() -> None:
    """Block 256 is logical; a missing or zero block says nothing."""
    assert floors_of(gate_up(), measured(29.7, block=256), B2, OPTIONS).used_cores == 24
    for block in (None, 0):
        floors = floors_of(gate_up(), measured(29.7, block=block), B2, OPTIONS)
        assert floors.used_cores is None
        assert floors.u_c == floors_of(gate_up(), measured(29.7), B2, OPTIONS).u_c


def test_without_a_device_only_the_duration_is_known() -> None:
    """No device, no floors: None, never zero."""
    floors = floors_of(gate_up(), measured(29.7), None, OPTIONS)
    assert floors.duration_us == 29.7
    assert (floors.floor_us, floors.u_m, floors.achievable_us) == (None, None, None)


def test_a_type_without_a_model_claims_no_floor() -> None:
    """The generic model is no proof of what cannot be beaten."""
    floors = floors_of(work("NeverSeen", "4096,4096", "4096,4096"), measured(50.0), B2, OPTIONS)
    assert floors.floor_us is None
    assert floors.u_m is not None


def test_the_floor_of_a_padded_grouped_matmul_takes_certain_flops_only() -> None:
    """Capacity rows may be empty: the floor is one expert's bytes, 10,617,088 / 1.8e12 = 5.898 us."""
    found = work(
        "GroupedMatmul",
        "384,3072;32,64,192,16,32;;;;;;32",
        "384,2048",
        dtypes="INT8;INT8;INT32;UINT64;FLOAT;FLOAT16;FLOAT16;INT64",
        formats="ND;FRACTAL_NZ;ND;ND;ND;ND;ND;ND",
        out_dtypes="INT32",
    )
    floors = floors_of(found, measured(8.5), B2, OPTIONS)
    assert floors.floor_us == pytest.approx(5.898, abs=1e-3)
    assert floors.achievable_us is None  # 7.8 us or 151 us: no single roof can be named


def test_a_wide_range_counts_the_time_that_is_lost_for_sure() -> None:
    """A slow gather is above the roof even if every row comes from HBM: the larger count is its roof.

    bytes_hi 2 x 167,772,160 + 65,544 in 1.36e12 B/s = 246.8 us, below the 648 us that it took.
    """
    found = work("GatherV2", "6400,5120;2,8192;1", "2,8192,5120", dtypes="DT_BF16;INT32;INT64")
    floors = floors_of(found, measured(648.0), B2, OPTIONS)
    assert floors.achievable_us == pytest.approx(246.77, abs=0.02)


def test_a_possible_hf32_rate_lowers_the_floor() -> None:
    """Where the export does not say whether HF32 ran, the floor assumes the faster rate."""
    shapes = ("4096,4096;4096,4096", "4096,4096")
    no = floors_of(
        work_of(signature("MatMul", *shapes, dtypes="FLOAT", out_dtypes="FLOAT")), measured(2000), B2, OPTIONS
    )
    unknown = floors_of(
        work_of(signature("MatMul", *shapes, dtypes="FLOAT", out_dtypes="FLOAT", hf32=None)),
        measured(2000),
        B2,
        OPTIONS,
    )
    assert no.floor_us is not None
    assert unknown.floor_us == pytest.approx(no.floor_us / 2)


def test_measured_operations_replace_those_of_shapes() -> None:
    """In ArithmeticUtilization runs the compute share is counted: 1.7695e10 ops / 353.9e12 = 50 us of
    100.
    """
    counted = measured(100.0, metric_mode="arithmetic_utilization", other={"aic_cube_fops": 1.769472e10})
    floors = floors_of(work("MatMul", "512,4096;4096,4096", "512,4096"), counted, B2, OPTIONS)
    assert floors.u_c == pytest.approx(0.5, abs=1e-3)
    assert floors.u_c_measured


def test_clocks_that_disagree_refer_to_the_longer_time() -> None:
    """Core time 120 us in a 100 us kernel at 125 % occupancy: shares refer to 120 us."""
    floors = floors_of(gate_up(), measured(100.0, core_us=120.0, occupancy=125.0), B2, OPTIONS)
    assert floors.duration_us == 120.0


byte_counts = st.integers(1, 10**11)
durations = st.floats(0.5, 1e6)
devices = st.sampled_from([device for device in all_devices() if device.hbm_gb_s is not None])


def moved(lo: int, hi: int, flops: float = 0.0) -> Work:
    """Work of some bytes and FLOPs."""
    return Work(
        "elementwise",
        "resolved",
        "vector",
        "fp16",
        flops=flops,
        flops_lo=flops,
        flops_hi=flops,
        padded_flops=flops,
        bytes_lo=lo,
        bytes_hi=hi,
        working_set_bytes=hi,
    )


@given(device=devices, lo=byte_counts, more=st.integers(0, 10**11), duration=durations)
def test_more_bytes_never_lower_a_bound(device, lo: int, more: int, duration: float) -> None:
    """Adding bytes never makes floor, roof or share smaller."""
    few, many = (
        floors_of(moved(size, size), measured(duration), device, OPTIONS) for size in (lo, lo + more)
    )
    for name in ("floor_us", "l2_floor_us", "hbm_us", "achievable_us", "u_m"):
        smaller, larger = getattr(few, name), getattr(many, name)
        assert smaller is None or larger >= smaller


@given(device=devices, lo=byte_counts, flops=st.floats(0, 1e16), duration=durations)
def test_bounds_are_above_each_ceiling(device, lo: int, flops: float, duration: float) -> None:
    """The floor is at least every certain time, the achievable roof at least the floor and the overhead."""
    floors = floors_of(moved(lo, lo, flops), measured(duration, block=None), device, OPTIONS)
    assert floors.floor_us is not None
    assert floors.achievable_us is not None
    assert floors.floor_us >= lo / device.hbm_max_bytes_s * 1e6 * (1 - 1e-12)
    peak = device.vector_peak_ops("fp16")
    if peak:
        assert floors.floor_us >= flops / peak * 1e6 * (1 - 1e-12)
    assert floors.achievable_us >= floors.floor_us * (1 - 1e-12)
    assert floors.achievable_us >= OPTIONS.overhead_us


@given(device=devices, block=st.integers(1, 300), lo=byte_counts, flops=st.floats(1, 1e16))
def test_fewer_cores_never_lower_the_compute_time(device, block: int, lo: int, flops: float) -> None:
    """Compute time on the cores in use is at least that on all cores."""
    some = floors_of(moved(lo, lo, flops), measured(10.0, block=block), device, OPTIONS)
    every = floors_of(moved(lo, lo, flops), measured(10.0, block=10**6), device, OPTIONS)
    if some.compute_us is not None and every.compute_us is not None:
        assert some.compute_us >= every.compute_us * (1 - 1e-12)
