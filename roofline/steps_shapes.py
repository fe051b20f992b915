"""Steps 0 to 5 of the decision procedure: what class, shapes and device say. Each returns None to go on.

The order and the thresholds are those of docs: a kernel above a roof is no excellent kernel, it is fed
by L2 or miscounted; a launch-limited kernel is told before its empty pipes are read.
"""

from __future__ import annotations

from ..units import format_bytes_decimal, format_bytes_per_s, format_ops_per_s, format_share, format_us
from .case import STORE_PIPES, Case, Verdict
from .floors import clocks_disagree

_ENGINES = {"engine:ai_cpu": "ai_cpu", "engine:dsa": "dsa", "engine:other": "host"}


def other_class(case: Case) -> Verdict | None:
    """Step 0: rows that no roof of the AI cores applies to."""
    for flag, limiter in _ENGINES.items():
        if flag in case.work.flags:
            return Verdict("other", limiter, case.work.missing[0])
    if case.work.family in ("communication", "moe_comm"):
        what = "collective" if case.work.family == "communication" else "expert dispatch or combine"
        if case.measurement.median_us <= 0:
            return Verdict(
                "communication", "link", f"{what}, exported with a duration of 0: not measured", cap="low"
            )
        reason = f"{what}: {format_us(case.duration_us)} are set by links and by when the other ranks arrive"
        return Verdict("communication", "link", reason, cap="high" if what == "collective" else "medium")
    return _fused_collective(case) if "fused_collective" in case.work.flags else None


def no_duration(case: Case) -> Verdict | None:
    """A kernel of which no row has a duration was not measured, whatever its shapes say."""
    if case.measurement.median_us > 0:
        return None
    return Verdict(
        "unknown", "no duration", "exported with a duration of 0: its time was not measured", cap="low"
    )


def _fused_collective(case: Case) -> Verdict | None:
    """A matmul fused with a collective belongs to whichever part is longer; the collective is not
    modelled.
    """
    if case.wide_range:
        return range_to_hbm(case) or _experts_and_links(case)
    matmul_us = max(case.floors.compute_us or 0.0, case.floors.hbm_eff_us or 0.0)
    if matmul_us >= case.duration_us / 2:
        return None
    reason = (
        f"matmul fused with a collective: the matmul needs {format_us(matmul_us)} of "
        f"{format_us(case.duration_us)}, the rest is communication"
    )
    return Verdict("communication", "link", reason, cap="low")


def _experts_and_links(case: Case) -> Verdict | None:
    """Expert matmuls between a dispatch and a combine: their part is at most what all experts would take."""
    most = case.floors.hbm_hi_us
    if most is None:
        return None
    reason = (
        f"dispatch, expert matmuls and combine in one kernel: all {case.work.experts} experts would take "
        f"{format_us(most)} of its {format_us(case.duration_us)} at the HBM roof, how many are hit is not "
        "exported; the rest is links and waiting for other ranks"
    )
    return Verdict("communication", "link", reason, cap="low")


def contradictory_shapes(case: Case) -> Verdict | None:
    """Operands of which no product can be made: their pipes are real, but what they did is not known."""
    if "contradictory_shapes" not in case.work.flags:
        return None
    note = (f"the pipes alone: {case.pipes_text()}",) if case.pipes else ()
    return Verdict("unknown", "shapes contradict", case.work.missing[0], note, cap="low")


def model_sanity(case: Case) -> Verdict | None:
    """Step 2: more than a roof can give means that the model or the device is wrong, not that the
    kernel is good.
    """
    options, floors = case.options, case.floors
    if case.u_c > options.sanity_compute:
        return Verdict(
            "unknown",
            "above the compute peak",
            f"{format_share(case.u_c)} of the peak {format_ops_per_s(floors.peak_ops)} "
            f"({case.work.compute_dtype}): wrong FLOPs, dtype or device",
            cap="low",
            anomaly=f"above the compute peak: {format_share(case.u_c)} of it",
        )
    l2 = case.device.l2_read_write_bytes_s if case.device is not None else None
    if l2 is not None and case.bytes_per_s is not None and case.bytes_per_s > options.sanity_l2 * l2:
        return Verdict(
            "unknown",
            "above the L2 roof",
            f"{case.rate_text()}, more than L2 can move ({format_bytes_per_s(l2)}): wrong byte model; "
            f"suspect {case.work.largest_operand}",
            cap="low",
            anomaly=f"above the L2 roof: {format_bytes_per_s(case.bytes_per_s)}",
        )
    return None


