"""Why: the label of a hotspot, or the walk, window and size of a candidate, step by step with the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import WrongUsage
from .answer import Answer, CandidateRow, ExplainStep, HotspotRow, WalkStep
from .candidates import Survey, survey
from .coverage import coverage
from .explain_candidate import candidate_steps
from .explain_label import label_steps
from .hotspots import hotspot_id, hotspot_rows
from .ids import only_id
from .labels import labelled_groups

if TYPE_CHECKING:
    from .session import Session


def explain(
    session: Session,
    id: str,
    coefficient: float | None = None,
    allow_comm_windows: bool = False,
    include_unsafe: bool = False,
    cap_mib: float | None = None,
    eta: float | None = None,
    cmo_gb_s: float | None = None,
) -> Answer:
    """Explain a hotspot ('k-…') or a candidate ('c-…'); a unique beginning of the id is enough.

    The other arguments are those of `candidates`: with the same ones the same windows are explained. A
    hotspot has none, so they are refused for it.

    The row is the answer's only row; extras['steps'] holds the steps of the decision in order,
    extras['walk'] the predecessors that the walk met, nearest first. Raises WrongUsage for an id that
    matches nothing, or several rows, which are then named.
    """
    wishes = (coefficient, allow_comm_windows, include_unsafe, cap_mib, eta, cmo_gb_s)
    if id.startswith("c-"):
        return _explain_candidate(id, session, survey(session, *wishes))
    if id.startswith("k-"):
        if any(wish not in (None, False) for wish in wishes):
            raise WrongUsage(
                f"{id} is a hotspot, which has no window",
                "give the options of windows with a candidate (c-…)",
            )
        return _explain_hotspot(session, id)
    if id.startswith("f-"):
        raise WrongUsage(
            f"{id} is a sequence of `fuse scan`, which explains its rows itself",
            "npu-roofline fuse scan --format md has the reason of each in full",
        )
    raise WrongUsage(f"{id!r} is no id", "ids start with k- (hotspots) or c- (candidates)")


def _explain_hotspot(session: Session, id: str) -> Answer:
    groups = {hotspot_id(group.row.hex_id): group for group in labelled_groups(session)}
    chosen = only_id(id, list(groups), "hotspots")
    row = next(each for each in hotspot_rows(session) if each.id == chosen)
    return _answer(session, (row,), label_steps(groups[chosen], row, session), ())


def _explain_candidate(id: str, session: Session, found: Survey) -> Answer:
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
