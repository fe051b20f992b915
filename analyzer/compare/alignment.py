"""Which places of one sequence correspond to which of another: an order-keeping match, the same both ways."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher


def align(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Index pairs of equal tokens, increasing on both sides.

    Longest common stretches first, within what they leave on either side, so that an inserted kernel shifts
    nothing. Swapping the arguments swaps the pairs. For places of a step, thousands at most, not for kernels.
    """
    head = _common_head(before, after)
    tail = _common_head(before[head:][::-1], after[head:][::-1])
    left, right = before[head : len(before) - tail], after[head : len(after) - tail]
    pairs = [(index, index) for index in range(head)]
    pairs += [(head + i, head + j) for i, j in _match(left, right)]
    pairs += [(len(before) - tail + index, len(after) - tail + index) for index in range(tail)]
    return pairs


def gaps(pairs: Sequence[tuple[int, int]], before: int, after: int) -> list[tuple[range, range]]:
    """What lies between the matched pairs on each side, where both sides hold something; lengths given."""
    found = []
    last = (-1, -1)
    for pair in (*pairs, (before, after)):
        left, right = range(last[0] + 1, pair[0]), range(last[1] + 1, pair[1])
        if left and right:
            found.append((left, right))
        last = pair
    return found


def _common_head(before: Sequence[Hashable], after: Sequence[Hashable]) -> int:
    length = min(len(before), len(after))
    return next((index for index in range(length) if before[index] != after[index]), length)


def _match(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """difflib's match, which is not symmetric: the sides are ordered by what they hold, not by the call."""
    swapped = (len(left), [repr(each) for each in left]) > (len(right), [repr(each) for each in right])
    first, second = (right, left) if swapped else (left, right)
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    found = [(block.a + step, block.b + step) for block in blocks for step in range(block.size)]
    return [(j, i) for i, j in found] if swapped else found
