"""Where the time goes: by bound, type, stream, rank or step, with the steps and the idle stretches
beside it.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from ..errors import WrongUsage
from ..units import format_duration, format_share
from .answer import Answer, OtherEngineRow, RankSummaryRow, StepRow, StepSpread, SummaryRow
from .coverage import check_sum, coverage
from .devices import device_notes
from .idle import gaps_between_steps, idle_stretches, prepare_busy_rows
from .labels import publish_labels
from .links import link_extras, link_notes, link_rows
from .phases import run_phase, training_note
from .sqlfiles import sql
from .step_times import rank_step_times, step_notes, step_rows, step_spread

if TYPE_CHECKING:
    from .session import Session

_BEHIND_NAMED = 2  # types of other engines whose followers a note names
_SLOW_NAMED = 8  # slow ranks named before a note says how many more
BY = ("bound", "type", "stream", "rank", "step", "link")


def summary(session: Session, by: str = "bound") -> Answer:
    """Time over the selected steps by one of BY, and the steps: wall = union busy + idle.

    Extras: `spread` (medians over steps), `steps`, `idle` (largest stretches first), `between_steps`,
    `other_engines` (in no busy total), `phase`. Raises WrongUsage for another `by`.
    """
    if by not in BY:
        raise WrongUsage(f"summary cannot be given by {by!r}", f"choose one of: {', '.join(BY)}")
    steps = step_rows(session)
    spread = step_spread(steps)
    makers: dict[str, Any] = {"rank": _rank_rows, "step": _step_rows, "link": link_rows}
    rows = makers[by](session) if by in makers else _keyed_rows(session, by)
    if by not in ("rank", "link"):
        covered = coverage(session)
        check_sum(
            f"summary by {by}",
            sum(row.total_us for row in rows),
            covered.aicore_us + covered.communication_us,
        )
    phase = run_phase(session)
    others = other_engines(session)
    return Answer(
        command="summary",
        run=session.run,
        device=session.device_info,
        coverage=coverage(session),
        rows=rows,
        notes=(
            *session.notes,
            *device_notes(session),
            *_slow_rank_notes(session, rows),
            *step_notes(steps),
            *_idle_notes(spread, steps),
            *other_engine_notes(others, len(steps)),
            *(link_notes(session) if by == "link" else ()),
            *(training_note(session) or [f"phase: {phase.phase} ({phase.evidence})"]),
        ),
        extras={
            "by": by,
            **(link_extras(session) if by == "link" else {}),
            **({} if spread is None else {"spread": spread}),
            "steps": steps,
            "idle": idle_stretches(session),
            "between_steps": gaps_between_steps(steps),
            "other_engines": others,
            "phase": phase.phase,
        },
    )


def other_engines(session: Session) -> tuple[OtherEngineRow, ...]:
    """AI_CPU, DSA and other rows of the selection by type, by falling time, with how much of it meets device
    idle time and what starts behind it; they are in no roofline and no total.
    """
    prepare_busy_rows(session)
    rows = session.rows(sql("other_engine_waits.sql"))
    return tuple(OtherEngineRow(**row) for row in rows)


def other_engine_notes(rows: tuple[OtherEngineRow, ...], steps: int) -> list[str]:
    """How much the other engines run in a step, and how much of that anything can have waited for."""
    if not rows or not steps:
        return []
    engines = "/".join(dict.fromkeys(row.core or "other engine" for row in rows))
    total, idle = (sum(getattr(row, name) for row in rows) / steps for name in ("total_us", "idle_us"))
    behind = [
        f"{row.type} ends in idle time and {row.next_type} starts {format_duration(row.next_after_us)} later "
        f"(middle of {row.next_times:,})"
        for row in rows
        if row.next_type is not None
    ][:_BEHIND_NAMED]
    said = (
        f"{engines} runs for {format_duration(total)} a step on average, {format_duration(idle)} of it while "
        "the device is idle: at most so much can it cost, the rest is hidden behind kernels"
    )
    return ["; ".join([said, *behind])]


def _keyed_rows(session: Session, by: str) -> tuple[SummaryRow, ...]:
    publish_labels(session)
    session.con.execute("SET VARIABLE summary_by = ?", [by])
    rows = session.rows(sql("summary.sql"))
    # Of the median step, as the headline says it: one collective that waited is no property of a step.
    in_a_step = sum(row["step_us"] for row in rows)
    extra: dict[str, dict[str, Any]] = {}
    if by == "stream":
        extra = {row.pop("key"): row for row in session.rows(sql("stream_union.sql"))}
    made = []
    for row in rows:
        more = extra.get(row["key"], {})
        note = "; ".join(each for each in (more.get("note", ""), row["note"]) if each)
        share = row["step_us"] / in_a_step if in_a_step > 0 else None
        made.append(SummaryRow(**{**row, **more, "note": note}, share=share))
    return tuple(made)


def _step_rows(session: Session) -> tuple[SummaryRow, ...]:
    """One row per step, in time."""
    rows = step_rows(session)
    total = sum(row.aicore_us + row.communication_us for row in rows)
    return tuple(
        SummaryRow(
            key=f"step {row.step_id}",
            kernels=row.kernels,
            total_us=row.aicore_us + row.communication_us,
            share=(row.aicore_us + row.communication_us) / total if total > 0 else None,
            step_us=row.aicore_us + row.communication_us,
            aicore_us=row.aicore_us,
            communication_us=row.communication_us,
            busy_us=row.busy_us,
            wall_us=row.wall_us,
            note=row.note,
        )
        for row in rows
    )


def _rank_rows(session: Session) -> tuple[SummaryRow, ...]:
    """One row per rank with kernels: sums over the selected steps, wall and busy as medians per step."""
    steps_of: dict[int, list[dict[str, Any]]] = {}
    for row in rank_step_times(session, session.ranks):
        steps_of.setdefault(row["rank_id"], []).append(row)
    devices = dict(
        session.con.execute(
            "SELECT rank_id, device_id FROM ranks WHERE run_id = ?", [session.run.run_id]
        ).fetchall()
    )
    total = sum(row["aicore_us"] + row["communication_us"] for rows in steps_of.values() for row in rows)
    rows = [_rank_row(rank, devices.get(rank), steps, total) for rank, steps in steps_of.items()]
    if len(rows) > 1:
        wall = median(row.wall_us or 0.0 for row in rows)
        aicore = median(row.aicore_step_us or 0.0 for row in rows)
        rows = [_beside_the_median(row, wall, aicore) for row in rows]
    rows.sort(key=lambda row: (-(row.wall_us or 0.0), row.rank))
    return tuple(rows)


def _rank_row(rank: int, device_id: int | None, rows: list[dict[str, Any]], total: float) -> RankSummaryRow:
    aicore_us = sum(row["aicore_us"] for row in rows)
    communication_us = sum(row["communication_us"] for row in rows)
    return RankSummaryRow(
        key=f"rank {rank}",
        kernels=sum(row["kernels"] for row in rows),
        total_us=aicore_us + communication_us,
        share=(aicore_us + communication_us) / total if total > 0 else None,
        step_us=median(row["aicore_us"] + row["communication_us"] for row in rows),
        aicore_us=aicore_us,
        communication_us=communication_us,
        busy_us=median(row["busy_ns"] for row in rows) / 1000,
        wall_us=median(row["wall_ns"] for row in rows) / 1000,
        rank=rank,
        device_id=device_id,
        aicore_step_us=median(row["aicore_us"] for row in rows),
        communication_step_us=median(row["communication_us"] for row in rows),
    )


def _beside_the_median(row: RankSummaryRow, wall_us: float, aicore_us: float) -> RankSummaryRow:
    of_wall = (row.wall_us or 0.0) / wall_us if wall_us > 0 else None
    return replace(
        row,
        wall_of_median=of_wall,
        aicore_of_median=(row.aicore_step_us or 0.0) / aicore_us if aicore_us > 0 else None,
        note="" if of_wall is None else f"{(of_wall - 1) * 100:+.1f} % against the median rank",
    )


def _slow_rank_notes(session: Session, rows: tuple[SummaryRow, ...]) -> list[str]:
    """The ranks whose AI cores work longer than those of the median rank, slowest first."""
    ranks = [row for row in rows if isinstance(row, RankSummaryRow) and row.aicore_of_median is not None]
    if not ranks:
        return []
    limit = session.options.slow_rank_ratio
    middle = median(row.aicore_step_us or 0.0 for row in ranks)
    slow = sorted(
        (row for row in ranks if (row.aicore_of_median or 0.0) >= limit),
        key=lambda row: (-(row.aicore_of_median or 0.0), row.rank),
    )
    named = ", ".join(
        f"rank {row.rank} ({row.aicore_of_median:.2f} x, {format_duration(row.aicore_step_us)})"
        for row in slow[:_SLOW_NAMED]
    )
    more = f" and {len(slow) - _SLOW_NAMED} more" if len(slow) > _SLOW_NAMED else ""
    against = f"the AI-core time of a step of the median rank ({format_duration(middle)})"
    if not slow:
        return [f"no rank takes {limit:g} x {against} or more"]
    return [f"slow against {against}: {named}{more}; other ranks wait for them in collectives"]


def _idle_notes(spread: StepSpread | None, steps: tuple[StepRow, ...]) -> list[str]:
    """How much of a step the device waits, and how much of that is launch gaps."""
    if spread is None:
        return []
    short = format_duration(median(row.short_gaps_us or 0.0 for row in steps))
    # A little is not nothing: below 10 % with a decimal.
    share = f"{format_share(spread.idle_share, 0 if spread.idle_share >= 0.0995 else 1)} of a step"
    times = f"{format_duration(spread.idle_us)} of {format_duration(spread.wall_us)}"
    return [f"the device is idle for {share} ({times}), {short} of it in short gaps between kernels"]
