"""Layers beside the repeating one: a single one elsewhere in the step, and layers of another kind.

A head that predicts more tokens (MTP) runs the model's layer once more behind it; a mixture-of-experts model
often begins with a few dense layers. Neither repeats often enough to be found alone, but both resemble the
layer that was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from .options import AnalysisOptions
from .repeats import Codes, Region, RepeatRules, Repeats, find_repeats


@dataclass(frozen=True)
class Block:
    """An uninterrupted stretch of layers of one kind; positions of its kernels start at `offset`."""

    start: int
    repeats: int
    period: int
    offset: int

    @property
    def end(self) -> int:
        """Index behind its last kernel."""
        return self.start + self.repeats * self.period


@dataclass
class Kinds:
    """Where the positions of each kind of layer begin; the same kind has the same positions in every step."""

    offsets: dict[bytes, int] = field(default_factory=dict)
    next_offset: int = 0

    def offset_of(self, pattern: Codes) -> int:
        """The first position of layers with this sequence of types; a new kind follows the known ones."""
        key = pattern.tobytes()
        if key not in self.offsets:
            self.offsets[key] = self.next_offset
            self.next_offset += len(pattern)
        return self.offsets[key]


def blocks_of(
    codes: Codes, types: Codes, found: Repeats, kinds: Kinds, options: AnalysisOptions
) -> list[Block]:
    """The stretches of `found`, single layers like them, and layers of other kinds, in start order.

    codes, types: one integer per kernel, equal for equal signatures and for equal types. The main kind has
    positions from 0.
    """
    main = [Block(region.start, region.repeats, found.period, 0) for region in found.regions]
    kinds.next_offset = max(kinds.next_offset, found.period)
    if found.period < options.layer_alone_min_kernels:
        return main
    first = found.regions[0].start
    pattern = slice(first, first + found.period)
    alone = [
        Block(region.start, 1, found.period, 0)
        for gap in _gaps(main, len(codes))
        for region in _occurrences(codes, codes[pattern], gap)
    ]
    placed = sorted([*main, *alone], key=lambda block: block.start)
    known = np.unique(types[pattern])
    seen: dict[bytes, list[Block]] = {}  # passes of one capture have the same gaps between them
    others = []
    for gap in _gaps(placed, len(codes)):
        key = codes[gap].tobytes()
        if key not in seen:
            if len(seen) >= options.layer_sequences_probed:
                continue
            seen[key] = _other_kind(codes[gap], types[gap], known, kinds, options)
        others += [replace(block, start=gap.start + block.start) for block in seen[key]]
    return sorted([*placed, *others], key=lambda block: block.start)


def _gaps(blocks: list[Block], length: int) -> Iterator[slice]:
    """What lies before, between and behind the blocks."""
    done = 0
    for block in blocks:
        if block.start > done:
            yield slice(done, block.start)
        done = block.end
    if done < length:
        yield slice(done, length)


def _occurrences(codes: Codes, pattern: Codes, gap: slice) -> list[Region]:
    """Where the whole pattern stands in a gap, without overlaps."""
    period, found, free_from = len(pattern), [], gap.start
    window = codes[gap.start : max(gap.start, gap.stop - period + 1)]
    for start in (gap.start + np.flatnonzero(window == pattern[0])).tolist():
        if start >= free_from and np.array_equal(codes[start : start + period], pattern):
            found.append(Region(start, 1))
            free_from = start + period
    return found


def _other_kind(
    codes: Codes, types: Codes, known: Codes, kinds: Kinds, options: AnalysisOptions
) -> list[Block]:
    """Layers of another kind in a gap: at least two, of kernels that mostly stand in the main layer too.

    That share tells a dense layer, whose attention is that of the others, from a loop of the preparation.
    Starts count from the beginning of the gap.
    """
    found = find_repeats(codes, RepeatRules(2, options.layer_alone_min_kernels, 0.0))
    if found is None:
        return []
    first = found.regions[0].start
    pattern = types[first : first + found.period]
    if np.isin(pattern, known).mean() < options.layer_kin_share:
        return []
    offset = kinds.offset_of(pattern)
    return [Block(region.start, region.repeats, found.period, offset) for region in found.regions]
