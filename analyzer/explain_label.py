"""Why a hotspot has its label: what was measured, what the shapes imply, and which rule decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .answer import ExplainStep, HotspotRow
from .explain_operator import operator_steps
from .labels import LabelledGroup
from .origins import origin_of, origin_text
from .targets import judge_target

if TYPE_CHECKING:
    from .session import Session


def label_steps(group: LabelledGroup, row: HotspotRow, session: Session) -> tuple[ExplainStep, ...]:
    """The label of one signature, rule by rule: measured, implied, floors, shares, pipes, verdict."""
    work, label, measured, floors = group.work, group.label, group.statistics, group.label.floors
    steps = [
        ExplainStep(
            "What was measured",
            {
                "count": measured.count,
                "median_us": measured.median_us,
                "p10_us": measured.p10_us,
                "p90_us": measured.p90_us,
                "block": measured.block,
                "gap_us": measured.gap_us,
            },
            f"{group.row.type} on {group.row.core or 'an unknown core'}",
        ),
        ExplainStep(
            "What work the shapes imply",
            {
                "flops": work.flops,
                "padded_flops": work.padded_flops,
                "bytes_lo": work.bytes_lo,
                "bytes_hi": work.bytes_hi,
                "weight_bytes": work.weight_bytes,
            },
            "; ".join((f"{work.family}, {work.outcome}", *work.missing, *work.notes)),
        ),
        ExplainStep(
            "How long that takes, by roof",
            {
                "compute_us": floors.compute_us,
                "hbm_us": floors.hbm_us,
                "hbm_hi_us": floors.hbm_hi_us,
                "l2_us": floors.l2_us,
                "floor_us": floors.floor_us,
                "achievable_us": floors.achievable_us,
            },
            _device_text(session),
        ),
    ]
    steps += _origin(group, session)
    steps += _evidence(group, row)
    steps += operator_steps(group, session)
    steps += [ExplainStep("Note", {}, note) for note in label.notes]
    if label.anomaly is not None:
        steps.append(ExplainStep("Anomaly", {}, label.anomaly))
    if group.is_aicore and group.work.weights:
        judgement = judge_target(group, session.options)
        verdict = "may be" if judgement.eligible else "is not"
        why = judgement.reason.removesuffix(f": {label.reason}")  # said above
        steps.append(ExplainStep("Prefetch", {}, f"It {verdict} a target: {why}"))
    return tuple(steps)


def _origin(group: LabelledGroup, session: Session) -> list[ExplainStep]:
    """What launched it, where a trace says it; how many occurrences agree stands in the sentence."""
    origin = origin_of(session, group.signature_id)
    if origin is None:
        return []
    numbers = {"agreeing": origin.kernels, "count": origin.occurrences}
    dims = "" if origin.input_dims is None else f"; its arguments: {origin.input_dims}"
    return [ExplainStep("Where it comes from", numbers, origin_text(origin) + dims)]


def _device_text(session: Session) -> str:
    device = session.device_info
    if device.soc is None:
        return "the device is not known, so there are no roofs"
    return f"{device.soc}, from {device.source}, confidence {device.confidence}"


def _evidence(group: LabelledGroup, row: HotspotRow) -> list[ExplainStep]:
    """The two labels that are worked out apart, and the one that came of them."""
    label, measured, floors = group.label, group.statistics, group.label.floors
    return [
        ExplainStep(
            "How near each roof it came",
            {
                "u_compute": floors.u_c,
                "u_hbm": floors.u_m,
                "u_hbm_hi": floors.u_m_hi,
                "arithmetic_intensity": floors.arithmetic_intensity,
                "ridge": floors.ridge,
            },
            f"label from shapes: {label.shape_bound or 'no evidence'}",
        ),
        ExplainStep(
            "Which pipes were busy",
            {name: value for name, value in sorted(measured.ratios.items()) if value is not None},
            f"label from pipes: {label.pmu_bound or 'no evidence'}",
        ),
        ExplainStep(
            "Label",
            {"headroom_us": row.headroom_us, "potential_us": row.potential_us},
            # Why stands in the row's reason, which every form of the answer begins with.
            f"{label.bound}/{label.limiter}, confidence {label.confidence}",
        ),
    ]
