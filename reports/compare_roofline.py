"""The roofline of a comparison: where the changed places were, and where they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ..analyzer.compare import RooflineMove, RooflineMoves
from ..analyzer.report_data import Roof
from .compare_figures import CHANGE_COLOURS, per_cent
from .escape import hover_text
from .figure_roofline import roofline_figure
from .figures import MUTED, Figure, hover

# 1, 2 and 5 of every decade, so that a view of half a decade has labels, too.
_TICKS: Final = [digit * 10.0**decade for decade in range(-4, 5) for digit in (1, 2, 5)]
_TICK_TEXTS: Final = [f"{value:,.10g}" for value in _TICKS]


def moves_figure(found: RooflineMoves) -> Figure:
    """The roofline of the run after, with an arrow for each changed place from where it was before."""
    figure = roofline_figure(found.points, found.roofs)
    for trace in figure["data"]:
        if trace.get("meta", {}).get("filtered"):  # the kernel groups: background here
            trace["opacity"] = 0.35
    _zoom(figure["layout"], found.moves[0], found.roofs)
    for move in found.moves:
        colour = CHANGE_COLOURS[move.change]
        figure["data"].append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [move.intensity, move.intensity],
                "y": [move.before_tflops, move.after_tflops],
                "marker": {
                    "symbol": ["circle-open", "circle"],
                    "size": 9,
                    "color": colour,
                    "line": {"width": 2, "color": colour},
                },
                "showlegend": False,
                "hoverinfo": "text",
                "hovertext": [_move_hover(move, when) for when in ("before", "after")],
            }
        )
        arrow = _arrow(move, colour)
        figure["layout"]["annotations"].append(arrow)
        figure["layout"]["meta"]["narrow"]["annotations"].append(arrow)
    return figure


def _zoom(layout: dict[str, Any], move: RooflineMove, roofs: Sequence[Roof]) -> None:
    """The first view shows one arrow: a quarter less time is a tenth of a decade. A double click shows all.

    Bandwidth roofs are named again where they leave this view at its top.
    """
    x = math.log10(move.intensity)
    ys = [math.log10(value) for value in (move.before_tflops, move.after_tflops)]
    view = {
        "xaxis": [round(x - 0.7, 4), round(x + 0.7, 4)],
        "yaxis": [round(min(ys) - 0.4, 4), round(max(ys) + 0.4, 4)],
    }
    for name, ends in view.items():
        layout[name] |= {"range": ends, "tickmode": "array", "tickvals": _TICKS, "ticktext": _TICK_TEXTS}
    top = view["yaxis"][1]
    for roof in roofs:
        at = top - math.log10(roof.value / 1e3)  # GB/s x FLOP/byte / 1000 = TFLOP/s
        if roof.kind == "bandwidth" and view["xaxis"][0] < at < view["xaxis"][1]:
            layout["annotations"].append(
                {
                    "x": round(at, 4),
                    "y": top,
                    "text": hover_text(f"{roof.name} {roof.value:,.0f} GB/s"),
                    "showarrow": False,
                    "xanchor": "right",
                    "yanchor": "top",
                    "xshift": -24,
                    "font": {"color": MUTED, "size": 11},
                }
            )


def _arrow(move: RooflineMove, colour: str) -> dict[str, Any]:
    """An arrow between two points of logarithmic axes, whose coordinates are the exponents."""
    x = round(math.log10(move.intensity), 5)
    return {
        "x": x,
        "y": round(math.log10(move.after_tflops), 5),
        "ax": x,
        "ay": round(math.log10(move.before_tflops), 5),
        "axref": "x",
        "ayref": "y",
        "text": "",
        "showarrow": True,
        "arrowhead": 2,
        "arrowsize": 1,
        "arrowwidth": 2,
        "arrowcolor": colour,
    }


def _move_hover(move: RooflineMove, when: str) -> str:
    return hover(
        f"{move.type} {move.input_shapes or ''}",
        (
            (f"{when}:", f"{getattr(move, f'{when}_tflops'):,.3g} TFLOP/s"),
            ("time per call:", f"{move.change}{per_cent(move.delta_pct)}"),
            ("place:", move.key),
        ),
    )
