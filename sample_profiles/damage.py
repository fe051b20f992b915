"""Accidents that happen to exports, done to a good file on purpose; what and where stands in damage.toml."""

from __future__ import annotations

import csv
import io
import tomllib
from pathlib import Path


def damages() -> list[dict]:
    """The list of accidents: line (1 is the header), kind, and what the kind needs."""
    return tomllib.loads(Path(__file__).with_name("damage.toml").read_text(encoding="utf-8"))["damage"]


def damaged(text: str) -> str:
    """`text` (a kernel_details.csv) with every accident of damage.toml; nothing follows the cut row."""
    lines = list(csv.reader(io.StringIO(text, newline="")))
    for damage in damages():
        row = lines[damage["line"] - 1]
        if damage["kind"] == "set":
            row[lines[0].index(damage["column"])] = damage["text"]
        elif damage["kind"] == "fields":
            drop = damage["drop"]
            lines[damage["line"] - 1] = row[:-drop] if drop > 0 else row + [""] * -drop
    cut = next(damage for damage in damages() if damage["kind"] == "cut")
    whole = _text(lines[: cut["line"] - 1])
    last = _text([lines[cut["line"] - 1]])
    return whole + last[: int(len(last) * cut["keep"])]


def _text(lines: list[list[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(lines)
    return buffer.getvalue()
