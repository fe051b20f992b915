"""Bytes that a run measured, in the metric modes that do: the strongest evidence for or against a byte
model.
"""

from __future__ import annotations

from .measure import MeasuredBytes, Measurement

__all__ = ["MeasuredBytes", "measured_bytes", "traffic"]

_READ_LINE = 128  # bytes of one L2 read request
_WRITE_LINE = 512  # bytes of one L2 write request
_GIB = 2**30
_SIDES = ("aic", "aiv")
# Columns of the metric modes, named once: every signature is asked for all of them.
_PORTS = tuple(f"{side}_{port}_read_cache" for side in _SIDES for port in ("r0", "r1"))
_READ_REQUESTS = tuple(tuple(f"{port}_{what}" for port in _PORTS) for what in ("hit", "miss_allocate"))
_WRITE_REQUESTS = tuple(
    tuple(f"{side}_write_cache_{what}" for side in _SIDES) for what in ("hit", "miss_allocate")
)
_READ_KB, _WRITTEN_KB = (
    tuple(f"{side}_{way}_main_memory_datas_kb" for side in _SIDES) for way in ("read", "write")
)
_BANDWIDTH = {side: tuple(f"{side}_main_mem_{way}_bw_gb_s" for way in ("read", "write")) for side in _SIDES}


def measured_bytes(measurement: Measurement) -> MeasuredBytes | None:
    """The measured traffic of a signature; None in modes that do not measure it.

    `msprof op` counts hits, misses and bytes of every block at once, so it comes first.
    """
    if measurement.by_operator is not None:
        return measurement.by_operator
    for reading in (_from_l2_cache, _from_memory_access, _from_bandwidth):
        found = reading(measurement)
        if found is not None:
            return found
    return None


def traffic(
    source: str,
    reads: tuple[float | None, float | None],
    writes: tuple[float | None, float | None],
    logical: tuple[float | None, float | None],
) -> MeasuredBytes | None:
    """Measured traffic from L2 requests (hits, misses) and from bytes (read, written) that include hits.

    GM read = read misses x 128 B. A write request is 128 to 512 B, so GM write is the share of the written
    bytes whose requests missed where both are measured, else at most write misses x 512 B. None without
    either; only bytes that include L2 hits without requests.
    """
    hits, misses = reads
    known = None if logical[0] is None else logical[0] + (logical[1] or 0.0)
    if hits is None or misses is None:
        return None if known is None else MeasuredBytes(known, None, False, source, known)
    written = (writes[1] or 0.0) * _WRITE_LINE
    requests = (writes[0] or 0.0) + (writes[1] or 0.0)
    if logical[1] is not None and requests > 0:
        written = min(written, logical[1] * (writes[1] or 0.0) / requests)
    rate = hits / (hits + misses) if hits + misses > 0 else None
    return MeasuredBytes(misses * _READ_LINE + written, rate, True, source, known)


def _from_l2_cache(measurement: Measurement) -> MeasuredBytes | None:
    """Requests that missed (L2Cache mode)."""
    hits, misses = (_sum(measurement, names) for names in _READ_REQUESTS)
    if hits is None or misses is None:
        return None
    write_hits, write_misses = (_sum(measurement, names) for names in _WRITE_REQUESTS)
    read, written = (_main_memory(measurement, names) for names in (_READ_KB, _WRITTEN_KB))
    return traffic("L2 misses", (hits, misses), (write_hits, write_misses), (read, written))


def _main_memory(measurement: Measurement, names: tuple[str, ...]) -> float | None:
    found = _sum(measurement, names)
    return None if found is None else found * 1024


def _from_memory_access(measurement: Measurement) -> MeasuredBytes | None:
    """Logical traffic to main memory, L2 hits included (MemoryAccess mode), KB of 1024 bytes."""
    total = _main_memory(measurement, (*_READ_KB, *_WRITTEN_KB))
    if total is None:
        return None
    return MeasuredBytes(total, None, False, "main memory datas", total)


def _from_bandwidth(measurement: Measurement) -> MeasuredBytes | None:
    """Per-core average in GiB/s x blocks x core time (Memory mode)."""
    total = 0.0
    seen = False
    for side, blocks, time_us in (
        ("aic", measurement.block, measurement.aicore_time_us),
        ("aiv", measurement.mix_block or measurement.block, measurement.aiv_time_us),
    ):
        rate = _sum(measurement, _BANDWIDTH[side])
        if rate is None or not blocks or time_us is None:
            continue
        seen = True
        total += rate * _GIB * blocks * time_us * 1e-6
    return MeasuredBytes(total, None, True, "main memory bandwidth") if seen else None


def _sum(measurement: Measurement, names: tuple[str, ...]) -> float | None:
    values = [value for name in names if (value := measurement.other.get(name)) is not None]
    return sum(values) if values else None
