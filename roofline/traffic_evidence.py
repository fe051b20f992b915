"""What measured traffic and L2 hit rates say for or against a memory label."""

from __future__ import annotations

from ..units import format_bytes_decimal, format_bytes_per_s, format_share
from .case import STORE_PIPES, Case, Verdict


def traffic_agrees(case: Case, verdict: Verdict) -> bool | None:
    """True or False: a measurement confirms or contradicts where the label says the bytes come from.

    None when nothing was measured, or when it fits either way.
    """
    if verdict.bound != "memory" or verdict.limiter not in ("hbm", "l2"):
        return None
    share = _hbm_share(case)
    if verdict.limiter == "hbm" and share is not None:
        if share > case.options.measured_hbm_share:
            return True
        return False if share < case.options.hbm_likely / 2 else None
    stores = max(case.pipe(name) for name in STORE_PIPES)
    if case.hit_rate is None or stores > case.pipe("mte2"):  # the rate is one of reads
        return None
    return (case.hit_rate >= case.options.l2_hit_miss) == (verdict.limiter == "l2")


def traffic_notes(case: Case, verdict: Verdict) -> tuple[str, ...]:
    """The measured bytes held against those of the shapes, and a label that they contradict."""
    notes = [*_against_shapes(case), *_hit_rate(case)]
    if traffic_agrees(case, verdict) is False:
        notes.append(f"memory/{verdict.limiter} is contradicted by what was measured: {_said(case)}")
    return tuple(notes)


def _hbm_share(case: Case) -> float | None:
    """Share of nominal HBM that the measured bytes need; None where the counter includes L2 hits."""
    measured, device = case.measured, case.device
    if measured is None or not measured.reaches_hbm or case.duration_us <= 0:
        return None
    if device is None or device.hbm_bytes_s is None:
        return None
    return measured.total / case.duration_us * 1e6 / device.hbm_bytes_s


def _against_shapes(case: Case) -> tuple[str, ...]:
    measured, least, most = case.measured, case.work.bytes_lo, case.work.bytes_hi
    if measured is None:
        return ()
    logical = measured.logical if measured.logical is not None else measured.total
    said = f"measured {format_bytes_decimal(logical)} ({measured.source})"
    if measured.reaches_hbm and measured.logical is not None:
        said += f", {format_bytes_decimal(measured.total)} of it beyond L2"
    if not least or most is None:
        return (said,)
    expected, limit = format_bytes_decimal(least), case.options.bytes_agreement
    if logical < least * (1 - limit):
        return (f"{said}: less than the {expected} of the shapes; the byte model counts too much here",)
    if logical <= max(most, least) * (1 + limit):
        return (f"{said}, which agrees with the {expected} of the shapes",)
    return (f"{said}: {logical / least:.1f} times the {expected} of the shapes, so data is read again",)


def _hit_rate(case: Case) -> tuple[str, ...]:
    if case.measured is not None and case.measured.hit_rate is not None:
        return (f"L2 hit rate of reads {case.measured.hit_rate:.2f} ({case.measured.source})",)
    rate = case.measurement.l2_hit_rate
    return () if rate is None else (f"L2 hit rate {rate:.2f} (l2_cache.csv)",)


def _said(case: Case) -> str:
    share, measured = _hbm_share(case), case.measured
    if share is not None and measured is not None:
        rate = format_bytes_per_s(measured.total / case.duration_us * 1e6)
        return f"{rate} beyond L2, {format_share(share)} of HBM"
    return f"L2 hit rate {case.hit_rate:.2f}"
