"""Untrusted text is made visible, never acted on and never silently dropped."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.reports import escape

# Every code point, surrogates included: an export may be cut in the middle of a character.
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)


def invisible(text: str) -> list[str]:
    """Characters that are not printed as themselves: controls, bidi, zero width, surrogates, line ends."""
    return [
        each
        for each in text
        if unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") or each in "\u202e\u2066\u200b\ufeff\xad"
    ]


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb", "a\\u202eb"),
        ("tab\tnew\n", "tab\\x09new\\x0a"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("矩阵乘 é µ", "矩阵乘 é µ"),
    ],
)
def test_invisible_characters_are_written_as_escapes(raw: str, written: str) -> None:
    """A control or bidi character appears as its escape, an ordinary letter of any script as itself."""
    assert escape.visible(raw) == written


@given(ANY_TEXT)
def test_visible_text_holds_nothing_invisible(text: str) -> None:
    """Whatever comes in, nothing that a terminal or a bidi renderer acts on comes out."""
    assert invisible(escape.visible(text)) == []


def test_a_cut_is_counted() -> None:
    """A name of a million characters ends in the number of those not shown: 1,000,000 - 240 = 999,760."""
    shown = escape.shown("A" * 1_000_000)
    assert shown.startswith("A" * 240)
    assert shown.endswith("… [+999,760 characters]")
    assert len(shown) < 300


@given(ANY_TEXT)
def test_json_text_is_read_back_whole(text: str) -> None:
    """JSON escapes what is invisible but loses nothing: reading it back gives the same text."""
    written = escape.json_text({"name": text}, indent=None)
    assert json.loads(written) == {"name": text}
    assert invisible(written) == []


def test_json_refuses_what_is_no_number() -> None:
    """NaN and infinity are not JSON; letting them through would break every strict reader."""
    with pytest.raises(ValueError, match="JSON compliant"):
        escape.json_text({"x": float("nan")})


@given(ANY_TEXT)
def test_script_json_cannot_end_its_element(text: str) -> None:
    """No text can close the script element that its JSON stands in, and the text is still the same."""
    written = escape.script_json([text])
    assert "<" not in written
    assert ">" not in written
    assert json.loads(written) == [text]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\uff1d", "  =", "\t="])
def test_spreadsheet_formulas_are_disarmed(start: str) -> None:
    """A cell that a spreadsheet would evaluate begins with an apostrophe, or with a visible escape."""
    assert escape.csv_text(f"{start}cmd|'/C calc'!A0")[0] in "'\\"


def test_ordinary_csv_text_is_untouched() -> None:
    """A shape cell or a name that is no formula goes through as it is."""
    assert escape.csv_text("4,3072;384,192,16,32") == "4,3072;384,192,16,32"


def test_markdown_cannot_leave_its_cell() -> None:
    """Pipes, backticks, links, emphasis and HTML are escaped; bare addresses do not become links."""
    assert escape.markdown("a|b`c`[x](y)<b>") == "a\\|b\\`c\\`\\[x\\]\\(y\\)\\<b\\>"
    assert escape.markdown("https://e.org www.e.org a@e.org") == "https\\://e.org www\\.e.org a\\@e.org"


def test_plotly_labels_are_text() -> None:
    """Plotly reads some tags in labels, so a tag in a name is written as text."""
    assert escape.hover_text("<a href='x'>&") == "&lt;a href='x'&gt;&amp;"