def launch(case: Case) -> Verdict | None:
    """Step 3: short, or mostly outside the cores, while no roof is half reached."""
    options = case.options
    if not case.has_shapes or max(case.u_c, case.u_m) >= options.launch_share:
        return None
    duration = case.measurement.median_us
    work_us = max(case.floors.compute_us or 0.0, case.floors.hbm_eff_us or 0.0)
    text = f"{format_us(duration, 2)} with {format_us(work_us, 2)} of work at the roofs"
    if duration < options.launch_us:
        return Verdict("latency", "launch", f"{text}: launch and completion alone take as long", cap="medium")
    if duration < options.launch_short_us and work_us < options.launch_work_share * duration:
        return Verdict("latency", "launch", f"{text}, less than a tenth of it", cap="medium")
    gap = case.gap_us
    if gap is None or duration >= options.launch_gap_us or gap <= options.launch_gap_share * duration:
        return None
    if gap > _longest_launch_us(case):
        return None
    reason = f"{format_us(gap, 2)} of {format_us(duration, 2)} lie outside the cores: launch and completion"
    return Verdict("latency", "launch", reason, cap="medium")


def imbalance_note(case: Case) -> tuple[str, ...]:
    """A gap longer than a launch is cores that finished early."""
    gap = case.gap_us
    if gap is None or gap <= _longest_launch_us(case):
        return ()
    if gap <= case.options.imbalance_share * case.measurement.median_us:
        return ()
    return (f"{format_us(gap)} outside the cores is longer than a launch: load imbalance",)


def _longest_launch_us(case: Case) -> float:
    return case.options.gap_vector_us if case.on_vector else case.options.gap_cube_us


def above_hbm(case: Case) -> Verdict | None:
    """Step 4: faster than HBM can be, so the bytes come from L2, or are over-counted."""
    rate, device = case.bytes_per_s, case.device
    if rate is None or device is None or device.hbm_bytes_s is None or device.hbm_max_bytes_s is None:
        return None
    if rate <= device.hbm_bytes_s:
        return None
    if rate <= device.hbm_max_bytes_s:
        if case.u_c > case.u_m:
            return None
        note = "inside the uncertainty of the roof: sources give HBM "
        note += f"{format_bytes_per_s(device.hbm_bytes_s)} to {format_bytes_per_s(device.hbm_max_bytes_s)}"
        fits = _fits_l2(case)
        notes = (note, fits) if fits else (note,)
        return Verdict(
            "memory", "hbm", case.rate_text(), notes, cap="low" if fits else "medium", analytic=True
        )
    return _computing(case) or _from_l2(case) or _partly_resident(case) or _over_counted(case)


def _fits_l2(case: Case) -> str:
    """Said of a kernel at the roof whose data L2 can hold: what ran before may have left it there."""
    l2 = case.device.l2_bytes if case.device is not None else None
    working_set = case.work.working_set_bytes
    if l2 is None or working_set is None or working_set > l2:
        return ""
    return (
        f"its {format_bytes_decimal(working_set)} fit L2 ({format_bytes_decimal(l2)}), which may have served "
        "part of them: HBM and L2 are not told apart here"
    )


def _computing(case: Case) -> Verdict | None:
    busy = case.pipe(case.compute_pipe)
    if busy < case.options.pipe_bound or busy < max(case.pipes.values(), default=0.0):
        return None
    limiter = "vector" if case.on_vector else "cube"
    reason = f"{case.compute_pipe} {busy:.2f} is the busiest pipe; {case.rate_text()}: data from L2"
    return Verdict("compute", limiter, reason, ("data from L2",), cap="medium", fed_by_l2=True)


def _from_l2(case: Case) -> Verdict | None:
    l2 = case.device.l2_bytes if case.device is not None else None
    working_set = case.work.working_set_bytes
    if l2 is None or working_set is None or working_set > case.options.l2_set_ratio * l2:
        return None
    stores = max((case.pipe(name) for name in STORE_PIPES), default=0.0)
    absorbed = stores > case.pipe("mte2")
    what = "stores are absorbed by L2" if absorbed else "the data comes from L2"
    share = f", {format_share(case.floors.u_l2)} of the L2 roof" if case.floors.u_l2 is not None else ""
    reason = (
        f"{case.rate_text()}, above the HBM roof{share}: {what} "
        f"(working set {format_bytes_decimal(working_set)}, L2 {format_bytes_decimal(l2)})"
    )
    return Verdict("memory", "l2", reason, cap="medium", analytic=True, fed_by_l2=True)


def _partly_resident(case: Case) -> Verdict | None:
    """Up to one L2 of bytes may be resident before or still dirty after the kernel."""
    device, moved = case.device, case.work.bytes_lo
    if device is None or device.l2_bytes is None or device.hbm_max_bytes_s is None or moved is None:
        return None
    drained = (moved - device.l2_bytes) / case.duration_us * 1e6
    if drained > device.hbm_max_bytes_s:
        return None
    note = (
        f"{format_bytes_per_s(drained)} once one L2 ({format_bytes_decimal(device.l2_bytes)}) is subtracted"
    )
    return Verdict(
        "memory",
        "hbm",
        f"{case.rate_text()}, above the roof: part of it was in L2 before, or is still in it after",
        (note,),
        cap="low",
        analytic=True,
        anomaly=f"above the HBM roof: {note}",
    )


