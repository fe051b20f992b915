"""Near repeats: a stack of layers followed across a kernel that one layer has more, less or otherwise.

The arithmetic behind `other_layers`, without a database: from layers that are exactly alike the stack is
followed both ways by aligning what comes next with the layer. Loops run over odd kernels, never over kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .repeats import KIND_MATMUL, Codes


@dataclass(frozen=True)
class NearRules:
    """How much a layer may differ from the others and still be one of them."""

    odd: int  # kernels of a layer that are inserted, missing or of another shape; two neighbours share theirs
    in_a_row: int  # inserted kernels in a row; more is what stands between two passes
    resume: int  # kernels behind an odd one that must be those of the layer again


@dataclass(frozen=True)
class Sequence:
    """One lane of a step: integers per kernel, equal for equal signatures, equal types; KIND_* of repeats."""

    codes: Codes
    types: Codes
    kinds: Codes | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def backwards(self) -> Sequence:
        """The same from its end."""
        return Sequence(self.codes[::-1], self.types[::-1], None if self.kinds is None else self.kinds[::-1])

    def part(self, where: slice) -> Sequence:
        """The kernels of a slice."""
        return Sequence(
            self.codes[where], self.types[where], None if self.kinds is None else self.kinds[where]
        )


@dataclass(frozen=True)
class Stretch:
    """Kernels that follow the layer: `index` counts its kernels from 0 on, below 0 before the seed.

    The index of an odd kernel is that of the one before it.
    """

    start: int
    index: Codes
    odd: NDArray[np.bool_]

    @property
    def end(self) -> int:
        """Index behind its last kernel."""
        return self.start + len(self.index)


_AHEAD = 64  # periods compared at once, at most

# A run of kernels that are those of the layer: index of the first, place in the endless layer, how many.
_Run = tuple[int, int, int]


def follow(sequence: Sequence, layer: Sequence, seed: slice, bounds: slice, rules: NearRules) -> Stretch:
    """Follow the stack both ways from the `seed`, which holds the layer from its first kernel on.

    layer: one period. bounds: what may be taken; what lies outside is looked at to see whether the layer
    resumes. Cost is linear in what is followed, plus a few comparisons per odd kernel.
    """
    total = len(sequence)
    length = seed.stop - seed.start
    right = _runs(sequence, layer, seed.stop, bounds.stop, length, rules)
    left = _runs(sequence.backwards(), layer.backwards(), total - seed.start, total - bounds.start, 0, rules)
    start = total - left[-1][0] - left[-1][2] if left else seed.start
    end = right[-1][0] + right[-1][2] if right else seed.stop
    index = np.zeros(end - start, dtype=np.int64)
    known = np.zeros(end - start, dtype=bool)
    for first, place, count in [(seed.start, 0, length), *right]:
        index[first - start : first - start + count] = np.arange(place, place + count)
        known[first - start : first - start + count] = True
    for first, place, count in left:
        begin = total - first - count - start
        index[begin : begin + count] = np.arange(-place - count, -place)
        known[begin : begin + count] = True
    filled = np.maximum.accumulate(np.where(known, np.arange(len(index)), 0))
    return Stretch(start, index[filled], ~known)


def _runs(
    sequence: Sequence, layer: Sequence, start: int, stop: int, place: int, rules: NearRules
) -> list[_Run]:
    """Runs of the layer from `start` on, where its kernel number `place` is due; ends with a whole match."""
    period, runs = len(layer), []
    endless = np.tile(layer.codes, _AHEAD + 1)
    edits: list[int] = []  # places at which a kernel was odd
    at, solid = start, 0
    while at < stop:
        count = _matching(sequence.codes, at, stop, endless, place % period)
        if count:
            runs.append((at, place, count))
            solid = len(runs)
            at, place = at + count, place + count
        left = min(rules.odd, 2 * rules.odd - sum(each > place - period for each in edits))
        found = _edit(sequence, layer, endless, (at, place), left, rules) if at < stop else None
        if found is None:
            break
        inserted, missing = found
        edits += [place] * max(inserted, missing)
        if inserted == missing == 1 and sequence.types[at] == layer.types[place % period]:
            runs.append((at, place, 1))  # the same operator with another shape keeps its place
        at, place = at + inserted, place + missing
    return runs[:solid]


def _edit(
    sequence: Sequence, layer: Sequence, endless: Codes, where: tuple[int, int], left: int, rules: NearRules
) -> tuple[int, int] | None:
    """The (inserted, missing) kernels behind which the layer resumes for longest, ties to the fewest.

    where: index in the sequence, and the place that is due there.
    """
    best, choice, period = 0, None, len(layer)
    at, place = where
    total = len(sequence)
    options = [(1, 1), *((count, 0) for count in range(1, rules.in_a_row + 1))]
    options += [(0, count) for count in range(1, left + 1)]
    for inserted, missing in options:
        begin, due = at + inserted, (place + missing) % period
        if max(inserted, missing) > left or begin >= total or sequence.codes[begin] != endless[due]:
            continue
        if _between_passes(sequence, layer, at, place, inserted):
            continue
        resumed = _matching(sequence.codes, begin, min(total, begin + 2 * period), endless, due)
        completes = place % period and (place + missing) % period + resumed >= period
        if resumed > best and (resumed >= rules.resume or completes):
            best, choice = resumed, (inserted, missing)
    return choice


def _between_passes(sequence: Sequence, layer: Sequence, at: int, place: int, inserted: int) -> bool:
    """Whether kernels between two whole layers multiply by a weight: then a head stands there, as lm_head."""
    if place % len(layer) or not inserted or sequence.kinds is None:
        return False
    return bool((sequence.kinds[at : at + inserted] == KIND_MATMUL).any())


def _matching(codes: Codes, at: int, stop: int, endless: Codes, place: int) -> int:
    """How many kernels from `at` on are those of the layer from `place` on, which lies in the first period.

    endless: the layer, _AHEAD + 1 times; more of it at once as more has matched.
    """
    period, done, ahead = len(endless) // (_AHEAD + 1), 0, 1
    while at + done < stop:
        seen = codes[at + done : min(at + done + ahead * period, stop)]
        begin = (place + done) % period
        differ = (seen != endless[begin : begin + len(seen)]).nonzero()[0]
        if len(differ):
            return done + int(differ[0])
        done, ahead = done + len(seen), min(2 * ahead, _AHEAD)
    return done


def whole_layers(stretch: Stretch, period: int, odd: int) -> Stretch | None:
    """Cut a stretch to whole layers, of which the first may lack its first and the last its last kernels.

    odd: how many kernels may be lacking. The index of what is left begins in layer 0; None without a layer.
    """
    first, last = _borders(stretch, period, odd, 0)
    if last <= first:
        return None
    inside = np.flatnonzero((stretch.index >= first * period) & (stretch.index < last * period))
    cut = slice(int(inside[0]), int(inside[-1]) + 1)
    known = np.flatnonzero(~stretch.odd[cut])  # an odd kernel behind the last layer is outside it
    cut = slice(cut.start, cut.start + int(known[-1]) + 1)
    return Stretch(stretch.start + cut.start, stretch.index[cut] - first * period, stretch.odd[cut])


def _borders(stretch: Stretch, period: int, odd: int, rotation: int) -> tuple[int, int]:
    """Number of the first layer and of the one behind the last, where layers begin at `rotation`."""
    low, high = int(stretch.index[0]) - rotation, int(stretch.index[-1]) + 1 - rotation
    return low // period + (low % period > odd), (high + odd) // period


def better_rotation(stretch: Stretch, period: int, odd: int) -> int:
    """Kernels by which the layer must be turned so that the stack begins and ends with whole ones.

    0 unless that makes more layers, or as many that lack less: the seed may begin behind an odd kernel of the
    first layer.
    """
    low, high = int(stretch.index[0]), int(stretch.index[-1]) + 1
    ends = (0, low % period, high % period)

    def held(rotation: int) -> tuple[int, int]:
        first, last = _borders(stretch, period, odd, rotation)
        inside = min(high, last * period + rotation) - max(low, first * period + rotation)
        return last - first, inside

    return max(ends, key=held)


def longest_common(codes: Codes, layer: Codes, begins: int | None = None) -> tuple[int, int, int]:
    """(index, position in the layer, length) of the longest run of kernels that both have, ties to the last.

    begins: at how many of the first positions of the layer the run may begin; None = at any. Memory and time
    are the product of the two lengths, so both are a few layers at most.
    """
    same = codes[:, None] == layer[None, :]
    alive, found, length = same[:, :begins], (0, 0), 0
    while alive.any():
        rows, columns = np.nonzero(alive)
        found, length = (int(rows[-1]), int(columns[-1])), length + 1
        if length >= min(same.shape):
            break
        further = same[length:, length:]
        alive = alive[: len(further), : further.shape[1]] & further[:, : alive.shape[1]]
    return (*found, length)
