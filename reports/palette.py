"""The colours of every report, once: HTML pages, figures and the terminal read them from here.

The hues are those of Okabe and Ito (2008), which stay apart for the common forms of colour blindness; the
dark values are lightened until they keep a contrast of at least 3:1 on the dark surface. Colour is never the
only carrier of a fact: the bound is always written out beside it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

# name -> (light, dark). The names become CSS variables (`--ink`), figures refer to them as `var(--ink)`.
PALETTE: Final = MappingProxyType(
    {
        "page": ("#f6f7f9", "#14171c"),
        "surface": ("#ffffff", "#1c2027"),
        "sunken": ("#eef0f3", "#252a33"),
        "line": ("#d7dbe1", "#363d48"),
        "ink": ("#1a1f27", "#e7eaee"),
        "muted": ("#5a6472", "#a3adba"),
        "accent": ("#0b5c8a", "#6dbdf0"),
        "bound-memory": ("#0072b2", "#56a8e0"),
        "bound-compute": ("#d55e00", "#f0883e"),
        "bound-latency": ("#b88600", "#e6b422"),
        "bound-communication": ("#b0508a", "#dd8fbc"),
        "bound-other": ("#6b7480", "#98a2ae"),
        "bound-unknown": ("#9aa3ad", "#6f7884"),
        # Idle is no bound: black and white stay apart from every hue above.
        "idle-mark": ("#2b323c", "#dfe4ea"),
        "busy": ("#8493a6", "#74849a"),
        "idle": ("#e3e6ea", "#2d333d"),
        "good": ("#00795a", "#2fbf96"),
        "bad": ("#b3261e", "#ff8a80"),
        "warn": ("#8a5a00", "#f0b84a"),
    }
)

# The order in which bounds are listed, stacked and drawn, the same in every report.
BOUNDS: Final[tuple[str, ...]] = ("memory", "compute", "latency", "communication", "other", "unknown")


def css_variable(name: str) -> str:
    """The reference to a palette entry that CSS and the page's figure script both resolve."""
    if name not in PALETTE:
        raise KeyError(f"no palette entry named {name!r}")
    return f"var(--{name})"


def bound_colour(bound: str | None) -> str:
    """The CSS variable of a bound; a bound without an entry is drawn as unknown."""
    return css_variable(f"bound-{bound}" if bound in BOUNDS else "bound-unknown")
