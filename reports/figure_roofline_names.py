"""Names beside the longest circles of the roofline, where they cover nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ..analyzer.report_data import Point
from .escape import shown
from .figures import CLEAR, short
from .palette import css_variable

Span = tuple[float, float]
Box = tuple[float, float, float, float]  # left, bottom, right, top, px from the lower left corner

LABEL_PX: Final = 14  # height of one line of a label
_LARGEST: Final = 46.0  # diameter of the longest group, px
_SMALLEST: Final = 7.0  # small enough to tell from the large, large enough to point at
_NAMED: Final = 5  # the longest groups carry their name
_CROWD: Final = 40  # circles that a name may not cover; the later ones are specks
_WIDTH: Final = 1000  # of the plot on a laptop, px; places of names are chosen for it
_CHARACTER_PX: Final = 6.4


def diameter(point: Point, longest: float) -> float:
    """Area in proportion to time: twice the time looks twice as large."""
    return round(max(_SMALLEST, _LARGEST * math.sqrt(point.total_us / longest)), 1)


def filter_key(point: Point) -> list[Any]:
    """What the page's selects compare: the texts as they are shown there."""
    return [shown(point.type), [shown(stream) for stream in point.streams]]


def name_trace(
    points: Sequence[Point], longest: float, x_range: Span, y_range: Span, height: float
) -> dict[str, Any] | None:
    """Names beside the longest groups, each at the first free side of its circle; none where none is free."""
    circles = [_circle(point, longest, x_range, y_range, height) for point in points]
    taken: list[Box] = []
    named: list[tuple[int, str]] = []
    for at, point in enumerate(points[:_NAMED]):
        width = _CHARACTER_PX * len(_short_name(point))
        others = [_box(*circle) for place, circle in enumerate(circles[:_CROWD]) if place != at]
        for side, box in _sides(*circles[at], width):
            inside = box[0] >= 0 and box[2] <= _WIDTH and box[1] >= 0 and box[3] <= height
            if inside and not any(_overlap(box, other) for other in [*taken, *others]):
                taken.append(box)
                named.append((at, side))
                break
    if not named:
        return None
    chosen = [points[at] for at, _ in named]
    return {
        "type": "scatter",
        "mode": "markers+text",  # an invisible circle keeps the text outside the visible one
        "x": [point.intensity for point in chosen],
        "y": [point.tflops for point in chosen],
        "text": [_short_name(point) for point in chosen],
        "textposition": [side for _, side in named],
        "textfont": {"size": 11, "color": css_variable("ink")},
        "marker": {"size": [diameter(point, longest) for point in chosen], "color": CLEAR},
        "customdata": [filter_key(point) for point in chosen],
        "hovertext": [""] * len(chosen),
        "hoverinfo": "skip",
        "showlegend": False,
        "meta": {"filtered": True, "wide": True},
    }


def _short_name(point: Point) -> str:
    return short(point.type, 24)


def _circle(
    point: Point, longest: float, x_range: Span, y_range: Span, height: float
) -> tuple[float, float, float]:
    """Middle and radius of a circle in the first view, px of a page of usual width."""
    x = math.log(point.intensity / x_range[0]) / math.log(x_range[1] / x_range[0]) * _WIDTH
    y = math.log(point.tflops / y_range[0]) / math.log(y_range[1] / y_range[0]) * height
    return x, y, diameter(point, longest) / 2


def _box(x: float, y: float, radius: float) -> Box:
    return x - radius, y - radius, x + radius, y + radius


def _sides(x: float, y: float, radius: float, width: float) -> Iterator[tuple[str, Box]]:
    """Where a name may stand, best first, with the box it would take."""
    half, near, far = LABEL_PX / 2, radius + 3, radius + 3 + LABEL_PX
    yield "middle right", (x + near, y - half, x + near + width, y + half)
    yield "middle left", (x - near - width, y - half, x - near, y + half)
    yield "top center", (x - width / 2, y + near, x + width / 2, y + far)
    yield "bottom center", (x - width / 2, y - far, x + width / 2, y - near)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
