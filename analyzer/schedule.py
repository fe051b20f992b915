"""What prefetches take from each other: one copy queue, one spare bandwidth, one share of L2.

The copies of a graph run one after the other in program order. A call is issued when its dependency ends;
it starts copying when the calls before it have been copied. Two calls meet where the later one is issued
before the target of the earlier one has started. All of it is decided on the occurrences that were seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .options import AnalysisOptions
from .prefetch import Taken
from .sequence import NS_PER_US, KernelSequence
from .windows import Indexes, Window

_SAMPLED = 512  # occurrences that decide how two calls meet; more only repeat the same layers
_ROUNDS = 4  # queues of one layer reach into the next; the delays settle after two or three


@dataclass(frozen=True)
class Call:
    """One prefetch of a plan: its window, the bytes it asks for, and how fast they are copied."""

    window: Window
    max_size: int  # bytes over all weights of the target
    rate: float  # bytes per us that the copy gets in this window


@dataclass(frozen=True)
class Meeting:
    """How a call meets one that is issued before it; `lead_us` = how long before, p10 over occurrences."""

    lead_us: float


@dataclass
class Queue:
    """Meetings of the windows of one sequence, each worked out once."""

    sequence: KernelSequence
    options: AnalysisOptions
    _known: dict[tuple[int, int], Meeting | None] = field(default_factory=dict)
    _steps_of: dict[int, int] = field(default_factory=dict)

    def meeting(self, later: Window, earlier: Window) -> Meeting | None:
        """How a call in one window meets one in another that is issued before it; None where it is not issued
        after it and before its target starts.
        """
        key = (id(later), id(earlier))
        if key not in self._known:
            self._known[key] = self._meet(later, earlier)
        return self._known[key]

    def _meet(self, later: Window, earlier: Window) -> Meeting | None:
        own, own_depth = later.occurrences, later.dependency.depth
        theirs, depth = earlier.occurrences, earlier.dependency.depth
        if not self._steps(later) & self._steps(earlier):
            return None  # windows lie inside steps: those of another batch size are steps of their own
        targets = _sample(own)
        issued = targets - own_depth
        last = np.searchsorted(theirs, issued + depth, side="right") - 1  # issued at or before `issued`
        target = theirs[np.maximum(last, 0)]
        found = (target > issued) & (last >= 0)
        least = self.options.window_overlap_share * len(issued)
        if np.count_nonzero(found) <= least:
            return None
        before = np.minimum(target - depth, issued)
        # issued at the same kernel: the call whose target comes first goes first
        found &= (before < issued) | (target < targets)
        if np.count_nonzero(found) <= least:
            return None
        ends = self.sequence.end_ns
        lead = np.where(found, (ends[issued] - ends[before]) / NS_PER_US, np.inf)
        closest = np.quantile(lead, self.options.window_percentile, method="lower")
        return Meeting(float(closest))

    def _steps(self, window: Window) -> int:
        """The steps that a window occurs in, a bit each: thousands of pairs are asked if they share one."""
        key = id(window)
        if key not in self._steps_of:
            occurs = np.zeros(self.sequence.steps, dtype=bool)
            occurs[self.sequence.step[window.occurrences]] = True
            self._steps_of[key] = int.from_bytes(np.packbits(occurs).tobytes())
        return self._steps_of[key]

    def taken(self, calls: Sequence[Call]) -> list[Taken]:
        """What the others take from each call: bytes still to be copied before it, bytes waiting in L2."""
        before = [
            [
                (number, found)
                for number, each in enumerate(calls)
                if each is not call and (found := self.meeting(call.window, each.window)) is not None
            ]
            for call in calls
        ]
        queued = [0.0] * len(calls)
        for _ in range(_ROUNDS):
            queued = [
                sum(self._left(calls[number], queued[number], found.lead_us) for number, found in meetings)
                for meetings in before
            ]
        together = self._same_moment(calls)
        return [
            Taken(backlog, sum(calls[number].max_size for number, _ in meetings) + more)
            for backlog, meetings, more in zip(queued, before, together, strict=True)
        ]

    def _left(self, call: Call, queued: float, lead_us: float) -> float:
        """Bytes of a call that are not copied `lead_us` after it was issued behind `queued` other bytes."""
        if call.rate <= 0:
            return float(call.max_size)
        running = lead_us - self.options.t_lat_us - queued / call.rate
        return max(0.0, call.max_size - call.rate * max(0.0, running))

    def _same_moment(self, calls: Sequence[Call]) -> list[int]:
        """Bytes of calls issued at the same kernel behind each call: they wait in L2 beside it too."""
        return [
            sum(
                other.max_size
                for other in calls
                if other is not call
                and (found := self.meeting(other.window, call.window)) is not None
                and found.lead_us == 0.0
            )
            for call in calls
        ]


def _sample(occurrences: Indexes) -> Indexes:
    """At most _SAMPLED of them, evenly spread."""
    return occurrences[:: -(-len(occurrences) // _SAMPLED)]
