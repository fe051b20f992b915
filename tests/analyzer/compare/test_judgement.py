"""Which changes are called changes."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from npu_roofline.analyzer.compare.judgement import Judgement, Samples, judge
from npu_roofline.analyzer.options import AnalysisOptions

OPTIONS = AnalysisOptions()
STEP_US = 10_000.0


def samples(values: np.ndarray, calls: int = 1) -> Samples:
    """[R, n] step values as a side; the mean of a step is its median, its inside is not known."""
    rows = len(values)
    unknown = np.full(rows, np.nan)
    return Samples(
        np.median(values, axis=1),
        values,
        values,
        np.full(rows, float(calls)),
        unknown,
        unknown,
        np.zeros(rows),
    )


def judged(before: list[float], after: list[float], calls: int = 10) -> Judgement:
    """One row, every step given."""
    sides = (samples(np.array([side]), calls) for side in (before, after))
    return judge(*sides, np.zeros(1, dtype=np.int64), STEP_US, OPTIONS)


def test_a_clear_gain_is_faster_and_its_reverse_slower() -> None:
    """30 us +- 0.1 against 27 us +- 0.1 over four steps is 10 % faster; swapped it is slower by as much."""
    before, after = [30.0, 30.1, 29.9, 30.05], [27.0, 27.1, 26.9, 27.05]
    faster, slower = judged(before, after), judged(after, before)
    assert (faster.change, slower.change) == (["faster"], ["slower"])
    assert faster.delta_us[0] == pytest.approx(-3.0)
    assert slower.delta_us[0] == -faster.delta_us[0]
    assert slower.ci_low_us[0] == pytest.approx(-faster.ci_high_us[0])


def test_the_interval_is_students_t_on_the_pooled_noise() -> None:
    """Two steps a side, 10 +- 0.1 and 12 +- 0.1.

    Pooled variance (2 x 0.1^2 + 2 x 0.1^2) / 2 degrees = 0.02, noise 0.14142 us; t(0.975, 2) = 4.30265;
    half width 4.30265 x 0.14142 x sqrt(1/2 + 1/2) = 0.60848; change 2.0, so 1.39152 to 2.60848.
    """
    found = judged([9.9, 10.1], [11.9, 12.1])
    assert found.noise_us[0] == pytest.approx(0.141421, abs=1e-6)
    assert found.ci_low_us[0] == pytest.approx(1.39152, abs=1e-4)
    assert found.ci_high_us[0] == pytest.approx(2.60848, abs=1e-4)


def test_the_smallest_effect_is_one_per_cent_or_twice_the_noise() -> None:
    """Steady at 100 us, 1 % is 1 us; with a noise of 2 us the smallest effect is 4 us."""
    steady = judged([100.0, 100.0, 100.0], [100.9, 100.9, 100.9])
    assert steady.min_effect_us[0] == pytest.approx(1.0)
    assert steady.change == ["inconclusive"]  # 0.9 us: below 1 %, and not shown to be below it either
    noisy = judged([98.0, 100.0, 102.0], [101.0, 103.0, 105.0])
    assert noisy.noise_us[0] == pytest.approx(2.0)
    assert noisy.min_effect_us[0] == pytest.approx(4.0)
    assert noisy.change == ["inconclusive"]


def test_the_same_numbers_are_the_same() -> None:
    """A run against itself is 'same' with an empty interval, even with two noisy steps."""
    found = judged([10.0, 14.0], [10.0, 14.0])
    assert found.change == ["same"]
    assert (found.ci_low_us[0], found.ci_high_us[0]) == (0.0, 0.0)


def test_one_step_a_side_says_nothing() -> None:
    """Without a second step there is no noise: no interval, no label, however large the change."""
    found = judged([10.0], [20.0])
    assert found.change == ["inconclusive"]
    assert "fewer than two steps" in found.why[0]
    assert np.isnan(found.ci_low_us[0])


def test_many_equal_steps_show_that_nothing_changed() -> None:
    """With 40 steps a side and 1 % noise the interval lies inside 1 %: 'same', not 'inconclusive'."""
    random = np.random.default_rng(1)
    values = random.normal(100.0, 1.0, (2, 40))
    assert judged(list(values[0]), list(values[1])).change == ["same"]


def test_one_wild_step_neither_makes_nor_hides_a_change() -> None:
    """A 14 ms all-reduce in one of eight steps: no change is called without one, a real 5 % still is."""
    steady = [9.0, 9.1, 9.2, 9.0, 9.1, 9.05, 9.15]
    assert judged([*steady, 14_000.0], [*steady, 9.1]).change == ["inconclusive"]
    faster = [value * 0.95 for value in steady]
    assert judged([*steady, 14_000.0], [*faster, 8.6]).change == ["faster"]


def test_a_median_that_jumps_needs_the_mean_to_agree() -> None:
    """Calls in two clusters: the median falls from one to the other while the mean stays: no label."""
    side = samples(np.array([[30.0, 30.0, 30.1]]), 10)
    jumped = replace(samples(np.array([[20.0, 20.0, 20.1]]), 10), step_mean_us=np.array([[29.9, 30.0, 30.1]]))
    found = judge(
        replace(side, step_mean_us=np.array([[30.0, 30.1, 30.0]])),
        jumped,
        np.zeros(1, dtype=np.int64),
        STEP_US,
        OPTIONS,
    )
    assert found.change == ["inconclusive"]
    assert found.why == ["the mean per step does not confirm it"]


def test_a_change_that_no_step_feels_is_not_called() -> None:
    """1.00 -> 0.90 us once in 10 ms is 0.1 us, below 1e-4 of the step (1 us); 20 calls make 2 us."""
    before, after = [1.0] * 6, [0.9] * 6
    assert judged(before, after, calls=1).change == ["inconclusive"]
    assert judged(before, after, calls=20).change == ["faster"]


def test_noise_is_never_below_what_the_inside_of_a_step_shows() -> None:
    """Two steps a side that agree by luck, while single calls scatter by 4 us over 16 layers.

    One step's median is then known to 1.2533 x 4 / sqrt(16) = 1.2533 us at best.
    """
    side = samples(np.array([[50.0, 50.0]]), 16)
    side = replace(
        side, scatter_us=np.array([4.0]), scatter_robust_us=np.array([4.0]), scatter_degrees=np.array([15.0])
    )
    found = judge(side, side, np.zeros(1, dtype=np.int64), STEP_US, OPTIONS)
    assert found.noise_us[0] == pytest.approx(1.2533)


def test_a_level_of_next_to_nothing_overflows_nothing() -> None:
    """1e-320 us beside 3 us: a noise of 1e-10 over such a level is infinite, so its kind does without it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert judged([1e-320, 1e-300, 0.0], [1.0, 2.0, 3.0]).change == ["inconclusive"]


