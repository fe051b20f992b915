"""The counted kernels of the selected steps as arrays, in start order: what the walk goes back over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .kernel_reads import cpu_rows, placed_kernels
from .labels import LabelledGroup, labelled_groups, labelled_positions

if TYPE_CHECKING:
    from .session import Session

NS_PER_US = 1000.0
SIDE = "side"


@dataclass(frozen=True)
class KernelSequence:
    """Counted kernels of the main sequence, one entry each, ordered by step and start.

    `place` indexes `places`: the label at that position of the layer. Kernels that run beside the main
    stream in varying order are in `beside`, ordered by start; the walk does not pass them, but they share
    the window.
    """

    step: NDArray[np.int32]  # ordinal of the step among the selected ones
    index: NDArray[np.int32]  # sequence_index in the step
    start_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]
    place: NDArray[np.int32]
    places: tuple[LabelledGroup, ...]
    beside: KernelSequence | None
    step_ids: tuple[int, ...]
    eager: frozenset[int] = frozenset()  # places whose kernel the host launched one by one, not a graph

    @property
    def steps(self) -> int:
        """Number of steps, those without counted kernels included."""
        return len(self.step_ids)

    @property
    def overlaps(self) -> bool:
        """Whether any kernel starts before an earlier one of its step has ended."""
        return bool(np.any((self.start_ns[1:] < self.latest_end()[:-1]) & (self.step[1:] == self.step[:-1])))

    def kernels_at(self, place: int) -> NDArray[np.intp]:
        """Indexes of the kernels at one place, ascending; empty when all of them are beside."""
        order, bounds = self._by_place
        return order[bounds[place] : bounds[place + 1]]

    @cached_property
    def _by_place(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Indexes sorted by place, and where each place begins: one sort instead of a scan a place."""
        few = len(self.places) <= np.iinfo(np.uint16).max  # for which numpy has a sort of linear time
        order = np.argsort(self.place.astype(np.uint16) if few else self.place, kind="stable")
        counts = np.bincount(self.place, minlength=len(self.places))
        return order, np.concatenate(([0], np.cumsum(counts)))

    def latest_end(self) -> NDArray[np.int64]:
        """Latest end up to and including each kernel, ns; starts rise, so steps need no separation."""
        return np.maximum.accumulate(self.end_ns) if len(self.end_ns) else self.end_ns


@dataclass(frozen=True)
class Example:
    """One kernel as the export names it, to show beside a position."""

    name: str
    stream_id: int | None
    layer: int | None


def kernel_sequence(session: Session, step_ids: tuple[int, ...]) -> KernelSequence:
    """Read start, end and place of every counted kernel of the given steps. Cached on the session.

    One scan of five columns; a million kernels take about 30 MB.
    """
    key = f"kernel_sequence {step_ids}"
    if key not in session.cache:
        session.cache[key] = _read(session, step_ids)
    return session.cache[key]


def _read(session: Session, step_ids: tuple[int, ...]) -> KernelSequence:
    placed = session.read(placed_kernels)
    places = _labelled(session, placed.keys)
    columns = placed.columns
    if step_ids != session.step_ids:
        keep = np.isin(columns["step_id"], np.array(step_ids, dtype=np.int64))
        columns = {name: values[keep] for name, values in columns.items()}
    ordinal = _ordinals(columns["step_id"], step_ids)
    is_side = np.array([place.part == SIDE for place in places], dtype=bool)

    def part(chosen: NDArray[np.intp] | slice, beside: KernelSequence | None) -> KernelSequence:
        return KernelSequence(
            ordinal[chosen],
            columns["sequence_index"][chosen],
            columns["start_ns"][chosen],
            columns["end_ns"][chosen],
            columns["place"][chosen],
            places,
            beside,
            tuple(sorted(step_ids)),
            placed.eager,
        )

    if not is_side.any():
        return part(slice(None), None)
    side = is_side[columns["place"]]
    beside = np.flatnonzero(side)
    return part(np.flatnonzero(~side), part(beside, None) if len(beside) else None)


def _ordinals(step: NDArray[np.int32], step_ids: tuple[int, ...]) -> NDArray[np.int32]:
    """Ordinal of each kernel's step among the selected ones; looked up once per step, as steps rise."""
    first = np.flatnonzero(np.diff(step, prepend=step[:1] - 1)) if len(step) else np.empty(0, dtype=np.intp)
    of_step = np.searchsorted(np.array(sorted(step_ids)), step[first]).astype(np.int32)
    return np.repeat(of_step, np.diff(first, append=len(step)))


def _labelled(
    session: Session, keys: tuple[tuple[int, str | None, int | None], ...]
) -> tuple[LabelledGroup, ...]:
    """The label of each place: that of the position, or of the whole signature where kernels have none."""
    groups = {
        (group.signature_id, group.part, group.position): group
        for group in (*labelled_positions(session), *labelled_groups(session))
    }
    return tuple(groups[key] for key in keys)


def examples(session: Session, wanted: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Example]:
    """Names, streams and layers of some kernels, by step and sequence index."""
    steps, indexes = zip(*sorted(wanted), strict=True)
    rows: list[Any] = session.con.execute(
        "SELECT k.step_id, k.sequence_index, k.name, k.stream_id, k.layer FROM selected_kernels AS k "
        "JOIN (SELECT unnest($steps::INTEGER[]) AS step_id, unnest($indexes::INTEGER[]) AS sequence_index) "
        "USING (step_id, sequence_index) WHERE list_contains($chosen::INTEGER[], k.step_id)",
        {"steps": steps, "indexes": indexes, "chosen": sorted(set(steps))},
    ).fetchall()
    return {(step, index): Example(name or "", stream, layer) for step, index, name, stream, layer in rows}


@dataclass(frozen=True)
class CpuWork:
    """AI_CPU rows of the selection by start, ns: noted beside windows, never walked."""

    starts: NDArray[np.int64]
    latest_end: NDArray[np.int64]  # of this row and all before it
    kind: NDArray[np.int32]  # index into types
    types: tuple[str, ...]

    def overlap(self, opens: NDArray[np.int64], closes: NDArray[np.int64]) -> tuple[float, tuple[str, ...]]:
        """Share of the intervals in which any of it runs, 0..1, and the types that do."""
        if len(self.starts) == 0:
            return 0.0, ()
        last = np.searchsorted(self.starts, closes, side="left") - 1
        hit = (last >= 0) & (self.latest_end[last] > opens)
        return float(hit.mean()), tuple(self.types[kind] for kind in np.unique(self.kind[last[hit]]))


def cpu_work(session: Session) -> CpuWork:
    """The AI_CPU rows of the selection. Cached on the session."""
    if "cpu_work" not in session.cache:
        rows = session.read(cpu_rows)
        latest_end = np.maximum.accumulate(rows.ends)
        session.cache["cpu_work"] = CpuWork(rows.starts, latest_end, rows.kind, rows.types)
    return session.cache["cpu_work"]
