"""Which kernels take the time, and what limits each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import WrongUsage
from .answer import Answer, HotspotRow
from .coverage import coverage
from .devices import device_notes
from .labels import LabelledGroup, labelled_groups, publish_labels
from .origins import origin_of
from .phases import training_note
from .sqlfiles import run_sql, sql

if TYPE_CHECKING:
    from .session import Session


def hotspots(
    session: Session,
    top: int | None = None,
    bound: str | None = None,
    limiter: str | None = None,
    family: str | None = None,
) -> Answer:
    """Signatures by falling time in a step, each with its label and the work behind it.

    `bound`, `limiter` and `family` keep matching rows only; `bound` may be a whole label as the table
    shows it (memory/hbm). `top` is applied last. Raises WrongUsage, naming what occurs in this selection,
    when a filter matches no row and is no word of the tool either.
    """
    if bound is not None and "/" in bound and limiter is None:
        bound, limiter = bound.split("/", 1)
    rows = hotspot_rows(session)
    kept = tuple(
        row
        for row in rows
        if bound in (None, row.bound) and limiter in (None, row.limiter) and family in (None, row.family)
    )
    notes = [*session.notes, *device_notes(session)]
    for name, value in (("bound", bound), ("limiter", limiter), ("family", family)):
        notes += _filter_note(name, value, rows)
    notes += training_note(session)
    return Answer(
        command="hotspots",
        run=session.run,
        device=session.device_info,
        coverage=coverage(session),
        rows=kept if top is None else kept[:top],
        notes=tuple(notes),
        extras={"matching": len(kept)},
    )


def hotspot_rows(session: Session) -> tuple[HotspotRow, ...]:
    """Every labelled signature of the selection as a row, by falling time in a step, then total, then id.

    The time in a step is a median over steps, so that one collective that waited for another rank does
    not outrank every kernel.
    """
    if "hotspot_rows" not in session.cache:
        groups = labelled_groups(session)
        potential = potential_by_signature(session)
        aicore_us = sum(group.statistics.total_us for group in groups if group.is_aicore)
        step_us = dict(session.con.execute(sql("step_times_of_signatures.sql")).fetchall())
        rows = [
            _row(
                session,
                group,
                potential.get(group.signature_id),
                step_us.get(group.signature_id, 0.0),
                aicore_us,
            )
            for group in groups
        ]
        session.cache["hotspot_rows"] = tuple(
            sorted(rows, key=lambda row: (-(row.step_us or 0.0), -row.total_us, row.signature_id))
        )
    return session.cache["hotspot_rows"]


def hotspot_id(signature_hex: str) -> str:
    """The id of a signature in answers: 'k-' and the first 8 of its 16 hex digits."""
    return f"k-{signature_hex[:8]}"


def potential_by_signature(session: Session) -> dict[int, float]:
    """Summed duration above the achievable roof, us, by signature id; signatures without a roof are
    absent.
    """
    if "potential" not in session.cache:
        publish_labels(session)
        run_sql(session.con, "potential.sql")
        session.cache["potential"] = dict(session.con.execute("FROM potential_of_signatures").fetchall())
    return session.cache["potential"]


def _row(
    session: Session, group: LabelledGroup, potential_us: float | None, step_us: float, aicore_us: float
) -> HotspotRow:
    text, measured, work, label = group.row, group.statistics, group.work, group.label
    median = measured.median_us or None
    floor = label.floors.floor_us
    achieved = _per_second(work.bytes_lo, measured.median_us, 1e9)
    device = session.device_info
    origin = origin_of(session, group.signature_id)
    return HotspotRow(
        id=hotspot_id(text.hex_id),
        type=text.type or "(no type)",
        core=text.core,
        input_shapes=text.input_shapes,
        input_dtypes=text.input_dtypes,
        input_formats=text.input_formats,
        count=measured.count,
        total_us=measured.total_us,
        median_us=median,
        p10_us=measured.p10_us or median,
        p90_us=measured.p90_us or median,
        share=measured.total_us / aicore_us if group.is_aicore and aicore_us > 0 else None,
        bound=label.bound,
        limiter=label.limiter,
        confidence=label.confidence,
        reason=label.reason,
        flops=work.flops,
        flops_hi=work.flops_hi,
        bytes_lo=work.bytes_lo,
        bytes_hi=work.bytes_hi,
        weight_bytes=work.weight_bytes,
        arithmetic_intensity=label.floors.arithmetic_intensity,
        ridge=label.floors.ridge,
        floor_us=floor,
        headroom_us=None if floor is None or median is None else max(0.0, median - floor),
        potential_us=potential_us,
        achieved_tflops=_per_second(work.flops_lo, measured.median_us, 1e12),
        achieved_gb_s=achieved,
        hbm_fraction=None if achieved is None or not device.hbm_gb_s else achieved / device.hbm_gb_s,
        flops_lo=work.flops_lo,
        step_us=step_us,
        signature_id=text.hex_id,
        family=work.family,
        outcome=work.outcome,
        output_shapes=text.output_shapes,
        block=measured.block,
        achieved_gb_s_hi=_per_second(work.bytes_hi, measured.median_us, 1e9),
        anomaly=label.anomaly,
        notes=(*work.notes, *label.notes),
        torch_op=None if origin is None else origin.torch_op,
        source=None if origin is None else origin.source,
    )


def _per_second(amount: float | None, duration_us: float, scale: float) -> float | None:
    """amount / duration in units of `scale` per second; None when one of them is not known or the time
    is zero.
    """
    return None if amount is None or duration_us <= 0 else amount / duration_us * 1e6 / scale


_WORDS = {
    "bound": ("memory", "compute", "latency", "communication", "other", "unknown"),
    "limiter": (
        *(
            "hbm",
            "l2",
            "mte2",
            "store",
            "cube",
            "vector",
            "launch",
            "scalar",
            "underparallel",
            "pipeline",
            "link",
        ),
        *("ai_cpu", "dsa", "host"),
    ),
    "family": (),
}


def _filter_note(name: str, value: str | None, rows: tuple[HotspotRow, ...]) -> list[str]:
    """Nothing, or a note that a known word does not occur; a word that is neither known nor there is
    wrong usage.
    """
    present = sorted({getattr(row, name) for row in rows})
    if value is None or value in present:
        return []
    there = ", ".join(present) or "none"
    if value in _WORDS[name]:
        return [f"no kernel here has {name} {value}; there are: {there}"]
    raise WrongUsage(f"--{name} {value!r} is not in this selection", f"there are: {there}")
