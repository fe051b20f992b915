"""Sizes, places and gains in sentences."""

from __future__ import annotations

from ...units import format_bytes, format_bytes_decimal
from .records import Experiment


def size_text(size: int | None, share: float | None = None) -> str:
    """'18.0 MiB (50 %)'; what was given in whole decimal megabytes is said in them: '80 MB'."""
    if size is None:
        return "a size that is not known"
    text = format_bytes_decimal(size, 0) if size >= 10**6 and size % 10**6 == 0 else format_bytes(size)
    return text if share is None else f"{text} ({share:.0%})".replace("%", " %")


def at_place(dependency: str | None) -> str:
    """' behind MoeGatingTopK, layer 9'; empty where the place has no name."""
    return f" behind {dependency}" if dependency else ""


def gain_text(each: Experiment) -> str:
    """'+2.05 %', or that it was not measured."""
    return "not measured" if each.gain_pct is None else f"{each.gain_pct:+.2f} %"
