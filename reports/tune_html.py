"""The tuning report: the curve of gain against max_size with its knee, what comes next, every experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..analyzer.answer import Answer, ExperimentRow
from .figures import MUTED, Figure, axis, frame, hover, short
from .headline import headline
from .page import render_page
from .palette import css_variable
from .tables import table

_MIB: Final = 2**20
# One colour for each place, in the order in which they were tried.
_COLOURS: Final = ("accent", "bound-compute", "bound-communication", "bound-latency", "busy")


def tune_report(answer: Answer, generated_at: str = "") -> str:
    """The whole page; `generated_at` is shown as given, so that the same answer gives the same bytes."""
    measured = [row for row in answer.rows if row.gain_pct is not None]
    figures = {"figure-curve": curve_figure(measured)} if measured else {}
    return render_page(
        "tune.html.j2",
        run=None,
        figures=figures,
        generated_at=generated_at,
        headline=headline(answer),
        tuning=answer.extras["tuning"],
        next=answer.extras["next"],
        rows=table("tune", "rows", answer.rows),
        about=table("tune", "tuning", (answer.extras["tuning"],)),
        notes=answer.notes,
    )


def curve_figure(rows: Sequence[ExperimentRow]) -> Figure:
    """Gain against max_size, a line for each place with its 95 % intervals; the knee is marked.

    `rows` have a gain. Below the dotted line a gain does not count.
    """
    data = [
        _line(place, [row for row in rows if row.dependency == place], _COLOURS[at % len(_COLOURS)])
        for at, place in enumerate(dict.fromkeys(row.dependency for row in rows))
    ]
    layout = frame(
        xaxis=axis("max_size in MiB", tickformat=",", rangemode="tozero"),
        yaxis=axis("gain in % of the step", ticksuffix=" ", zeroline=True, zerolinecolor=MUTED),
        height=380,
        showlegend=len(data) > 1,
        shapes=[_floor(max(row.floor_pct for row in rows))],
        annotations=[_knee(row) for row in rows if row.knee],
    )
    return {"data": data, "layout": layout}


def _line(place: str | None, rows: Sequence[ExperimentRow], colour: str) -> dict[str, Any]:
    ordered = sorted(rows, key=lambda row: (row.max_size, row.experiment))
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": short(place or "the place is not named", 40),
        "x": [round(row.max_size / _MIB, 3) for row in ordered],
        "y": [row.gain_pct for row in ordered],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [_above(row.gain_pct, row.gain_high_pct) for row in ordered],
            "arrayminus": [_above(row.gain_low_pct, row.gain_pct) for row in ordered],
            "thickness": 1.5,
            "width": 4,
        },
        "line": {"color": css_variable(colour), "width": 2},
        "marker": {
            "size": 9,
            "color": css_variable(colour),
            "symbol": ["circle" if row.reading == "gain" else "circle-open" for row in ordered],
        },
        "hoverinfo": "text",
        "hovertext": [_hover(row) for row in ordered],
    }


def _above(low: float | None, high: float | None) -> float:
    return 0.0 if low is None or high is None else max(0.0, high - low)


def _floor(at: float) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": at,
        "y1": at,
        "line": {"color": MUTED, "width": 1, "dash": "dot"},
    }


def _knee(row: ExperimentRow) -> dict[str, Any]:
    """An arrow from above to the smallest size that is as good as the best."""
    return {
        "x": round(row.max_size / _MIB, 3),
        "y": row.gain_pct,
        "text": f"knee: {row.max_size / _MIB:,.1f} MiB",
        "showarrow": True,
        "arrowhead": 2,
        "arrowcolor": css_variable("good"),
        "font": {"color": css_variable("good"), "size": 13},
        "ax": 0,
        "ay": -44,
    }


def _hover(row: ExperimentRow) -> str:
    interval = None
    if row.gain_low_pct is not None and row.gain_high_pct is not None:
        interval = f"{row.gain_low_pct:+.2f} to {row.gain_high_pct:+.2f} %"
    runs = f"{row.before} → {row.after}" if row.before else None
    return hover(
        f"experiment {row.experiment}",
        (
            ("max_size:", f"{row.max_size / _MIB:,.2f} MiB"),
            ("gain:", f"{row.gain_pct:+.2f} % ({row.gain_of})"),
            ("95 % interval:", interval),
            ("says:", row.reading),
            ("verdict:", row.outcome),
            ("dependency:", row.dependency),
            ("runs:", runs),
        ),
        row.note or "",
    )
