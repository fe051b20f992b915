"""Times that a kernel cannot or can hardly beat on a device, and how much of each roof it reached."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .device_model import Device
from .measure import Measurement
from .model import Work
from .options import RooflineOptions


@dataclass(frozen=True)
class Floors:
    """Times in us per occurrence, shares 0..1 of the duration; None = no device, no shapes or no rate.

    `compute_us` is padded FLOPs on the cores used, `hbm_us` bytes_lo at nominal HBM, `hbm_hi_us`
    bytes_hi, `hbm_eff_us` bytes_lo at the achievable share, `l2_us` bytes_lo at L2 speed, `core_us`
    bytes_lo through the load pipes of the cores used. `floor_us` cannot be beaten (certain FLOPs at the
    peak of all cores, bytes_lo at the highest HBM figure; launch is not in it; None for types without a
    model), `achievable_us` is the realistic roof. `u_c`, `u_m`, `u_m_hi`, `u_l2` are compute, hbm,
    hbm_hi and l2 time over `duration_us`.
    """

    duration_us: float
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
    present_cores: int | None = None
    u_c: float | None = None
    u_c_lo: float | None = None
    u_c_measured: bool = False
    u_m: float | None = None
    u_m_hi: float | None = None
    u_l2: float | None = None

    def served_by_l2(self) -> Floors:
        """The same for a kernel whose bytes come from L2: floor and achievable roof at L2 speed."""
        achievable = None if self.l2_us is None else _longest(self.compute_us, self.l2_us, self.overhead_us)
        return replace(self, floor_us=self.l2_floor_us, achievable_us=achievable)


def floors_of(
    work: Work, measurement: Measurement, device: Device | None, options: RooflineOptions
) -> Floors:
    """Every time and share of one signature; without a device only the duration is known."""
    duration = reference_us(measurement, options)
    if device is None:
        return Floors(duration)
    compute = _compute_times(work, measurement, device)
    hbm, hbm_hi = _us(work.bytes_lo, device.hbm_bytes_s), _us(work.bytes_hi, device.hbm_bytes_s)
    hbm_eff = None if hbm is None else hbm / options.eff_hbm
    l2 = _us(work.bytes_lo, device.l2_read_bytes_s if work.unit == "cube" else device.l2_read_write_bytes_s)
    per_core = device.gm_core_bytes_s
    core = None if compute.used is None or per_core is None else _us(work.bytes_lo, compute.used * per_core)
    # Collectives wait for links and generic types have no model: neither has a time that cannot be beaten.
    known = work.family != "generic" and work.unit != "none" and work.bytes_lo is not None
    achievable = _achievable(compute, hbm_eff, hbm_hi, duration, options) if work.unit != "none" else None
    return Floors(
        duration_us=duration,
        compute_us=compute.padded_us,
        hbm_us=hbm,
        hbm_hi_us=hbm_hi,
        hbm_eff_us=hbm_eff,
        l2_us=l2,
        core_us=core,
        overhead_us=options.overhead_us,
        floor_us=_longest(compute.peak_us, _us(work.bytes_lo, device.hbm_max_bytes_s)) if known else None,
        l2_floor_us=_longest(compute.peak_us, _us(work.bytes_lo, device.l2_read_write_bytes_s))
        if known
        else None,
        achievable_us=achievable,
        ridge=None
        if compute.peak is None or device.hbm_bytes_s is None
        else compute.peak / device.hbm_bytes_s,
        arithmetic_intensity=_intensity(work),
        peak_ops=compute.peak,
        used_cores=compute.used,
        present_cores=compute.present,
        u_c=_share(compute.padded_us, duration),
        u_c_lo=_share(compute.certain_us, duration),
        u_c_measured=compute.measured,
        u_m=_share(hbm, duration),
        u_m_hi=_share(hbm_hi, duration),
        u_l2=_share(l2, duration),
    )


@dataclass(frozen=True)
class _Compute:
    """Compute times, us: padded and certain FLOPs on the cores used, certain FLOPs at the peak of all
    cores.
    """

    peak: float | None
    used: int | None
    present: int
    padded_us: float | None
    certain_us: float | None
    peak_us: float | None
    measured: bool


def _compute_times(work: Work, measurement: Measurement, device: Device) -> _Compute:
    peak = peak_ops(work, device)
    used, present = used_cores(work, measurement, device)
    counted = _measured_compute_us(work, measurement, device)
    at_peak = _us(work.flops_lo, fastest_peak(work, device))
    if counted is not None:
        return _Compute(peak, used, present, counted, counted, at_peak, True)
    # Where the FLOPs are certain, so is their padding; otherwise the padding is part of what is not known.
    sure = work.padded_flops if work.flops_lo == work.flops else work.flops_lo
    padded_us = _compute_us(work.padded_flops, peak, used, present)
    return _Compute(peak, used, present, padded_us, _compute_us(sure, peak, used, present), at_peak, False)


def _achievable(
    compute: _Compute, hbm_eff: float | None, hbm_hi: float | None, duration: float, options: RooflineOptions
) -> float | None:
    """The realistic roof. Where all listed bytes would give quite another one, that one is used if the
    kernel stayed above it (then at least so much time is lost); otherwise no single roof can be
    named.
    """
    if hbm_eff is None or hbm_hi is None:
        return None
    lo = _longest(compute.certain_us, hbm_eff, options.overhead_us) or 0.0
    hi = _longest(compute.padded_us, hbm_hi / options.eff_hbm, options.overhead_us) or 0.0
    if hi <= options.range_ratio * lo:
        return lo
    return hi if hi <= duration else None


def reference_us(measurement: Measurement, options: RooflineOptions) -> float:
    """The median duration, or the core time where the two clocks disagree (then the longer one is
    right).
    """
    core_time = measurement.core_time_us
    if core_time is not None and clocks_disagree(measurement, options):
        return core_time
    return measurement.median_us


def clocks_disagree(measurement: Measurement, options: RooflineOptions) -> bool:
    """True when the cores were busy for longer than the kernel took, and more than all cores were
    occupied.
    """
    core_time, occupancy = measurement.core_time_us, measurement.cube_utilization_pct
    if core_time is None or occupancy is None:
        return False
    return (
        core_time > options.clock_ratio * measurement.median_us and occupancy > options.clock_utilization_pct
    )


def peak_ops(work: Work, device: Device) -> float | None:
    """Peak of the unit that does the work, at its dtype, in operations per second of all cores."""
    if work.unit == "cube":
        return device.cube_peak_ops(work.compute_dtype)
    return device.vector_peak_ops(work.compute_dtype) if work.unit == "vector" else None


def fastest_peak(work: Work, device: Device) -> float | None:
    """The peak that no kernel beats: for fp32 the HF32 rate, unless the export says it was not eligible."""
    if work.unit == "cube" and "hf32_unknown" in work.flags:
        return device.cube_peak_ops("hf32") or peak_ops(work, device)
    return peak_ops(work, device)


def used_cores(work: Work, measurement: Measurement, device: Device) -> tuple[int | None, int]:
    """Cores that the kernel used and cores that there are, of its unit; Block is logical and may exceed
    them.
    """
    cores = device.cube_cores if work.unit == "cube" else device.vector_cores or device.cube_cores
    present = int(cores.value)
    if measurement.block is None or measurement.block <= 0:
        return None, present
    return min(measurement.block, present), present


def _compute_us(flops: float | None, peak: float | None, used: int | None, present: int) -> float | None:
    if flops is None or peak is None or not present:
        return None
    return flops / (peak * (used or present) / present) * 1e6


def _measured_compute_us(work: Work, measurement: Measurement, device: Device) -> float | None:
    """Compute time from counted operations, where the ArithmeticUtilization mode was recorded."""
    name, peak = {
        "cube": ("aic_cube_fops", device.cube_peak_ops(work.compute_dtype or "fp16")),
        "vector": ("aiv_vector_fops", device.vector_peak_ops(work.compute_dtype or "fp16")),
        "none": ("", None),
    }[work.unit]
    # No operations at all, where the shapes need some, is a counter that was not recorded.
    counted = measurement.other.get(name)
    return None if not counted and work.flops_lo else _us(counted, peak)


def _intensity(work: Work) -> float | None:
    if work.flops_lo is None or not work.bytes_lo:
        return None
    return work.flops_lo / work.bytes_lo


def _us(amount: float | None, per_second: float | None) -> float | None:
    return None if amount is None or not per_second else amount / per_second * 1e6


def _share(time_us: float | None, duration_us: float) -> float | None:
    return None if time_us is None or duration_us <= 0 else time_us / duration_us


def _longest(*times: float | None) -> float | None:
    return max((time for time in times if time is not None), default=None)
