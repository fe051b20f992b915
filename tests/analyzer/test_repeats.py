"""Exact repeats in integer sequences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.analyzer.repeats import (
    KIND_MATMUL,
    KIND_OTHER,
    KIND_UNKNOWN,
    Region,
    RepeatRules,
    candidate_periods,
    find_repeats,
    nested_repeats,
    repeats_at,
)

RULES = RepeatRules(min_repeats=3, min_period=3, min_share=0.2)


def _sequence(text: str) -> np.ndarray:
    """One code per letter."""
    return np.array([ord(letter) for letter in text], dtype=np.int64)


def test_layers_between_a_prologue_and_an_epilogue():
    """The repeating middle is found, with the first kernel after the prologue as position 0."""
    found = find_repeats(_sequence("xyz" + "abcd" * 4 + "uv"), RULES)
    assert found is not None
    assert (found.period, found.regions, found.covered, found.layers) == (4, (Region(3, 4),), 16, 4)


def test_the_period_shows_where_every_kernel_occurs_twice_per_layer():
    """In A A B B no distance to the previous equal kernel is 4; the distance to the one before it is."""
    found = find_repeats(_sequence("aabb" * 5), RULES)
    assert found is not None
    assert found.period == 4


def test_a_loop_inside_a_layer_is_not_the_layer():
    """The text abababcd repeats as a whole: period 8 covers 32 kernels, period 2 only 24."""
    found = find_repeats(_sequence("abababcd" * 4), RepeatRules(3, 2, 0.2))
    assert found is not None
    assert (found.period, found.covered) == (8, 32)


def test_of_equal_coverage_the_shortest_period_wins():
    """Six layers are also three double layers; both cover 24 kernels."""
    found = find_repeats(_sequence("abcd" * 6), RULES)
    assert found is not None
    assert (found.period, found.layers) == (4, 6)


def test_two_forward_passes_in_one_step_are_two_regions_of_the_same_layer():
    """The second pass starts in the same rotation although its prologue ends with a kernel of the layer."""
    found = find_repeats(_sequence("xy" + "abcd" * 4 + "uvd" + "abcd" * 5 + "z"), RULES)
    assert found is not None
    assert found.regions == (Region(2, 4), Region(21, 5))


def test_another_loop_of_the_same_length_is_not_a_layer():
    """Stretch efgh also repeats every four kernels, but it is not the kind of layer that covers most."""
    found = find_repeats(_sequence("efgh" * 3 + "abcd" * 5), RULES)
    assert found is not None
    assert found.regions == (Region(12, 5),)


def test_a_rotation_can_be_asked_for():
    """With the pattern of another step the regions start where that step's do, one kernel later here."""
    codes = _sequence("abcd" * 4)
    found = repeats_at(codes, 4, RULES, codes, _sequence("bcda"))
    assert found is not None
    assert found.regions == (Region(1, 3),)


def test_nothing_repeats():
    """Distinct kernels, a pair only, and an empty sequence have no layers."""
    for text in ("abcdefghij", "abcd" * 2, ""):
        assert find_repeats(_sequence(text), RULES) is None


def test_a_capture_without_steps_repeats_per_pass_and_inside_per_layer():
    """Five passes of prologue, nine layers of four, and an epilogue: the layer is inside the outer period."""
    codes = _sequence(("xyz" + "abcd" * 9 + "uv") * 5)
    outer = find_repeats(codes, RULES)
    assert outer is not None
    assert outer.period == 41  # 3 + 36 + 2
    inner = nested_repeats(codes, outer, RepeatRules(8, 3, 0.5))
    assert inner is not None
    assert inner.period == 4
    assert [region.repeats for region in inner.regions] == [9] * 5
    assert inner.regions[1].start == 41 + 3


def test_a_hybrid_layer_is_not_cut_into_its_blocks():
    """Seven linear-attention blocks and one full block are one layer: fewer repeats inside than asked for."""
    codes = _sequence(("abcd" * 7 + "wxyz") * 6)
    outer = find_repeats(codes, RULES)
    assert outer is not None
    assert outer.period == 32
    assert nested_repeats(codes, outer, RepeatRules(8, 3, 0.5)) is None


@given(
    layer=st.lists(st.integers(0, 6), min_size=3, max_size=12),
    repeats=st.integers(3, 9),
    prologue=st.lists(st.integers(10, 13), max_size=9),
    epilogue=st.lists(st.integers(20, 23), max_size=9),
)
def test_every_planted_repeat_is_covered(layer, repeats, prologue, epilogue):
    """Property: what is found repeats exactly, lies in the sequence, and covers at least what was planted."""
    codes = np.array(prologue + layer * repeats + epilogue, dtype=np.int64)
    found = find_repeats(codes, RepeatRules(3, 1, 0.0))
    assert found is not None
    assert found.covered >= len(layer) * repeats or found.period > len(layer)
    end_of_last = 0
    for region in found.regions:
        assert region.start >= end_of_last
        end_of_last = region.start + region.repeats * found.period
        inside = codes[region.start : end_of_last].reshape(region.repeats, found.period)
        assert (inside == inside[0]).all()
    assert end_of_last <= len(codes)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=80))
def test_regions_never_overlap_and_all_hold_one_pattern(values):
    """Property: on any sequence the regions are disjoint, in order, and every period in them is the same."""
    codes = np.array(values, dtype=np.int64)
    found = find_repeats(codes, RepeatRules(2, 1, 0.0))
    if found is None:
        return
    head = found.regions[0].start
    pattern = codes[head : head + found.period]
    done = 0
    for region in found.regions:
        assert region.start >= done
        done = region.start + region.repeats * found.period
        assert (codes[region.start : done].reshape(-1, found.period) == pattern).all()
    assert done <= len(codes)


def test_candidate_periods_are_bounded():
    """Random kernels give many distances; only the most common are tried, none longer than allowed."""
    codes = np.random.default_rng(1).integers(0, 50, 5000)
    periods = candidate_periods(codes, RULES)
    assert 0 < len(periods) <= 64
    assert max(periods) <= 5000 // 3
    assert min(periods) >= 3


def _kinds(text: str, matmuls: str, others: str) -> np.ndarray:
    kinds = {**dict.fromkeys(matmuls, KIND_MATMUL), **dict.fromkeys(others, KIND_OTHER)}
    return np.array([kinds.get(letter, KIND_UNKNOWN) for letter in text])


@pytest.mark.parametrize(
    ("matmuls", "others", "found"),
    [
        ("m", "nr", True),  # a norm, a matmul, an activation
        ("", "mnr", False),  # three copies in a loop: no layer of a model
        ("mnr", "", False),  # matmul, attention, matmul in a micro benchmark: nothing stands between
        ("m", "", True),  # the others are of types that nobody knows: they may be norms
        ("", "nr", True),  # m is of an unknown type: it may be the matmul
    ],
)
def test_a_layer_multiplies_and_does_something_else(matmuls: str, others: str, found: bool) -> None:
    """Four repeats of n m r are layers unless the known types say that they cannot be."""
    text = "x" + "nmr" * 4 + "y"
    assert (find_repeats(_sequence(text), RULES, _kinds(text, matmuls, others)) is not None) == found


def test_a_loop_does_not_hide_the_layers() -> None:
    """Twelve copies t u v cover more than three layers a b m c, and are no layers: those are still found."""
    text = "tuv" * 12 + "abmc" * 3
    rules = RepeatRules(3, 3, 0.2)
    found = find_repeats(_sequence(text), rules, _kinds(text, "m", "tuvabc"))
    assert found is not None
    assert (found.period, found.layers) == (4, 3)
