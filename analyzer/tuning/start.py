"""Beginning a tuning: from a candidate of a run, or by hand from the size of a weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InputMissing, WrongUsage
from ..answer import Answer
from ..answer_prefetch import CandidateRow, WindowRow
from ..candidates import candidates
from ..options import AnalysisOptions
from .answers import answer_of
from .ledger import Ledger, add_tuning, now, run_hashes
from .next_step import ALIGN_BYTES
from .records import Tuning

if TYPE_CHECKING:
    from ..session import Session


@dataclass(frozen=True)
class Start:
    """What the user says about a target; sizes in bytes, None = as the candidate has it."""

    target: str
    name: str | None = None
    weight_bytes: int | None = None
    first_bytes: int | None = None
    dependency: str | None = None
    keeps: str | None = None
    allow_comm_windows: bool = False


def start_tuning(db: Path | str, asked: Start, session: Session | None = None) -> Answer:
    """Write a new tuning and answer with the first change to try.

    `session`: the run that a candidate (c-...) is of; it is closed when this returns, so that the ledger can
    be written. Raises InputMissing for a candidate that is not there, WrongUsage for one without a window.
    """
    if asked.first_bytes and asked.weight_bytes and asked.first_bytes > asked.weight_bytes:
        raise WrongUsage("the first max_size is larger than the weight", "ask for a part of the weight first")
    made = _by_hand(asked) if session is None else _from_candidate(asked, session)
    if session is not None:
        session.con.close()
    written = add_tuning(db, made)
    return answer_of(Ledger(written, (), run_hashes(db), (written.name,)), "start")


def _by_hand(asked: Start) -> Tuning:
    first = asked.first_bytes
    if first is None and asked.weight_bytes is not None:
        share = AnalysisOptions().coefficient
        first = int(asked.weight_bytes * share) // ALIGN_BYTES * ALIGN_BYTES
    return Tuning(
        tuning_id=0,
        name=asked.name or "",
        started_at=now(),
        target=asked.target,
        weight_bytes=asked.weight_bytes,
        first_bytes=first,
        dependency=asked.dependency,
        keeps=asked.keeps,
    )


def _from_candidate(asked: Start, session: Session) -> Tuning:
    found = candidates(session, top=None, allow_comm_windows=asked.allow_comm_windows)
    row = _chosen([*found.rows, *found.extras["rejected"]], asked.target)
    if row.window is None or row.status != "candidate":
        raise WrongUsage(
            f"{row.id} is no candidate: {row.reason}",
            "tune a row of `candidates`, or name the target, --dependency and --weight by hand",
        )
    terms = row.max_size_terms
    limits = [each for each in (terms.l2_bytes, terms.cap_bytes) if each] if terms else []
    places = [dependency_text(each) for each in row.alternatives if each.safe]
    others = [each.id for each in found.rows if each.status == "candidate" and each.id != row.id]
    hashes = session.rows("SELECT content_hash FROM runs WHERE run_id = ?", [session.run.run_id])
    return Tuning(
        tuning_id=0,
        name=asked.name or "",
        started_at=now(),
        target=row.id,
        target_text=row.description or row.target_type,
        run_name=session.run.name,
        run_hash=hashes[0]["content_hash"],
        weight_bytes=asked.weight_bytes or row.weight_bytes,
        first_bytes=asked.first_bytes or row.max_size,
        most_bytes=min(limits, default=None),
        dependency=asked.dependency or dependency_text(row.window),
        dependencies=tuple(dict.fromkeys(places)),
        others=tuple(others),
        keeps=asked.keeps,
    )


def _chosen(rows: Sequence[CandidateRow], target: str) -> CandidateRow:
    """The row of that id, or the only one whose id begins so."""
    found = [row for row in rows if row.id == target] or [row for row in rows if row.id.startswith(target)]
    if not found:
        raise InputMissing(f"no candidate {target!r} in this run", "npu-roofline candidates lists the ids")
    if len(found) > 1:
        raise WrongUsage(
            f"{target!r} is the beginning of {len(found)} candidates",
            f"write one of {', '.join(row.id for row in found[:8])}",
        )
    return found[0]


def dependency_text(window: WindowRow) -> str:
    """A dependency as the ledger names it: 'MoeGatingTopK, layer 9', with the layer before said."""
    place = "" if window.dependency_position is None else f", layer {window.dependency_position}"
    before = " of the layer before" if window.layer_scope == "previous_layer" else ""
    return f"{window.dependency}{place}{before}"
