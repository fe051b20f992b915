"""Where a long word of the trade may break: after a separator, or between the words of `QuantBatchMatmul`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len

# `384,192,16,32;12288` breaks after , and ; and never inside a number; `MoeDistribute` before a word of it,
# `TopK` not before its K; `ProfilerLevel.Level1` after the dot, `0.12` not.
BREAK: Final = re.compile(r"(?<=[;,/_ ])(?=.)|(?<=[a-zA-Z]\.)(?=[a-zA-Z])|(?<=[a-z0-9])(?=[A-Z][a-z])")


# Sentences break between words: `35,807` and `memory/hbm` stay whole where a line has room for them.
WORDS: Final = re.compile(r"(?<= )(?=.)")


def fold(text: str, width: int, at: re.Pattern[str] = BREAK) -> Iterator[str]:
    """Cut text into lines of at most `width` terminal cells, at a break; a word is cut where none fits."""
    width = max(width, 2)  # a wide character takes two cells
    while cell_len(text) > width:
        end = _line_end(text, _fitting(text, width), at)
        yield text[:end].rstrip()
        text = text[end:].lstrip(" ")
    yield text


def least_width(text: str, at: re.Pattern[str] = BREAK) -> int:
    """Cells of the longest piece between two breaks: a narrower column would cut it."""
    pieces, last = [], 0
    for match in at.finditer(text):
        pieces.append(text[last : match.end()])
        last = match.end()
    return max(cell_len(piece.rstrip()) for piece in [*pieces, text[last:]])


def _line_end(text: str, end: int, at: re.Pattern[str]) -> int:
    """Where the line ends: at the last break of `at`; of BREAK where that would leave most of it empty."""
    preferred, natural = (
        max((match.end() for match in pattern.finditer(text, 0, end + 1) if match.end() <= end), default=0)
        for pattern in (at, BREAK)
    )
    return preferred if preferred > end // 3 else natural or end


def _fitting(text: str, width: int) -> int:
    """How many characters from the start fit into `width` cells; at least one."""
    end = min(width, len(text))
    while end > 1 and cell_len(text[:end]) > width:
        end -= 1
    return end
