"""Where the device waits: the largest idle stretches inside the steps, and the gaps between steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .answer import IdleRow, KernelRef, StepRow
from .sqlfiles import run_sql, sql

if TYPE_CHECKING:
    from .session import Session


def prepare_busy_rows(session: Session, ranks: tuple[int, ...] | None = None) -> None:
    """Create the views on busy rows and step times for these ranks (default: the selected one)."""
    wanted = {session.rank_id, *(ranks or ())}
    if wanted - session.cache.get("busy_ranks", set()):
        session.con.execute("SET VARIABLE busy_ranks = ?", [sorted(wanted)])
        session.con.execute("SET VARIABLE idle_gap_ns = ?", [round(session.options.idle_gap_us * 1000)])
        run_sql(session.con, "steps.sql")
        session.cache["busy_ranks"] = wanted


def idle_stretches(session: Session, limit: int | None = None) -> tuple[IdleRow, ...]:
    """The places at which the selected steps are idle, the one that costs most over all steps first.

    A place is known by the types of the kernels on either side; its row is the occurrence of middle length.

    Gaps of at least options.idle_gap_us are joined over busy pieces that are shorter than the idle excess
    on both sides, so every stretch is more idle than busy. `limit` rows (default options.idle_rows).
    """
    prepare_busy_rows(session)
    if "idle_pieces" not in session.cache:
        run_sql(session.con, "idle_pieces.sql")
        while session.con.execute(sql("idle_absorb.sql")).fetchall():
            pass  # each round absorbs at least one piece for good, so this ends
        session.cache["idle_pieces"] = True
    wanted = session.options.idle_rows if limit is None else limit
    return tuple(_idle_row(row) for row in session.rows(sql("idle_stretches.sql"), [wanted]))


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


def kernel_refs(session: Session, kernel_ids: Iterable[int | None]) -> dict[int, KernelRef]:
    """Name, type, stream and duration of some kernels of the selected rank, by kernel id."""
    wanted = sorted({each for each in kernel_ids if each is not None})
    rows = session.rows(
        "SELECT kernel_id, name, coalesce(type, '(no type)') AS type, stream_id, duration_us "
        "FROM selected_kernels LEFT JOIN selected_signatures USING (signature_id) "
        "WHERE kernel_id IN (SELECT unnest(?::BIGINT[]))",
        [wanted],
    )
    return {row["kernel_id"]: KernelRef(**row) for row in rows}


def _idle_row(row: dict[str, Any]) -> IdleRow:
    return IdleRow(
        kind="step", before=_neighbour(row.pop("before")), after=_neighbour(row.pop("after")), **row
    )


def _neighbour(found: dict[str, Any] | None) -> KernelRef | None:
    """A joined kernel; one that is not there comes as NULL or as a record of NULLs."""
    return None if found is None or found["kernel_id"] is None else KernelRef(**found)
