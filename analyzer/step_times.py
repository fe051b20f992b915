"""Wall, busy and idle time of each step, held against what the exporter's own step trace says."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from ..errors import InternalError
from ..units import format_duration
from .answer import KernelRef, StepRow, StepSpread
from .idle import kernel_refs, prepare_busy_rows
from .phases import phases
from .steps import name_steps

if TYPE_CHECKING:
    from .session import Session

_OUTLIERS_NAMED = 3
_MOST = 0.5  # of the difference to the median step


def step_rows(session: Session) -> tuple[StepRow, ...]:
    """The selected steps of the selected rank, in time.

    Raises InternalError when a step's wall is not the sum of its busy and idle time.
    """
    if "step_rows" not in session.cache:
        raw = rank_step_times(session, (session.rank_id,))
        middle = median(row["wall_ns"] for row in raw) if raw else 0
        far = [row for row in raw if _is_outlier(row["wall_ns"], middle, session.options.outlier_step_ratio)]
        longest = kernel_refs(session, (row["longest_kernel"] for row in far))
        idle = median(row["idle_ns"] for row in raw) if raw else 0
        why = {
            row["step_id"]: _outlier_note(row, longest[row["longest_kernel"]], middle, idle) for row in far
        }
        session.cache["step_rows"] = tuple(_step_row(session, row, why.get(row["step_id"])) for row in raw)
    return session.cache["step_rows"]


def rank_step_times(session: Session, ranks: tuple[int, ...]) -> list[dict[str, Any]]:
    """One row per rank and selected step with its times, ns and us; wall = busy + idle is checked on each."""
    prepare_busy_rows(session, ranks)
    rows = session.rows("FROM step_times WHERE list_contains(?, rank_id)", [list(ranks)])
    for row in rows:
        row["wall_ns"] = row["end_ns"] - row["start_ns"]
        if row["busy_ns"] + row["idle_ns"] != row["wall_ns"]:
            raise InternalError(
                f"step {row['step_id']} of rank {row['rank_id']}: busy {row['busy_ns']} ns + "
                f"idle {row['idle_ns']} ns is not its wall of {row['wall_ns']} ns",
                "please report this",
            )
    return rows


def step_spread(rows: tuple[StepRow, ...]) -> StepSpread | None:
    """Medians over the steps, so that an outlier does not move them; None without steps."""
    if not rows:
        return None
    return StepSpread(
        steps=len(rows),
        wall_us=median(row.wall_us for row in rows),
        busy_us=median(row.busy_us for row in rows),
        idle_us=median(row.idle_us for row in rows),
        idle_share=median(row.idle_share for row in rows),
        aicore_us=median(row.aicore_us for row in rows),
        communication_us=median(row.communication_us for row in rows),
        outlier_steps=tuple(row.step_id for row in rows if row.outlier),
    )


def step_notes(rows: tuple[StepRow, ...]) -> list[str]:
    """What must be said about the steps: outliers, and a step trace of another extent."""
    outliers = [row for row in rows if row.outlier]
    notes = [f"step {row.step_id} is an outlier: {row.note}" for row in outliers[:_OUTLIERS_NAMED]]
    if len(outliers) > _OUTLIERS_NAMED:
        others = name_steps([row.step_id for row in outliers[_OUTLIERS_NAMED:]])
        notes.append(f"{len(outliers) - _OUTLIERS_NAMED} more outlier steps: {others}")
    mismatched = [row for row in rows if row.trace_agrees is False]
    if mismatched:
        row = mismatched[0]
        notes.append(
            f"step_trace_time.csv is of another extent and is not believed: it covers "
            f"{format_duration(row.trace_wall_us)} for step {row.step_id}, the kernels here "
            f"{format_duration(row.wall_us)}; all times in this answer come from the kernels"
        )
    return notes


def _step_row(session: Session, row: dict[str, Any], outlier_note: str | None) -> StepRow:
    wall_us = row["wall_ns"] / 1000
    trace_wall_us = _trace_wall(row)
    agrees = None
    if trace_wall_us is not None:
        agrees = abs(trace_wall_us - wall_us) <= session.options.step_trace_tolerance * max(
            trace_wall_us, wall_us
        )
    previous = row["previous_end_ns"]
    return StepRow(
        step_id=row["step_id"],
        wall_us=wall_us,
        busy_us=row["busy_ns"] / 1000,
        idle_us=row["idle_ns"] / 1000,
        idle_share=row["idle_ns"] / row["wall_ns"] if row["wall_ns"] > 0 else 0.0,
        kernels=row["kernels"],
        aicore_us=row["aicore_us"],
        communication_us=row["communication_us"],
        other_engine_us=row["other_engine_us"],
        gap_before_us=None if previous is None else max(0, row["start_ns"] - previous) / 1000,
        phase=phases(session)[row["step_id"]].phase,
        outlier=outlier_note is not None,
        trace_computing_us=row["trace_computing_us"],
        trace_communication_us=row["trace_communication_us"],
        trace_free_us=row["trace_free_us"],
        trace_wall_us=trace_wall_us,
        difference_us=None if trace_wall_us is None else trace_wall_us - wall_us,
        trace_agrees=agrees,
        note=outlier_note or "",
        short_gaps_us=row["short_gaps_ns"] / 1000,
    )


def _is_outlier(wall_ns: float, middle_ns: float, ratio: float) -> bool:
    return middle_ns > 0 and not middle_ns / ratio <= wall_ns <= middle_ns * ratio


def _trace_wall(row: dict[str, Any]) -> float | None:
    """Computing + communication not overlapped + free: the extent of the exporter's step; None when
    absent.
    """
    parts = [row["trace_computing_us"], row["trace_communication_us"], row["trace_free_us"]]
    return None if None in parts else sum(parts)


def _outlier_note(row: dict[str, Any], longest: KernelRef, middle_ns: float, idle_ns: float) -> str:
    """How far the step is from the median, and why: idle time where that is most of the difference, else
    the kernel that takes most of it.
    """
    wall, middle = format_duration(row["wall_ns"] / 1000), format_duration(middle_ns / 1000)
    said = f"{wall} against a median of {middle}"
    if (row["idle_ns"] - idle_ns) / (row["wall_ns"] - middle_ns) > _MOST:
        idle, usual = format_duration(row["idle_ns"] / 1000), format_duration(idle_ns / 1000)
        return f"{said}; it is idle for {idle} against {usual}"
    return f"{said}; its longest kernel is {longest.type} with {format_duration(longest.duration_us)}"
