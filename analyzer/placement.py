"""Place of every kernel in the steps of one rank: which layer, which position; pure, without a database."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Listed
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .near_layers import Sequence
from .options import AnalysisOptions
from .other_layers import Block, Kinds, blocks_of, by_pattern, seeded, turned
from .repeats import Codes, RepeatRules, Repeats, find_repeats, nested_repeats, repeats_at

PARTS = ("before", "layer", "between", "after", "side", "odd")
BEFORE, LAYER, BETWEEN, AFTER, SIDE, ODD = range(len(PARTS))
UNPLACED = -1

# Which kernels the layers are looked for in, tried in this order: every stream; the main stream and the
# collectives (which have streams of their own, but wait for the main one); the main stream alone.
EVERY_STREAM, WITH_COLLECTIVES, MAIN_STREAM = LANES = range(3)


@dataclass(frozen=True)
class Placement:
    """Place of every kernel of one sequence; UNPLACED stands for NULL."""

    part: NDArray[np.int8]  # index into PARTS
    layer: NDArray[np.int32]
    position: NDArray[np.int32]


@dataclass(frozen=True)
class StepSequence:
    """The counted kernels of one step in start order; integers of any width."""

    codes: NDArray[Any]  # one integer per signature
    types: NDArray[Any]  # one integer per operator type and core
    main: NDArray[np.bool_]  # on the stream with the most AI-core time
    collective: NDArray[np.bool_]
    kinds: NDArray[Any] | None = None  # KIND_* of repeats; None = nothing is known of the types
    # UNPLACED = no stream; None = nothing is known but which is the main one
    streams: NDArray[Any] | None = None

    def digest(self) -> bytes:
        """Equal for steps that are placed alike; whole sequences as keys would hold all kernels once more."""
        streams = () if self.streams is None else (self.streams,)
        return blake2b(b"".join(each.tobytes() for each in (self.codes, self.main, *streams))).digest()

    def wide(self) -> StepSequence:
        """The same in the integers that the search for repeats works in."""
        kinds, streams = (
            None if each is None else each.astype(np.int64) for each in (self.kinds, self.streams)
        )
        return replace(
            self,
            codes=self.codes.astype(np.int64),
            types=self.types.astype(np.int64),
            kinds=kinds,
            streams=streams,
        )

    def lane(self, lane: int) -> NDArray[np.bool_]:
        """The kernels of one of LANES."""
        if lane == EVERY_STREAM:
            return np.ones(len(self.codes), dtype=bool)
        return self.main | self.collective if lane == WITH_COLLECTIVES else self.main

    def inside(self, chosen: NDArray[np.bool_]) -> Sequence:
        """Some of its kernels, as a sequence of their own."""
        kinds = None if self.kinds is None else self.kinds[chosen]
        return Sequence(self.codes[chosen], self.types[chosen], kinds)


@dataclass
class AllKinds:
    """Kinds of layers of all steps: those of the lane, and those of streams beside it."""

    lane: Kinds
    beside: Kinds

    @classmethod
    def none(cls) -> AllKinds:
        """Before the first step."""
        return cls(Kinds(), Kinds())


def _unplaced(length: int) -> Placement:
    return Placement(
        np.full(length, UNPLACED, np.int8),
        np.full(length, UNPLACED, np.int32),
        np.full(length, UNPLACED, np.int32),
    )


def place(
    sequence: StepSequence, found: Repeats | None, lane: int, kinds: AllKinds, options: AnalysisOptions
) -> Placement:
    """Turn repeats into part, layer and position; kernels outside the lane are part 'side'.

    found: repeats among the kernels of the lane; with None nothing is placed, the side neither. kinds: the
    kinds of layers of all steps, to which those of this step are added. Kernels of a stream beside the lane
    that has as many layers as the lane get their layer and a position among the kernels beside.
    """
    if found is None:
        return _unplaced(len(sequence.codes))
    inside = sequence.lane(lane)
    blocks = blocks_of(sequence.inside(inside), found, kinds.lane, options)
    inner = _place_all(int(inside.sum()), blocks)
    whole = _unplaced(len(sequence.codes))
    whole.part[:] = SIDE
    whole.part[inside] = inner.part
    whole.layer[inside] = inner.layer
    whole.position[inside] = inner.position
    if sequence.streams is not None and not inside.all():
        for stream in np.unique(sequence.streams[~inside]).tolist():
            if stream != UNPLACED:
                _join(sequence, (sequence.streams == stream) & ~inside, stream, whole, kinds.beside, options)
    return whole


def _join(
    sequence: StepSequence,
    chosen: NDArray[np.bool_],
    stream: int,
    whole: Placement,
    kinds: Kinds,
    options: AnalysisOptions,
) -> None:
    """Give the kernels of one stream beside the lane their layers: its own repeats, joined by time.

    Only where the stream alone repeats a whole number of times per layer of the lane, in one stretch, and at
    least half of its layers run while theirs does: then its n-th layer is that of the lane.
    """
    in_layers = np.flatnonzero(whole.part == LAYER)
    layers = int(whole.layer.max()) + 1
    if layers < options.layer_min_repeats:
        return
    codes = sequence.codes[chosen]
    found = find_repeats(codes, RepeatRules(layers, 1, options.layer_pair_share))
    if found is None or len(found.regions) != 1 or found.layers % layers:
        return
    period = found.period * (found.layers // layers)
    start = found.regions[0].start
    index = np.flatnonzero(chosen)[start : start + layers * period]
    number = np.arange(len(index)) // period
    # the layer of the lane that runs when a kernel starts: that of the last kernel before it
    last = np.searchsorted(in_layers, index) - 1
    meanwhile = np.where(last < 0, 0, whole.layer[in_layers[np.maximum(last, 0)]])
    meets = np.bincount(number, weights=np.abs(meanwhile - number) <= 1, minlength=layers) > 0
    if meets.mean() < options.layer_pair_share:
        return
    pattern = sequence.types[index[:period]]
    whole.layer[index] = number
    whole.position[index] = kinds.offset_of(pattern, stream) + np.arange(len(index)) % period


def _place_all(length: int, blocks: Listed[Block]) -> Placement:
    placed = _unplaced(length)
    part, layer, position = placed.part, placed.layer, placed.position
    done, layers_before = 0, 0
    for block in blocks:
        part[done : block.start] = BETWEEN if layers_before else BEFORE
        position[done : block.start] = np.arange(block.start - done)
        done = block.end
        inside = slice(block.start, done)
        index = np.arange(block.repeats * block.period) if block.index is None else block.index
        part[inside] = LAYER
        layer[inside] = layers_before + index // block.period
        position[inside] = block.offset + index % block.period
        if block.odd is not None:
            part[inside][block.odd] = ODD
            position[inside][block.odd] = UNPLACED
        layers_before += block.repeats
    part[done:] = AFTER
    position[done:] = np.arange(length - done)
    return placed


def place_steps(steps: Listed[StepSequence], options: AnalysisOptions) -> list[Placement]:
    """Place the kernels of all steps of one rank, each distinct sequence once.

    All streams together when their order repeats; fewer when the others interleave in varying order, which
    shows as fewer kernels with a layer.
    """
    groups: dict[bytes, list[int]] = {}
    for number, step in enumerate(steps):
        groups.setdefault(step.digest(), []).append(number)
    ordered = sorted(groups.values(), key=lambda members: (-len(members), members[0]))
    placements: list[Placement] = [_unplaced(0)] * len(steps)
    first = {members[0]: steps[members[0]].wide() for members in ordered}
    for members, placement in zip(ordered, _best_placed(first, ordered, options), strict=True):
        for member in members:
            placements[member] = placement
    return placements


def _best_placed(
    steps: Mapping[int, StepSequence], groups: Listed[list[int]], options: AnalysisOptions
) -> list[Placement]:
    """Placement of each group in the lane in which most kernels get a place in a layer; of equals with most
    streams.
    """
    if all(steps[members[0]].main.all() for members in groups):
        return _placed(steps, groups, EVERY_STREAM, options)
    probed = groups[: options.layer_sequences_probed]
    tried = [_placed(steps, probed, lane, options) for lane in LANES]

    def covered(lane: int) -> int:
        inside = zip(probed, tried[lane], strict=True)
        # an odd kernel has no position: streams that change places are better apart than odd
        return sum(
            len(members) * int(((each.layer >= 0) & (each.position >= 0)).sum()) for members, each in inside
        )

    best = max(LANES, key=lambda lane: (covered(lane), -lane))
    return tried[best] if len(probed) == len(groups) else _placed(steps, groups, best, options)


def _placed(
    steps: Mapping[int, StepSequence], groups: Listed[list[int]], lane: int, options: AnalysisOptions
) -> list[Placement]:
    kinds = AllKinds.none()
    return [
        place(steps[members[0]], found, lane, kinds, options)
        for members, found in zip(groups, _repeats_of(steps, groups, lane, options), strict=True)
    ]


@dataclass(frozen=True)
class _Reference:
    """The layer of the first group of steps that has one: its repeats, and one period."""

    found: Repeats
    layer: Sequence


def _repeats_of(
    steps: Mapping[int, StepSequence], groups: Listed[list[int]], lane: int, options: AnalysisOptions
) -> list[Repeats | None]:
    """Repeats of each group of equal steps; later groups are tried with the first one's period first.

    All groups get the rotation of the first that repeats, so that a position means the same in every step.
    """
    known: dict[bytes, Repeats | None] = {}  # steps that differ only outside the lane
    results: list[Repeats | None] = []
    reference: _Reference | None = None
    for members in groups:
        step = steps[members[0]]
        sequence = step.inside(step.lane(lane))
        key = sequence.codes.tobytes()
        if key not in known:
            known[key] = (
                _first(sequence, options)
                if reference is None
                else _with_reference(sequence, reference, options)
            )
        found = known[key]
        if found is not None and reference is None:
            head = found.regions[0].start
            reference = _Reference(found, sequence.part(slice(head, head + found.period)))
        results.append(found)
    return results


def _first(sequence: Sequence, options: AnalysisOptions) -> Repeats | None:
    """The layers of the first group of steps, in the rotation that all others get."""
    found = layer_repeats(sequence.codes, options, sequence.kinds)
    found = found or seeded(sequence, options)
    if found is not None:
        return turned(sequence, found, options)
    return near_repeats(sequence.types, options, sequence.kinds)


def _with_reference(sequence: Sequence, reference: _Reference, options: AnalysisOptions) -> Repeats | None:
    rules = RepeatRules(options.layer_min_repeats, options.layer_min_kernels, options.layer_min_share)
    codes, types, known = sequence.codes, sequence.types, reference.found
    # shapes may change from step to step (a growing KV length): then only the types give the rotation
    same = np.isin(reference.layer.codes, codes).all()
    labels, pattern = (codes, reference.layer.codes) if same else (types, reference.layer.types)
    found = repeats_at(codes, known.period, rules, labels, pattern)
    if found is not None and found.layers >= known.layers:
        return found
    near = by_pattern(sequence, reference.layer.codes, options) if same else None
    if near is not None and (found is None or near.covered >= found.covered):
        return near
    other = layer_repeats(codes, options, sequence.kinds)
    if other is None and found is None:
        by_type = repeats_at(types, known.period, rules, types, reference.layer.types)
        return by_type or near_repeats(types, options, sequence.kinds)
    if other is None or (found is not None and found.covered >= other.covered):
        return found
    return repeats_at(codes, other.period, rules, labels, pattern) or other


def near_repeats(types: Codes, options: AnalysisOptions, kinds: Codes | None = None) -> Repeats | None:
    """Layers of equal operator types whose shapes differ, as where kinds of attention alternate.

    Asked only where no sequence of signatures repeats; types are few, so they must cover half of the step.
    """
    rules = RepeatRules(options.layer_min_repeats, options.layer_alone_min_kernels, options.layer_pair_share)
    return find_repeats(types, rules, kinds)


def layer_repeats(codes: Codes, options: AnalysisOptions, kinds: Codes | None = None) -> Repeats | None:
    """Find the layers of one step: at least three repeats, else two that cover half of it, else None.

    `kinds` says what each kernel is to a layer (KIND_* of repeats): chance repeats of known kernels are none.
    """
    rules = RepeatRules(options.layer_min_repeats, options.layer_min_kernels, options.layer_min_share)
    found = find_repeats(codes, rules, kinds)
    if found is None:
        pair = RepeatRules(2, options.layer_min_kernels, options.layer_pair_share)
        return find_repeats(codes, pair, kinds)
    nested = RepeatRules(options.layer_nested_repeats, options.layer_min_kernels, options.layer_pair_share)
    return nested_repeats(codes, found, nested, kinds) or found
