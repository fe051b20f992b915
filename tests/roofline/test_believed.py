"""Counters that cannot be, or that were not recorded, are named and decide no label."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.roofline.labelling import GATE_UP, fp32, label, named
from tests.roofline.operands import measured, work

ZEROS = {"aic_mac": 0.0, "aic_mte2": 0.0, "aic_fixpipe": 0.0, "aic_scalar": 0.0, "aiv_vec": 0.0}


def test_a_long_kernel_whose_counters_are_zero_is_labelled_from_shapes() -> None:
    """Gate-up moves 38.0 MB in 29.0 us, 82 % of 1.6 TB/s: HBM, from shapes; with zeros in every pipe there is
    nothing that could agree, so the label is the one without pipes, and the zeros are named.
    """
    zeros = label(GATE_UP, replace(measured(29.0, core_us=0.0, **ZEROS), aiv_time_us=0.0))
    without = label(GATE_UP, measured(29.0))
    assert (
        (named(zeros), zeros.confidence) == (named(without), without.confidence) == ("memory/hbm", "medium")
    )
    assert any("were not recorded, so the label is from shapes alone" in note for note in zeros.notes)
    assert zeros.pmu_bound is None


def test_zeros_are_no_launch_gap() -> None:
    """A 14 us kernel with core times of 0 does not lie outside the cores for 14 us: nobody measured that."""
    add = work("Add", "1024,1024;1024,1024", "1024,1024")
    empty = replace(measured(14.0, aiv_vec=0.0, aiv_mte2=0.0, core_us=0.0), gap_us=14.0)
    assert "outside the cores" not in label(add, empty).reason
    assert label(add, empty).bound == "latency"
    assert label(add, empty).confidence == "low"


def test_zeros_without_shapes_are_no_evidence() -> None:
    """Neither shapes nor counters: unknown, not latency."""
    found = label(work("MatMulV2", "", ""), measured(800.0, core_us=0.0, **ZEROS))
    assert found.bound == "unknown"


def test_the_part_that_ran_decides() -> None:
    """A matmul with a silent cube and a vector part at .5: its pipes are those of the vector part."""
    found = label(
        work("BatchMatMul", "8,4,64;8,64,4", "8,4,4"),
        measured(40.0, aic_mac=0.0, aic_mte2=0.0, aiv_vec=0.5, aiv_mte2=0.3, core_us=38.0),
    )
    assert "vec 0.50" in found.reason


@pytest.mark.parametrize(
    ("occupancy", "core_us", "said"),
    [
        (80.0, 984.36, "core time 984.4 us cannot be in a kernel of 498.4 us"),
        (None, 984.36, "core time 984.4 us cannot be in a kernel of 498.4 us"),
        (140.0, 490.0, "cube utilization 140 % cannot be"),
        (-3.0, 490.0, "cube utilization -3 % cannot be"),
    ],
)
def test_times_and_occupancy_beyond_the_kernel_are_named(
    occupancy: float | None, core_us: float, said: str
) -> None:
    """Busy for longer than the kernel, or on more cores than there are, without the other saying so."""
    matmul = fp32("4096,4096;4096,4096", "4096,4096")
    found = label(matmul, measured(498.4, core_us=core_us, occupancy=occupancy, aic_mac=0.4, aic_mte2=0.6))
    assert any(said in note for note in found.notes)
    assert named(found) == named(label(matmul, measured(498.4, aic_mac=0.4, aic_mte2=0.6)))


def test_clocks_that_disagree_are_still_told_as_such() -> None:
    """Core time 120 us of a 100 us kernel at 120 % occupancy: two clocks, the longer time counts."""
    found = label(
        fp32("64,4096;4096,512", "64,512"), measured(100.0, core_us=120.0, occupancy=120.0, aic_mac=0.1)
    )
    assert any("the two clocks disagree" in note for note in found.notes)
    assert found.floors.duration_us == 120.0


def test_more_traffic_than_l2_can_move_is_not_believed() -> None:
    """1 GB read in 100 us are 10 TB/s, a 910B2's L2 moves 7.78: named, and the label is not HBM by it."""
    copy = work("Cast", "1024,1024", "1024,1024")
    counters = {"aiv_read_main_memory_datas_kb": 1e9 / 1024}
    found = label(copy, measured(100.0, metric_mode="memory_access", other=counters))
    assert any("more than L2 can move" in note for note in found.notes)
    assert named(found) != "memory/hbm"


def test_counters_of_nothing_are_no_measured_traffic() -> None:
    """No L2 request at all for a kernel that moves 4 MiB was not counted."""
    names = [f"aiv_r{port}_read_cache_{what}" for port in (0, 1) for what in ("hit", "miss_allocate")]
    found = label(
        work("Cast", "1024,1024", "1024,1024"),
        measured(100.0, metric_mode="l2_cache", other=dict.fromkeys(names, 0.0)),
    )
    assert any("no traffic at all (L2 misses) cannot be" in note for note in found.notes)


def test_no_operations_counted_leaves_the_shapes() -> None:
    """aic_cube_fops of 0 for 2 x 4096^3 FLOPs in 1,700 us is no compute share of 0: shapes give 1.37e11 /
    (88.5e12 x 1.7e-3) = .91.
    """
    found = label(
        fp32("4096,4096;4096,4096", "4096,4096"),
        measured(1_700.0, metric_mode="arithmetic_utilization", other={"aic_cube_fops": 0.0}),
    )
    assert named(found) == "compute/cube"


@pytest.mark.parametrize("rate", [-0.1, 85.0])
def test_a_hit_rate_beyond_one_is_not_believed(rate: float) -> None:
    """85 is no share; a percentage under the name of a share would call everything L2-served."""
    found = label(GATE_UP, replace(measured(29.7), l2_hit_rate=rate))
    assert named(found) == "memory/hbm"
    assert any(f"L2 hit rate {rate:.3g} cannot be" in note for note in found.notes)
