"""One step over time: a lane per stream, a bar per kernel, and the stretches in which the device waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..analyzer.report_data import Timeline, TimelineKernel
from .figures import CLEAR, Figure, axis, frame, hover, short
from .palette import BOUNDS, bound_colour, css_variable

_LANE_PX: Final = 46
_IDLE_LANE: Final = "device idle"


def timeline_figure(timeline: Timeline) -> Figure:
    """Bars in us from the start of the step; `meta.layers` holds the spans that the page can zoom to."""
    lanes = _lanes(timeline.kernels)
    data = [_idle_trace(timeline)]
    for bound in BOUNDS:
        chosen = [kernel for kernel in timeline.kernels if kernel.bound == bound]
        if chosen:
            data.append(_kernel_trace(bound, chosen, lanes))
    layout = frame(
        barmode="overlay",
        bargap=0.2,
        xaxis=axis("us from the start of the step", range=_span(timeline), tickformat=","),
        yaxis=axis(
            "",
            type="category",
            categoryorder="array",
            categoryarray=[_IDLE_LANE, *lanes.values()],
            autorange="reversed",
            fixedrange=True,
            gridcolor=CLEAR,
            ticksuffix=" ",
        ),
        shapes=[_gap_shape(gap.start_us, gap.idle_us) for gap in timeline.gaps],
        height=110 + _LANE_PX * (len(lanes) + 1),
        dragmode="zoom",
        meta={"layers": _layer_spans(timeline.kernels), "whole": _span(timeline)},
    )
    return {"data": data, "layout": layout}


def _lanes(kernels: Sequence[TimelineKernel]) -> dict[str, str]:
    """Stream -> label of its lane, the busiest stream first."""
    time: dict[str, float] = {}
    for kernel in kernels:
        time[kernel.stream] = time.get(kernel.stream, 0.0) + kernel.duration_us
    ordered = sorted(time, key=lambda stream: (-time[stream], stream))
    return {
        stream: f"stream {short(stream, 20)}" if stream.isdigit() else f"stream<br>{short(stream, 20)}"
        for stream in ordered
    }


def _span(timeline: Timeline) -> list[float]:
    room = timeline.step.wall_us * 0.01
    return [round(-room, 3), round(timeline.step.wall_us + room, 3)]


def _layer_spans(kernels: Sequence[TimelineKernel]) -> list[list[float]]:
    """[layer, first start, last end] of each layer, us."""
    spans: dict[int, list[float]] = {}
    for kernel in kernels:
        if kernel.layer is None:
            continue
        end = kernel.start_us + kernel.duration_us
        span = spans.setdefault(kernel.layer, [kernel.start_us, end])
        span[0], span[1] = min(span[0], kernel.start_us), max(span[1], end)
    return [[layer, round(first, 3), round(last, 3)] for layer, (first, last) in sorted(spans.items())]


def _kernel_trace(bound: str, kernels: Sequence[TimelineKernel], lanes: dict[str, str]) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": bound,
        "y": [lanes[kernel.stream] for kernel in kernels],
        "x": [kernel.duration_us for kernel in kernels],
        "base": [kernel.start_us for kernel in kernels],
        "marker": {"color": bound_colour(bound), "line": {"width": 0}},
        "hoverinfo": "text",
        "hovertext": [_kernel_hover(kernel) for kernel in kernels],
        "textposition": "none",
    }


def _kernel_hover(kernel: TimelineKernel) -> str:
    place = None
    if kernel.position is not None:
        place = f"position {kernel.position}" + (
            f", layer {kernel.layer}" if kernel.layer is not None else ""
        )
    return hover(
        kernel.type,
        (
            ("name", kernel.name),
            ("at", f"{kernel.start_us:,.2f} us for {kernel.duration_us:,.2f} us, stream {kernel.stream}"),
            ("", place),
            ("bound", f"{kernel.bound}/{kernel.limiter}"),
        ),
    )


def _idle_trace(timeline: Timeline) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": "idle",
        "y": [_IDLE_LANE] * len(timeline.gaps),
        "x": [gap.idle_us for gap in timeline.gaps],
        "base": [gap.start_us for gap in timeline.gaps],
        "marker": {"color": css_variable("idle-mark"), "line": {"width": 0}},
        "hoverinfo": "text",
        "hovertext": [
            hover("device idle", (("at", f"{gap.start_us:,.2f} us for {gap.idle_us:,.2f} us"),))
            for gap in timeline.gaps
        ],
        "textposition": "none",
    }


def _gap_shape(start_us: float, idle_us: float) -> dict[str, Any]:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": start_us,
        "x1": start_us + idle_us,
        "y0": 0,
        "y1": 1,
        "fillcolor": css_variable("idle"),
        "line": {"width": 0},
        "layer": "below",
    }
