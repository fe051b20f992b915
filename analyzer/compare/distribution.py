"""How the calls of a place are spread on either side: one slow call in ten is in no median."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..answer_compare import CompareRow

if TYPE_CHECKING:
    import duckdb

PLACES_SHOWN = 8
CHANGED = ("faster", "slower")

_SPREAD = """
SELECT pair, side, count(*) AS calls, quantile_cont(duration_us, [0.05, 0.25, 0.5, 0.75, 0.95]) AS at
FROM _paired GROUP BY pair, side ORDER BY pair, side
"""
Spread = tuple[int, tuple[float, ...]]


@dataclass(frozen=True)
class CallSpread:
    """The durations of the calls of one place on one side, us."""

    key: str
    type: str
    side: str  # before | after
    calls: int
    p5_us: float
    p25_us: float
    median_us: float
    p75_us: float
    p95_us: float


def read_spreads(scratch: duckdb.DuckDBPyConnection) -> dict[tuple[int, int], Spread]:
    """(pair, side) -> calls and the five quantiles, for every pair."""
    return {(pair, side): (calls, tuple(at)) for pair, side, calls, at in scratch.execute(_SPREAD).fetchall()}


def call_spreads(
    spreads: dict[tuple[int, int], Spread],
    keys: Sequence[str],
    rows: Sequence[CompareRow],
    wanted: Sequence[str],
) -> tuple[CallSpread, ...]:
    """Both sides of the places that matter: those wanted by key, those that changed, else the largest ones.

    `keys` are the names of the pairs in their order, `rows` the rows, largest change first.
    """
    paired = [row for row in rows if row.before_us is not None and row.after_us is not None]
    changed = [row for row in paired if row.change in CHANGED]
    first = [row for key in wanted for row in paired if row.key == key]
    chosen = list({row.key: row for row in (*first, *(changed or paired))}.values())[:PLACES_SHOWN]
    number = {key: at for at, key in enumerate(keys)}
    found = []
    for row in chosen:
        for side, name in enumerate(("before", "after")):
            calls, at = spreads[number[row.key], side]
            found.append(CallSpread(row.key, row.type, name, calls, *at))
    return tuple(found)
