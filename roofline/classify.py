"""The label of a signature: what limits it, how sure that is, and the numbers that say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..units import format_us
from . import steps_pipes as pipes
from . import steps_shapes as shapes
from .believed import believed
from .case import Case, Verdict
from .confidence import confidence_of, pmu_bound, shape_bound
from .device_model import Device
from .floors import Floors
from .measure import Measurement
from .model import Work
from .options import RooflineOptions
from .traffic_evidence import traffic_notes

# The decision procedure, in order; the first step that decides ends it.
STEPS: tuple[Callable[[Case], Verdict | None], ...] = (
    shapes.other_class,
    shapes.no_duration,
    shapes.contradictory_shapes,
    pipes.no_evidence,
    shapes.model_sanity,
    shapes.launch,
    shapes.above_hbm,
    shapes.near_compute,
    shapes.near_hbm,
    shapes.range_to_hbm,
    pipes.measured_traffic,
    pipes.underparallel,
    pipes.scalar,
    pipes.load,
    pipes.copying,
    pipes.compute,
    pipes.feed,
    pipes.store,
    pipes.short_without_shapes,
)
# Rounding of exported durations (three decimals) against a floor worked out exactly.
_FLOOR_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Label:
    """`bound`/`limiter` with confidence ('high'|'medium'|'low') and one sentence with the numbers.

    `single_pass`: memory/mte2 of a matmul whose weight is read once (M or N within one tile).
    `anomaly`: a name and reason when the numbers contradict the model (above a roof, below the floor).
    `fed_by_l2`: the bytes came from L2. `shape_bound` and `pmu_bound` are the two labels found apart,
    from shapes and from pipes; None = no evidence. `potential_us` is per occurrence: median -
    achievable time, not below 0; None without a roof.
    """

    bound: str
    limiter: str
    confidence: str
    reason: str
    floors: Floors
    notes: tuple[str, ...] = ()
    single_pass: bool = False
    anomaly: str | None = None
    fed_by_l2: bool = False
    contradicts_pipes: bool = False
    shape_bound: str | None = None
    pmu_bound: str | None = None
    potential_us: float | None = None


def classify(work: Work, measurement: Measurement, device: Device | None, options: RooflineOptions) -> Label:
    """Label one signature from its medians by the decision procedure; without a device from its pipes
    only.
    """
    trusted, doubts = believed(measurement, options)
    case = Case(work, trusted, device, options)
    verdict = _decide(case)
    floors = case.floors.served_by_l2() if verdict.fed_by_l2 else case.floors
    anomaly = verdict.anomaly or _anomaly(case, floors)
    guessed = not case.has_shapes and verdict.bound in ("memory", "compute", "latency")
    return Label(
        bound=verdict.bound,
        limiter=verdict.limiter,
        confidence=confidence_of(case, verdict),
        reason=f"likely: {verdict.reason}" if guessed else verdict.reason,
        floors=floors,
        notes=(*verdict.notes, *_notes(case, verdict), *doubts, *case.traffic_doubts),
        single_pass=verdict.single_pass,
        anomaly=anomaly,
        fed_by_l2=verdict.fed_by_l2,
        contradicts_pipes=_pipe_contradiction(case) is not None,
        shape_bound=shape_bound(case),
        pmu_bound=pmu_bound(case),
        potential_us=_potential(case, verdict, floors, anomaly),
    )


def _decide(case: Case) -> Verdict:
    for step in STEPS:
        verdict = step(case)
        if verdict is not None:
            break
    else:
        verdict = pipes.overlap(case)
    if (
        verdict.bound in ("memory", "latency", "compute")
        and shapes.served_by_l2(case)
        and not verdict.fed_by_l2
    ):
        note = f"{case.rate_text()}, but no data pipe is busy enough for HBM: fed by L2"
        return replace(verdict, notes=(*verdict.notes, note), fed_by_l2=True)
    return verdict


def _anomaly(case: Case, floors: Floors) -> str | None:
    if case.duration_us <= 0:
        return None  # not measured, so nothing can be wrong about it
    floor = floors.floor_us
    if floor is not None and case.duration_us < floor * (1 - _FLOOR_TOLERANCE):
        return f"median {format_us(case.duration_us, 2)} is below its floor {format_us(floor, 2)}"
    return _pipe_contradiction(case)


def _pipe_contradiction(case: Case) -> str | None:
    """The compute share cannot exceed what the cube was busy; if it does, device, dtype or shapes are
    wrong.
    """
    mac, core_time = case.measurement.ratio("aic_mac"), case.measurement.aicore_time_us
    if case.work.unit != "cube" or mac is None or core_time is None or case.floors.u_c_lo is None:
        return None
    busy = mac * core_time / case.duration_us if case.duration_us > 0 else 0.0
    if case.floors.u_c_lo <= busy + case.options.pipe_contradiction:
        return None
    return (
        f"{case.floors.u_c_lo:.2f} of the compute peak, but the cube was busy for {busy:.2f} of the time: "
        "wrong device, dtype or shapes"
    )


def _notes(case: Case, verdict: Verdict) -> tuple[str, ...]:
    if verdict.bound in ("communication", "other"):
        return ()
    misses = () if verdict.limiter == "launch" else _instruction_misses(case)
    return (
        *shapes.clock_notes(case),
        *shapes.imbalance_note(case),
        *_few_cores(case),
        *traffic_notes(case, verdict),
        *misses,
        *_zero_rows(case),
        *_spread(case),
    )


def _few_cores(case: Case) -> tuple[str, ...]:
    used, present = case.floors.used_cores, case.floors.present_cores
    if used is None or present is None or case.work.unit != "cube":
        return ()
    return (
        (f"{used} of {present} cores in use",)
        if case.options.used_cores_minimum <= used <= present / 2
        else ()
    )


def _instruction_misses(case: Case) -> tuple[str, ...]:
    rate = case.measurement.ratio("aiv_icache_miss" if case.on_vector else "aic_icache_miss")
    return (f"instruction cache miss rate {rate:.2f}",) if (rate or 0.0) > case.options.icache_note else ()


def _zero_rows(case: Case) -> tuple[str, ...]:
    zero, count = case.measurement.zero_rows, case.measurement.count
    if not 0 < zero < count:
        return ()
    return (f"{zero:,} of {count:,} rows have a duration of 0 and are in no median",)


def _spread(case: Case) -> tuple[str, ...]:
    low, high = case.measurement.p10_us, case.measurement.p90_us
    if low is None or high is None or low <= 0 or high <= case.options.spread_ratio * low:
        return ()
    return (f"p90 is {high / low:.1f} times p10: contention, layout, what L2 held, or work that differs",)


def _potential(case: Case, verdict: Verdict, floors: Floors, anomaly: str | None) -> float | None:
    if verdict.bound in ("unknown", "communication", "other") or anomaly is not None:
        return None
    if floors.achievable_us is None:
        return None
    return max(0.0, case.duration_us - floors.achievable_us)
