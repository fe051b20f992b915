"""What an optimisation report needs beside the comparison: candidate, memory-bound kernels, ledger."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InputMissing
from ..answer import Answer, CandidateRow, HotspotRow, RunInfo
from ..answer_tune import ExperimentRow
from ..hotspots import hotspots
from ..prefetch_tasks import PrefetchTask, prefetch_tasks
from .target import TargetChange, candidate_of

if TYPE_CHECKING:
    from ..session import Session

HOTSPOTS_SHOWN = 10  # the specification's list: the ten largest memory-bound operators


@dataclass(frozen=True)
class OptimisationReport:
    """Everything that the report says; what was not measured is None or empty, and said as such."""

    compared: Answer
    before: RunInfo
    after: RunInfo
    device: str | None
    candidate: CandidateRow | None
    memory_bound: tuple[HotspotRow, ...]
    experiments: tuple[ExperimentRow, ...]
    prefetches: tuple[PrefetchTask, ...] | None  # of the run after; None = no trace was ingested


def optimisation_report(
    compared: Answer, before: Session, after: Session, db: Path | str
) -> OptimisationReport:
    """Gather the report of a comparison; `before` and `after` are the sessions of its first runs."""
    target: TargetChange | None = compared.extras.get("target")
    candidate = candidate_of(before, target.candidate) if target else None
    device = before.device_info
    return OptimisationReport(
        compared=compared,
        before=compared.extras["before"],
        after=compared.extras["after"],
        device=device.soc,
        candidate=candidate,
        memory_bound=tuple(hotspots(before, top=HOTSPOTS_SHOWN, bound="memory").rows),
        experiments=_experiments(db, candidate.id if candidate else None),
        prefetches=prefetch_tasks(after),
    )


def _experiments(db: Path | str, candidate: str | None) -> tuple[ExperimentRow, ...]:
    """The experiments of the latest tuning of this candidate; () where none was recorded."""
    from ..tuning.answers import experiment_rows
    from ..tuning.ledger import read_ledger

    if candidate is None:
        return ()
    try:
        latest = read_ledger(db, None)
    except InputMissing:
        return ()
    for name in reversed(latest.tunings):
        ledger = read_ledger(db, name)
        if ledger.tuning.target == candidate:
            return experiment_rows(ledger)
    return ()
