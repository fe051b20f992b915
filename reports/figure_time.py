"""Where the time goes: per operator type and bound, and per step as busy and idle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..analyzer.answer import HotspotRow, StepRow
from .figures import Figure, axis, frame, hover, short
from .headline import percent
from .palette import BOUNDS, bound_colour, css_variable

TYPES_SHOWN: Final = 16
STEPS_SHOWN: Final = 60
_ROW_PX: Final = 24


def time_figure(rows: Sequence[HotspotRow]) -> Figure:
    """Bars of share of kernel time, one per type, split by bound; the first bar is all kernels together."""
    total = sum(row.total_us for row in rows) or 1.0
    by_type: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        cell = by_type.setdefault(row.type, {}).setdefault(row.bound, [0.0, 0.0])
        cell[0] += row.total_us
        cell[1] += row.count
    order = sorted(by_type, key=lambda name: (-sum(cell[0] for cell in by_type[name].values()), name))
    groups = [("all kernels", _merged(by_type.values()))]
    groups += [(name, by_type[name]) for name in order[:TYPES_SHOWN]]
    if len(order) > TYPES_SHOWN:
        rest = order[TYPES_SHOWN:]
        groups.append((f"{len(rest)} other types", _merged(by_type[name] for name in rest)))
    labels = [short(name, 34) for name, _ in groups]
    data = [trace for bound in BOUNDS if (trace := _bound_bars(bound, groups, labels, total))]
    layout = frame(
        barmode="stack",
        bargap=0.28,
        xaxis=axis("share of kernel time, %", rangemode="tozero"),
        yaxis=axis("", autorange="reversed", type="category", gridcolor="rgba(0,0,0,0)", ticksuffix=" "),
        height=120 + _ROW_PX * len(groups),
        dragmode=False,
    )
    return {"data": data, "layout": layout}


def _merged(parts: Any) -> dict[str, list[float]]:
    merged: dict[str, list[float]] = {}
    for part in parts:
        for bound, (us, count) in part.items():
            cell = merged.setdefault(bound, [0.0, 0.0])
            cell[0] += us
            cell[1] += count
    return merged


def _bound_bars(
    bound: str, groups: Sequence[tuple[str, dict[str, list[float]]]], labels: list[str], total: float
) -> dict[str, Any] | None:
    cells = [part.get(bound, [0.0, 0.0]) for _, part in groups]
    if not any(us > 0 for us, _ in cells):
        return None
    return {
        "type": "bar",
        "orientation": "h",
        "name": bound,
        "y": labels,
        "x": [round(us / total * 100, 4) for us, _ in cells],
        "marker": {"color": bound_colour(bound)},
        "hoverinfo": "text",
        "hovertext": [
            hover(name, ((f"{bound}:", f"{us:,.0f} us in {count:,.0f} calls, {percent(us / total)}"),))
            for (name, _), (us, count) in zip(groups, cells, strict=True)
        ],
        "textposition": "none",
    }


def steps_figure(steps: Sequence[StepRow]) -> Figure:
    """One bar per step: busy and idle add up to the wall."""
    shown = steps[:STEPS_SHOWN]
    labels = [f"step {step.step_id}" for step in shown]
    parts = (
        ("busy", css_variable("accent"), [step.busy_us for step in shown]),
        ("idle", css_variable("warn"), [step.idle_us for step in shown]),
    )
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": labels,
            "x": [round(us / 1e3, 4) for us in values],
            "marker": {"color": colour},
            "hoverinfo": "text",
            "hovertext": [
                hover(label, ((f"{name}:", f"{us:,.0f} us of {step.wall_us:,.0f} us"),))
                for label, us, step in zip(labels, values, shown, strict=True)
            ],
            "textposition": "none",
        }
        for name, colour, values in parts
    ]
    layout = frame(
        barmode="stack",
        bargap=0.3,
        xaxis=axis("ms", rangemode="tozero"),
        yaxis=axis("", autorange="reversed", type="category", gridcolor="rgba(0,0,0,0)", ticksuffix=" "),
        height=120 + _ROW_PX * max(len(shown), 1),
        dragmode=False,
    )
    return {"data": data, "layout": layout}
