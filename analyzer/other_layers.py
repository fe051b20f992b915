"""Layers beside the repeating one: near repeats, a single one elsewhere in the step, layers of another kind.

A layer with one kernel more or less is a layer of the stack. A head that predicts more tokens (MTP) runs the
model's layer once more behind it; a mixture-of-experts model often begins with one or a few dense layers.
None of them repeats often enough to be found alone, but all resemble the layer that was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .near_layers import NearRules, Sequence, Stretch, better_rotation, follow, longest_common, whole_layers
from .options import AnalysisOptions
from .repeats import Codes, RepeatRules, Repeats, find_repeats, like_a_layer, regions_of


@dataclass(frozen=True)
class Block:
    """An uninterrupted stretch of layers of one kind; positions of its kernels start at `offset`."""

    start: int
    repeats: int
    period: int
    offset: int
    index: Codes | None = None  # kernel -> place counted from the first layer; None = every layer is whole
    odd: NDArray[np.bool_] | None = None  # kernels that no other layer has

    @property
    def end(self) -> int:
        """Index behind its last kernel."""
        return self.start + (self.repeats * self.period if self.index is None else len(self.index))


@dataclass
class Kinds:
    """Where the positions of each kind of layer begin; the same kind has the same positions in every step."""

    offsets: dict[bytes, int] = field(default_factory=dict)
    next_offset: int = 0

    def offset_of(self, pattern: Codes, beside: int | None = None) -> int:
        """The first position of layers with this sequence of types; a new kind follows the known ones.

        beside: the stream, for layers of a stream of their own.
        """
        key = pattern.tobytes() + (b"" if beside is None else b"stream %d" % beside)
        if key not in self.offsets:
            self.offsets[key] = self.next_offset
            self.next_offset += len(pattern)
        return self.offsets[key]


def near_rules(period: int, options: AnalysisOptions) -> NearRules:
    """How much a layer of this many kernels may differ; nothing, where layers are too short to tell.

    A share of 0 in the options turns near repeats off.
    """
    if period < options.layer_alone_min_kernels or not options.layer_odd_share:
        return NearRules(0, 0, period)
    return NearRules(
        max(1, int(options.layer_odd_share * period)),
        options.layer_odd_in_a_row,
        options.layer_resume_kernels,
    )


def blocks_of(sequence: Sequence, found: Repeats, kinds: Kinds, options: AnalysisOptions) -> list[Block]:
    """The stretches of `found`, layers like them, and layers of other kinds, in start order.

    The main kind has positions from 0.
    """
    kinds.next_offset = max(kinds.next_offset, found.period)
    main = stack(sequence, found, options)
    if found.period < options.layer_alone_min_kernels:
        return main
    first = found.regions[0].start
    layer = sequence.part(slice(first, first + found.period))
    alone = [each for gap in _gaps(main, len(sequence)) for each in _alone(sequence, layer, gap)]
    placed = _in_order(main, alone)
    near = [
        each for gap in _gaps(placed, len(sequence)) for each in _near_alone(sequence, layer, gap, options)
    ]
    placed = _in_order(placed, near)
    seen: dict[bytes, list[Block]] = {}  # passes of one capture have the same gaps between them
    starts = {block.start for block in placed}
    others = []
    for gap in _gaps(placed, len(sequence)):
        followed = gap.stop in starts
        key = sequence.codes[gap].tobytes() + bytes([followed])
        if key not in seen:
            if len(seen) >= options.layer_sequences_probed:
                continue
            inside = sequence.part(gap)
            seen[key] = _other_kind(inside, layer, kinds, options)
            if not seen[key] and followed:
                seen[key] = _leading(inside, layer, kinds, options)
        others += [replace(block, start=gap.start + block.start) for block in seen[key]]
    found_again = _again(sequence, _in_order(placed, others), others)
    return _in_order(placed, others, found_again)


def _again(sequence: Sequence, placed: list[Block], others: list[Block]) -> list[Block]:
    """Where a layer of another kind that is known by now stands once more, as behind the stack."""
    known = {block.offset: block for block in others}
    found: list[Block] = []
    for block in known.values():
        layer = sequence.codes[block.start : block.start + block.period]
        for gap in _gaps(_in_order(placed, found), len(sequence)):
            found += [
                Block(gap.start + each.start, each.repeats, block.period, block.offset)
                for each in regions_of(sequence.codes[gap], layer)
            ]
    return found


def _in_order(*blocks: list[Block]) -> list[Block]:
    return sorted((each for some in blocks for each in some), key=lambda block: block.start)


def stack(sequence: Sequence, found: Repeats, options: AnalysisOptions) -> list[Block]:
    """The stretches of `found`, each followed both ways across odd kernels."""
    rules, period = near_rules(found.period, options), found.period
    first, last = found.regions[0], found.regions[-1]
    layer = slice(first.start, first.start + period)
    final = last.start + (last.repeats - 1) * period
    plain = [Block(region.start, region.repeats, period, 0) for region in found.regions]
    # layers that are alike in their types only have nothing to follow that could be told from chance
    if not rules.odd or not np.array_equal(sequence.codes[layer], sequence.codes[final : final + period]):
        return plain
    blocks: list[Block] = []
    done = 0
    for block in plain:
        if block.start < done:
            continue
        seed = slice(block.start, block.end)
        stretch = follow(sequence, sequence.part(layer), seed, slice(done, len(sequence)), rules)
        blocks.append(_block(stretch, block, rules))
        done = blocks[-1].end
    return blocks


def _block(stretch: Stretch, exact: Block, rules: NearRules) -> Block:
    cut = whole_layers(stretch, exact.period, rules.odd)
    if cut is None or len(cut.index) <= exact.end - exact.start:
        return exact
    repeats = int(cut.index[-1]) // exact.period + 1
    whole = len(cut.index) == repeats * exact.period and not cut.odd.any()
    if whole:
        return Block(cut.start, repeats, exact.period, exact.offset)
    return Block(cut.start, repeats, exact.period, exact.offset, cut.index, cut.odd)


def turned(sequence: Sequence, found: Repeats, options: AnalysisOptions) -> Repeats:
    """The same layers in the rotation in which the stack begins and ends with whole layers.

    Where the seed began behind an odd kernel of the first layer, position 0 is moved to the layer's start.
    Where a layer of another kind stands before the stack and ends as the others do, the repeats begin inside
    it: the rotation that ends with the stack is taken when it gives more layers.
    """
    rules, period = near_rules(found.period, options), found.period
    if not rules.odd:
        return found
    first = found.regions[0]
    layer = sequence.part(slice(first.start, first.start + period))
    seed = slice(first.start, first.start + first.repeats * period)
    stretch = follow(sequence, layer, seed, slice(0, len(sequence)), rules)
    rotations = dict.fromkeys(
        (better_rotation(stretch, period, rules.odd), (int(stretch.index[-1]) + 1) % period)
    )
    tried = [_rotated(sequence, found, layer, rotation) for rotation in rotations]
    if len(tried) == 1:
        return tried[0]

    def layers(each: Repeats) -> int:
        return sum(block.repeats for block in blocks_of(sequence, each, Kinds(), options))

    return max(tried, key=layers)


def _rotated(sequence: Sequence, found: Repeats, layer: Sequence, rotation: int) -> Repeats:
    regions = regions_of(sequence.codes, np.roll(layer.codes, -rotation)) if rotation else ()
    return Repeats(found.period, regions) if regions else found


def seeded(sequence: Sequence, options: AnalysisOptions) -> Repeats | None:
    """Layers of which only two in a row are alike, where following them finds more over half of the step."""
    pair = RepeatRules(2, options.layer_alone_min_kernels, 0.0)
    found = find_repeats(sequence.codes, pair, sequence.kinds)
    return None if found is None else _enough(sequence, found, options.layer_pair_share, options)


def by_pattern(sequence: Sequence, pattern: Codes, options: AnalysisOptions) -> Repeats | None:
    """Layers of a step in which those known from another step stand, however many are alike in a row."""
    if len(pattern) < options.layer_alone_min_kernels:
        return None
    regions = regions_of(sequence.codes, pattern)
    if not regions:
        return None
    return _enough(sequence, Repeats(len(pattern), regions), options.layer_min_share, options)


def _enough(sequence: Sequence, found: Repeats, share: float, options: AnalysisOptions) -> Repeats | None:
    blocks = stack(sequence, found, options)
    layers = sum(block.repeats for block in blocks)
    covered = sum(block.end - block.start for block in blocks)
    return found if layers >= options.layer_min_repeats and covered >= share * len(sequence) else None


def _gaps(blocks: list[Block], length: int) -> Iterator[slice]:
    """What lies before, between and behind the blocks."""
    done = 0
    for block in blocks:
        if block.start > done:
            yield slice(done, block.start)
        done = block.end
    if done < length:
        yield slice(done, length)


def _alone(sequence: Sequence, layer: Sequence, gap: slice) -> list[Block]:
    """Where the whole layer stands in a gap; once with other shapes, where its types stand there once."""
    inside = sequence.part(gap)
    regions = regions_of(inside.codes, layer.codes)
    if not regions:
        by_type = regions_of(inside.types, layer.types)
        regions = by_type if sum(each.repeats for each in by_type) == 1 else ()
    return [Block(gap.start + each.start, each.repeats, len(layer), 0) for each in regions]


def _near_alone(sequence: Sequence, layer: Sequence, gap: slice, options: AnalysisOptions) -> list[Block]:
    """A layer with an odd kernel in a gap: known by half of its kernels in a row, followed from there."""
    period, inside = len(layer), sequence.part(gap)
    if not period // 2 <= len(inside) <= options.layer_gap_layers * period:
        return []
    at, position, length = longest_common(inside.codes, layer.codes)
    if 2 * length < period:
        return []
    rules = near_rules(period, options)
    begun = Sequence(*(np.roll(each, -position) for each in (layer.codes, layer.types)))
    stretch = follow(inside, begun, slice(at, at + length), slice(0, len(inside)), rules)
    stretch = replace(stretch, index=stretch.index + position)
    cut = whole_layers(stretch, period, rules.odd)
    if cut is None:
        return []
    repeats = int(cut.index[-1]) // period + 1
    return [Block(gap.start + cut.start, repeats, period, 0, cut.index, cut.odd)]


def _other_kind(inside: Sequence, layer: Sequence, kinds: Kinds, options: AnalysisOptions) -> list[Block]:
    """Layers of another kind in a gap: at least two, of kernels that mostly stand in the main layer too.

    That share tells a dense layer, whose attention is that of the others, from a loop of the preparation.
    Starts count from the beginning of the gap.
    """
    found = find_repeats(inside.codes, RepeatRules(2, options.layer_alone_min_kernels, 0.0))
    if found is None:
        return []
    first = found.regions[0].start
    pattern = inside.types[first : first + found.period]
    if np.isin(pattern, layer.types).mean() < options.layer_kin_share:
        return []
    offset = kinds.offset_of(pattern)
    return [Block(region.start, region.repeats, found.period, offset) for region in found.regions]


def _leading(inside: Sequence, layer: Sequence, kinds: Kinds, options: AnalysisOptions) -> list[Block]:
    """A single layer of another kind right before the stack, which tells where it ends.

    It begins where the kernels that it shares with the stack's layers, in their order, say that those begin.
    Most of its kernels are of types that those have too; it multiplies by weights both in what it shares and
    in what it does not.
    """
    period, length = len(layer), len(inside)
    tail = max(0, length - 2 * period)
    may_lack = near_rules(period, options).odd
    at, position, shared = longest_common(inside.codes[tail:], layer.codes, may_lack + 1)
    start = tail + at - position
    own = length - start
    if start < 0 or shared < options.layer_kin_run:
        return []
    rest = slice(tail + at + shared, length)
    if not options.layer_alone_min_kernels <= own <= 2 * period or rest.start == rest.stop:
        return []
    if inside.kinds is not None and not (
        like_a_layer(inside.kinds[start : rest.start]) and like_a_layer(inside.kinds[rest])
    ):
        return []
    pattern = inside.types[start:]
    if np.isin(pattern, layer.types).mean() < options.layer_kin_share:
        return []
    return [Block(start, 1, own, kinds.offset_of(pattern))]
