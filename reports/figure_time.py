"""Where the time goes: per operator type and bound, and per step as busy and idle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..analyzer.answer import StepRow
from ..analyzer.report_data import TypeTime
from .figures import CLEAR, Figure, axis, frame, hover, short
from .palette import BOUNDS, bound_colour, css_variable

TYPES_SHOWN: Final = 16
STEPS_SHOWN: Final = 60
_ROW_PX: Final = 24


def time_figure(times: Sequence[TypeTime]) -> Figure:
    """A bar per type, split by bound: us in a step, medians over the steps, the longest types first."""
    by_type: dict[str, list[TypeTime]] = {}
    for each in times:
        by_type.setdefault(each.type, []).append(each)
    order = sorted(by_type, key=lambda name: (-sum(each.step_us for each in by_type[name]), name))
    groups = [(name, by_type[name]) for name in order[:TYPES_SHOWN]]
    if len(order) > TYPES_SHOWN:
        rest = order[TYPES_SHOWN:]
        groups.append((f"{len(rest)} other types", [each for name in rest for each in by_type[name]]))
    data = [trace for bound in BOUNDS if (trace := _bound_bars(bound, groups))]
    layout = frame(
        barmode="stack",
        bargap=0.28,
        xaxis=axis("us per step (median over steps)", rangemode="tozero", tickformat=","),
        yaxis=axis("", autorange="reversed", type="category", gridcolor=CLEAR, ticksuffix=" "),
        height=120 + _ROW_PX * len(groups),
        dragmode=False,
    )
    return {"data": data, "layout": layout}


def _bound_bars(bound: str, groups: Sequence[tuple[str, list[TypeTime]]]) -> dict[str, Any] | None:
    parts = [[each for each in times if each.bound == bound] for _, times in groups]
    if not any(parts):
        return None
    return {
        "type": "bar",
        "orientation": "h",
        "name": bound,
        "y": [short(name, 34) for name, _ in groups],
        "x": [round(sum(each.step_us for each in part), 3) for part in parts],
        "marker": {"color": bound_colour(bound)},
        "hoverinfo": "text",
        "hovertext": [_bar_hover(name, bound, part) for (name, _), part in zip(groups, parts, strict=True)],
        "textposition": "none",
    }


def _bar_hover(name: str, bound: str, part: Sequence[TypeTime]) -> str:
    step, total = sum(each.step_us for each in part), sum(each.total_us for each in part)
    kernels = sum(each.kernels for each in part)
    return hover(
        name,
        (
            (f"{bound}:", f"{step:,.0f} us in a step"),
            ("all steps:", f"{total:,.0f} us in {kernels:,} calls"),
        ),
    )


def steps_figure(steps: Sequence[StepRow]) -> Figure:
    """One bar per step: busy and idle add up to the wall."""
    shown = steps[:STEPS_SHOWN]
    labels = [f"step {step.step_id}" for step in shown]
    parts = (
        ("busy", css_variable("busy"), [step.busy_us for step in shown]),
        ("idle", css_variable("idle-mark"), [step.idle_us for step in shown]),
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
        yaxis=axis("", autorange="reversed", type="category", gridcolor=CLEAR, ticksuffix=" "),
        height=120 + _ROW_PX * max(len(shown), 1),
        dragmode=False,
    )
    return {"data": data, "layout": layout}
