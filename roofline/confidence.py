"""How sure a label is: the label from shapes and the label from pipes are found apart, and must agree."""

from __future__ import annotations

from .case import STORE_PIPES, Case, Verdict
from .steps_shapes import served_by_l2
from .traffic_evidence import traffic_agrees

LEVELS = ("low", "medium", "high")


def shape_bound(case: Case) -> str | None:
    """What shapes and device alone say: memory, compute or latency; None when they are not known."""
    if not case.has_shapes:
        return None
    options = case.options
    if case.u_c >= options.near_roof and case.u_c >= case.u_m:
        return "compute"
    if case.u_m >= options.hbm_likely and case.u_m > case.u_c:
        return "memory"
    return "latency" if max(case.u_c, case.u_m) < options.launch_share else "between"


def pmu_bound(case: Case) -> str | None:
    """What the pipes alone say: memory, compute or latency; None when they were not recorded."""
    pipes, options = case.pipes, case.options
    if not pipes:
        return None
    compute, load = case.pipe(case.compute_pipe), case.pipe("mte2")
    full = options.pipe_bound if case.on_vector else options.mac_bound
    if compute >= full and load - compute < options.mte2_over_mac:
        return "compute"
    data = max(load, *(case.pipe(name) for name in STORE_PIPES))
    if data > options.pipe_bound:
        return "memory"
    if case.on_vector and case.work.family == "move" and load + case.pipe("mte3") >= options.move_pipes:
        return "memory"
    if case.pipe("mte1") > options.pipe_bound:
        return "compute"
    loads_most = load > 0 and load >= max(compute, case.pipe("mte1"), case.pipe("fixpipe"))
    if not case.on_vector and loads_most and load >= options.range_mte2_over_mac * compute:
        return "memory"
    return "latency"


def confidence_of(case: Case, verdict: Verdict) -> str:
    """high: shapes and an independent measurement agree; medium: the pipes agree; low: they do not, or
    a range.
    """
    if verdict.bound in ("communication", "other"):
        return verdict.cap
    level = min(_agreement(case, verdict), LEVELS.index(verdict.cap))
    measured = traffic_agrees(case, verdict)
    if measured is not None:
        level = max(level, 1 + _sure_bytes(case, verdict)) if measured else 0
    level = min(level, _device_cap(case))
    uncertain = case.work.family == "generic" or (case.wide_range and case.sides_differ)
    if uncertain and not measured:  # measured bytes need no byte model
        level = 0
    return LEVELS[level]


def _agreement(case: Case, verdict: Verdict) -> int:
    shapes, pipes = shape_bound(case), pmu_bound(case)
    if verdict.bound == "unknown" or shapes is None:
        return 0
    if verdict.analytic and _numbers_agree(case, verdict):
        return 2
    if verdict.limiter == "launch":
        return 1  # time and work at the roofs say it; empty pipes could only repeat it
    if verdict.bound == "latency":
        return int(pipes == "latency")
    if pipes is None:
        return int(verdict.analytic and max(case.u_c, case.u_m) >= case.options.analytic_share)
    return int(pipes == verdict.bound)


def _sure_bytes(case: Case, verdict: Verdict) -> bool:
    """Whether shapes alone gave the label, from bytes that are no range."""
    lo, hi = case.work.bytes_lo, case.work.bytes_hi
    return verdict.analytic and lo is not None and hi is not None and hi <= case.options.tight_ratio * lo


def _numbers_agree(case: Case, verdict: Verdict) -> bool:
    """An independent number confirms the model: measured bytes, or mac x occupancy against the compute
    share.

    For a memory label the cube's share only confirms the FLOPs, so the load pipe must be full as well.
    """
    options, lo, hi = case.options, case.work.bytes_lo, case.work.bytes_hi
    if lo is None or hi is None or hi > options.tight_ratio * lo:
        return False
    measured = case.measured
    if measured is not None:
        return abs(measured.total - lo) <= options.bytes_agreement * lo
    occupancy, mac = case.measurement.cube_utilization_pct, case.measurement.ratio("aic_mac")
    if case.work.unit != "cube" or occupancy is None or mac is None:
        return False
    if abs(mac * occupancy / 100 - case.u_c) > options.mac_agreement:
        return False
    return verdict.bound == "compute" or (case.pipe("mte2") >= options.pipe_bound and not served_by_l2(case))


def _device_cap(case: Case) -> int:
    """Roofs that are themselves uncertain cannot give a sure label."""
    bandwidth = case.device.hbm_gb_s if case.device is not None else None
    return 1 if bandwidth is None or bandwidth.confidence == "low" else 2
