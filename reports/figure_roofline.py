"""The roofline: what each kernel group reached, under the roofs of the device.

x is FLOPs per byte, y is FLOPs per second, both logarithmic: a bandwidth is a line of slope one, a compute
peak a level. A group is drawn at what is certain, the numbers of the table: its certain FLOPs over its
least bytes and over its time. Where its FLOPs are a range (padded rows that may not be real) the circle is
hollow, an "at least", and a thin line leads up to all of them, cut at the compute peak; where its bytes are a
range, a thin line leads to the left, cut at the HBM roof. Nothing is drawn above a roof as if it were a feat.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ..analyzer.report_data import Point, Roof
from ..units import format_bytes_decimal
from .escape import hover_text
from .figure_roofline_names import LABEL_PX, diameter, filter_key, name_trace
from .figures import MUTED, Figure, axis, frame, hover
from .palette import BOUNDS, bound_colour, css_variable

_HEIGHT: Final = 560
_AXES_PX: Final = 92  # of it that is not the plot
# The first view holds the groups with this share of the time: a tiny kernel six decades down would squeeze
# the rest into a corner. A double click shows every group.
_VIEW_SHARE: Final = 0.97
_NARROW_ROOM: Final = 0.35  # a peak's name takes a quarter of the width of a phone
_BOUND_NAMES: Final = {
    "memory": "memory-bound",
    "compute": "compute-bound",
    "latency": "latency-bound",
    "communication": "communication",
    "other": "other",
    "unknown": "unknown",
}


def roofline_figure(points: Sequence[Point], roofs: Sequence[Roof]) -> Figure:
    """The figure; without points or without roofs the rest is still drawn."""
    x_range, y_range = _ranges(points, roofs)
    longest = max((p.total_us for p in points), default=1.0)
    data: list[dict[str, Any] | None] = [*_roof_traces(roofs, x_range), *_ridge_traces(roofs)]
    for bound in BOUNDS:
        chosen = [point for point in points if _bound(point) == bound]
        if chosen:
            data += [_range_trace(bound, chosen), _point_trace(bound, chosen, longest)]
    data.append(name_trace(points, longest, x_range, y_range, _HEIGHT - _AXES_PX))
    layout = frame(
        xaxis=_intensity_axis(x_range),
        yaxis=axis(
            "achieved for certain, TFLOP/s", type="log", range=_log(y_range), dtick=1, exponentformat="power"
        ),
        annotations=[*_bandwidth_labels(roofs, x_range, y_range), *_peak_labels(roofs, y_range)],
        margin={"l": 64, "r": 170 if any(roof.kind == "compute" for roof in roofs) else 16, "t": 40, "b": 52},
        height=_HEIGHT,
        # A phone has no room beside the figure: the peaks are named inside it, without their numbers.
        meta=_narrow(roofs, x_range),
        dragmode="zoom",
    )
    return {"data": [trace for trace in data if trace], "layout": layout}


def _intensity_axis(x_range: tuple[float, float]) -> dict[str, Any]:
    return axis(
        "arithmetic intensity, certain FLOPs / least bytes",
        type="log",
        range=_log(x_range),
        dtick=1,
        exponentformat="power",
    )


def _bound(point: Point) -> str:
    return point.bound if point.bound in BOUNDS else "unknown"


def _ranges(
    points: Sequence[Point], roofs: Sequence[Roof]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Room around the points of the first view and the HBM ridges, in data units."""
    seen = _in_view(points)
    peaks = [roof.value for roof in roofs if roof.kind == "compute"]
    xs = [p.intensity for p in seen] + [p.intensity_low for p in seen if p.intensity_low]
    xs += [p.intensity * p.tflops_high / p.tflops for p in seen if p.tflops_high]
    xs += [ridge for memory, _, ridge in _ridges(roofs) if memory.name == "HBM"]
    ys = [p.tflops for p in seen] + [p.tflops_high for p in seen if p.tflops_high] + peaks
    xs, ys = xs or [0.1, 1000.0], ys or [0.01, 1000.0]
    return (min(xs) / 3, max(xs) * 4), (min(ys) / 3, max(ys) * 3)


def _in_view(points: Sequence[Point]) -> list[Point]:
    """The longest groups that hold _VIEW_SHARE of the time; `points` come by falling time."""
    total = sum(point.total_us for point in points)
    seen: list[Point] = []
    reached = 0.0
    for point in points:
        if seen and reached >= _VIEW_SHARE * total:
            break
        seen.append(point)
        reached += point.total_us
    return seen


def _log(bounds: tuple[float, float]) -> list[float]:
    return [round(math.log10(value), 4) for value in bounds]


