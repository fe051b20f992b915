"""Figures of single calls: both sides around the target by stream, and how calls are spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..analyzer.compare.aligned import AlignedKernel, AlignedSide, AlignedTimeline
from ..analyzer.compare.distribution import CallSpread
from .figures import CLEAR, MUTED, Figure, axis, frame, hover, short
from .palette import css_variable

_ROW_PX: Final = 34
_ROLES: Final = (("target", "accent"), ("window", "warn"), ("prefetch", "good"), ("other", "busy"))


def aligned_figure(found: AlignedTimeline) -> Figure:
    """A row for each stream and side; zero is the start of the target's call on both."""
    lanes = [(side, stream) for side in found.sides for stream in _streams(side)]
    labels = [_lane(side, stream) for side, stream in lanes]
    data = [_bars(found, role, colour) for role, colour in _ROLES]
    layout = frame(
        barmode="overlay",
        bargap=0.35,
        xaxis=axis("us from the start of the target", tickformat=",", zeroline=True, zerolinecolor=MUTED),
        yaxis=axis(
            "",
            type="category",
            categoryorder="array",
            categoryarray=labels[::-1],
            gridcolor=CLEAR,
            ticksuffix=" ",
        ),
        height=130 + _ROW_PX * len(lanes),
        dragmode="zoom",
    )
    layout["meta"] = {
        "narrow": {"legend": layout["legend"]}
    }  # below so low a figure it would lie on the axis
    return {"data": [each for each in data if each["x"]], "layout": layout}


def _streams(side: AlignedSide) -> list[int | None]:
    return sorted({each.stream for each in side.kernels}, key=lambda each: (each is None, each or 0))


def _lane(side: AlignedSide, stream: int | None) -> str:
    return f"{side.side} · {'–' if stream is None else stream}"  # noqa: RUF001  # a dash: no stream is known


def _bars(found: AlignedTimeline, role: str, colour: str) -> dict[str, Any]:
    chosen = [(side, each) for side in found.sides for each in side.kernels if each.role == role]
    return {
        "type": "bar",
        "orientation": "h",
        "name": role,
        "base": [round(each.start_us, 3) for _, each in chosen],
        "x": [round(each.duration_us, 3) for _, each in chosen],
        "y": [_lane(side, each.stream) for side, each in chosen],
        "marker": {"color": css_variable(colour), "line": {"color": css_variable("surface"), "width": 1}},
        "hoverinfo": "text",
        "hovertext": [_kernel_hover(side, each) for side, each in chosen],
        "textposition": "none",
    }


def _kernel_hover(side: AlignedSide, kernel: AlignedKernel) -> str:
    layer = "" if side.layer is None else f", layer {side.layer}"
    return hover(
        kernel.type,
        (
            ("time per call:", f"{kernel.duration_us:,.2f} us"),
            ("from the target:", f"{kernel.start_us:+,.2f} us"),
            ("run:", f"{side.run}, step {side.step_id}{layer}"),
        ),
    )


def spread_figure(spreads: Sequence[CallSpread]) -> Figure:
    """Two boxes for each place, in per cent of its median before: half of the calls, and nine of ten."""
    before = {each.key: each.median_us for each in spreads if each.side == "before"}
    keys = [key for key, median in before.items() if median > 0]
    chosen = [each for each in spreads if each.key in keys]
    data = [
        _boxes(side, [each for each in chosen if each.side == side], before, colour)
        for side, colour in (("after", "accent"), ("before", "busy"))  # the first trace lies lowest
    ]
    layout = frame(
        boxmode="group",
        xaxis=axis("duration of a call in % of the median before", tickformat=",", ticksuffix=" "),
        yaxis=axis(
            "",
            type="category",
            categoryorder="array",
            categoryarray=[_place(key) for key in keys][::-1],
            gridcolor=CLEAR,
            ticksuffix=" ",
        ),
        height=120 + 46 * max(1, len(keys)),
        dragmode=False,
    )
    layout["legend"] = layout["legend"] | {"traceorder": "reversed"}
    layout["meta"] = {"narrow": {"legend": layout["legend"]}}
    return {"data": data, "layout": layout}


def _place(key: str) -> str:
    return short(key, 46)


def _boxes(side: str, spreads: Sequence[CallSpread], before: dict[str, float], colour: str) -> dict[str, Any]:
    def share(name: str) -> list[float]:
        return [round(getattr(each, name) / before[each.key] * 100, 2) for each in spreads]

    return {
        "type": "box",
        "orientation": "h",
        "name": side,
        "y": [_place(each.key) for each in spreads],
        "lowerfence": share("p5_us"),
        "q1": share("p25_us"),
        "median": share("median_us"),
        "q3": share("p75_us"),
        "upperfence": share("p95_us"),
        "line": {"color": css_variable(colour), "width": 1.5},
        "fillcolor": css_variable("sunken"),
        "hoverinfo": "x+name",
    }
