"""Exact repeats in a sequence of kernel codes: the arithmetic behind layers, without a database.

Everything here is numpy over whole sequences. Loops run over candidate periods (some dozens) and over
uninterrupted stretches of repeats (one per forward pass), never over kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]

CANDIDATE_PERIODS = 64  # distances tried; the true one is among the most common as soon as one kernel of a
# layer is unlike the others, and 64 passes over a million codes stay below half a second
LOOK_BACK = 4  # distance to the 1st..4th earlier occurrence: in A A B B the period shows only at the 2nd

ROTATIONS = 8  # stretches of one model differ in what chance puts before them; more is not one loop


# What a kernel can be to a layer. Every layer of a model multiplies by its weights or attends, and does
# something else between (a norm, an activation): a stretch of known kernels without both is a loop or chance.
KIND_UNKNOWN, KIND_MATMUL, KIND_OTHER = range(3)


@dataclass(frozen=True)
class RepeatRules:
    """When a repeat counts as the layer of a model."""

    min_repeats: int  # whole periods in a row, at least 2
    min_period: int  # kernels; shorter repeats are loops inside a layer
    min_share: float  # of the sequence that the repeats must cover, 0..1


@dataclass(frozen=True)
class Region:
    """An uninterrupted stretch of whole periods: `start` is an index, `repeats` a number of periods."""

    start: int
    repeats: int


@dataclass(frozen=True)
class Repeats:
    """The repeating part of a sequence; all regions hold the same pattern in the same rotation."""

    period: int  # kernels
    regions: tuple[Region, ...]  # ascending, disjoint

    @property
    def covered(self) -> int:
        """Kernels inside whole periods."""
        return self.period * sum(region.repeats for region in self.regions)

    @property
    def layers(self) -> int:
        """Whole periods, over all regions."""
        return sum(region.repeats for region in self.regions)


def find_repeats(codes: Codes, rules: RepeatRules, kinds: Codes | None = None) -> Repeats | None:
    """Find the period that covers most of the sequence exactly, ties to the shortest.

    codes: one integer per kernel in start order, equal for equal kinds of work; kinds: one of the KIND_* per
    kernel, with which a period must be like a layer. Returns None when nothing satisfies `rules`. Cost is
    linear in the number of kernels.
    """
    best: Repeats | None = None
    for period in candidate_periods(codes, rules):
        found = repeats_at(codes, period, rules)
        if found is None or (best is not None and found.covered <= best.covered):
            continue
        head = found.regions[0].start
        if kinds is None or like_a_layer(kinds[head : head + period]):
            best = found
    return best


def like_a_layer(kinds: Codes) -> bool:
    """Whether one period may be a layer: matmul or attention, and something else; unknown kernels may be
    either.
    """
    return all(np.isin((wanted, KIND_UNKNOWN), kinds).any() for wanted in (KIND_MATMUL, KIND_OTHER))


def candidate_periods(codes: Codes, rules: RepeatRules) -> list[int]:
    """Periods worth trying, ascending: the most common distances between equal codes."""
    longest = len(codes) // max(rules.min_repeats, 2)
    if longest < rules.min_period:
        return []
    order = np.argsort(codes, kind="stable")
    sorted_codes = codes[order]
    distances = [
        (order[back:] - order[:-back])[sorted_codes[back:] == sorted_codes[:-back]]
        for back in range(1, min(LOOK_BACK, len(codes) - 1) + 1)
    ]
    counts = np.bincount(np.concatenate(distances), minlength=longest + 1)[: longest + 1]
    counts[: rules.min_period] = 0
    keep = min(CANDIDATE_PERIODS, int(np.count_nonzero(counts)))
    # negative index as second key: of equally common distances the shorter is tried
    common = np.lexsort((np.arange(len(counts)), -counts))[:keep]
    return sorted(int(period) for period in common)


def repeats_at(
    codes: Codes, period: int, rules: RepeatRules, labels: Codes | None = None, pattern: Codes | None = None
) -> Repeats | None:
    """Find where the sequence repeats with exactly this period.

    `pattern` is one period in the wanted rotation, in terms of `labels` (one per kernel); stretches that
    hold it start there. Without, or when nothing holds it, the rotation is the one that leaves most whole
    periods, ties to the first: position 0 is then the first kernel that repeats. Returns None when `rules`
    fail.
    """
    if period < 1 or period * max(rules.min_repeats, 2) > len(codes):
        return None
    starts, lengths = _stretches(codes, period, rules.min_repeats)
    if len(starts) == 0:
        return None
    starts, lengths = _same_content(codes, period, starts, lengths)
    if labels is not None and pattern is not None:
        found = _regions(labels, pattern, starts, lengths, rules)
        if found is not None:
            return found if found.covered >= rules.min_share * len(codes) else None
    best: Repeats | None = None
    for rotation in _rotations(codes, period, starts):
        found = _regions(codes, rotation, starts, lengths, rules)
        if found is not None and (best is None or found.covered > best.covered):
            best = found
    return best if best and best.covered >= rules.min_share * len(codes) else None


def _rotations(codes: Codes, period: int, starts: Codes) -> list[Codes]:
    """The distinct first periods of the stretches, in order of appearance."""
    heads = {codes[start : start + period].tobytes(): start for start in reversed(starts.tolist())}
    firsts = sorted(heads.values())[:ROTATIONS]
    return [codes[start : start + period] for start in firsts]


def _regions(
    labels: Codes, pattern: Codes, starts: Codes, lengths: Codes, rules: RepeatRules
) -> Repeats | None:
    """Cut each stretch into whole periods that begin with the pattern; None when no stretch holds it."""
    period = len(pattern)
    regions: list[Region] = []
    free_from = 0  # stretches of one period may overlap by up to period - 1 kernels
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        first = _aligned(labels, max(start, free_from), pattern)
        repeats = 0 if first is None else (start + length - first) // period
        if first is not None and repeats >= rules.min_repeats:
            regions.append(Region(first, repeats))
            free_from = first + repeats * period
    return Repeats(period, tuple(regions)) if regions else None


def _stretches(codes: Codes, period: int, min_repeats: int) -> tuple[Codes, Codes]:
    """Start and length of every maximal stretch with at least `min_repeats` whole periods."""
    breaks = np.flatnonzero(codes[period:] != codes[:-period])
    starts = np.concatenate(([0], breaks + 1))
    ends = np.concatenate((breaks, [len(codes) - period]))
    lengths = ends - starts + period  # k equal pairs in a row span k + period kernels
    enough = lengths >= min_repeats * period
    return starts[enough], lengths[enough]


def _same_content(codes: Codes, period: int, starts: Codes, lengths: Codes) -> tuple[Codes, Codes]:
    """Keep the stretches whose period holds the same kernels, in any rotation, as the most covered one."""
    mixed = _mix(codes)
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)))
    content = running[starts + period] - running[starts]  # sum over one period: the same for each rotation
    kinds, which = np.unique(content, return_inverse=True)
    covered = np.bincount(which, weights=lengths, minlength=len(kinds))
    keep = which == np.argmax(covered)
    return starts[keep], lengths[keep]


def _mix(codes: Codes) -> NDArray[np.uint64]:
    """Scatter codes over 64 bits, so that sums of different sets of codes differ (splitmix64)."""
    mixed = codes.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _aligned(labels: Codes, start: int, pattern: Codes) -> int | None:
    """First index within one period from `start` at which the pattern stands; None when there is none."""
    period = len(pattern)
    window = labels[start : start + 2 * period - 1]
    for shift in np.flatnonzero(window[:period] == pattern[0]).tolist():
        if np.array_equal(window[shift : shift + period], pattern):
            return start + shift
    return None


def regions_of(codes: Codes, pattern: Codes) -> tuple[Region, ...]:
    """Everywhere that the whole pattern stands, without overlaps, neighbours as one region; ascending."""
    period = len(pattern)
    starts = np.flatnonzero(codes[: max(0, len(codes) - period + 1)] == pattern[0])
    for offset in range(1, period):
        if len(starts) == 0:
            return ()
        starts = starts[codes[starts + offset] == pattern[offset]]
    if len(starts) and np.diff(starts, append=starts[-1] + period).min() < period:
        free = [int(starts[0])]  # a pattern that overlaps itself, as a loop inside a layer does
        for start in starts[1:].tolist():
            if start >= free[-1] + period:
                free.append(start)
        starts = np.array(free)
    heads = np.flatnonzero(np.diff(starts, prepend=-period - 1) != period)
    counts = np.diff(heads, append=len(starts))
    return tuple(
        Region(start, repeats) for start, repeats in zip(starts[heads].tolist(), counts.tolist(), strict=True)
    )


def nested_repeats(
    codes: Codes, outer: Repeats, rules: RepeatRules, kinds: Codes | None = None
) -> Repeats | None:
    """Look inside one period for the layer, when the period itself is a whole forward pass.

    A capture without step marks repeats once per decode step, and inside that once per layer. `rules` must
    ask for more repeats than a hybrid model alternates kinds of layers (7 : 1 at most in public models),
    so that a real layer is never cut up. Returns the inner repeats over the whole sequence.
    """
    first = outer.regions[0].start
    inside = slice(first, first + outer.period)
    inner = find_repeats(codes[inside], rules, None if kinds is None else kinds[inside])
    if inner is None:
        return None
    head = first + inner.regions[0].start
    whole = RepeatRules(rules.min_repeats, rules.min_period, 0.0)
    return repeats_at(codes, inner.period, whole, codes, codes[head : head + inner.period])
