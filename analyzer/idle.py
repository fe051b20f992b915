"""Where the device waits: the largest idle stretches inside the steps, and the gaps between steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .answer import IdleRow, KernelRef, StepRow
from .sqlfiles import run_sql, sql

if TYPE_CHECKING:
    from .session import Session

_CONSIDERED = 2000  # stretches compared for recurrence; the smaller ones are of no interest


def prepare_busy_rows(session: Session) -> None:
    """Create the views on busy rows and step times (steps.sql) once per session."""
    if "busy_rows" not in session.cache:
        session.con.execute("SET VARIABLE idle_gap_ns = ?", [round(session.options.idle_gap_us * 1000)])
        run_sql(session.con, "steps.sql")
        session.cache["busy_rows"] = True


def idle_stretches(session: Session, limit: int | None = None) -> tuple[IdleRow, ...]:
    """The most idle stretches inside the selected steps, the largest first.

    Gaps of at least options.idle_gap_us are joined over busy pieces that are shorter than the idle excess
    on both sides, so every stretch is more idle than busy. `limit` rows (default options.idle_rows).
    """
    prepare_busy_rows(session)
    if "idle_pieces" not in session.cache:
        run_sql(session.con, "idle_pieces.sql")
        while session.con.execute(sql("idle_absorb.sql")).fetchall():
            pass  # each round absorbs at least one piece for good, so this ends
        session.cache["idle_pieces"] = True
    shown = session.options.idle_rows if limit is None else limit
    # More rows than are shown, so that the same stretch of other steps is counted.
    considered = min(shown * max(1, len(session.step_ids)), _CONSIDERED)
    found = session.rows(sql("idle_stretches.sql"), [max(shown, considered)])
    refs = _kernel_refs(session, (row[side] for row in found for side in ("before_kernel", "after_kernel")))
    return _with_recurrence([_idle_row(row, refs) for row in found])[:shown]


def gaps_between_steps(steps: Iterable[StepRow]) -> tuple[IdleRow, ...]:
    """The time between each selected step and the one before it, in step order; it belongs to no step's
    wall.
    """
    return tuple(
        IdleRow(
            step_id=None,
            kind="between",
            start_us=-step.gap_before_us,
            span_us=step.gap_before_us,
            idle_us=step.gap_before_us,
            busy_us=0.0,
            kernels=0,
            share_of_step=None,
            before=None,
            after=None,
            following_step=step.step_id,
        )
        for step in steps
        if step.gap_before_us is not None
    )


def _idle_row(row: dict[str, Any], refs: dict[int, KernelRef]) -> IdleRow:
    before, after = row.pop("before_kernel"), row.pop("after_kernel")
    return IdleRow(
        kind="step",
        before=None if before is None else refs[before],
        after=None if after is None else refs[after],
        **row,
    )


def _kernel_refs(session: Session, kernel_ids: Iterable[int | None]) -> dict[int, KernelRef]:
    """Name, type, stream and duration of some kernels of the selected rank, by kernel id."""
    wanted = sorted({each for each in kernel_ids if each is not None})
    rows = session.rows(
        "SELECT kernel_id, name, coalesce(type, '(no type)') AS type, stream_id, duration_us "
        "FROM selected_kernels LEFT JOIN selected_signatures USING (signature_id) "
        "WHERE kernel_id IN (SELECT unnest(?::BIGINT[]))",
        [wanted],
    )
    return {row["kernel_id"]: KernelRef(**row) for row in rows}


def _with_recurrence(rows: list[IdleRow]) -> tuple[IdleRow, ...]:
    """Tell each row in how many steps a stretch between the same two types of kernels occurs."""
    steps: dict[tuple[str | None, str | None], set[int | None]] = defaultdict(set)
    for row in rows:
        steps[_neighbours(row)].add(row.step_id)
    return tuple(replace(row, in_steps=len(steps[_neighbours(row)])) for row in rows)


def _neighbours(row: IdleRow) -> tuple[str | None, str | None]:
    return (row.before and row.before.type, row.after and row.after.type)
