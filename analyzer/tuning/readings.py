"""What one experiment says about its size and place, and which of several sizes is enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .records import Experiment

GAIN, NONE, HARM, UNCLEAR = "gain", "none", "harm", "unclear"
SEVERE, MOVED, BROKEN = "severe", "moved", "broken"

# What a reading is, for people.
MEANING = {
    GAIN: "faster beyond noise",
    NONE: "no gain beyond noise",
    HARM: "slower: the target, its window or the step",
    SEVERE: "the window got much slower",
    MOVED: "the waiting only moved, or another stream got a longer tail",
    BROKEN: "the outputs differ",
    UNCLEAR: "too noisy to tell",
}


def reading(each: Experiment) -> str:
    """One of GAIN, NONE, HARM, SEVERE, MOVED, BROKEN, UNCLEAR; what speaks against it comes first."""
    facts = set(each.facts)
    gain, noise = each.gain_pct, each.noise_pct
    if "outputs_differ" in facts:
        return BROKEN
    if "window_severe" in facts:
        return SEVERE
    if facts & {"step_slower", "target_slower", "window_worse"}:
        return HARM
    if {"target_not_faster", "window_slower"} <= facts or (gain is not None and gain < -noise):
        return HARM
    if "tail_longer" in facts or {"target_faster", "step_not_faster", "waits_longer"} <= facts:
        return MOVED
    if gain is None:
        return UNCLEAR
    if gain > noise:
        return GAIN
    # Nothing was won if even the upper end of the interval is too small to count.
    return NONE if gain + each.half_width_pct <= each.floor_pct else UNCLEAR


def latest(experiments: Iterable[Experiment]) -> list[Experiment]:
    """The last experiment of each size and place: a repeat with more steps replaces what it repeats."""
    found: dict[tuple[int, str | None], Experiment] = {}
    for each in experiments:
        found[each.max_size, each.dependency] = each
    return sorted(found.values(), key=lambda each: each.experiment_id)


def best(experiments: Iterable[Experiment]) -> Experiment | None:
    """The experiment with the largest gain; None where none is one."""
    gained = [each for each in latest(experiments) if reading(each) == GAIN]
    return max(gained, key=lambda each: each.gain_pct or 0.0, default=None)


def knee(experiments: Sequence[Experiment]) -> Experiment | None:
    """The smallest size whose gain is not beyond noise below the largest one: more bytes bring no more.

    Over several places the earlier one wins among equal sizes. None where nothing gained.
    """
    top = best(experiments)
    if top is None:
        return None
    equal = [each for each in latest(experiments) if reading(each) == GAIN and not each.apart(top)]
    return min(equal, key=lambda each: (each.max_size, each.experiment_id))
