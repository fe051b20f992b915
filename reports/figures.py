"""What all figures share: their frame, their axes, and hover texts that no kernel name can break.

A figure is plain data in plotly's schema, `{"data": [...], "layout": {...}}`; the page's script draws it.
Colours are palette variables, so one figure serves the light theme, the dark theme and paper.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from .escape import hover_text
from .palette import css_variable

Figure = dict[str, Any]
CLEAR: Final = "rgba(0,0,0,0)"
INK, MUTED, LINE = css_variable("ink"), css_variable("muted"), css_variable("line")


def frame(**layout: Any) -> dict[str, Any]:
    """A layout with the page's fonts and colours; `layout` comes on top."""
    return {
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": INK},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "margin": {"l": 64, "r": 16, "t": 16, "b": 48},
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": css_variable("surface"),
            "bordercolor": MUTED,
            "font": {"color": INK, "size": 12},
            "align": "left",
        },
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "xanchor": "left",
            "yanchor": "bottom",
            "traceorder": "normal",
        },
        "modebar": {"bgcolor": CLEAR, "color": MUTED, "activecolor": INK},
        **layout,
    }


def axis(title: str, **settings: Any) -> dict[str, Any]:
    """An axis in the page's colours; `settings` comes on top."""
    return {
        "title": {"text": title, "font": {"color": MUTED}},
        "gridcolor": LINE,
        "linecolor": LINE,
        "tickcolor": LINE,
        "zeroline": False,
        "automargin": True,
        **settings,
    }


def hover(title: str, facts: Iterable[tuple[str, str | None]], reason: str = "") -> str:
    """A hover text: title in bold, one fact per line, the reason folded; facts without a value left out."""
    lines = [f"<b>{hover_text(title, 120)}</b>"]
    lines += [f"{name} {hover_text(value, 120)}" for name, value in facts if value]
    if reason:
        lines += [hover_text(line) for line in wrapped(reason, 70)]
    return "<br>".join(lines)


def wrapped(text: str, width: int, most: int = 6) -> list[str]:
    """Text in lines of about `width` characters, at blanks where there are any; at most `most` lines."""
    lines: list[str] = []
    rest = text[: width * most]
    cut = len(text) > len(rest)
    while len(rest) > width:
        at = rest.rfind(" ", width // 2, width)
        at = width if at < 0 else at
        lines.append(rest[:at])
        rest = rest[at:].lstrip()
    lines.append(rest + (" …" if cut else ""))
    return lines


def short(text: str, limit: int) -> str:
    """A label that fits an axis, escaped; what was cut is marked."""
    return hover_text(text if len(text) <= limit else f"{text[: limit - 1]}…", limit)