def _over_counted(case: Case) -> Verdict:
    return Verdict(
        "unknown",
        "bytes over-counted",
        f"{case.rate_text()}, above the HBM roof with more data than L2 holds: the byte count is too high; "
        f"suspect {case.work.largest_operand}",
        cap="low",
        anomaly="above the HBM roof: bytes over-counted",
    )


def near_compute(case: Case) -> Verdict | None:
    """Step 5, compute side."""
    if case.u_c < case.options.near_roof or case.u_c < case.u_m:
        return None
    measured = "measured" if case.floors.u_c_measured else "from shapes"
    reason = f"{format_share(case.u_c)} of the peak {format_ops_per_s(case.floors.peak_ops)} ({measured})"
    return Verdict("compute", "cube" if case.work.unit == "cube" else "vector", reason, analytic=True)


def near_hbm(case: Case) -> Verdict | None:
    """Step 5, memory side: near the achievable HBM roof, provided that a data pipe was busy with it."""
    options = case.options
    if not case.has_shapes or case.u_m < options.hbm_likely or case.u_m <= case.u_c or served_by_l2(case):
        return None
    sure = case.u_m >= options.near_roof * options.eff_hbm
    pipes = f"; {case.pipes_text()}" if case.pipes else ""
    notes = () if sure else ("likely: below 0.8 of the achievable roof",)
    cap = "high" if sure else "medium"
    range_note = _bandwidth_range(case)
    if range_note:
        notes, cap = (*notes, range_note), "low"
    return Verdict("memory", "hbm", f"{case.rate_text()}{pipes}", notes, cap=cap, analytic=True)


def _bandwidth_range(case: Case) -> str:
    """Said when the device's bandwidth is known only as a range, and at its upper end this label falls."""
    device, options = case.device, case.options
    if device is None or device.hbm_bytes_s is None or device.hbm_max_bytes_s is None:
        return ""
    ratio = device.hbm_max_bytes_s / device.hbm_bytes_s
    if ratio <= options.bandwidth_range or case.u_m / ratio >= options.hbm_likely:
        return ""
    ends = f"{format_bytes_per_s(device.hbm_bytes_s)} to {format_bytes_per_s(device.hbm_max_bytes_s)}"
    at_most = format_share(case.u_m / ratio)
    return f"the bandwidth of {device.soc} is only known as {ends}: at the upper end this is {at_most}"


def served_by_l2(case: Case) -> bool:
    """True when the bytes would need HBM but the pipes or the L2 counters say that L2 delivered them."""
    options = case.options
    if case.u_m < options.hbm_likely:
        return False
    data = [case.pipe(name) for name in ("mte2", *STORE_PIPES) if name in case.pipes]
    if data and max(data) < options.hbm_pipe_minimum:
        return True
    return case.hit_rate is not None and case.hit_rate >= options.l2_hit_miss


def range_to_hbm(case: Case) -> Verdict | None:
    """Bytes known only as a range that spans the roof: the pipes decide, and the roof bounds the
    experts hit.
    """
    ratio = case.options.range_mte2_over_mac
    if not case.wide_range or not case.sides_differ or case.on_vector or case.work.family == "attention":
        return None
    load, mac = case.pipe("mte2"), case.pipe("mac")
    others = (mac, case.pipe("mte1"), case.pipe("fixpipe"))
    if load <= 0 or load < max(others) or load < ratio * mac:
        return None
    reason = (
        f"bytes are {format_bytes_decimal(case.work.bytes_lo)} to {format_bytes_decimal(case.work.bytes_hi)} "
        f"in {format_us(case.duration_us)}; mte2 {load:.2f} is the largest data pipe, mac {mac:.2f}"
        f"{_experts_hit(case)}"
    )
    settled = "a capture with aic_metrics=MemoryAccess would tell how many bytes were read"
    return Verdict("memory", "hbm", reason, (settled,), cap="low")


def _experts_hit(case: Case) -> str:
    """How many experts the highest HBM figure lets through in this time: an inference, and said so."""
    work, device = case.work, case.device
    if not work.experts or not work.weight_bytes or device is None or device.hbm_max_bytes_s is None:
        return ""
    per_expert = work.weight_bytes / work.experts
    hit = case.duration_us * 1e-6 * device.hbm_max_bytes_s / per_expert
    if hit >= work.experts:
        return ""
    return f"; the HBM roof allows at most {hit:.1f} of {work.experts} experts (inferred)"


def clock_notes(case: Case) -> tuple[str, ...]:
    """Said when the core clock and the system clock contradict each other."""
    if not clocks_disagree(case.measurement, case.options):
        return ()
    return (
        f"core time {format_us(case.measurement.core_time_us)} exceeds the duration "
        f"{format_us(case.measurement.median_us)} at {case.measurement.cube_utilization_pct:.0f} % "
        "occupancy: the two clocks disagree, shares refer to the longer one",
    )
