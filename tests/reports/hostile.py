"""Texts that an export may hold and that no report may act on."""

from __future__ import annotations

SCRIPT = "<script>window.pwned=1</script>"
ATTRIBUTE = "\"' onmouseover=window.pwned=1 x='"
CLOSING = "</script><img src=x onerror=window.pwned=1>"
FORMULA = "=cmd|' /C calc'!A0"
SQL = "'; DROP TABLE kernels; --"
TERMINAL = "\x1b[2J\x1b]0;owned\x07red\x9b31m"
BIDI = "abc\u202egnp.exe\u2066x\u200b"
MARKDOWN = "|`x`[click](javascript:alert(1))<b>**&lt;"
TEMPLATE = "{{ 7 * 7 }}{% raw %}"
LONG = "A" * 1_000_000
LINES = "first\nsecond\r\n\tthird\u2028fourth"
SURROGATE = "half \ud800 pair"

EVERY = {
    "script": SCRIPT,
    "attribute": ATTRIBUTE,
    "closing": CLOSING,
    "formula": FORMULA,
    "sql": SQL,
    "terminal": TERMINAL,
    "bidi": BIDI,
    "markdown": MARKDOWN,
    "template": TEMPLATE,
    "long": LONG,
    "lines": LINES,
    "surrogate": SURROGATE,
}
