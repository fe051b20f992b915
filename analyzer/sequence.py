"""The counted kernels of the selected steps as arrays, in start order: what the walk goes back over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .labels import LabelledGroup, labelled_groups, labelled_positions

if TYPE_CHECKING:
    from .session import Session

NS_PER_US = 1000.0
EAGER_MODEL_ID = 4294967295  # what exporters write for kernels outside every graph
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

    def latest_end(self) -> NDArray[np.int64]:
        """Latest end up to and including each kernel, ns; starts rise, so steps need no separation."""
        return np.maximum.accumulate(self.end_ns) if len(self.end_ns) else self.end_ns


@dataclass(frozen=True)
class Example:
    """One kernel as the export names it, to show beside a position."""

    name: str
    stream_id: int | None
    layer: int | None


_PLACED = """
FROM selected_kernels AS k
JOIN _places AS p
    ON p.signature_id = k.signature_id
    AND p.part IS NOT DISTINCT FROM k.part
    AND p.position IS NOT DISTINCT FROM k.position
WHERE k.sequence_index IS NOT NULL
"""
_SEQUENCE = f"SELECT k.step_id, k.sequence_index, k.start_ns, k.end_ns, p.place {_PLACED}"
_EAGER = f"SELECT DISTINCT p.place {_PLACED} AND k.step_id = ? AND k.model_id = ?"


def kernel_sequence(session: Session, step_ids: tuple[int, ...]) -> KernelSequence:
    """Read start, end and place of every counted kernel of the given steps. Cached on the session.

    One scan of five columns; a million kernels take about 30 MB.
    """
    key = f"kernel_sequence {step_ids}"
    if key not in session.cache:
        session.cache[key] = _read(session, step_ids)
    return session.cache[key]


def _read(session: Session, step_ids: tuple[int, ...]) -> KernelSequence:
    places = _places(session)
    _publish_places(session, places)
    fetched = session.con.execute(_SEQUENCE).fetchnumpy()
    columns = {name: np.asarray(values) for name, values in fetched.items()}
    if step_ids != session.step_ids:
        keep = np.isin(columns["step_id"], np.array(step_ids, dtype=np.int64))
        columns = {name: values[keep] for name, values in columns.items()}
    place_in_run = columns["step_id"].astype(np.int64) << 32 | columns["sequence_index"]
    if np.any(np.diff(place_in_run) < 0):  # blocks of rows that several threads wrote: long ascending runs
        order = np.argsort(place_in_run, kind="stable")
        columns = {name: values[order] for name, values in columns.items()}
    ordinal = _ordinals(columns["step_id"], step_ids)
    first = columns["step_id"][:1].tolist()
    eager = session.con.execute(_EAGER, [*first, EAGER_MODEL_ID]).fetchall() if first else []
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
            frozenset(place for (place,) in eager),
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


def _places(session: Session) -> tuple[LabelledGroup, ...]:
    """Labels by position, and the label of the whole signature where some of its kernels have no position."""
    positions = labelled_positions(session)
    placed: dict[int, int] = {}
    for group in positions:
        placed[group.signature_id] = placed.get(group.signature_id, 0) + group.statistics.count
    rest = [
        each for each in labelled_groups(session) if placed.get(each.signature_id, 0) < each.statistics.count
    ]
    return (*positions, *rest)


def _publish_places(session: Session, places: tuple[LabelledGroup, ...]) -> None:
    session.con.execute(
        "CREATE OR REPLACE TEMP TABLE _places AS SELECT unnest($ids::UBIGINT[]) AS signature_id, "
        "unnest($parts::VARCHAR[]) AS part, unnest($positions::INTEGER[]) AS position, "
        "unnest(range($count::INTEGER))::INTEGER AS place",
        {
            "ids": [place.signature_id for place in places],
            "parts": [place.part for place in places],
            "positions": [place.position for place in places],
            "count": len(places),
        },
    )


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
    """Read the AI_CPU rows of the selection. Cached on the session."""
    if "cpu_work" not in session.cache:
        rows = session.rows(
            "SELECT DISTINCT coalesce(type, 'no type') AS type FROM selected_signatures "
            "WHERE kernel_class = 'ai_cpu' ORDER BY type"
        )
        types = tuple(row["type"] for row in rows)
        fetched = session.con.execute(
            "SELECT k.start_ns, k.end_ns, "
            "list_position(?::VARCHAR[], coalesce(s.type, 'no type')) - 1 AS kind "
            "FROM selected_kernels AS k JOIN selected_signatures AS s USING (signature_id) "
            "WHERE k.kernel_class = 'ai_cpu' ORDER BY k.start_ns",
            [types],
        ).fetchnumpy()
        starts, ends, kind = (np.asarray(fetched[name]) for name in ("start_ns", "end_ns", "kind"))
        session.cache["cpu_work"] = CpuWork(starts, np.maximum.accumulate(ends), kind, types)
    return session.cache["cpu_work"]
