"""Quantiles of Student's t against printed tables."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.analyzer.compare.student import t_quantile


@pytest.mark.parametrize(
    ("probability", "degrees", "printed"),
    [
        # Any statistics book: two-sided 95 % is the column 0.975, one-sided 99 % the column 0.99.
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.975, 3, 3.182),
        (0.975, 13, 2.160),
        (0.975, 120, 1.980),
        (0.99, 1, 31.821),
        (0.99, 3, 4.541),
        (0.99, 13, 2.650),
    ],
)
def test_quantiles_are_those_of_printed_tables(probability: float, degrees: int, printed: float) -> None:
    """Each value agrees with the printed table to its last digit."""
    assert t_quantile(probability, degrees) == pytest.approx(printed, abs=5e-4)


def test_two_degrees_have_a_closed_form() -> None:
    """With 2 degrees t = (2 p - 1) / sqrt(2 p (1 - p)): at 0.975 that is 0.95 / sqrt(0.04875) = 4.30265."""
    assert t_quantile(0.975, 2) == pytest.approx(0.95 / math.sqrt(0.04875), rel=1e-6)


@given(st.floats(0.55, 0.999), st.floats(1, 500))
def test_few_degrees_are_wider_than_the_normal(probability: float, degrees: float) -> None:
    """Student's t is never narrower than the normal distribution, and narrows with more degrees."""
    assert t_quantile(probability, degrees) > NormalDist().inv_cdf(probability)
    assert t_quantile(probability, degrees) > t_quantile(probability, degrees + 1)


@pytest.mark.parametrize(("probability", "degrees"), [(0.4, 3), (1.0, 3), (0.9, 0.5)])
def test_impossible_arguments_are_refused(probability: float, degrees: float) -> None:
    """A probability outside 0.5 to 1 and less than one degree raise instead of giving a number."""
    with pytest.raises(ValueError, match="no t quantile"):
        t_quantile(probability, degrees)
