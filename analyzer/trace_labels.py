"""The label of each signature, and of each of its places, as the args of its slices in a trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .hotspots import hotspot_id
from .labels import LabelledGroup, labelled_groups, labelled_positions

if TYPE_CHECKING:
    from .session import Session

_TABLE = """
CREATE OR REPLACE TEMP TABLE trace_labels AS
SELECT
    unnest($ids::UBIGINT[]) AS signature_id,
    unnest($parts::VARCHAR[]) AS part,
    unnest($positions::INTEGER[]) AS position,
    unnest($categories::VARCHAR[]) AS category,
    unnest($args::VARCHAR[]) AS args,
    unnest($floors::DOUBLE[]) AS floor_us,
    unnest($bytes::DOUBLE[]) AS bytes_lo
"""


def publish_trace_labels(session: Session, show: Callable[[str], str]) -> None:
    """Make the temporary table `trace_labels`: one row per signature (part NULL) and one per place of it.

    `args` is the inside of a JSON object, `category` what a viewer filters by: bound and limiter.
    """
    groups = [*labelled_groups(session), *labelled_positions(session)]
    rows = [_labelled(group, show) for group in groups]
    rows += _without_label(session, {group.signature_id for group in groups}, show)
    names = ("ids", "parts", "positions", "categories", "args", "floors", "bytes")
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    session.con.execute(_TABLE, dict(zip(names, map(list, columns), strict=True)))


def _labelled(group: LabelledGroup, show: Callable[[str], str]) -> tuple[Any, ...]:
    label, row, floor = group.label, group.row, group.label.floors.floor_us
    args = {
        "type": show(row.type or "(no type)"),
        "id": hotspot_id(row.hex_id),
        "bound": label.bound,
        "limiter": label.limiter,
        "confidence": label.confidence,
        "reason": show(label.reason),
        "floor_us": None if floor is None else round(floor, 3),
        "median_us": round(group.statistics.median_us, 3),
        "anomaly": None if label.anomaly is None else show(label.anomaly),
        **_operands(row.input_shapes, row.input_dtypes, show),
    }
    bytes_lo = None if group.work.bytes_lo is None else float(group.work.bytes_lo)
    category = f"{label.bound}/{label.limiter}"
    return (group.signature_id, group.part, group.position, category, _inside(args), floor, bytes_lo)


def _without_label(session: Session, labelled: set[int], show: Callable[[str], str]) -> list[tuple[Any, ...]]:
    """Signatures of other engines: their class is what is known about them."""
    rows = session.rows(
        "SELECT signature_id, type, kernel_class, input_shapes, input_dtypes FROM selected_signatures "
        "WHERE NOT list_contains(?::UBIGINT[], signature_id)",
        [sorted(labelled)],
    )
    found = []
    for row in rows:
        args = {
            "type": show(row["type"] or "(no type)"),
            "bound": "other",
            "limiter": row["kernel_class"],
            "reason": "not an AI-core kernel: it is in no roofline",
            **_operands(row["input_shapes"], row["input_dtypes"], show),
        }
        category = f"other/{row['kernel_class']}"
        found.append((row["signature_id"], None, None, category, _inside(args), None, None))
    return found


def _operands(shapes: str | None, dtypes: str | None, show: Callable[[str], str]) -> dict[str, str | None]:
    return {
        "input_shapes": None if shapes is None else show(shapes),
        "input_dtypes": None if dtypes is None else show(dtypes),
    }


def _inside(args: dict[str, Any]) -> str:
    """A JSON object without its braces, so that SQL can add to it; what is not known is left out."""
    known = {name: value for name, value in args.items() if value is not None}
    return json.dumps(known, separators=(",", ":"), allow_nan=False)[1:-1]
