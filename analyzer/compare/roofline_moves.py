"""The changed places in the roofline: the same work in another time moves straight up or down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..answer_compare import CompareRow
from ..report_data import Point, Roof, roofline_points, roofs_over

if TYPE_CHECKING:
    from ..session import Session

POINTS_SHOWN = 200  # kernel groups of the run after, those with the most time


@dataclass(frozen=True)
class RooflineMove:
    """One place that changed beyond noise: its work over its time, before and after."""

    key: str
    type: str
    input_shapes: str | None
    intensity: float  # FLOP per byte, least bytes
    before_tflops: float  # 1e12 per second, from the median per call
    after_tflops: float
    delta_pct: float | None  # of the time per call
    change: str  # faster | slower


@dataclass(frozen=True)
class RooflineMoves:
    """What the figure draws: the run after under its roofs, and where the changed places were before."""

    points: tuple[Point, ...]
    roofs: tuple[Roof, ...]
    moves: tuple[RooflineMove, ...]


def roofline_moves(session: Session, rows: Sequence[CompareRow]) -> RooflineMoves | None:
    """The changed places that have a point in the roofline of `session` (the run after); None without any.

    Only the same signature on both sides: with other shapes the work is another one.
    """
    points, _ = roofline_points(session)
    point_of = {point.id: point for point in points}
    moves = []
    for row in rows:
        if row.change not in ("faster", "slower") or row.signature_before != row.signature_after:
            continue
        point = point_of.get(f"k-{(row.signature_after or '')[:8]}")
        if point is None or not row.before_us or not row.after_us:
            continue
        megaflops = point.tflops * point.median_us  # 1e12/s x 1e-6 s = 1e6
        moves.append(
            RooflineMove(
                key=row.key,
                type=row.type,
                input_shapes=row.input_shapes,
                intensity=point.intensity,
                before_tflops=megaflops / row.before_us,
                after_tflops=megaflops / row.after_us,
                delta_pct=row.delta_pct,
                change=row.change,
            )
        )
    if not moves:
        return None
    return RooflineMoves(points[:POINTS_SHOWN], roofs_over(session, points), tuple(moves))
