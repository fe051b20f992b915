"""Steps 6 and 7 of the decision procedure: below every roof, or without one, the pipes decide."""

from __future__ import annotations

from ..units import format_bytes_decimal, format_bytes_per_s, format_ops_per_s, format_share, format_us
from .case import STORE_PIPES, Case, Verdict


def measured_traffic(case: Case) -> Verdict | None:
    """Step 6c where the run measured its traffic: bytes decide, whatever a pipe would suggest."""
    measured, device = case.measured, case.device
    if measured is None or device is None or device.hbm_bytes_s is None or case.duration_us <= 0:
        return None
    rate = measured.total / case.duration_us * 1e6
    share = rate / device.hbm_bytes_s
    if share <= case.options.measured_hbm_share or rate > (device.hbm_max_bytes_s or 0.0):
        return None
    reason = f"measured {format_bytes_per_s(rate)} ({measured.source}), {format_share(share)} of HBM"
    notes = () if measured.reaches_hbm else ("the counter may include L2 hits",)
    return Verdict("memory", "hbm", reason, notes, cap="high" if measured.reaches_hbm else "medium")


def underparallel(case: Case) -> Verdict | None:
    """Step 6a: too few cores to reach a roof."""
    used, present, minimum = (
        case.floors.used_cores,
        case.floors.present_cores,
        case.options.used_cores_minimum,
    )
    if used is None or present is None or used >= min(minimum, present):
        return None  # a chip with few cores may use all of them
    at_least = case.floors.core_us
    needs = f"; its bytes need {format_us(at_least, 2)} through so few" if at_least is not None else ""
    cores = "one core" if used == 1 else f"{used} cores"
    return Verdict("latency", "underparallel", f"{cores} in use{needs}", cap="medium")


def scalar(case: Case) -> Verdict | None:
    """Step 6b: address arithmetic and control are the busiest pipe."""
    busy = case.pipe("scalar")
    if busy <= case.options.pipe_bound or busy < case.busiest:
        return None
    reason = f"the scalar pipe is the busiest: {case.pipes_text()}"
    if not case.is_mixed:
        return Verdict("latency", "scalar", reason, cap="medium")
    note = "in a mixed kernel the scalar pipe is busy as well while it waits for the other part"
    return Verdict("latency", "scalar", reason, (note,), cap="low")


def load(case: Case) -> Verdict | None:
    """Step 6c: the load pipe is full and compulsory HBM traffic does not explain it."""
    mte2, options = case.pipe("mte2"), case.options
    if mte2 <= options.pipe_bound:
        return None
    if case.on_vector and case.pipe("vec") >= options.pipe_bound:
        return None
    if not case.on_vector and mte2 - case.pipe("mac") < options.mte2_over_mac:
        return None
    single, why = _sub_reason(case)
    reason = f"load pipe full: {case.pipes_text()}{_below_roof(case)}{why}"
    hit_rate = case.hit_rate
    if hit_rate is None:
        settled = "a capture with aic_metrics=L2Cache would tell HBM from L2"
        return Verdict("memory", "mte2", reason, (settled,), cap="low", single_pass=single)
    if hit_rate < options.l2_hit_miss:
        reason = (
            f"load pipe full: {case.pipes_text()}{_below_roof(case)}; L2 hit rate {hit_rate:.2f}: from HBM"
        )
        return Verdict("memory", "hbm", reason, cap="medium", single_pass=single)
    reason = f"{reason}; L2 hit rate {hit_rate:.2f}: mostly from L2"
    return Verdict("memory", "mte2", reason, cap="medium", single_pass=single)


def _below_roof(case: Case) -> str:
    return f"; {case.rate_text()}" if case.has_shapes else ""


