"""Why: the label of a hotspot, or the walk, window and size of a candidate, step by step with the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import WrongUsage
from ..units import format_bytes, format_us
from .answer import Answer, CandidateRow, ExplainStep, HotspotRow, WalkStep, WindowRow
from .candidates import Survey, survey
from .coverage import coverage
from .hotspots import hotspot_id, hotspot_rows
from .labels import LabelledGroup, labelled_groups
from .targets import judge_target

if TYPE_CHECKING:
    from .session import Session

Numbers = Mapping[str, float | int | str | None]


def explain(session: Session, id: str) -> Answer:
    """Explain a hotspot ('k-…') or a candidate ('c-…'); a unique beginning of the id is enough.

    The row is the answer's only row; extras['steps'] holds the steps of the decision in order,
    extras['walk'] the predecessors that the walk met, nearest first. Raises WrongUsage for an id that
    matches nothing, or several rows, which are then named.
    """
    if id.startswith("c-"):
        return _explain_candidate(session, id)
    if id.startswith("k-"):
        return _explain_hotspot(session, id)
    raise WrongUsage(f"{id!r} is no id", "ids start with k- (hotspots) or c- (candidates)")


def _only(id: str, found: list[str], what: str) -> str:
    """The one id that begins so; an exact match wins over longer ones."""
    if id in found:
        return id
    matching = sorted(each for each in found if each.startswith(id))
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise WrongUsage(f"no row of {what} has the id {id}", f"`{what}` lists the ids of this selection")
    shown = ", ".join(matching[:5]) + (", …" if len(matching) > 5 else "")
    raise WrongUsage(f"{id} is the beginning of {len(matching)} ids", f"give more of it: {shown}")


# --- hotspots ---


def _explain_hotspot(session: Session, id: str) -> Answer:
    groups = {hotspot_id(group.row.hex_id): group for group in labelled_groups(session)}
    chosen = _only(id, list(groups), "hotspots")
    row = next(each for each in hotspot_rows(session) if each.id == chosen)
    return _answer(session, (row,), _label_steps(groups[chosen], row, session), ())


def _label_steps(group: LabelledGroup, row: HotspotRow, session: Session) -> tuple[ExplainStep, ...]:
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
            "How long that takes at least",
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
            f"{label.bound}/{label.limiter}, confidence {label.confidence}: {label.reason}",
        ),
    ]
    steps += [ExplainStep("Note", {}, note) for note in label.notes]
    if label.anomaly is not None:
        steps.append(ExplainStep("Anomaly", {}, label.anomaly))
    if group.is_aicore and group.work.weights:
        judgement = judge_target(group, session.options)
        verdict = "may be" if judgement.eligible else "is not"
        steps.append(ExplainStep("Prefetch", {}, f"It {verdict} a target: {judgement.reason}"))
    return tuple(steps)


def _device_text(session: Session) -> str:
    device = session.device_info
    if device.soc is None:
        return "the device is not known, so there are no roofs"
    return f"{device.soc}, from {device.source}, confidence {device.confidence}"


# --- candidates ---


def _explain_candidate(session: Session, id: str) -> Answer:
    found = survey(session)
    rows = {row.id: row for row in (*found.rejected, *found.rows)}
    if not rows:
        return _answer(session, (), (), found.notes)
    row = rows[_only(id, list(rows), "candidates")]
    steps = _candidate_steps(row, found)
    return _answer(session, (row,), steps, (*found.notes, *row.notes), walk=row.walk)


def _candidate_steps(row: CandidateRow, found: Survey) -> tuple[ExplainStep, ...]:
    site = found.sites.get(row.id)
    target = ExplainStep(
        "Is its weight load what it waits for?",
        {
            "target_us": row.target_us,
            "weight_bytes": row.weight_bytes,
            "occurrences_per_step": row.occurrences_per_step or None,
        },
        site.judgement.reason if site else row.reason,
    )
    if site is None:
        return (target,)
    steps = [
        target,
        ExplainStep("How far back may the window reach?", {"kernels": len(row.walk)}, site.walk.stopped),
    ]
    windows = sorted(
        (*((row.window,) if row.window else ()), *row.alternatives), key=lambda window: len(window.kernels)
    )
    steps += [_window_step(window, window == row.window) for window in windows]
    if row.window is None or row.max_size_terms is None or row.predicted_saving_us is None:
        return (*steps, ExplainStep("Result", {}, row.reason))
    return (
        *steps,
        _size_step(row),
        _saving_step(row),
        *(ExplainStep("Assumed", {}, each) for each in row.assumptions),
    )


def _window_step(window: WindowRow, chosen: bool) -> ExplainStep:
    inside = " + ".join(kernel.type for kernel in window.kernels) or "only the gap"
    if window.hazards:
        verdict = ("not safe: " if not window.safe else "accepted: ") + "; ".join(window.hazards)
    else:
        verdict = "safe"
    return ExplainStep(
        f"Window after {window.dependency}: {inside}",
        {
            "duration_p10_us": window.duration_us,
            "duration_median_us": window.median_us,
            "spare_bytes": window.spare_bytes,
            "max_size": window.max_size,
            "net_saving_us": window.net_saving_us,
            "occurrences_per_step": window.occurrences_per_step,
        },
        f"{verdict}{', chosen: the largest net saving' if chosen else ''}",
    )


def _size_step(row: CandidateRow) -> ExplainStep:
    terms = row.max_size_terms
    assert terms is not None
    return ExplainStep(
        "How many bytes?",
        {
            "formula_bytes": terms.formula_bytes,
            "window_bytes": terms.window_bytes,
            "l2_bytes": terms.l2_bytes,
            "cap_bytes": terms.cap_bytes,
            "max_size": row.max_size,
        },
        f"{format_bytes(row.max_size)}, limited by {terms.limited_by}",
    )


def _saving_step(row: CandidateRow) -> ExplainStep:
    saving = row.predicted_saving_us
    assert saving is not None
    return ExplainStep(
        "What would that save?",
        {
            "low_us": saving.low,
            "mid_us": saving.mid,
            "high_us": saving.high,
            "occurrences_per_step": row.occurrences_per_step,
            "per_step_us": row.predicted_saving_step_us,
        },
        f"{format_us(row.predicted_saving_step_us)} per step, net of what the window loses; "
        "a model, not a measurement",
    )


def _answer(
    session: Session,
    rows: tuple[HotspotRow | CandidateRow, ...],
    steps: tuple[ExplainStep, ...],
    notes: tuple[str, ...],
    walk: tuple[WalkStep, ...] = (),
) -> Answer:
    return Answer(
        command="explain",
        run=session.run,
        device=session.device_info,
        coverage=coverage(session),
        rows=rows,
        notes=notes or (*session.notes, *session.device.notes),
        extras={"steps": steps, "walk": walk},
    )