def _bandwidth_tflops(gb_s: float, intensity: float) -> float:
    """GB/s (1e9) x FLOP per byte = 1e9 FLOP/s; / 1000 = TFLOP/s."""
    return gb_s * intensity / 1e3


def _ridges(roofs: Sequence[Roof]) -> list[tuple[Roof, Roof, float]]:
    """(bandwidth, compute, FLOP per byte where they meet): peak 1e12 / bandwidth 1e9."""
    return [
        (memory, peak, peak.value * 1e3 / memory.value)
        for memory in roofs
        for peak in roofs
        if memory.kind == "bandwidth" and peak.kind == "compute"
    ]


def _roof_traces(roofs: Sequence[Roof], x_range: tuple[float, float]) -> list[dict[str, Any]]:
    peaks = [roof.value for roof in roofs if roof.kind == "compute"]
    widest = max((roof.value for roof in roofs if roof.kind == "bandwidth"), default=None)
    traces = []
    for roof in roofs:
        if roof.kind == "bandwidth":
            # A bandwidth roof ends where it meets the highest compute roof.
            end = max(peaks) * 1e3 / roof.value if peaks else x_range[1]
            xs = [x_range[0] / 10, end]
            ys = [_bandwidth_tflops(roof.value, x) for x in xs]
        else:
            start = roof.value * 1e3 / widest if widest else x_range[0] / 10
            xs, ys = [start, x_range[1] * 100], [roof.value, roof.value]
        traces.append(_line(roof, xs, ys))
    return traces


def _line(roof: Roof, xs: list[float], ys: list[float]) -> dict[str, Any]:
    dash = {"HBM": "solid", "L2": "dash"}.get(roof.name, "dot" if roof.kind == "compute" else "dash")
    return {
        "type": "scatter",
        "mode": "lines",
        "x": xs,
        "y": ys,
        "line": {"color": css_variable("ink"), "width": 2 if roof.name == "HBM" else 1.3, "dash": dash},
        "hoverinfo": "text",
        "hovertext": hover(
            f"{roof.name} roof: {_roof_value(roof)}",
            (("source", roof.source), ("confidence", roof.confidence)),
        ),
        "showlegend": False,
    }


def _roof_value(roof: Roof) -> str:
    return f"{roof.value:,.0f} GB/s" if roof.kind == "bandwidth" else f"{roof.value:,.4g} TFLOP/s"


def _ridge_traces(roofs: Sequence[Roof]) -> list[dict[str, Any]]:
    ridges = [each for each in _ridges(roofs) if each[0].name == "HBM"]
    if not ridges:
        return []
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [ridge for _, _, ridge in ridges],
            "y": [peak.value for _, peak, _ in ridges],
            "marker": {"symbol": "diamond-open", "size": 8, "color": css_variable("ink")},
            "hoverinfo": "text",
            "hovertext": [
                hover(f"ridge {peak.name}: {ridge:,.1f} FLOP/B", (("HBM meets", _roof_value(peak)),))
                for _, peak, ridge in ridges
            ],
            "showlegend": False,
        }
    ]


def _bandwidth_labels(
    roofs: Sequence[Roof], x_range: tuple[float, float], y_range: tuple[float, float]
) -> list[dict[str, Any]]:
    """Bandwidths are named beside their lower end: the highest above its line, the others below theirs."""
    bandwidths = [roof for roof in roofs if roof.kind == "bandwidth"]
    widest = max((roof.value for roof in bandwidths), default=None)
    labels = []
    for roof in bandwidths:
        above = roof.value == widest and len(bandwidths) > 1
        # Somewhat inside the frame, so that the text beside the line is inside it too.
        x = max(x_range[0], y_range[0] * 1e3 / roof.value) * (8 if above else 2)
        y = _bandwidth_tflops(roof.value, x)
        labels.append(_label(roof, x, y, "right" if above else "left", "bottom" if above else "top"))
    return labels


def _peak_labels(roofs: Sequence[Roof], y_range: tuple[float, float]) -> list[dict[str, Any]]:
    """Peaks are named in the margin at their right end; a name too near to the one above it moves down."""
    px_per_decade = (_HEIGHT - _AXES_PX) / math.log10(y_range[1] / y_range[0])
    labels: list[dict[str, Any]] = []
    above: float | None = None
    for roof in sorted((each for each in roofs if each.kind == "compute"), key=lambda each: -each.value):
        level = math.log10(roof.value) * px_per_decade
        place = level if above is None else min(level, above - LABEL_PX)
        above = place
        labels.append(
            _label(roof, 1.0, roof.value, "left", "middle")
            | {"x": 1, "xref": "paper", "yshift": round(place - level)}
        )
    return labels


