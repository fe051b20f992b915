"""Alignment of two sequences of places."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.analyzer.compare.alignment import align, gaps

letters = st.text(alphabet="abcde", max_size=12)


def test_an_inserted_kernel_shifts_nothing() -> None:
    """In abcd against abXcd every letter keeps its partner and X has none."""
    assert align("abcd", "abXcd") == [(0, 0), (1, 1), (2, 3), (3, 4)]


def test_a_removed_kernel_shifts_nothing() -> None:
    """In abcabc against abcbc the second a is left over, although an a stands elsewhere."""
    assert align("abcabc", "abcbc") == [(0, 0), (1, 1), (2, 2), (4, 3), (5, 4)]


def test_gaps_are_what_both_sides_hold_between_matches() -> None:
    """Of ab|X|cd against ab|YZ|cd the gap is index 2 against 2 and 3; a one-sided gap is none."""
    pairs = align("abXcd", "abYZcd")
    assert gaps(pairs, 5, 6) == [(range(2, 3), range(2, 4))]
    assert gaps(align("abcd", "abXcd"), 4, 5) == []


@given(letters, letters)
def test_matches_are_equal_and_in_order(before: str, after: str) -> None:
    """Matched tokens are equal, and both indices only grow."""
    pairs = align(before, after)
    assert all(before[i] == after[j] for i, j in pairs)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(pairs))


@given(letters, letters)
def test_swapping_the_sides_swaps_the_matches(before: str, after: str) -> None:
    """The match does not depend on which side is called before."""
    assert [(j, i) for i, j in align(before, after)] == align(after, before)


@given(letters)
def test_a_sequence_matches_itself_completely(sequence: str) -> None:
    """Every place of a sequence is its own partner."""
    assert align(sequence, sequence) == [(index, index) for index in range(len(sequence))]
