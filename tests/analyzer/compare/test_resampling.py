"""Resampled medians."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.analyzer.compare.resampling import resampled_medians


def test_the_same_seed_gives_the_same_draws() -> None:
    """Two calls agree to the bit; another seed gives other draws."""
    values = np.array([[3.0, 1.0, 2.0, 5.0, 4.0]])
    first = resampled_medians(values, 50, 1)
    assert np.array_equal(first, resampled_medians(values, 50, 1))
    assert not np.array_equal(first, resampled_medians(values, 50, 2))


@given(st.lists(st.floats(0.1, 100.0), min_size=1, max_size=9))
def test_a_draw_is_the_median_of_steps_drawn_with_replacement(steps: list[float]) -> None:
    """The look-up of order statistics equals drawing the steps and taking their median, one by one."""
    found = resampled_medians(np.array([steps]), 20, 7)[0]
    indices = np.random.default_rng((7, len(steps))).integers(0, len(steps), (20, len(steps)))
    drawn = np.median(np.sort(steps)[indices], axis=1)
    assert np.allclose(found, drawn, rtol=1e-12)


def test_a_step_without_the_row_is_never_drawn() -> None:
    """NaN marks a step in which the row does not occur: draws come from the other steps alone."""
    found = resampled_medians(np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan]]), 30, 0)
    assert set(np.unique(found[0])) <= {1.0, 2.0, 3.0}
    assert np.isnan(found[1]).all()
