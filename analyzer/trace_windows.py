"""The windows of the prefetch candidates in time: one track per candidate, one slice per occurrence."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..units import format_bytes
from .candidates import decode_steps, survey
from .sequence import KernelSequence, kernel_sequence

if TYPE_CHECKING:
    from .answer import CandidateRow, Saving
    from .session import Session
    from .sites import Site


def publish_windows(
    session: Session, show: Callable[[str], str], steps: tuple[int, ...]
) -> tuple[int, int, list[str]]:
    """Make the temporary tables `trace_candidates` and `trace_windows` (those in the given steps).

    Returns (windows, candidates, why there is none). A window is from the end of its dependency to the start
    of its target.
    """
    found = survey(session)
    rows = [row for row in found.rows if row.status == "candidate" and row.window is not None]
    _publish_candidates(session, rows, show)
    none = np.empty(0, dtype=np.int64)
    columns = {name: [none] for name in ("number", "step_id", "sequence_index", "start_ns", "end_ns")}
    for number, row in enumerate(rows, start=1):
        for name, values in _windows(session, found.sites[row.id], number).items():
            columns[name].append(values)
    arrays = {name: np.concatenate(values) for name, values in columns.items()}
    drawn = np.isin(arrays["step_id"], np.array(steps, dtype=np.int64))
    session.con.register("trace_found", {name: values[drawn] for name, values in arrays.items()})
    session.con.execute("CREATE OR REPLACE TEMP TABLE trace_windows AS FROM trace_found")
    session.con.unregister("trace_found")
    if found.stopped is not None:
        return 0, 0, [f"no prefetch windows are drawn: {found.stopped}"]
    return (
        int(drawn.sum()),
        len(rows),
        [] if rows else ["no prefetch windows are drawn: there is no candidate"],
    )


def _publish_candidates(session: Session, rows: list[CandidateRow], show: Callable[[str], str]) -> None:
    session.con.execute(
        "CREATE OR REPLACE TEMP TABLE trace_candidates AS SELECT unnest($numbers::INTEGER[]) AS number, "
        "unnest($tracks::VARCHAR[]) AS track, unnest($names::VARCHAR[]) AS name, "
        "unnest($args::VARCHAR[]) AS args",
        {
            "numbers": list(range(1, len(rows) + 1)),
            "tracks": [f"{row.id}: {show(row.target_type)}" for row in rows],
            "names": [json.dumps(_name(row, show)) for row in rows],
            "args": [_args(row, show) for row in rows],
        },
    )


def _name(row: CandidateRow, show: Callable[[str], str]) -> str:
    return f"{format_bytes(row.max_size)} of the weight of {show(row.target_type)}"


def _args(row: CandidateRow, show: Callable[[str], str]) -> str:
    window, saving = row.window, row.predicted_saving_us
    args = {
        "id": row.id,
        "target": show(row.target_type),
        "dependency": None if window is None else show(window.dependency),
        "inside": None if window is None else [show(kernel.type) for kernel in window.kernels],
        "hazards": None if window is None else [show(hazard) for hazard in window.hazards],
        "max_size": row.max_size,
        "weight_bytes": row.weight_bytes,
        "predicted_saving_us": None if saving is None else _range(saving),
        "confidence": row.confidence,
        "reason": show(row.reason),
    }
    known = {name: value for name, value in args.items() if value is not None}
    return json.dumps(known, separators=(",", ":"), allow_nan=False)[1:-1]


def _range(saving: Saving) -> list[float]:
    """Low, mid and high of a saving, us to the ns."""
    return [round(each, 3) for each in (saving.low, saving.mid, saving.high)]


def _windows(session: Session, site: Site, number: int) -> dict[str, np.ndarray]:
    """Every occurrence of the best window of a site."""
    if site.best is None:
        return {}
    sequence = _sequence_of(session)
    window = site.best.window
    targets = window.occurrences
    dependencies = targets - window.dependency.depth
    return {
        "number": np.full(len(targets), number, dtype=np.int64),
        "step_id": np.array(sequence.step_ids, dtype=np.int64)[sequence.step[targets]],
        "sequence_index": sequence.index[targets].astype(np.int64),
        "start_ns": np.minimum(sequence.end_ns[dependencies], sequence.start_ns[targets]),
        "end_ns": sequence.start_ns[targets],
    }


def _sequence_of(session: Session) -> KernelSequence:
    """The sequence that the sites index: that of the steps that the survey looked at."""
    return kernel_sequence(session, decode_steps(session))
