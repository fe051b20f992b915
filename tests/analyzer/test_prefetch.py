"""max_size and its terms, against figures worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.analyzer.options import AnalysisOptions
from npu_roofline.analyzer.prefetch import (
    cap_in_bytes,
    check_coefficient,
    l2_budget_bytes,
    max_size,
    share_out,
    window_bytes,
)
from npu_roofline.errors import WrongUsage

OPTIONS = AnalysisOptions()
MIB = 2**20
ACHIEVABLE = 0.85 * 1.6e6  # B/us on 1.6 TB/s


def test_a_window_carries_eta_of_its_spare_bandwidth_after_the_start_latency():
    """The published example: an idle window of 10 us carries 0.65 x 1.36e6 x (10 - 2) = 7,072,000 bytes."""
    assert window_bytes(ACHIEVABLE * 10, 10.0, 0.65, OPTIONS) == 7_072_000


def test_a_window_shorter_than_the_start_latency_carries_nothing():
    """2 us pass before the copy starts."""
    assert window_bytes(ACHIEVABLE * 2, 2.0, 0.65, OPTIONS) == 0
    assert window_bytes(0.0, 0.0, 0.65, OPTIONS) == 0


def test_a_measured_copy_engine_is_an_upper_limit():
    """At 400 GB/s = 4e5 B/us the same 10 us carry 3.2 MB; a faster engine changes nothing."""
    assert window_bytes(ACHIEVABLE * 10, 10.0, 0.65, OPTIONS, cmo_gb_s=400.0) == 3_200_000
    assert window_bytes(ACHIEVABLE * 10, 10.0, 0.65, OPTIONS, cmo_gb_s=5000.0) == 7_072_000


def test_half_of_l2_less_the_windows_own_bytes():
    """0.5 x 192 MiB = 96 MiB, less 4 MiB that the window touches; a window that fills it leaves 0."""
    assert l2_budget_bytes(192 * MIB, 4 * MIB, OPTIONS) == 92 * MIB
    assert l2_budget_bytes(192 * MIB, 200 * MIB, OPTIONS) == 0


@pytest.mark.parametrize(
    ("window", "l2", "cap", "expected", "limited_by"),
    [
        (30_000_000, 96 * MIB, None, 18_874_368, "coefficient"),  # half of 36 MiB
        (5_000_123, 96 * MIB, None, 4_999_680, "window"),  # 9765 x 512 = 4,999,680
        (30_000_000, 8 * MIB, None, 8 * MIB, "l2"),
        (30_000_000, 96 * MIB, 4 * MIB, 4 * MIB, "cap"),
        (18_874_368, 96 * MIB, None, 18_874_368, "coefficient"),  # a tie: the first term is named
    ],
)
def test_the_smallest_term_wins_and_is_named(window, l2, cap, expected, limited_by):
    """Every term of gate_up (36 MiB) can be the limit, and the size is aligned down to 512 bytes."""
    size = max_size(36 * MIB, 0.5, window, l2, cap, OPTIONS)
    assert (size.max_size, size.terms.limited_by) == (expected, limited_by)
    assert size.terms.formula_bytes == 18_874_368


def test_a_size_is_never_more_than_the_weight():
    """Weight kv_a_proj is 6144 x 576 x 2 = 7,077,888 bytes (6.75 MiB); 7 MiB is never asked for."""
    size = max_size(7_077_888, 1.0, 7 * MIB, None, 7 * MIB, OPTIONS)
    assert size.max_size == 7_077_888


@pytest.mark.parametrize("coefficient", [0.0, -0.5, 1.01, float("nan")])
def test_a_coefficient_outside_its_range_is_refused(coefficient):
    """Shares of a weight lie in (0, 1]."""
    with pytest.raises(WrongUsage):
        check_coefficient(coefficient)


def test_caps_are_mebibytes():
    """18 MiB are 18,874,368 bytes; no cap is None, and 0 is an error rather than no cap."""
    assert cap_in_bytes(18) == 18_874_368
    assert cap_in_bytes(None) is None
    with pytest.raises(WrongUsage):
        cap_in_bytes(0)


def test_a_budget_fills_the_weights_in_order():
    """10 MiB over 9, 4.5 and 3 MiB: the first in full, 1 MiB for the second, nothing for the third."""
    weights = [9 * MIB, 4 * MIB + MIB // 2, 3 * MIB]
    assert share_out(10 * MIB, weights, OPTIONS) == (9 * MIB, MIB, 0)


def test_a_share_too_small_for_a_call_is_left_out():
    """200 KiB would be left for the second weight: no gain is measured at 256 KiB and below."""
    assert share_out(9 * MIB + 200 * 1024, [9 * MIB, 4 * MIB], OPTIONS) == (9 * MIB, 0)


@given(
    weight=st.integers(1, 10**9),
    coefficient=st.floats(0.01, 1.0),
    window=st.none() | st.integers(0, 10**9),
    l2=st.none() | st.integers(0, 10**9),
    cap=st.none() | st.integers(1, 10**9),
)
def test_max_size_keeps_every_limit(weight, coefficient, window, l2, cap):
    """Property: at most the weight and every term, a multiple of 512, within 512 bytes of the smallest."""
    size = max_size(weight, coefficient, window, l2, cap, OPTIONS)
    terms = [each for each in (size.terms.formula_bytes, window, l2, cap) if each is not None]
    assert size.max_size <= min([weight, *terms])
    assert size.max_size % 512 == 0
    assert min([weight, *terms]) - size.max_size < 512


@given(st.integers(0, 10**8), st.lists(st.integers(1, 10**8), max_size=5))
def test_shares_stay_within_the_budget_and_the_weights(budget, weights):
    """Property: shares sum to at most the budget and none exceeds its weight."""
    shares = share_out(budget, weights, OPTIONS)
    assert sum(shares) <= budget
    assert all(share <= weight for share, weight in zip(shares, weights, strict=True))