def _sub_reason(case: Case) -> tuple[bool, str]:
    """Step 6c': a matmul within one tile reads its weight once; a larger one reads tiles again from L2."""
    work, options = case.work, case.options
    if work.m is None or work.n is None or work.k is None or work.family == "grouped_matmul":
        return False, ""
    if min(work.m, work.n) <= options.single_pass_rows:
        return True, f"; single pass: every weight byte is read once, {_slow_load(case)}"
    element = (work.bytes_lo or 0) / max(1, work.m * work.k + work.k * work.n + work.m * work.n)
    rounds_a, rounds_b = -(-work.n // options.tile_n), -(-work.m // options.tile_m)
    moved = element * (work.batch or 1) * work.k * (work.m * rounds_a + work.n * rounds_b)
    l2 = case.device.l2_read_bytes_s if case.device is not None else None
    share = f", {format_share(moved / l2 / case.duration_us * 1e6)} of the L2 read roof" if l2 else ""
    return False, (
        f"; tile re-reads of about {format_bytes_decimal(moved)} from L2{share} "
        f"({options.tile_m}x{options.tile_n} tile assumed)"
    )


def _slow_load(case: Case) -> str:
    """Why reading a weight once is slow; what the export cannot tell is said as a likelihood."""
    used, present = case.floors.used_cores, case.floors.present_cores
    if used is not None and present is not None and used <= present / 2:
        return f"by {used} of {present} cores"
    return "likely by transposed, unaligned or ND->NZ loads"


def copying(case: Case) -> Verdict | None:
    """Step 6c'': a copy whose load and store take turns."""
    if not case.on_vector or case.work.family != "move":
        return None
    mte2, mte3 = case.pipe("mte2"), case.pipe("mte3")
    if mte2 + mte3 < case.options.move_pipes:
        return None
    limiter = "store" if mte3 > mte2 else "mte2"
    reason = f"load and store do not overlap: mte2 {mte2:.2f} + mte3 {mte3:.2f}{_below_roof(case)}"
    return Verdict("memory", limiter, reason, cap="low")


def compute(case: Case) -> Verdict | None:
    """Step 6d: the matrix or vector unit is busy, if not at its peak."""
    options, busy = case.options, case.pipe(case.compute_pipe)
    if case.on_vector:
        if busy <= options.pipe_bound:
            return None
        return Verdict(
            "compute", "vector", f"vector unit busy: {case.pipes_text()}{_conflicts(case)}", cap="medium"
        )
    if busy < options.mac_bound and case.u_c < options.compute_near:
        return None
    balanced = abs(busy - case.pipe("mte2")) < options.mte2_over_mac
    how = "balanced: " if balanced and case.pipes else ""
    return Verdict("compute", "cube", f"{how}{case.pipes_text()}{_of_peak(case)}", cap="medium")


def _of_peak(case: Case) -> str:
    if case.floors.u_c is None:
        return ""
    at_most = "" if case.work.flops_lo == case.work.flops or case.floors.u_c_measured else "at most "
    text = f"; {at_most}{format_share(case.floors.u_c)} of the peak {format_ops_per_s(case.floors.peak_ops)}"
    flops, padded = case.work.flops, case.work.padded_flops
    if flops is not None and padded is not None and flops < padded:
        text += f"; {format_share(flops / padded)} of the padded FLOPs are useful"
    return text


def _conflicts(case: Case) -> str:
    names = ("aiv_vec_bankgroup_cflt_ratio", "aiv_vec_bank_cflt_ratio", "aiv_vec_resc_cflt_ratio")
    found = [value for name in names if (value := case.measurement.other.get(name)) is not None]
    return f"; bank conflict {max(found):.2f}" if found and max(found) > 0 else ""


def feed(case: Case) -> Verdict | None:
    """Step 6e: L1 to L0 keeps the cube waiting."""
    if case.pipe("mte1") <= case.options.pipe_bound:
        return None
    return Verdict("compute", "cube", f"L1 to L0 feed: {case.pipes_text()}", cap="medium")


def store(case: Case) -> Verdict | None:
    """Step 6f: the store pipe is full."""
    if max(case.pipe(name) for name in STORE_PIPES) <= case.options.pipe_bound:
        return None
    return Verdict(
        "memory", "store", f"store pipe full: {case.pipes_text()}{_below_roof(case)}", cap="medium"
    )


def overlap(case: Case) -> Verdict:
    """Steps 6g and 6h: no pipe is full, so the pipes wait for each other; or nothing is known of them."""
    against = _times_the_roof(case)
    if not case.pipes:
        return Verdict("latency", "pipeline", f"{against}; no pipes were recorded", cap="low")
    against = f"; {against}" if case.has_shapes else ""
    if max(case.pipes.values()) >= case.options.pipe_bound:
        return Verdict(
            "latency", "pipeline", f"pipes busy but none decides: {case.pipes_text()}{against}", cap="low"
        )
    return Verdict("latency", "pipeline", f"no pipe is full: {case.pipes_text()}{against}", cap="medium")


def _times_the_roof(case: Case) -> str:
    """'2.2 times its roof of 14.46 us'; a range where the bytes are one (KV of unknown length)."""
    floors = case.floors
    overhead = floors.overhead_us or case.options.overhead_us
    roof = max(floors.compute_us or 0.0, floors.hbm_us or 0.0, overhead)
    highest = max(roof, floors.hbm_hi_us or 0.0)
    if roof <= 0:
        return "its roof is not known"
    times = case.duration_us / roof
    if highest <= case.options.range_ratio * roof:
        return f"{times:.1f} times its roof of {format_us(roof, 2)}"
    return (
        f"its roof lies between {format_us(roof, 2)} and {format_us(highest, 2)}, as its bytes are only a "
        f"range: {case.duration_us / highest:.1f} to {times:.1f} times that"
    )


def short_without_shapes(case: Case) -> Verdict | None:
    """Step 7: a kernel as short as a launch, of which only the time and the pipes are known."""
    if case.has_shapes or not case.pipes or case.measurement.median_us >= case.options.launch_us:
        return None
    reason = f"{format_us(case.measurement.median_us, 2)} is no longer than a launch; {case.pipes_text()}"
    return Verdict("latency", "launch", reason, cap="low")


def no_evidence(case: Case) -> Verdict | None:
    """Neither shapes with a device, nor pipes: nothing can be said, and nothing is."""
    if case.has_shapes or case.pipes:
        return None
    if (decided := measured_traffic(case)) is not None:
        return decided
    missing = case.work.missing[0] if case.work.missing else "the device is not known"
    if case.device is not None and case.work.bytes_lo is not None:
        missing = f"no HBM bandwidth is known for {case.device.soc}"
    settled = "record profiler_level=Level1 with aic_metrics=PipeUtilization and record_shapes=True"
    return Verdict("unknown", "no evidence", f"{missing}, and no pipes were recorded", (settled,), cap="low")