def test_rows_of_one_kind_share_their_noise() -> None:
    """A row that is steady by luck takes the noise of its kind: sqrt((0 + 0.02) / 2) = 10 % of its level."""
    values = np.array([[10.0, 10.0], [9.0, 11.0]])  # variance 2 us^2 on a level of 10 us: 0.02
    found = judge(samples(values), samples(values), np.zeros(2, dtype=np.int64), STEP_US, OPTIONS)
    assert found.noise_us[0] == pytest.approx(10 * np.sqrt((0 + 0.02) / 2))


steps = st.lists(st.floats(5.0, 50.0), min_size=2, max_size=12)


@given(steps, steps)
@example([5.0] * 7 + [7.0], [5.0] * 2 + [6.0] * 2 + [7.0] * 6)  # resampled, and near the threshold
def test_swapping_the_sides_negates_everything(before: list[float], after: list[float]) -> None:
    """Change and interval change sign and every label its direction, for any two sides."""
    one, other = judged(before, after), judged(after, before)
    opposite = {"faster": "slower", "slower": "faster"}
    assert other.delta_us[0] == -one.delta_us[0]
    assert other.change[0] == opposite.get(one.change[0], one.change[0])
    if len(before) == len(after) and min(len(before), len(after)) < OPTIONS.resample_min_steps:
        assert other.ci_low_us[0] == pytest.approx(-one.ci_high_us[0])


@pytest.mark.parametrize("steps_a_side", [2, 3, 5, 10, 20])
def test_false_alarms_stay_at_the_stated_rate(steps_a_side: int) -> None:
    """Of 1000 rows drawn twice from one distribution (noise 0.5 % to 13 %) 2 % at most are called,
    and the 95 % interval holds the true change, zero, in 94 % at least.
    """
    random = np.random.default_rng(steps_a_side)
    noise = np.geomspace(0.005, 0.13, 1000)[:, None]
    sides = [samples(30 * (1 + noise * random.normal(size=(1000, steps_a_side))), 14) for _ in range(2)]
    found = judge(*sides, np.arange(1000), STEP_US, OPTIONS)
    assert sum(change in ("faster", "slower") for change in found.change) <= 20
    assert np.mean((found.ci_low_us <= 0) & (found.ci_high_us >= 0)) >= 0.94
