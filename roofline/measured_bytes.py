"""Bytes that a run measured, in the metric modes that do: the strongest evidence for or against a byte
model.
"""

from __future__ import annotations

from dataclasses import dataclass

from .measure import Measurement

_READ_LINE = 128  # bytes of one L2 read request
_WRITE_LINE = 512  # bytes of one L2 write request
_GIB = 2**30
_SIDES = ("aic", "aiv")


@dataclass(frozen=True)
class MeasuredBytes:
    """Bytes to and from global memory per occurrence, the L2 hit rate of reads (None = not measured),
    the source.

    `reaches_hbm` is False where the counter includes L2 hits, so that the bytes are only an upper bound
    of HBM traffic.
    """

    total: float
    hit_rate: float | None
    reaches_hbm: bool
    source: str


def measured_bytes(measurement: Measurement) -> MeasuredBytes | None:
    """The measured traffic of a signature; None in modes that do not measure it."""
    for reading in (_from_l2_cache, _from_memory_access, _from_bandwidth):
        found = reading(measurement)
        if found is not None:
            return found
    return None


def _from_l2_cache(measurement: Measurement) -> MeasuredBytes | None:
    """GM read = read misses x 128 B, GM write about write misses x 512 B (L2Cache mode)."""
    reads = [f"{side}_{port}_read_cache" for side in _SIDES for port in ("r0", "r1")]
    hits = _sum(measurement, [f"{name}_hit" for name in reads])
    misses = _sum(measurement, [f"{name}_miss_allocate" for name in reads])
    if hits is None or misses is None:
        return None
    writes = _sum(measurement, [f"{side}_write_cache_miss_allocate" for side in _SIDES]) or 0.0
    rate = hits / (hits + misses) if hits + misses > 0 else None
    return MeasuredBytes(misses * _READ_LINE + writes * _WRITE_LINE, rate, True, "L2 misses")


def _from_memory_access(measurement: Measurement) -> MeasuredBytes | None:
    """Logical traffic to main memory, L2 hits included (MemoryAccess mode), KB of 1024 bytes."""
    names = [f"{side}_{way}_main_memory_datas_kb" for side in _SIDES for way in ("read", "write")]
    total = _sum(measurement, names)
    return None if total is None else MeasuredBytes(total * 1024, None, False, "main memory datas")


def _from_bandwidth(measurement: Measurement) -> MeasuredBytes | None:
    """Per-core average in GiB/s x blocks x core time (Memory mode)."""
    total = 0.0
    seen = False
    for side, blocks, time_us in (
        ("aic", measurement.block, measurement.aicore_time_us),
        ("aiv", measurement.mix_block or measurement.block, measurement.aiv_time_us),
    ):
        rate = _sum(measurement, [f"{side}_main_mem_{way}_bw_gb_s" for way in ("read", "write")])
        if rate is None or not blocks or time_us is None:
            continue
        seen = True
        total += rate * _GIB * blocks * time_us * 1e-6
    return MeasuredBytes(total, None, True, "main memory bandwidth") if seen else None


def _sum(measurement: Measurement, names: list[str]) -> float | None:
    values = [value for name in names if (value := measurement.other.get(name)) is not None]
    return sum(values) if values else None
