"""Times that a kernel cannot or can hardly beat on a device, and how much of each roof it reached."""

from __future__ import annotations

from dataclasses import dataclass

from .device import Device
from .measure import Measurement
from .model import Work
from .options import RooflineOptions


@dataclass(frozen=True)
class Floors:
    """Times in us per occurrence, shares 0..1 of the median duration; None = no device, no shapes or no
    rate.

    `compute_us` is padded FLOPs on the cores used, `hbm_us` bytes_lo at nominal HBM, `hbm_hi_us`
    bytes_hi, `hbm_eff_us` bytes_lo at the achievable share, `l2_us` bytes_lo at L2 speed, `core_us`
    bytes_lo through the load pipes of the cores used. `floor_us` cannot be beaten (peak of all cores,
    bytes_lo at the highest HBM figure; launch not in it), `achievable_us` is the realistic roof. `u_*`
    is time over duration.
    """

    duration_us: float | None = None
    compute_us: float | None = None
    hbm_us: float | None = None
    hbm_hi_us: float | None = None
    hbm_eff_us: float | None = None
    l2_us: float | None = None
    core_us: float | None = None
    overhead_us: float | None = None
    floor_us: float | None = None
    l2_floor_us: float | None = None
    achievable_us: float | None = None
    ridge: float | None = None
    arithmetic_intensity: float | None = None
    peak_ops: float | None = None
    used_cores: int | None = None
    u_c: float | None = None
    u_m: float | None = None
    u_m_hi: float | None = None
    u_l2: float | None = None
    u_c_measured: bool = False


def floors_of(
    work: Work, measurement: Measurement, device: Device | None, options: RooflineOptions
) -> Floors:
    """Every time and share of one signature; all None without a device.  Formulas: docs of each field."""
    raise NotImplementedError
