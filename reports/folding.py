"""Where a long word of the trade may break: after a separator, or between the words of `QuantBatchMatmul`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len

# `384,192,16,32;12288` breaks after , and ; and never inside a number; `MoeDistribute` before a capital.
BREAK: Final = re.compile(r"(?<=[;,/_ ])(?=.)|(?<=[a-z])(?=[A-Z])")


# Sentences break between words only: `35,807` and `memory/hbm` stay whole.
WORDS: Final = re.compile(r"(?<= )(?=.)")


def fold(text: str, width: int, at: re.Pattern[str] = BREAK) -> Iterator[str]:
    """Cut text into lines of at most `width` terminal cells, at a break where one is in reach."""
    width = max(width, 2)  # a wide character takes two cells
    while cell_len(text) > width:
        end = _fitting(text, width)
        breaks = [match.end() for match in at.finditer(text, 0, end + 1) if match.end() <= end]
        # A break far to the left would waste more of the line than a cut word costs.
        end = breaks[-1] if breaks and breaks[-1] > end // 3 else end
        yield text[:end].rstrip()
        text = text[end:].lstrip(" ")
    yield text


def _fitting(text: str, width: int) -> int:
    """How many characters from the start fit into `width` cells; at least one."""
    end = min(width, len(text))
    while end > 1 and cell_len(text[:end]) > width:
        end -= 1
    return end
