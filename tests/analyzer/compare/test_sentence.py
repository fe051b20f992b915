"""The first line of a comparison, word for word."""

from __future__ import annotations

from dataclasses import replace

import pytest
from npu_roofline.analyzer.answer import CompareRow, SignatureChange, StepComparison, StepTimes, Verdict
from npu_roofline.analyzer.compare.sentence import headline, regressions, what_changed


def times(wall: float, busy: float) -> StepTimes:
    """Five steps whose means are their medians."""
    return StepTimes(5, wall, busy, wall - busy, wall, busy, wall - busy, busy, 5)


def change(before: tuple[float, float], after: tuple[float, float], said: str) -> StepComparison:
    """(wall, busy) before and after; wall, busy and idle all judged the same."""
    one, other = times(*before), times(*after)
    wall = after[0] - before[0]
    return StepComparison(
        one,
        other,
        wall,
        after[1] - before[1],
        other.idle_us - one.idle_us,
        wall / before[0] * 100,
        said,
        busy_change=said,
        idle_change=said,
    )


def row(kind: str, delta: float, said: str, shapes: str = "4,64", position: int = 1) -> CompareRow:
    """A place of ten calls a step that takes 30 us before."""
    return CompareRow(
        key=f"layer {position} {kind}",
        layer=None,
        position=position,
        type=kind,
        before_us=30.0,
        after_us=30.0 + delta,
        before_step_us=300.0,
        after_step_us=300.0 + 10 * delta,
        delta_us=delta,
        delta_pct=delta / 30 * 100,
        ci_low_us=None,
        ci_high_us=None,
        n_before=50,
        n_after=50,
        change=said,
        delta_step_us=10 * delta,
        input_shapes=shapes,
    )


def together(delta: float, said: str) -> SignatureChange:
    """Two places of the same work, judged together."""
    return SignatureChange(
        "MatMul",
        "4,64",
        2,
        30.0,
        30.0 + delta,
        delta,
        delta / 30 * 100,
        None,
        None,
        None,
        600.0,
        600.0 + 20 * delta,
        20 * delta,
        said,
    )


@pytest.mark.parametrize(
    ("before", "after", "said", "expected"),
    [
        (
            (10_670.0, 8_000.0),
            (10_550.0, 7_880.0),
            "inconclusive",
            "step 10.67 → 10.55 ms cannot be told from noise; no kernel changed beyond noise.",
        ),
        (
            (1_000.0, 800.0),
            (900.0, 690.0),
            "faster",
            "step 1.00 → 0.90 ms (-10.0 %, faster); no kernel changed beyond noise.",
        ),
        (
            (1_000.0, 800.0),
            (1_100.0, 700.0),
            "slower",
            "step 1.00 → 1.10 ms (+10.0 %, slower); it rose because the device waited 200.0 us longer "
            "(for the host, or what this export does not show) while kernels ran 100.0 us less; "
            "no kernel changed beyond noise.",
        ),
        (
            (1_000.0, 700.0),
            (900.0, 800.0),
            "faster",
            "step 1.00 → 0.90 ms (-10.0 %, faster); it fell because the device waited 200.0 us less "
            "while kernels took 100.0 us more; no kernel changed beyond noise.",
        ),
    ],
)
def test_the_step_is_said_with_what_is_behind_it(
    before: tuple[float, float], after: tuple[float, float], said: str, expected: str
) -> None:
    """Wall, per cent and verdict first; busy against idle where idle time is a real part of the change."""
    assert what_changed([], change(before, after, said), False) == expected


def test_the_largest_of_each_direction_is_named() -> None:
    """Two faster kernels and a slower one: the largest gain and the loss by name, the rest as a number."""
    step = change((1_000.0, 900.0), (950.0, 850.0), "faster")
    rows = [row("Add", -1.0, "faster"), row("MatMul", -4.0, "faster"), row("Cast", 0.5, "slower")]
    assert what_changed(rows, step, False).endswith(
        "; MatMul 4.0 us faster a call (-40.0 us a step) and 1 more faster, "
        "Cast 0.5 us slower a call (+5.0 us a step)."
    )


def test_shapes_tell_kernels_of_one_type_apart() -> None:
    """Where two places of one type changed, the one that is named has its shapes beside it."""
    step = change((1_000.0, 900.0), (950.0, 850.0), "faster")
    rows = [row("MatMul", -4.0, "faster", "4,64"), row("MatMul", -1.0, "faster", "8,64", 2)]
    assert "MatMul 4,64 4.0 us faster a call" in what_changed(rows, step, False)


def test_places_that_can_only_be_told_together_are_told() -> None:
    """Two places within their own noise, together beyond it: the sentence and the regressions say so."""
    step = change((1_000.0, 900.0), (1_010.0, 910.0), "inconclusive")
    rows = [row("MatMul", 0.5, "inconclusive"), row("MatMul", 0.5, "inconclusive", position=2)]
    said = what_changed(rows, step, False, signatures=[together(0.5, "slower")])
    assert said.endswith("; MatMul 4,64 0.5 us slower a call over its 2 places (+10.0 us a step).")
    assert regressions(rows, step, 0.0, [together(0.5, "slower")]) == (
        "MatMul 4,64 at all its 2 places: 30.00 -> 30.50 us (+1.7 %), +10.0 us per step",
    )


def test_a_place_that_was_told_is_not_told_twice() -> None:
    """When a place is slower by itself, its signature adds no second line."""
    step = change((1_000.0, 900.0), (1_010.0, 910.0), "inconclusive")
    rows = [row("MatMul", 1.0, "slower")]
    assert len(regressions(rows, step, 0.0, [together(1.0, "slower")])) == 1
    assert regressions([replace(rows[0], change="faster")], step) == ()


@pytest.mark.parametrize(
    ("outcome", "facts", "expected"),
    [
        ("accepted", ("target_faster", "outputs_equal"), "Accepted: x"),
        ("rejected", ("target_faster", "window_worse"), "Rejected, because the window got slower: x"),
        ("rejected", ("window_worse", "outputs_differ"), "Rejected, because the outputs differ: x"),
        ("inconclusive", ("nothing_changed",), "No change beyond noise: x"),
        ("inconclusive", ("step_faster",), "Inconclusive until the outputs are compared: x"),
        (
            "inconclusive",
            ("target_faster", "outputs_equal"),
            "Inconclusive, because nothing is known about the window: x",
        ),
        ("inconclusive", (), "Inconclusive: x"),
    ],
)
def test_the_verdict_leads(outcome: str, facts: tuple[str, ...], expected: str) -> None:
    """The first words are the verdict and what stands in its way, whatever the numbers behind them."""
    assert headline(Verdict(outcome, (), (), "", facts=facts), "x") == expected


def test_a_step_that_cannot_be_judged_has_no_per_cent() -> None:
    """18 -> 10.7 ms over too few steps is -40.9 %: said as two times and a reason, not as a change."""
    step = replace(
        change((18_146.0, 14_876.0), (10_718.0, 7_891.0), "inconclusive"), why="0 and 3 usable steps"
    )
    assert what_changed([], step, False) == (
        "step 18.15 → 10.72 ms cannot be told from noise (0 and 3 usable steps); "
        "no kernel changed beyond noise."
    )
