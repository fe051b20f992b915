"""The walk back from a target, and the windows it finds: spans, kernels inside, spare bandwidth.

A window runs from the end of a dependency to the start of the target. Every predecessor that the walk
reaches is a dependency once; the kernels after it are inside. Occurrences are followed together, as arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .benefit import US_PER_S, MemoryRates
from .labels import LabelledGroup
from .options import AnalysisOptions
from .sequence import NS_PER_US, KernelSequence
from .targets import ODD
from .walk import COLLECTIVE, Verdict

Indexes = NDArray[np.int64]


@dataclass(frozen=True)
class Predecessor:
    """The kernel `depth` places before the target, in the occurrences where the same one stands there."""

    depth: int  # 1 = directly before
    place: int  # index into KernelSequence.places
    type: str
    occurrences: Indexes  # targets that have these predecessors up to this depth, indexes into the sequence
    verdict: Verdict
    previous_layer: bool


@dataclass(frozen=True)
class Walk:
    """What the walk met, nearest first, and why it went no further."""

    predecessors: tuple[Predecessor, ...]
    stopped: str
    stopped_in_short: str


@dataclass(frozen=True)
class Window:
    """One window of one target; times in us, bytes per occurrence."""

    dependency: Predecessor
    inside: tuple[Predecessor, ...]  # in start order
    duration_us: float  # p10 over occurrences
    median_us: float
    spare_bytes: float  # spare bandwidth x duration
    busy_bytes: float  # HBM traffic of the kernels inside, upper end
    utilisation: float  # busy_bytes / median duration / nominal HBM, 0..1: what the copy usually meets
    overlapped_by: int | None  # place of a blocking kernel that still runs inside, or None
    overlapped_share: float  # of the occurrences

    @property
    def occurrences(self) -> Indexes:
        """Targets that have this window."""
        return self.dependency.occurrences

    def kernels_at(self, place: int) -> Indexes:
        """Indexes of the kernels inside that stand at one place, ascending; empty when none does."""
        depths = [each.depth for each in self.inside if each.place == place]
        found = [self.occurrences - depth for depth in depths] or [self.occurrences[:0]]
        return found[0] if len(found) == 1 else np.sort(np.concatenate(found))


def walk_back(
    sequence: KernelSequence,
    occurrences: Indexes,
    judged: Callable[[int], Verdict],
    goes_on: Callable[[Verdict], bool],
    max_depth: int,
    options: AnalysisOptions,
) -> Walk:
    """Follow the predecessors of a target until one may not be inside a window.

    occurrences: indexes of the target in `sequence`. judged: place -> verdict. goes_on: whether the walk may
    pass a kernel. Where occurrences have different predecessors, the most common ones are followed; the walk
    ends when they are fewer than half.
    """
    found: list[Predecessor] = []
    active = occurrences
    target = sequence.places[int(sequence.place[occurrences[0]])]
    crossed = False
    for depth in range(1, max_depth + 1):
        active, place = _most_common(sequence, active, depth)
        if len(active) < options.walk_min_share * len(occurrences):
            why = "other kernels run there from occurrence to occurrence, or the step begins"
            return Walk(tuple(found), why, "the kernels before differ or the step begins")
        crossed = crossed or _crosses(sequence.places[place], target)
        verdict = judged(place)
        name = sequence.places[place].row.type or "a kernel"
        found.append(Predecessor(depth, place, name, active, verdict, crossed))
        if not goes_on(verdict):
            short = f"{name} blocks the walk ({verdict.kind})"
            return Walk(tuple(found), f"{name} may not be inside, {verdict.kind}: {verdict.reason}", short)
    why = f"{max_depth} kernels back: one layer, or as far as the walk goes"
    return Walk(tuple(found), why, why)


def _most_common(sequence: KernelSequence, active: Indexes, depth: int) -> tuple[Indexes, int]:
    """Of the occurrences that have a predecessor at this depth in their step, those with the most common
    one.
    """
    inside = active[active >= depth]
    inside = inside[sequence.step[inside - depth] == sequence.step[inside]]
    if len(inside) == 0:
        return inside, -1
    places = sequence.place[inside - depth]
    place = int(np.argmax(np.bincount(places)))
    return inside[places == place], place


def _crosses(predecessor: LabelledGroup, target: LabelledGroup) -> bool:
    """Whether the predecessor belongs to an earlier layer (or part of the step) than the target."""
    if predecessor.part == ODD:  # a kernel that only this layer has stands inside it
        return False
    if predecessor.part != target.part:
        return True
    if predecessor.position is None or target.position is None:
        return False
    return predecessor.position >= target.position


def windows_of(
    sequence: KernelSequence,
    walk: Walk,
    blocking: BlockingKernels | None,
    rates: MemoryRates,
    options: AnalysisOptions,
) -> tuple[Window, ...]:
    """Every window of a walk, the shortest first; those whose dependency runs beside the target are left
    out.
    """
    found = []
    for number, dependency in enumerate(walk.predecessors):
        inside = tuple(reversed(walk.predecessors[:number]))
        window = _measure(sequence, dependency, inside, blocking, rates, options)
        if window is not None:
            found.append(window)
    return tuple(found)


def _measure(
    sequence: KernelSequence,
    dependency: Predecessor,
    inside: tuple[Predecessor, ...],
    blocking: BlockingKernels | None,
    rates: MemoryRates,
    options: AnalysisOptions,
) -> Window | None:
    targets = dependency.occurrences
    opens = sequence.end_ns[targets - dependency.depth]
    closes = sequence.start_ns[targets]
    spans = (closes - opens) / NS_PER_US
    duration, median = np.quantile(spans, [options.window_percentile, 0.5]).tolist()
    if duration <= 0:
        return None
    achievable = options.eff_hbm * rates.hbm_bytes_s / US_PER_S
    busy = sum(_busy_bytes(sequence.places[each.place], each.verdict, rates, options) for each in inside)
    overlap = (None, 0.0)
    if blocking is not None:
        busy += blocking.beside_bytes(opens, closes)
        overlap = blocking.overlap(opens, closes)
    return Window(
        dependency=dependency,
        inside=inside,
        duration_us=duration,
        median_us=median,
        spare_bytes=max(0.0, achievable * duration - busy),
        busy_bytes=busy,
        utilisation=min(1.0, busy / (median * rates.hbm_bytes_s / US_PER_S)),
        overlapped_by=overlap[0],
        overlapped_share=overlap[1],
    )


def _busy_bytes(
    place: LabelledGroup, verdict: Verdict, rates: MemoryRates, options: AnalysisOptions
) -> float:
    """HBM bytes one kernel takes from the window: its traffic, at most all that HBM gives while it runs.

    Where the traffic is not known it is taken as all of it; a collective cannot move more than its links
    carry.
    """
    nominal = rates.hbm_bytes_s / US_PER_S * place.statistics.median_us
    ceiling = options.eff_hbm * nominal
    if verdict.bytes_hi is None:
        return min(ceiling, options.collective_hbm_share * nominal) if verdict.kind == COLLECTIVE else ceiling
    return min(verdict.bytes_hi, ceiling)


@dataclass(frozen=True)
class BlockingKernels:
    """Kernels that may not share a window, and those beside the main stream, as intervals sorted by start.

    Needed only where kernels overlap: an earlier one may still run when the window opens, and a kernel of
    another stream may start inside. `latest_*` hold, up to each entry, the latest end and which place has
    it.
    """

    starts: NDArray[np.int64]
    latest_ends: NDArray[np.int64]
    latest_places: NDArray[np.int32]
    beside_starts: NDArray[np.int64]
    beside_bytes_before: NDArray[np.float64]  # running sum, one longer than beside_starts
    share: float

    @classmethod
    def of(
        cls,
        sequence: KernelSequence,
        judged: Callable[[int], Verdict],
        blocks: Callable[[Verdict], bool],
        options: AnalysisOptions,
    ) -> BlockingKernels | None:
        """Collect them; None when kernels run one after the other, so that nothing can overlap a window."""
        if sequence.beside is None and not sequence.overlaps:
            return None
        verdicts = [judged(place) for place in range(len(sequence.places))]
        is_blocking = np.array([blocks(each) for each in verdicts], dtype=bool)
        lanes = [sequence, *([sequence.beside] if sequence.beside else [])]
        picked = [is_blocking[lane.place] for lane in lanes]
        starts = np.concatenate([lane.start_ns[pick] for lane, pick in zip(lanes, picked, strict=True)])
        ends = np.concatenate([lane.end_ns[pick] for lane, pick in zip(lanes, picked, strict=True)])
        places = np.concatenate([lane.place[pick] for lane, pick in zip(lanes, picked, strict=True)])
        order = np.argsort(starts, kind="stable")
        starts, ends, places = starts[order], ends[order], places[order]
        latest = np.maximum.accumulate(ends) if len(ends) else ends
        # index of the entry that holds the latest end so far: the last one that raised it
        raised = np.maximum.accumulate(np.where(ends == latest, np.arange(len(ends)), 0))
        beside_starts, beside_bytes = _beside(sequence, verdicts)
        return cls(starts, latest, places[raised], beside_starts, beside_bytes, options.window_overlap_share)

    def overlap(self, opens: NDArray[np.int64], closes: NDArray[np.int64]) -> tuple[int | None, float]:
        """Place of the blocking kernel that runs most often between `opens` and `closes`, and its share."""
        if len(self.starts) == 0:
            return None, 0.0
        last = np.searchsorted(self.starts, closes, side="left") - 1
        hit = (last >= 0) & (self.latest_ends[last] > opens)
        share = float(hit.mean())
        if share <= self.share:
            return None, share
        return int(np.argmax(np.bincount(self.latest_places[last[hit]]))), share

    def beside_bytes(self, opens: NDArray[np.int64], closes: NDArray[np.int64]) -> float:
        """HBM bytes of kernels beside the main stream that start in the window, median of occurrences."""
        if len(self.beside_starts) == 0:
            return 0.0
        first = np.searchsorted(self.beside_starts, opens, side="left")
        last = np.searchsorted(self.beside_starts, closes, side="left")
        return float(np.median(self.beside_bytes_before[last] - self.beside_bytes_before[first]))


def _beside(
    sequence: KernelSequence, verdicts: list[Verdict]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    if sequence.beside is None:
        return np.zeros(0, np.int64), np.zeros(1)
    per_place = np.array([each.bytes_hi or 0.0 for each in verdicts])
    order = np.argsort(sequence.beside.start_ns, kind="stable")
    running = np.concatenate(([0.0], np.cumsum(per_place[sequence.beside.place[order]])))
    return sequence.beside.start_ns[order], running
