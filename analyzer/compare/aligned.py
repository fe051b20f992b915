"""The same moment on both sides: the kernels around one call of a place, by stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..answer_compare import CompareRow
from ..prefetch_tasks import find_prefetch_tasks
from ..sqlfiles import rows_of, sql
from .pairing import Pair, Place
from .sides import Side
from .target import TargetChange

if TYPE_CHECKING:
    from ..session import Session

MARGIN_US = 40.0  # shown on either side beyond the window and the call: the neighbours, not the step
KERNELS_SHOWN = 400


@dataclass(frozen=True)
class AlignedKernel:
    """One kernel; `start_us` counts from the start of the call that the sides are aligned on."""

    stream: int | None
    type: str
    start_us: float
    duration_us: float
    role: str  # target | window | prefetch | other


@dataclass(frozen=True)
class AlignedSide:
    """One call of the place, of middle length, with what runs around it."""

    side: str  # before | after
    run: str
    step_id: int
    layer: int | None
    call_us: float
    kernels: tuple[AlignedKernel, ...]


@dataclass(frozen=True)
class AlignedTimeline:
    """Both sides, aligned on the start of a call of `key`."""

    key: str
    type: str
    sides: tuple[AlignedSide, AlignedSide]


def aligned_timeline(
    sides: tuple[Side, Side],
    pairs: Sequence[Pair],
    keys: Sequence[str],
    rows: Sequence[CompareRow],
    target: TargetChange | None,
) -> AlignedTimeline | None:
    """Aligned on the target, or on the largest change beyond noise; None where nothing is on both sides.

    `keys` are the names of the pairs in their order.
    """
    changed = [row.key for row in rows if row.change in ("faster", "slower")]
    key = target.key if target else next(iter(changed), None)
    if key is None or key not in keys:
        return None
    pair = pairs[keys.index(key)]
    window = [pairs[keys.index(each)] for each in target.window_keys] if target else []
    found = [
        _side(side, name, getattr(pair, name), [getattr(each, name) for each in window])
        for side, name in zip(sides, ("before", "after"), strict=True)
    ]
    if found[0] is None or found[1] is None:
        return None
    return AlignedTimeline(key, pair.places[0].type, (found[0], found[1]))


def _side(
    side: Side, name: str, places: Sequence[Place], window: Sequence[Sequence[Place]]
) -> AlignedSide | None:
    if not places:
        return None
    place = places[0]
    session = side.repeats[0][place.graph]
    call = _middle_call(session, place)
    if call is None:
        return None
    inside = {(each.part, each.position) for members in window for each in members}
    kernels = _around(session, call, place, inside)
    return AlignedSide(name, session.run.name, call["step_id"], call["layer"], call["duration_us"], kernels)


def _middle_call(session: Session, place: Place) -> dict | None:
    """The call of the place whose length is nearest to the median; the earliest of equals."""
    found = rows_of(
        session.con,
        sql("compare_call.sql"),
        {"part": place.part, "position": place.position, "signature": place.signature},
    )
    return found[0] if found else None


def _around(
    session: Session, call: dict, place: Place, window: set[tuple[str | None, int | None]]
) -> tuple[AlignedKernel, ...]:
    margin = round(MARGIN_US * 1000)
    rows = rows_of(
        session.con,
        sql("compare_around.sql"),
        {
            "step": call["step_id"],
            "start": call["start_ns"] - margin,
            "end": call["end_ns"] + margin,
            "layer": call["layer"],
            "first": min((position for _, position in window if position is not None), default=None),
            "part": place.part,
            "most": KERNELS_SHOWN,
        },
    )
    return _prefetches(session, rows, call) + tuple(
        AlignedKernel(
            stream=row["stream_id"],
            type=row["type"] or "",
            start_us=(row["start_ns"] - call["start_ns"]) / 1000,
            duration_us=row["duration_us"],
            role="target"
            if row["kernel_id"] == call["kernel_id"]
            else "window"
            if (row["part"], row["position"]) in window and row["start_ns"] < call["start_ns"]
            else "other",
        )
        for row in rows
    )


def _prefetches(session: Session, rows: Sequence[dict], call: dict) -> tuple[AlignedKernel, ...]:
    """The prefetch tasks beside these kernels; () where none ran, and where no trace tells."""
    if not rows or not find_prefetch_tasks(session):
        return ()
    since = min(row["start_ns"] for row in rows)
    until = max(row["start_ns"] for row in rows)
    found = session.con.execute(
        "SELECT stream_id, start_ns, duration_us FROM prefetch_tasks "
        "WHERE end_ns > ? AND start_ns <= ? ORDER BY start_ns, stream_id LIMIT ?",
        [since, until, KERNELS_SHOWN],
    ).fetchall()
    return tuple(
        AlignedKernel(stream, "prefetch", (start_ns - call["start_ns"]) / 1000, duration_us, "prefetch")
        for stream, start_ns, duration_us in found
    )
