"""The ledger as an answer: the experiments, the knee, the next change, and what became of the runs."""

from __future__ import annotations

from pathlib import Path

from ..answer import Answer
from ..answer_tune import ExperimentRow, NextStep, TuningRow
from ..sqlfiles import utc_text
from .ledger import Ledger, read_ledger
from .next_step import next_step
from .readings import MEANING, knee, reading
from .records import Experiment
from .words import at_place, gain_text, size_text


def tune_next(db: Path | str, tuning: str | None = None) -> Answer:
    """The one change to try next in a tuning (default: the latest), or the reason to stop."""
    return answer_of(read_ledger(db, tuning), "next")


def tune_history(db: Path | str, tuning: str | None = None) -> Answer:
    """Every experiment of a tuning (default: the latest), with the knee of gain against max_size."""
    return answer_of(read_ledger(db, tuning), "history")


def answer_of(ledger: Ledger, asked: str) -> Answer:
    """The same answer for every question about a tuning; only the first sentence differs.

    Extras: `tuning`, `next`, `sentence`. `asked`: start, record, next or history.
    """
    proposed = next_step(ledger.tuning, ledger.experiments)
    rows = experiment_rows(ledger)
    return Answer(
        command="tune",
        run=None,
        device=None,
        coverage=None,
        rows=rows,
        notes=_notes(ledger, rows),
        extras={
            "sentence": _sentence(ledger, proposed, asked),
            "next": proposed,
            "tuning": _tuning_row(ledger),
        },
    )


def experiment_rows(ledger: Ledger) -> tuple[ExperimentRow, ...]:
    """The experiments in the order they were recorded; the knee is marked."""
    kept = knee(ledger.experiments)
    return tuple(
        ExperimentRow(
            experiment=each.experiment_id,
            recorded_at=utc_text(each.recorded_at),
            dependency=each.dependency,
            max_size=each.max_size,
            coefficient=each.coefficient,
            gain_pct=each.gain_pct,
            gain_low_pct=each.gain_low_pct,
            gain_high_pct=each.gain_high_pct,
            floor_pct=each.floor_pct,
            gain_of=each.gain_of,
            reading=reading(each),
            outcome=each.outcome,
            knee=each is kept,
            before=each.before,
            after=each.after,
            captures=_captures(each, ledger.runs_now),
            target_pct=each.target_pct,
            window_pct=each.window_pct,
            note=each.note,
        )
        for each in ledger.experiments
    )


def _captures(each: Experiment, runs_now: dict[str, str]) -> str:
    """Whether the runs that were compared are still there: by content, as a run may have got another name."""
    if not each.run_names:
        return "none: a quoted gain"
    names = {content: name for name, content in runs_now.items()}
    told = []
    for name, content in zip(each.run_names, each.run_hashes, strict=True):
        if runs_now.get(name) == content:
            continue
        if content in names:
            told.append(f"{name} is now called {names[content]}")
        elif name in runs_now:
            told.append(f"{name} was replaced by another capture")
        else:
            told.append(f"{name} was removed")
    return "; ".join(told) or "in the database"


def _tuning_row(ledger: Ledger) -> TuningRow:
    made = ledger.tuning
    return TuningRow(
        name=made.name,
        started_at=utc_text(made.started_at),
        target=made.target,
        target_text=made.target_text,
        run=made.run_name,
        weight_bytes=made.weight_bytes,
        most_bytes=made.most_bytes,
        dependency=made.dependency,
        dependencies=made.dependencies,
        keeps=made.keeps,
        experiments=len(ledger.experiments),
    )


def _sentence(ledger: Ledger, proposed: NextStep, asked: str) -> str:
    name = ledger.tuning.name
    if asked in ("start", "next"):
        return f"Tuning {name}: {proposed.change}. Why: {proposed.why}."
    if not ledger.experiments:
        return f"Tuning {name}: no experiment yet; next: {proposed.change}."
    if asked == "record":
        last = ledger.experiments[-1]
        what = f"{size_text(last.max_size, last.coefficient)}{at_place(last.dependency)}"
        return (
            f"Recorded experiment {last.experiment_id} of {name}: {what}, {gain_text(last)}, "
            f"{MEANING[reading(last)]} ({last.outcome}); next: {proposed.change}."
        )
    kept = knee(ledger.experiments)
    count = len(ledger.experiments)
    told = f"Tuning {name}, {count} experiment{'s' if count > 1 else ''}"
    if kept is None:
        return f"{told}: none gained beyond noise; next: {proposed.change}."
    return (
        f"{told}: the knee is {size_text(kept.max_size, kept.coefficient)}{at_place(kept.dependency)} with "
        f"{gain_text(kept)}; next: {proposed.change}."
    )


def _notes(ledger: Ledger, rows: tuple[ExperimentRow, ...]) -> tuple[str, ...]:
    notes = []
    kinds = {each.gain_of for each in rows}
    if len(kinds) > 1:
        notes.append(
            f"gains of different kinds stand side by side ({', '.join(sorted(kinds))}): a gain of the target "
            "and its window is what they saved together, a gain of the step holds everything else, too"
        )
    if "headline" in kinds:
        notes.append(
            "a headline gain was quoted, not measured here: without a noise of its own (--noise) it counts "
            f"from {max(row.floor_pct for row in rows if row.gain_of == 'headline'):.2f} % on"
        )
    gone = [row for row in rows if row.captures not in ("in the database", "none: a quoted gain")]
    if gone:
        listed = "; ".join(f"experiment {row.experiment}: {row.captures}" for row in gone)
        notes.append(f"the numbers stay, but these captures can no longer be looked at: {listed}")
    others = [name for name in ledger.tunings if name != ledger.tuning.name]
    if others:
        notes.append(f"other tunings in this database (--tuning): {', '.join(others)}")
    return tuple(notes)
