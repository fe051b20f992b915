"""Why: the label of a hotspot, or the walk, window and size of a candidate, step by step with the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import WrongUsage
from .answer import Answer, CandidateRow, ExplainStep, HotspotRow, WalkStep
from .candidates import survey
from .coverage import coverage
from .explain_candidate import candidate_steps
from .explain_label import label_steps
from .hotspots import hotspot_id, hotspot_rows
from .ids import only_id
from .labels import labelled_groups

if TYPE_CHECKING:
    from .session import Session


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


def _explain_hotspot(session: Session, id: str) -> Answer:
    groups = {hotspot_id(group.row.hex_id): group for group in labelled_groups(session)}
    chosen = only_id(id, list(groups), "hotspots")
    row = next(each for each in hotspot_rows(session) if each.id == chosen)
    return _answer(session, (row,), label_steps(groups[chosen], row, session), ())


def _explain_candidate(session: Session, id: str) -> Answer:
    found = survey(session)
    rows = {row.id: row for row in (*found.rejected, *found.rows)}
    if not rows:
        return _answer(session, (), (), found.notes)
    row = rows[only_id(id, list(rows), "candidates")]
    steps = candidate_steps(row, found.sites.get(row.id))
    return _answer(session, (row,), steps, (*found.notes, *row.notes), walk=row.walk)


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
        notes=tuple(dict.fromkeys(notes or (*session.notes, *session.device.notes))),
        extras={"steps": steps, "walk": walk},
    )