def _narrow(roofs: Sequence[Roof], x_range: tuple[float, float]) -> dict[str, Any]:
    """For a phone: the axis goes on to the right, where the names of the peaks cover no circle."""
    peaks = [roof for roof in roofs if roof.kind == "compute"]
    decades = math.log10(x_range[1] / x_range[0])
    end = x_range[1] * 10 ** (decades * _NARROW_ROOM) if peaks else x_range[1]
    # Somewhat inside: a label at the very end of the axis counts as outside and is not drawn.
    labels = [
        _label(roof, end / 1.05, roof.value, "right", "bottom") | {"text": hover_text(roof.name)}
        for roof in peaks
    ]
    return {"narrow": {"annotations": labels}, "narrow_x": _log((x_range[0], end))}


def _label(roof: Roof, x: float, y: float, xanchor: str, yanchor: str) -> dict[str, Any]:
    return {
        "x": math.log10(x),
        "y": math.log10(y),
        "text": f"{hover_text(roof.name)} {_roof_value(roof)}",
        "showarrow": False,
        "xanchor": xanchor,
        "yanchor": yanchor,
        "xshift": -6 if xanchor == "right" else 6,
        "font": {"color": MUTED, "size": 11},
    }


def _point_trace(bound: str, points: Sequence[Point], longest: float) -> dict[str, Any]:
    # Hollow = at least: the colour is in the outline only.
    hollow = [point.flops_hi > point.flops_lo for point in points]
    colour, surface = bound_colour(bound), css_variable("surface")
    return {
        "type": "scatter",
        "mode": "markers",
        "name": _BOUND_NAMES[bound],
        "x": [point.intensity for point in points],
        "y": [point.tflops for point in points],
        "marker": {
            "size": [diameter(point, longest) for point in points],
            "sizemode": "diameter",
            "symbol": ["circle-open" if each else "circle" for each in hollow],
            "color": colour,
            "opacity": 0.78,
            "line": {
                "color": [colour if each else surface for each in hollow],
                "width": [2.5 if each else 1 for each in hollow],
            },
        },
        "customdata": [filter_key(point) for point in points],
        "hoverinfo": "text",
        "hovertext": [_point_hover(point) for point in points],
        "meta": {"filtered": True},
    }


def _range_trace(bound: str, points: Sequence[Point]) -> dict[str, Any] | None:
    """Lines from a group to the ends of its ranges: left for more bytes, up for more FLOPs."""
    spans: list[tuple[Point, float, float]] = []
    for point in points:
        if point.intensity_low is not None:
            spans.append((point, point.intensity_low, point.tflops))
        if point.tflops_high is not None:
            # More FLOPs over the same bytes: intensity grows as the rate does, a line of slope one.
            spans.append((point, point.intensity * point.tflops_high / point.tflops, point.tflops_high))
    if not spans:
        return None
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [x for point, end, _ in spans for x in (end, point.intensity, None)],
        "y": [y for point, _, end in spans for y in (end, point.tflops, None)],
        "line": {"color": bound_colour(bound), "width": 1.2},
        "marker": {"symbol": "x-thin-open", "size": 6, "color": bound_colour(bound), "line": {"width": 1.2}},
        "opacity": 0.6,
        "customdata": [filter_key(point) for point, _, _ in spans for _ in range(3)],
        "hoverinfo": "text",
        "hovertext": [_point_hover(point) for point, _, _ in spans for _ in range(3)],
        "showlegend": False,
        "meta": {"filtered": True},
    }


def _point_hover(point: Point) -> str:
    lo, hi = format_bytes_decimal(point.bytes_lo), format_bytes_decimal(point.bytes_hi)
    rate = f"{point.bytes_lo / point.median_us / 1e3:,.0f} GB/s"
    if point.intensity_low is not None:
        traffic = f"{lo} to {hi} (a range: at least {rate})"
    else:
        traffic = f"{lo} ({rate})"
    at_least = point.flops_hi > point.flops_lo
    rate_said = f"{point.tflops:,.3g} TFLOP/s"
    if at_least:
        upper = point.flops_hi / point.median_us / 1e6
        rate_said = (
            f"at least {rate_said} (FLOPs up to {upper:,.3g} TFLOP/s if no row were padding or masked)"
        )
    return hover(
        point.type,
        (
            ("shapes", point.shapes),
            ("time", f"{point.count:,} x {point.median_us:,.2f} us = {point.total_us:,.0f} us"),
            ("bytes", traffic),
            ("compute", f"{rate_said}, {point.unit} {point.dtype}"),
            ("intensity", f"{point.intensity:,.3g} FLOP/B{', certain FLOPs / least bytes' * at_least}"),
            ("bound", f"{point.bound}/{point.limiter}, {point.confidence} confidence"),
            ("id", point.id),
        ),
        point.reason,
    )
