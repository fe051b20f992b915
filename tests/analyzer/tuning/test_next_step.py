"""The order of tuning: size with the place fixed, place with the size fixed, stacking; never two at once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.analyzer.tuning.next_step import next_step
from npu_roofline.analyzer.tuning.readings import knee, reading
from npu_roofline.analyzer.tuning.records import HEADLINE, Experiment

from tests.analyzer.tuning.made import MIB, WEIGHT, experiment, tuning

FASTER = ("target_known", "target_faster", "window_stable", "outputs_equal")
WORSE = ("target_known", "target_faster", "window_worse", "window_slower")


def proposed(*experiments: Experiment) -> tuple[str, str, float | None, str | None]:
    """Action, stage, size in MiB and place of the next step."""
    found = next_step(tuning(), experiments)
    size = None if found.max_size is None else round(found.max_size / MIB, 3)
    return found.action, found.stage, size, found.dependency


def test_the_first_size_is_half_of_the_weight() -> None:
    """An empty ledger proposes the first size, 50 of 100 MiB, at the first place."""
    assert proposed() == ("try", "size", 50.0, "A")


def test_sizes_go_up_while_they_gain() -> None:
    """50 gains 1.0, 70 gains 1.5: 0.5 more, needed is 0.1 (the floor; hypot(.05, .05) = .07). Then 100 %."""
    first = experiment(1, 50, 1.0, *FASTER)
    assert proposed(first) == ("try", "size", 70.0, "A")
    assert proposed(first, experiment(2, 70, 1.5, *FASTER)) == ("try", "size", 100.0, "A")


def test_a_size_that_brings_no_more_settles_the_size_at_the_smaller() -> None:
    """70 gains 1.05 where 50 gained 1.0: equal within 0.1, so 50 stays and the place is changed next."""
    tried = (experiment(1, 50, 1.0, *FASTER), experiment(2, 70, 1.05, *FASTER))
    assert proposed(*tried) == ("try", "position", 50.0, "B")
    assert knee(tried) == tried[0]


def test_sizes_go_down_while_the_window_pays() -> None:
    """A window that gets worse: 50 -> 30 -> 10 % of the weight, with the place fixed."""
    first = experiment(1, 50, 0.4, *WORSE)
    second = experiment(2, 30, 0.4, *WORSE)
    assert proposed(first) == ("try", "size", 30.0, "A")
    assert proposed(first, second) == ("try", "size", 10.0, "A")


def test_below_the_lowest_rung_the_place_is_changed() -> None:
    """10 % still makes the window worse: the dependency moves, the size stays."""
    tried = [experiment(at, size, 0.4, *WORSE) for at, size in ((1, 50), (2, 30), (3, 10))]
    assert proposed(*tried) == ("try", "position", 10.0, "B")


def test_too_much_above_a_gain_settles_the_size() -> None:
    """50 gains, 70 makes the window worse: 50 is kept and the place comes next."""
    tried = (experiment(1, 50, 1.0, *FASTER), experiment(2, 70, 1.0, *WORSE))
    assert proposed(*tried) == ("try", "position", 50.0, "B")


@pytest.mark.parametrize("fact", ["window_severe", "tail_longer"])
def test_what_size_does_not_mend_moves_the_place(fact: str) -> None:
    """A window much slower, or a longer tail elsewhere: no smaller size, another dependency."""
    assert proposed(experiment(1, 50, 0.4, "target_faster", fact)) == ("try", "position", 50.0, "B")


def test_an_unclear_experiment_is_repeated_once() -> None:
    """A gain of 0.08 +- 0.05 may count (0.1) or not: the same again; then it is no gain, and B is tried."""
    first = experiment(1, 50, 0.08)
    assert reading(first) == "unclear"
    assert proposed(first) == ("repeat", "size", 50.0, "A")
    assert proposed(first, experiment(2, 50, 0.08)) == ("try", "position", 50.0, "B")


def test_outputs_that_differ_stop_everything() -> None:
    """No time is looked at when the results differ."""
    assert proposed(experiment(1, 50, 2.0, *FASTER, "outputs_differ"))[:2] == ("stop", "outputs")


def test_when_no_place_gains_the_target_is_given_up() -> None:
    """All three places bring nothing (0.0 +- 0.05 is below 0.1): stop, nothing is kept."""
    tried = [experiment(at, 50, 0.0, dependency=place) for at, place in ((1, "A"), (2, "B"), (3, "C"))]
    found = next_step(tuning(), tried)
    assert (found.action, found.stage, found.keep) == ("stop", "give_up", None)


def test_a_later_place_that_gains_gets_its_own_sizes() -> None:
    """Nothing at A, a gain at B: B is now the place whose size goes up; C waits."""
    tried = (experiment(1, 50, 0.0), experiment(2, 50, 1.0, *FASTER, dependency="B"))
    assert proposed(*tried) == ("try", "size", 70.0, "B")


def test_a_gain_is_kept_only_with_equal_outputs() -> None:
    """All places tried, 50 at A gains but no outputs were compared: the same again with --outputs."""
    unchecked = ("target_known", "target_faster", "window_stable")
    tried = [experiment(1, 50, 1.0, *unchecked), experiment(2, 70, 1.0, *unchecked)]
    tried += [experiment(at, 50, 0.0, dependency=place) for at, place in ((3, "B"), (4, "C"))]
    found = next_step(tuning(), tried)
    assert (found.action, found.keep, found.max_size) == ("repeat", 1, 50 * MIB)
    assert "--outputs" in found.change


def test_stacking_comes_last() -> None:
    """Size and place settled and accepted: the next candidate beside it; without one, stop and keep."""
    tried = [experiment(1, 50, 1.0, *FASTER), experiment(2, 70, 1.0, *FASTER)]
    tried += [experiment(at, 50, 0.0, dependency=place) for at, place in ((3, "B"), (4, "C"))]
    found = next_step(tuning(others=("c-1234",)), tried)
    assert (found.action, found.stage, found.keep) == ("stack", "stacking", 1)
    assert found.change == "npu-roofline tune start c-1234 --keep w"
    assert next_step(tuning(), tried).stage == "keep"


def test_l2_bounds_the_rungs() -> None:
    """60 MiB are allowed: the rung above 50 is 60, and above it there is none, so the place is next."""
    bounded = tuning(most_bytes=60 * MIB)
    first = experiment(1, 50, 1.0, *FASTER)
    assert next_step(bounded, [first]).max_size == 60 * MIB
    found = next_step(bounded, [first, experiment(2, 60, 1.5, *FASTER)])
    assert (found.stage, found.max_size) == ("position", 60 * MIB)


def headline(number: int, megabytes: int, gain: float) -> Experiment:
    """A quoted gain without an interval: it counts from 0.4 % on, and so does a difference."""
    return experiment(
        number,
        megabytes * 10**6 / MIB,
        gain,
        coefficient=None,
        gain_of=HEADLINE,
        outcome=HEADLINE,
        gain_low_pct=None,
        gain_high_pct=None,
        floor_pct=0.4,
        dependency=None,
    )


def test_the_public_sweep_stops_because_120_falls() -> None:
    """+0.03, +2.05, +2.14, +1.50 %: 2.14 - 1.50 = 0.64 > 0.4 falls; 2.14 - 2.05 = 0.09 is equal: keep 80."""
    sweep = [(10, 0.03), (80, 2.05), (100, 2.14), (120, 1.50)]
    tried = [headline(at, size, gain) for at, (size, gain) in enumerate(sweep, 1)]
    unknown = tuning(weight_bytes=None, first_bytes=None, dependency=None, dependencies=())
    found = next_step(unknown, tried)
    assert (found.action, found.stage, found.keep, found.max_size) == ("stop", "keep", 2, 80 * 10**6)
    assert "at 120 MB (+1.50 %) the gain falls, from +2.14 % at 100 MB" in found.why
    assert "80 MB and 100 MB are equal within noise (0.09 % apart)" in found.why
    assert next_step(unknown, tried[:1]).action == "try"
    assert next_step(unknown, tried[:2]).action == "try"


SIZES = st.sampled_from([10, 30, 50, 70, 100])
FACTS = st.lists(
    st.sampled_from(["target_faster", "window_worse", "window_severe", "tail_longer", "step_slower"]),
    max_size=3,
)
GAINS = st.none() | st.floats(-3, 3)


@given(st.lists(st.tuples(SIZES, st.sampled_from(["A", "B", "C"]), GAINS, FACTS), min_size=1, max_size=8))
def test_never_two_changes_at_once(told: Sequence[tuple[int, str, float | None, list[str]]]) -> None:
    """Whatever was recorded, a proposal shares the size or the place with the experiment it builds on."""
    tried = [
        experiment(at, size, gain, *facts, dependency=place)
        for at, (size, place, gain, facts) in enumerate(told, 1)
    ]
    found = next_step(tuning(), tried)
    assert found.why
    if found.action not in ("try", "repeat"):
        return
    base = next(each for each in tried if each.experiment_id == found.from_experiment)
    changes = (found.max_size != base.max_size) + (found.dependency != base.dependency)
    assert changes == (1 if found.action == "try" else 0)


@given(st.lists(GAINS, min_size=25, max_size=25))
def test_following_the_advice_ends(gains: Sequence[float | None]) -> None:
    """Whatever the measurements say, doing what is proposed reaches a stop within 25 experiments."""
    tried: list[Experiment] = []
    for at, gain in enumerate(gains, 1):
        found = next_step(tuning(), tried)
        if found.action not in ("try", "repeat") or "--outputs" in found.change:
            return
        assert found.max_size is not None
        assert 0 < found.max_size <= WEIGHT
        tried.append(experiment(at, found.max_size / MIB, gain, dependency=found.dependency))
    pytest.fail("the advice goes round in circles")
