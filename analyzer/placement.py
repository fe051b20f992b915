"""Place of every kernel in the steps of one rank: which layer, which position; pure, without a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .options import AnalysisOptions
from .repeats import Codes, RepeatRules, Repeats, find_repeats, nested_repeats, repeats_at

PARTS = ("before", "layer", "between", "after", "side")
BEFORE, LAYER, BETWEEN, AFTER, SIDE = range(len(PARTS))
UNPLACED = -1


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


def _unplaced(length: int) -> Placement:
    return Placement(
        np.full(length, UNPLACED, np.int8),
        np.full(length, UNPLACED, np.int32),
        np.full(length, UNPLACED, np.int32),
    )


def place(sequence: StepSequence, found: Repeats | None, main_only: bool) -> Placement:
    """Turn repeats into part, layer and position.

    With `main_only` the repeats are those of the main stream, and every other kernel is part 'side'.
    """
    if not main_only:
        return _place_all(len(sequence.codes), found)
    whole = _unplaced(len(sequence.codes))
    if found is None:
        return whole
    inner = _place_all(int(sequence.main.sum()), found)
    whole.part[:] = SIDE
    whole.part[sequence.main] = inner.part
    whole.layer[sequence.main] = inner.layer
    whole.position[sequence.main] = inner.position
    return whole


def _place_all(length: int, found: Repeats | None) -> Placement:
    placed = _unplaced(length)
    if found is None:
        return placed
    part, layer, position = placed.part, placed.layer, placed.position
    done, layers_before = 0, 0
    for region in found.regions:
        part[done : region.start] = BETWEEN if layers_before else BEFORE
        position[done : region.start] = np.arange(region.start - done)
        kernels = region.repeats * found.period
        done = region.start + kernels
        index = np.arange(kernels)
        part[region.start : done] = LAYER
        layer[region.start : done] = layers_before + index // found.period
        position[region.start : done] = index % found.period
        layers_before += region.repeats
    part[done:] = AFTER
    position[done:] = np.arange(length - done)
    return placed


def place_steps(steps: Sequence[StepSequence], options: AnalysisOptions) -> list[Placement]:
    """Place the kernels of all steps of one rank, each distinct sequence once.

    All streams together when their order repeats; only the main stream when the others interleave in varying
    order, which shows as fewer covered kernels.
    """
    groups: dict[bytes, list[int]] = {}
    for number, step in enumerate(steps):
        groups.setdefault(step.codes.tobytes() + step.main.tobytes(), []).append(number)
    ordered = sorted(groups.values(), key=lambda members: (-len(members), members[0]))
    probe = ordered[: options.layer_sequences_probed]
    covered = {
        main_only: sum(
            len(members) * (found.covered if found else 0)
            for members, found in zip(probe, _repeats_of(steps, probe, main_only, options), strict=True)
        )
        for main_only in (False, True)
    }
    main_only = covered[True] > covered[False]
    placements: list[Placement | None] = [None] * len(steps)
    for members, found in zip(ordered, _repeats_of(steps, ordered, main_only, options), strict=True):
        placement = place(steps[members[0]], found, main_only)
        for member in members:
            placements[member] = placement
    return [each for each in placements if each is not None]


def _repeats_of(
    steps: Sequence[StepSequence], groups: Sequence[list[int]], main_only: bool, options: AnalysisOptions
) -> list[Repeats | None]:
    """Repeats of each group of equal steps; later groups are tried with the first one's period first.

    All groups get the rotation of the first that repeats, so that a position means the same in every step.
    """
    results: list[Repeats | None] = []
    reference: tuple[Repeats, Codes, Codes] | None = None
    for members in groups:
        step = steps[members[0]]
        codes, types = (
            (step.codes[step.main], step.types[step.main]) if main_only else (step.codes, step.types)
        )
        found = _with_reference(codes, types, reference, options)
        if found is not None and reference is None:
            head = found.regions[0].start
            pattern = slice(head, head + found.period)
            reference = (found, codes[pattern], types[pattern])
        results.append(found)
    return results


def _with_reference(
    codes: Codes, types: Codes, reference: tuple[Repeats, Codes, Codes] | None, options: AnalysisOptions
) -> Repeats | None:
    rules = RepeatRules(options.layer_min_repeats, options.layer_min_kernels, options.layer_min_share)
    if reference is None:
        return layer_repeats(codes, options)
    known, codes_pattern, types_pattern = reference
    # shapes may change from step to step (a growing KV length): then only the types give the rotation
    same = np.isin(codes_pattern, codes).all()
    labels, pattern = (codes, codes_pattern) if same else (types, types_pattern)
    found = repeats_at(codes, known.period, rules, labels, pattern)
    if found is not None and found.layers >= known.layers:
        return found
    other = layer_repeats(codes, options)
    if other is None or (found is not None and found.covered >= other.covered):
        return found
    return repeats_at(codes, other.period, rules, labels, pattern) or other


def layer_repeats(codes: Codes, options: AnalysisOptions) -> Repeats | None:
    """Find the layers of one step: at least three repeats, else two that cover half of it, else None."""
    rules = RepeatRules(options.layer_min_repeats, options.layer_min_kernels, options.layer_min_share)
    found = find_repeats(codes, rules)
    if found is None:
        return find_repeats(codes, RepeatRules(2, options.layer_min_kernels, options.layer_pair_share))
    nested = RepeatRules(options.layer_nested_repeats, options.layer_min_kernels, options.layer_pair_share)
    return nested_repeats(codes, found, nested) or found
