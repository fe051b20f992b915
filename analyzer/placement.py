"""Place of every kernel in the steps of one rank: which layer, which position; pure, without a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .options import AnalysisOptions
from .other_layers import Block, Kinds, blocks_of
from .repeats import Codes, RepeatRules, Repeats, find_repeats, nested_repeats, repeats_at

PARTS = ("before", "layer", "between", "after", "side")
BEFORE, LAYER, BETWEEN, AFTER, SIDE = range(len(PARTS))
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
    """The counted kernels of one step in start order."""

    codes: Codes  # one integer per signature
    types: Codes  # one integer per operator type and core
    main: NDArray[np.bool_]  # on the stream with the most AI-core time
    collective: NDArray[np.bool_]
    kinds: Codes | None = None  # KIND_* of repeats; None = nothing is known of the types

    def lane(self, lane: int) -> NDArray[np.bool_]:
        """The kernels of one of LANES."""
        if lane == EVERY_STREAM:
            return np.ones(len(self.codes), dtype=bool)
        return self.main | self.collective if lane == WITH_COLLECTIVES else self.main


def _unplaced(length: int) -> Placement:
    return Placement(
        np.full(length, UNPLACED, np.int8),
        np.full(length, UNPLACED, np.int32),
        np.full(length, UNPLACED, np.int32),
    )


def place(
    sequence: StepSequence, found: Repeats | None, lane: int, kinds: Kinds, options: AnalysisOptions
) -> Placement:
    """Turn repeats into part, layer and position; kernels outside the lane are part 'side'.

    found: repeats among the kernels of the lane; with None nothing is placed, the side neither. kinds: the
    kinds of layers of all steps, to which those of this step are added.
    """
    if found is None:
        return _unplaced(len(sequence.codes))
    inside = sequence.lane(lane)
    blocks = blocks_of(sequence.codes[inside], sequence.types[inside], found, kinds, options)
    inner = _place_all(int(inside.sum()), blocks)
    whole = _unplaced(len(sequence.codes))
    whole.part[:] = SIDE
    whole.part[inside] = inner.part
    whole.layer[inside] = inner.layer
    whole.position[inside] = inner.position
    return whole


def _place_all(length: int, blocks: Sequence[Block]) -> Placement:
    placed = _unplaced(length)
    part, layer, position = placed.part, placed.layer, placed.position
    done, layers_before = 0, 0
    for block in blocks:
        part[done : block.start] = BETWEEN if layers_before else BEFORE
        position[done : block.start] = np.arange(block.start - done)
        done = block.end
        index = np.arange(block.repeats * block.period)
        part[block.start : done] = LAYER
        layer[block.start : done] = layers_before + index // block.period
        position[block.start : done] = block.offset + index % block.period
        layers_before += block.repeats
    part[done:] = AFTER
    position[done:] = np.arange(length - done)
    return placed


def place_steps(steps: Sequence[StepSequence], options: AnalysisOptions) -> list[Placement]:
    """Place the kernels of all steps of one rank, each distinct sequence once.

    All streams together when their order repeats; fewer when the others interleave in varying order, which
    shows as fewer covered kernels.
    """
    groups: dict[bytes, list[int]] = {}
    for number, step in enumerate(steps):
        groups.setdefault(step.codes.tobytes() + step.main.tobytes(), []).append(number)
    ordered = sorted(groups.values(), key=lambda members: (-len(members), members[0]))
    lane = _best_lane(steps, ordered[: options.layer_sequences_probed], options)
    placements: list[Placement] = [_unplaced(0)] * len(steps)
    kinds = Kinds()
    for members, found in zip(ordered, _repeats_of(steps, ordered, lane, options), strict=True):
        placement = place(steps[members[0]], found, lane, kinds, options)
        for member in members:
            placements[member] = placement
    return placements


def _best_lane(steps: Sequence[StepSequence], groups: Sequence[list[int]], options: AnalysisOptions) -> int:
    """The lane whose layers hold most kernels; of equals the one with most streams."""

    def covered(lane: int) -> int:
        found = _repeats_of(steps, groups, lane, options)
        return sum(len(members) * each.covered for members, each in zip(groups, found, strict=True) if each)

    return max(LANES, key=lambda lane: (covered(lane), -lane))


def _repeats_of(
    steps: Sequence[StepSequence], groups: Sequence[list[int]], lane: int, options: AnalysisOptions
) -> list[Repeats | None]:
    """Repeats of each group of equal steps; later groups are tried with the first one's period first.

    All groups get the rotation of the first that repeats, so that a position means the same in every step.
    """
    known: dict[bytes, Repeats | None] = {}  # steps that differ only outside the lane
    results: list[Repeats | None] = []
    reference: tuple[Repeats, Codes, Codes] | None = None
    for members in groups:
        step = steps[members[0]]
        inside = step.lane(lane)
        codes, types = step.codes[inside], step.types[inside]
        kinds = None if step.kinds is None else step.kinds[inside]
        key = codes.tobytes()
        if key not in known:
            known[key] = _with_reference(codes, types, kinds, reference, options)
        found = known[key]
        if found is not None and reference is None:
            head = found.regions[0].start
            pattern = slice(head, head + found.period)
            reference = (found, codes[pattern], types[pattern])
        results.append(found)
    return results


def _with_reference(
    codes: Codes,
    types: Codes,
    kinds: Codes | None,
    reference: tuple[Repeats, Codes, Codes] | None,
    options: AnalysisOptions,
) -> Repeats | None:
    rules = RepeatRules(options.layer_min_repeats, options.layer_min_kernels, options.layer_min_share)
    if reference is None:
        return layer_repeats(codes, options, kinds) or near_repeats(types, options, kinds)
    known, codes_pattern, types_pattern = reference
    # shapes may change from step to step (a growing KV length): then only the types give the rotation
    same = np.isin(codes_pattern, codes).all()
    labels, pattern = (codes, codes_pattern) if same else (types, types_pattern)
    found = repeats_at(codes, known.period, rules, labels, pattern)
    if found is not None and found.layers >= known.layers:
        return found
    other = layer_repeats(codes, options, kinds)
    if other is None and found is None:
        by_type = repeats_at(types, known.period, rules, types, types_pattern)
        return by_type or near_repeats(types, options, kinds)
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
