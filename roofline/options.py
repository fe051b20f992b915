"""Every threshold of the labels, with its default and the reason for it; a TOML file can set them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .thresholds import laid_over_defaults, option


@dataclass(frozen=True)
class RooflineOptions:
    """Thresholds of the decision procedure; fractions are 0..1, units are in the names."""

    # roofs
    eff_hbm: float = option(0.85, "reads reach 0.85-0.94 of nominal HBM, decode MatMul 0.77-0.93", 0.1, 1)
    overhead_us: float = option(1.1, "smallest vector kernels measure 0.88-1.26 us", 0, 1000)

    # model sanity
    sanity_compute: float = option(1.05, "more than the peak: wrong FLOPs, dtype or device", 1, 10)
    sanity_l2: float = option(1.1, "more than L2 can move: wrong byte model", 1, 10)
    clock_ratio: float = option(1.05, "core time over duration from which the clocks disagree", 1, 10)
    clock_utilization_pct: float = option(105, "core occupancy that only disagreeing clocks give", 100, 1000)

    bandwidth_range: float = option(1.25, "sources of one bandwidth differ by 10-12 %, not more", 1, 10)

    # launch
    launch_share: float = option(0.5, "a kernel at half a roof is not waiting for its launch", 0, 1)
    launch_us: float = option(3, "launch and completion alone take 1.7-2.6 us on vector kernels", 0, 1000)
    launch_short_us: float = option(5, "short kernels whose work is a tenth of the duration", 0, 1000)
    launch_work_share: float = option(0.1, "work over duration of such a short kernel", 0, 1)
    launch_gap_us: float = option(15, "longer kernels are not explained by a launch gap", 0, 10_000)
    launch_gap_share: float = option(0.5, "duration outside the cores that makes launch the limit", 0, 1)
    gap_vector_us: float = option(4, "launch gap of vector kernels 1.7-2.6 us; longer is imbalance", 0, 1000)
    gap_cube_us: float = option(9, "launch gap of cube kernels 2.8-8.8 us; longer is imbalance", 0, 1000)

    # above and near a roof
    l2_set_ratio: float = option(1.25, "working set over L2 size up to which L2 can serve it", 0.1, 10)
    near_roof: float = option(0.8, "the vendor's operator roofline calls a bound at 0.8 of its roof", 0.1, 1)
    hbm_likely: float = option(0.6, "share of nominal HBM from which HBM is the likely limit", 0.1, 1)
    hbm_pipe_minimum: float = option(0.5, "a kernel that waits for HBM keeps a data pipe half busy", 0, 1)

    # pipes
    pipe_bound: float = option(0.8, "the vendor's tools call a pipe the limit above 0.8", 0.1, 1)
    pipe_share_limit: float = option(1.05, "no pipe is busy for longer than its core; more is damage", 1, 10)
    pipe_recorded: float = option(
        0.01, "the idlest real kernels keep a pipe busy for 0.027 of the time; less was not recorded", 0, 1
    )
    used_cores_minimum: int = option(8, "fewer than 7 cores cannot saturate HBM", 1, 1024)
    icache_note: float = option(0.1, "instruction cache misses worth a note, not a label", 0, 1)
    mte2_over_mac: float = option(0.2, "cubes run both pipes at 0.75-0.85 together when balanced", 0, 1)
    mac_bound: float = option(0.7, "cubes that are compute-bound measure mac 0.70-0.89", 0, 1)
    compute_near: float = option(0.6, "share of the peak that real cube kernels reach when balanced", 0, 1)
    move_pipes: float = option(0.9, "a copy whose load and store take turns fills their sum", 0, 2)
    l2_hit_miss: float = option(0.5, "L2 hit rate below which the loads come from HBM", 0, 1)
    measured_hbm_share: float = option(0.68, "0.8 of the achievable 0.85: same test on measured bytes", 0, 1)
    imbalance_share: float = option(0.2, "gap over duration worth a note on load imbalance", 0, 1)

    # tiles of a MatMul
    single_pass_rows: int = option(128, "M or N up to one tile: every weight byte is read once", 1, 10**6)
    tile_m: int = option(128, "assumed tile; the real one is not exported", 1, 10**6)
    tile_n: int = option(256, "assumed tile; the real one is not exported", 1, 10**6)

    # ranges and confidence
    range_ratio: float = option(1.5, "bytes_hi over bytes_lo from which the range decides", 1, 1000)
    range_mte2_over_mac: float = option(3, "grouped matmuls: mte2 .40-.79 against mac .10-.11", 0, 1000)
    tight_ratio: float = option(1.2, "bytes_hi over bytes_lo of a well-known byte count", 1, 1000)
    bytes_agreement: float = option(0.25, "relative difference of measured and modelled bytes", 0, 10)
    mac_agreement: float = option(0.15, "difference of mac x occupancy and the modelled share", 0, 1)
    pipe_contradiction: float = option(
        0.05, "compute share may exceed mac x core time by rounding and padding only", 0, 1
    )
    analytic_share: float = option(0.8, "share of a roof that stands without a measurement", 0, 1)
    spread_ratio: float = option(2.0, "p90 over p10 that hints at contention or L2 state", 1, 1000)

    # device evidence
    clock_tolerance: float = option(0.01, "rated clocks differ by 2.7 % and more", 0, 0.5)
    faster_sister_matmuls: int = option(2, "one matmul above the roof may be a miscount", 1, 10**6)
    throttling_share: float = option(0.05, "clock below rated that msprof-analyze calls throttling", 0, 1)
    evidence_spread: float = option(0.01, "spread of cores x MHz over rows that is worth a warning", 0, 1)


def options_from_mapping(values: Mapping[str, Any], source: str) -> RooflineOptions:
    """The defaults with the user's checked values over them; `source` names the file in messages.

    Raises WrongUsage for an unknown key, a wrong type or a value that is out of range.
    """
    return laid_over_defaults(RooflineOptions, values, source)
