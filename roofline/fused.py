"""The time that one fused kernel needs in place of several: a floor, and a time at the rates measured now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .device_model import Device
from .floors import fastest_peak
from .model import Work
from .options import RooflineOptions

# Families whose kernel is the work itself: fusing something into it does not make it disappear.
MAIN_FAMILIES = frozenset(
    {"matmul", "grouped_matmul", "attention", "mla_prolog", "moe_comm", "communication", "convolution"}
)


@dataclass(frozen=True)
class Part:
    """One kernel of the sequence: its work, median us, bytes that fusing saves, and whether L2 feeds it."""

    work: Work
    median_us: float
    saved_bytes: int = 0
    fed_by_l2: bool = False

    @property
    def is_main(self) -> bool:
        """Whether it is a matmul, attention, exchange of tokens or the like."""
        return self.work.family in MAIN_FAMILIES


@dataclass(frozen=True)
class FusedTime:
    """us of the fused kernel: `floor_us` cannot be beaten, `expected_us` keeps the rates of the parts.

    floor = max(certain FLOPs of each unit at its peak, bytes that remain at the fastest memory rate, the
    smallest kernel that the device runs). A matmul or attention among the parts keeps its time but for the
    results it need not write: its own headroom is no gain of fusing, unless the fused call `replaces_main`.
    """

    floor_us: float
    expected_us: float


def fused_time(
    parts: Sequence[Part], device: Device | None, options: RooflineOptions, replaces_main: bool = False
) -> FusedTime | None:
    """Floor and expected time of one kernel that does the work of all parts; None without device or bytes."""
    if device is None or not parts or any(part.work.bytes_lo is None for part in parts):
        return None
    memory = [_memory_us(part, device) for part in parts]
    if any(time is None for time in memory):
        return None
    units = {
        unit: sum(_compute_us(part.work, device) for part in parts if part.work.unit == unit)
        for unit in ("cube", "vector")
    }
    floor = max(*units.values(), sum(time or 0.0 for time in memory), options.overhead_us)
    if not replaces_main:
        floor = max(floor, sum(_main_us(part, device) for part in parts if part.is_main))
    now = sum(part.median_us for part in parts)
    longest = max(part.median_us for part in parts)
    kept = sum(_kept_us(part) for part in parts)
    return FusedTime(min(floor, now), min(max(kept, floor, 0.0 if replaces_main else longest), now))


def _memory_us(part: Part, device: Device) -> float | None:
    """Time of the bytes that remain, at the fastest rate of the memory that feeds the part."""
    rate = device.l2_read_write_bytes_s if part.fed_by_l2 else device.hbm_max_bytes_s
    if not rate:
        return None
    return max(0, (part.work.bytes_lo or 0) - part.saved_bytes) / rate * 1e6


def _compute_us(work: Work, device: Device) -> float:
    peak = fastest_peak(work, device)
    return 0.0 if work.flops_lo is None or not peak else work.flops_lo / peak * 1e6


def _main_us(part: Part, device: Device) -> float:
    """What stays of a matmul's time when its result need not be written to memory."""
    rate = device.hbm_max_bytes_s
    return max(0.0, part.median_us - (part.saved_bytes / rate * 1e6 if rate else 0.0))


def _kept_us(part: Part) -> float:
    """The time of a part without the bytes saved, at the rate it reaches now; a matmul keeps all of it."""
    total = part.work.bytes_lo
    if part.is_main or not total:
        return part.median_us
    return part.median_us * (1 - min(1.0, part.saved_bytes / total))
