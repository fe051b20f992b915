"""Untrusted text made harmless, in one place: every string of an export passes here before it is shown.

Kernel names, shapes and paths come from files that somebody else wrote. They may hold terminal escapes,
bidirectional overrides that reorder what is read, markup, spreadsheet formulas, or a megabyte of text. What
is dangerous is made *visible*, never dropped: a reader must see that it was there.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

# Longest text of one cell that people read; longer ones end in a count of what was cut.
CELL_CHARACTERS: Final = 240
# Longest note, which may name several kernels.
NOTE_CHARACTERS: Final = 2_000
# Spreadsheets cut a cell at 32,767 characters without a word; stay below and say so.
CSV_CHARACTERS: Final = 32_000

# C0 and C1 controls, DEL; soft hyphen; Arabic letter mark; Mongolian vowel separator; zero-width and bidi
# marks; line and paragraph separators; bidi embeddings, overrides and isolates; invisible operators; byte
# order mark; interlinear annotations; tag characters; surrogates without a partner.
_INVISIBLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&])")
# GitHub turns bare addresses into links; an escaped colon, dot or at sign stays plain text.
_MARKDOWN_LINK: Final = re.compile(r"(?<=[A-Za-z])(:)(?=//)|(?<=www)(\.)|(@)")
# Spreadsheets take the full-width forms for the same signs.
_FORMULA_START: Final = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def visible(text: str) -> str:
    """Write control, bidi and other invisible characters as `\\x1b`, `\\u202e` or `\\U000e0001`."""
    return _INVISIBLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def shown(text: str, limit: int = CELL_CHARACTERS) -> str:
    """The text as a reader may see it: invisible characters visible, and the cut of a long one counted."""
    if len(text) > limit:
        return f"{visible(text[:limit])}… [+{len(text) - limit:,} characters]"
    return visible(text)


def markdown(text: str, limit: int = CELL_CHARACTERS) -> str:
    """Text for a Markdown document or table cell: no markup, link, HTML or cell border comes out of it."""
    escaped = _MARKDOWN.sub(r"\\\1", shown(text, limit))
    return _MARKDOWN_LINK.sub(lambda match: f"\\{match.group()}", escaped)


def csv_text(text: str) -> str:
    """Text for a CSV cell; what a spreadsheet would run as a formula gets a leading apostrophe."""
    safe = shown(text, CSV_CHARACTERS)
    return f"'{safe}" if safe.lstrip().startswith(_FORMULA_START) else safe


def json_text(value: Any, indent: int | None = 2) -> str:
    """JSON with every text whole: invisible characters become `\\uXXXX`, nothing is lost and nothing acts.

    Raises ValueError for NaN or infinity, which JSON does not have: an unknown number is None.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    # json.dumps escaped C0 itself, apart from the line ends of its own layout, which must stay.
    return _INVISIBLE.sub(_json_escaped, text)


def _json_escaped(match: re.Match[str]) -> str:
    character = match.group()
    if character == "\n":
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def script_json(value: Any) -> str:
    """JSON that may stand inside a `<script>` element: no character sequence of it can end the element."""
    text = json_text(value, indent=None)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def hover_text(text: str, limit: int = CELL_CHARACTERS) -> str:
    """Text for a plotly label: plotly reads some tags (`<b>`, `<a>`) there, so they are written as text."""
    return shown(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
