"""Accepted, rejected, inconclusive: what each needs, and what to do next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from npu_roofline.analyzer.answer import CompareRow, StreamChange
from npu_roofline.analyzer.compare.outputs import OutputsComparison
from npu_roofline.analyzer.compare.signals import fitting, rules
from npu_roofline.analyzer.compare.target import TargetChange
from npu_roofline.analyzer.compare.verdict import Evidence, facts_of, two_of_four_note, verdict
from npu_roofline.analyzer.options import AnalysisOptions

from tests.analyzer.compare.test_sentence import change, row

EQUAL = OutputsComparison("a.npz", "b.npz", True, True, ())
DIFFERENT = OutputsComparison("a.npz", "b.npz", False, False, ())
FASTER = change((1_000.0, 900.0), (950.0, 850.0), "faster")
OPEN = change((1_000.0, 900.0), (995.0, 895.0), "inconclusive")
SLOWER = change((1_000.0, 900.0), (1_050.0, 950.0), "slower")
TAIL = StreamChange(9, 9, False, *([1.0] * 10), note="ends later", longer_tail=True)


def told(kind: str, delta: float, said: str) -> CompareRow:
    """A row whose noise is known."""
    return replace(row(kind, delta, said), noise_us=0.05, ci_low_us=delta - 0.1, ci_high_us=delta + 0.1)


def target(said: str, window_pct: float | None, slower: tuple[str, ...] = ()) -> TargetChange:
    """A target of 30 us that changed by 3 us, and its window of 40 us."""
    window = None if window_pct is None else 40.0
    after = None if window_pct is None else 40.0 * (1 + window_pct / 100)
    return TargetChange(
        id="c-1",
        key="layer 1 MatMul",
        type="MatMul",
        input_shapes=None,
        before_us=30.0,
        after_us=27.0,
        delta_us=-3.0,
        delta_pct=-10.0,
        change=said,
        min_effect_pct=-1.0,
        calls_per_step=10.0,
        delta_step_us=-30.0,
        window_keys=("layer 0 Norm",),
        window_before_us=window,
        window_after_us=after,
        window_delta_pct=window_pct,
        window_slower=slower,
        window_delta_step_us=None,
        predicted_step_us=None,
    )


def evidence(**given: Any) -> Evidence:
    """A faster target with a stable window, a faster step, equal outputs; `given` replaces any of it."""
    known: dict[str, Any] = {
        "rows": (told("MatMul", -3.0, "faster"),),
        "step": FASTER,
        "streams": (),
        "target": target("faster", 1.0),
        "outputs": EQUAL,
        "options": AnalysisOptions(),
    }
    return Evidence(**(known | given))


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        ({}, "accepted"),
        ({"step": OPEN}, "accepted"),  # the target alone is a gain
        ({"target": None}, "accepted"),  # the step alone is a gain
        ({"target": target("inconclusive", 1.0)}, "accepted"),  # the step is faster
        ({"outputs": None}, "inconclusive"),
        ({"target": target("faster", None)}, "inconclusive"),  # the window is not known
        ({"step": OPEN, "target": target("inconclusive", 1.0)}, "inconclusive"),
        ({"step": OPEN, "target": None}, "inconclusive"),
        ({"outputs": DIFFERENT}, "rejected"),
        ({"step": SLOWER}, "rejected"),
        ({"target": target("slower", 1.0)}, "rejected"),
        (
            {"target": target("faster", 5.0, ("layer 0 Norm",))},
            "rejected",
        ),  # the window may get less than 5 % slower
        ({"step": OPEN, "streams": (TAIL,)}, "rejected"),
        ({"streams": (TAIL,)}, "accepted"),  # a tail that the step does not feel
    ],
)
def test_the_outcome_needs_a_gain_and_every_guard(given: dict[str, Any], outcome: str) -> None:
    """Each guard alone turns acceptance into rejection, each missing measurement into an open question."""
    assert verdict(evidence(**given)).outcome == outcome


@pytest.mark.parametrize(
    ("given", "action"),
    [
        ({}, "try more with the position fixed: 50 -> 70 -> 100 % of the weight"),
        ({"outputs": None}, "compare the outputs of both runs (--outputs BEFORE AFTER); then judge again"),
        (
            {"step": OPEN, "target": target("inconclusive", 2.0, ("layer 0 Norm",))},
            "reduce max_size with the position fixed: 50 -> 30 -> 10 % of the weight",
        ),
        (
            {"target": target("faster", 6.0, ("layer 0 Norm",))},
            "reduce max_size with the position fixed: 50 -> 30 -> 10 % of the weight",
        ),
        (
            {"target": target("faster", 25.0, ("layer 0 Norm",))},
            "move the dependency to an earlier or a later window, or give this position up",
        ),
        (
            {"step": replace(OPEN, idle_change="slower")},
            "move the dependency to an earlier or a later window, with max_size fixed",
        ),
        ({"streams": (TAIL,), "step": OPEN}, "change the dependency, or give this position up"),
        ({"outputs": DIFFERENT}, "find what else differs between the two runs before any time is looked at"),
        (
            {"step": OPEN, "target": target("inconclusive", 1.0)},
            "keep or reduce max_size, or move the dependency; more steps would show smaller gains",
        ),
    ],
)
def test_the_next_action_is_that_of_the_specification(given: dict[str, Any], action: str) -> None:
    """Size first, then position, one change at a time; what was not measured comes before any of it."""
    assert verdict(evidence(**given)).next_action == action


def test_few_steps_ask_for_more_steps() -> None:
    """With two usable steps a side the next thing is a better capture, not another size."""
    few = replace(OPEN, before=replace(OPEN.before, usable_steps=2))
    found = verdict(evidence(step=few, target=None, rows=(told("MatMul", -3.0, "inconclusive"),)))
    assert found.next_action.startswith("capture at least 3 usable steps")


def test_a_change_that_does_nothing_passes_the_weaker_rule_only() -> None:
    """Window stable and outputs equal are two of four: met by doing nothing, which is not accepted."""
    nothing = evidence(step=OPEN, target=target("inconclusive", 0.0), rows=(told("MatMul", 0.0, "same"),))
    found = verdict(nothing)
    assert (found.outcome, found.two_of_four_met) == ("inconclusive", 2)
    assert "two of four, and 2 of 4 hold" in two_of_four_note(found)


def test_without_noise_nothing_is_met() -> None:
    """One step a side: no row has an interval, so no criterion on kernels is met or missed."""
    found = verdict(
        evidence(rows=(row("MatMul", -3.0, "inconclusive"),), step=OPEN, target=None, outputs=None)
    )
    assert {each.met for each in found.criteria} == {None}


def test_every_rule_names_facts_that_are_worked_out() -> None:
    """A rule with a misspelt fact would raise here, not at a user's first failed experiment."""
    facts = facts_of(evidence())
    assert rules()
    for rule in rules():
        assert rule.facts
        assert set(rule.facts) <= set(facts)
    assert fitting(dict.fromkeys(facts, True)) == rules()


def test_a_window_that_varies_within_its_noise_rejects_nothing() -> None:
    """A window with communication 26 % longer by chance: not stable, not worse; open, so inconclusive."""
    found = verdict(evidence(target=target("faster", 26.0)))
    assert found.outcome == "inconclusive"
    assert not {"window_worse", "window_severe", "window_stable"} & set(found.facts)
    (window,) = [each for each in found.criteria if each.name == "window stable"]
    assert (window.value, window.met) == (26.0, None)


def test_equal_numbers_of_one_step_tell_nothing() -> None:
    """One step a side: equal medians have an interval of zero width, and still no known noise."""
    alone = replace(row("MatMul", 0.0, "same"), ci_low_us=0.0, ci_high_us=0.0)
    found = {each.name: each.met for each in verdict(evidence(rows=[alone])).criteria}
    assert (found["a kernel faster"], found["no kernel slower outside the window"]) == (None, None)
