"""What the roofline report draws: three answers, the points and roofs of the figure, one step over time.

A picture has room for thousands of marks, a capture may hold ten million kernels: points are per signature,
the timeline is one step and is capped, and what a cap leaves out is counted beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..errors import InternalError
from ..roofline.device import device_sources
from .answer import Answer, StepRow
from .candidates import candidates
from .hotspots import hotspot_id, hotspots
from .labels import LabelledGroup, labelled_groups
from .sqlfiles import rows_of, sql
from .summary import summary

if TYPE_CHECKING:
    from ..roofline.device_model import Device, Quantity
    from ..roofline.work import Work
    from .session import Session

# Marks that a browser still pans smoothly; a decode step of a large model has 1,000 to 4,000 kernels.
TIMELINE_KERNELS: Final = 5000
TIMELINE_GAPS: Final = 400
ROOFLINE_POINTS: Final = 1500


@dataclass(frozen=True)
class Point:
    """One signature in the roofline figure, at what is certain.

    `intensity` (FLOP/B) and `tflops` (1e12/s) are those of its HotspotRow: the FLOPs that are certain over
    bytes_lo and over the median. Where bytes are a range, `intensity_low` is its other end, cut where the
    highest HBM figure would be passed: no more bytes fit into the duration. Where FLOPs are a range,
    `tflops_high` is its other end, cut at the compute peak.
    """

    id: str
    type: str
    shapes: str | None
    dtype: str
    unit: str  # cube | vector
    streams: tuple[str, ...]
    count: int
    total_us: float
    median_us: float
    intensity: float
    intensity_low: float | None
    tflops: float
    tflops_high: float | None
    flops_lo: float
    flops_hi: float
    bytes_lo: float
    bytes_hi: float
    bound: str
    limiter: str
    confidence: str
    reason: str


@dataclass(frozen=True)
class Roof:
    """One roof: `kind` is 'bandwidth' (value in GB/s, 1e9) or 'compute' (value in TFLOP/s, 1e12)."""

    kind: str
    name: str
    value: float
    source: str
    confidence: str


@dataclass(frozen=True)
class Undrawn:
    """Kernels without a point: why, how many groups, how much time (us over the selected steps).

    `types` is the same time by type, longest first.
    """

    reason: str
    groups: int
    total_us: float
    types: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class TypeTime:
    """Time of one type under one bound, us: median per step, and summed over the selected steps."""

    type: str
    bound: str
    kernels: int
    total_us: float
    step_us: float


@dataclass(frozen=True)
class TimelineKernel:
    """One kernel of the timeline, us from the start of its step."""

    kernel_id: int
    name: str
    type: str
    stream: str
    start_us: float
    duration_us: float
    bound: str
    limiter: str
    layer: int | None
    position: int | None


@dataclass(frozen=True)
class Gap:
    """A stretch in which no AI-core and no communication kernel runs, us from the start of the step."""

    start_us: float
    idle_us: float


@dataclass(frozen=True)
class Timeline:
    """The step whose wall is the median: its kernels, its gaps, and what the cap leaves out."""

    step: StepRow
    steps: int  # steps it was chosen from
    kernels: tuple[TimelineKernel, ...]
    gaps: tuple[Gap, ...]
    least_gap_us: float
    all_gaps: int  # of at least that length, drawn or not
    all_gaps_us: float
    left_out: int
    left_out_us: float


@dataclass(frozen=True)
class ReportInput:
    """What `reports.html_report.roofline_report` renders."""

    summary: Answer
    hotspots: Answer
    candidates: Answer
    points: tuple[Point, ...]
    points_left_out: int
    roofs: tuple[Roof, ...]
    undrawn: tuple[Undrawn, ...]
    types: tuple[TypeTime, ...]
    timeline: Timeline | None  # None where no step has a start


def report_data(session: Session) -> ReportInput:
    """Ask the questions of the report. Raises what they raise (InputMissing, WrongUsage, UnknownDevice)."""
    asked = summary(session, "bound")
    points, undrawn = roofline_points(session)
    return ReportInput(
        summary=asked,
        hotspots=hotspots(session),
        candidates=candidates(session, top=None),
        points=points[:ROOFLINE_POINTS],
        points_left_out=max(0, len(points) - ROOFLINE_POINTS),
        roofs=roofs_over(session, points),
        undrawn=undrawn,
        types=tuple(TypeTime(**row) for row in session.rows(sql("type_times.sql"))),
        timeline=_timeline(session, tuple(asked.extras.get("steps", ()))),
    )


def roofline_points(session: Session) -> tuple[tuple[Point, ...], tuple[Undrawn, ...]]:
    """Points of every AI-core signature that has one, by falling time, and why the others have none."""
    streams = _streams(session)
    points: list[Point] = []
    left: dict[str, list[LabelledGroup]] = {}
    for group in labelled_groups(session):
        if not group.is_aicore:
            continue
        if reason := _why_no_point(group):
            left.setdefault(reason, []).append(group)
        else:
            points.append(_point(session, group, streams.get(group.signature_id, ())))
    undrawn = [_undrawn(reason, groups) for reason, groups in left.items()]
    return tuple(points), tuple(sorted(undrawn, key=lambda each: (-each.total_us, each.reason)))


def _undrawn(reason: str, groups: list[LabelledGroup]) -> Undrawn:
    times: dict[str, float] = {}
    for group in groups:
        name = group.row.type or "(no type)"
        times[name] = times.get(name, 0.0) + group.statistics.total_us
    longest = sorted(times.items(), key=lambda each: (-each[1], each[0]))
    return Undrawn(reason, len(groups), sum(times.values()), tuple(longest))


def _why_no_point(group: LabelledGroup) -> str:
    work = group.work
    if group.label.anomaly is not None:
        return "anomaly: the numbers cannot all be right, so the kernel is no finding"
    if work.bytes_lo is None:
        return "bytes are not known: shapes are missing or do not fit the operator"
    if (work.unit == "cube" and work.flops is None) or (work.flops and not work.flops_lo):
        return "no FLOPs are certain: the shapes do not tell how many rows or keys are real"
    if not work.flops:
        return "no FLOPs are counted (moves, casts, routing, communication): no arithmetic intensity"
    if work.bytes_lo <= 0 or group.statistics.median_us <= 0:
        return "no bytes or no time were recorded"
    return ""


def _point(session: Session, group: LabelledGroup, streams: tuple[str, ...]) -> Point:
    work, label, median = group.work, group.label, group.statistics.median_us
    if work.flops is None or work.flops_lo is None or work.bytes_lo is None:
        raise InternalError(f"a point was asked for {group.row.type}, whose work is not known")
    flops_hi = max(work.flops_lo, work.flops, work.flops_hi or 0.0)
    bytes_hi = work.bytes_hi if work.bytes_hi is not None else work.bytes_lo
    return Point(
        id=hotspot_id(group.row.hex_id),
        type=group.row.type or "(no type)",
        shapes=group.row.input_shapes,
        dtype=work.compute_dtype or "not known",
        unit=work.unit,
        streams=streams,
        count=group.statistics.count,
        total_us=group.statistics.total_us,
        median_us=median,
        intensity=work.flops_lo / work.bytes_lo,
        intensity_low=_other_end(session, work.flops_lo, work.bytes_lo, bytes_hi, median),
        tflops=work.flops_lo / median / 1e6,
        tflops_high=_most_tflops(session, work, flops_hi, median),
        flops_lo=work.flops_lo,
        flops_hi=flops_hi,
        bytes_lo=work.bytes_lo,
        bytes_hi=bytes_hi,
        bound=label.bound,
        limiter=label.limiter,
        confidence=label.confidence,
        reason=label.reason,
    )


def _other_end(session: Session, flops: float, lo: float, hi: float, median_us: float) -> float | None:
    """Intensity at bytes_hi, or at as many bytes as HBM moves in the duration; None: bytes are no range."""
    if hi <= session.roofline_options.range_ratio * lo:
        return None
    device = session.device.device
    most = device.hbm_max_bytes_s if device else None
    movable = hi if most is None else min(hi, most * median_us / 1e6)
    return flops / movable if movable > lo else None


def _most_tflops(session: Session, work: Work, flops_hi: float, median_us: float) -> float | None:
    """TFLOP/s if all FLOPs were real, at most the compute peak; None: FLOPs are no range."""
    least = (work.flops_lo or 0.0) / median_us / 1e6
    device = session.device.device
    peak = _peak_ops(device, work.unit, work.compute_dtype) if device else None
    most = flops_hi / median_us / 1e6
    most = most if peak is None else min(most, peak / 1e12)
    return most if most > least else None


def _peak_ops(device: Device, unit: str, dtype: str | None) -> float | None:
    if dtype is None:
        return None
    return device.cube_peak_ops(dtype) if unit == "cube" else device.vector_peak_ops(dtype)


def roofs_over(session: Session, points: tuple[Point, ...]) -> tuple[Roof, ...]:
    """HBM and L2, and the compute peak of each unit and dtype that has a point; empty without a device."""
    device = session.device.device
    if device is None:
        return ()
    roofs: list[Roof] = []
    if device.hbm_gb_s is not None:
        roofs.append(_roof("bandwidth", "HBM", device.hbm_gb_s.value, device.hbm_gb_s))
    if device.l2_read_bytes_s is not None and device.l2_read_bytes_per_cycle is not None:
        roofs.append(_roof("bandwidth", "L2", device.l2_read_bytes_s / 1e9, device.l2_read_bytes_per_cycle))
    for unit, dtype in sorted({(point.unit, point.dtype) for point in points}):
        peak = _peak_ops(device, unit, dtype)
        rates = device.cube_ops_per_cycle if unit == "cube" else (device.vector_ops_per_cycle or {})
        if peak is not None:
            roofs.append(_roof("compute", f"{unit} {dtype}", peak / 1e12, rates[dtype]))
    return tuple(roofs)


def _roof(kind: str, name: str, value: float, known_from: Quantity) -> Roof:
    """A roof with the titles of the sources of the quantity that it was derived from."""
    titles = device_sources()
    cited = [titles.get(key.strip(), key.strip()) for key in known_from.source.split(",")]
    return Roof(kind, name, value, "; ".join(cited), known_from.confidence)


def _streams(session: Session) -> dict[int, tuple[str, ...]]:
    rows = session.con.execute(
        "SELECT signature_id, list(DISTINCT stream_id ORDER BY stream_id NULLS LAST) "
        "FROM selected_kernels GROUP BY signature_id"
    ).fetchall()
    return {identity: tuple(map(stream_name, ids)) for identity, ids in rows}


def stream_name(stream_id: int | None) -> str:
    """A stream for people; the profiler leaves it out for some communication rows."""
    return "not recorded" if stream_id is None else str(stream_id)


def _timeline(session: Session, steps: tuple[StepRow, ...]) -> Timeline | None:
    if not steps:
        return None
    # The lower median: one slow step moves neither it nor its neighbours, and it is a step that happened.
    step = sorted(steps, key=lambda each: (each.wall_us, each.step_id))[(len(steps) - 1) // 2]
    start_ns = session.value(
        "SELECT min(start_ns) FROM selected_kernels "
        "WHERE step_id = ? AND kernel_class IN ('aicore', 'communication')",
        [step.step_id],
    )
    if start_ns is None:
        return None
    place = {"step_id": step.step_id, "step_start_ns": start_ns}
    kernels = rows_of(session.con, sql("timeline.sql"), place | {"most": TIMELINE_KERNELS})
    least = session.options.idle_gap_us
    gaps = rows_of(session.con, sql("timeline_idle.sql"), place | {"least_us": least, "most": TIMELINE_GAPS})
    labels = {group.signature_id: group for group in labelled_groups(session)}
    return Timeline(
        step=step,
        steps=len(steps),
        kernels=tuple(_timeline_kernel(row, labels.get(row["signature_id"])) for row in kernels),
        gaps=tuple(Gap(row["start_us"], row["idle_us"]) for row in gaps),
        least_gap_us=least,
        all_gaps=gaps[0]["all_gaps"] if gaps else 0,
        all_gaps_us=gaps[0]["all_us"] if gaps else 0.0,
        left_out=kernels[0]["left_out"] if kernels else 0,
        left_out_us=kernels[0]["left_out_us"] if kernels else 0.0,
    )


def _timeline_kernel(row: dict[str, Any], group: LabelledGroup | None) -> TimelineKernel:
    # Kernels of other engines carry no label: their class is what is known about them.
    return TimelineKernel(
        kernel_id=row["kernel_id"],
        name=row["name"],
        type=row["type"],
        stream=stream_name(row["stream_id"]),
        start_us=row["start_us"],
        duration_us=row["duration_us"],
        bound=group.label.bound if group else "other",
        limiter=group.label.limiter if group else row["kernel_class"],
        layer=row["layer"],
        position=row["position"],
    )
