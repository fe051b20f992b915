"""op_statistic.csv against the kernels: what the exporter sums up itself must be in the kernel table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .database import read_sql
from .options import IngestOptions

if TYPE_CHECKING:
    import duckdb

_TYPES_SHOWN = 3


def reconcile_statistics(
    con: duckdb.DuckDBPyConnection, rank_id: int, options: IngestOptions
) -> tuple[str | None, list[str]]:
    """(what the file says beside the kernels, notes on the rank where they differ); nothing without both.

    Calls must be equal; times may differ by the rounding of the exporter's sums.
    """
    rows = con.execute(read_sql("reconcile_statistics.sql"), {"rank": rank_id}).fetchall()
    listed = [row for row in rows if row[2] is not None]
    if not listed or all(row[4] is None for row in rows):
        return None, []
    differing = [text for row in rows if (text := _difference(row, options.statistics_share))]
    if not differing:
        share = f"{options.statistics_share * 100:g} %"
        return f"agrees with the kernels in all {len(rows)} types: equal calls, times within {share}", []
    shown = "; ".join(differing[:_TYPES_SHOWN])
    more = f"; and {len(differing) - _TYPES_SHOWN} more" if len(differing) > _TYPES_SHOWN else ""
    where = f"{len(differing)} of {len(rows)} types"
    note = f"op_statistic.csv and the kernel table differ in {where}: {shown}{more}"
    return f"differs from the kernels in {where}", [note]


def _difference(row: tuple[Any, ...], share: float) -> str:
    """'Add on AI_CORE: 3 calls, 12.0 us listed; 2 calls, 8.0 us in the table'; empty when they agree."""
    type_, core, said_calls, said_us, held_calls, held_us = row
    where = f"{type_} on {core}"
    if said_calls is None:
        return f"{where}: not listed; {held_calls:,} calls, {held_us:,.1f} us in the table"
    listed = f"{said_calls:,} calls, {said_us or 0:,.1f} us listed"
    if held_calls is None:
        return f"{where}: {listed}; none in the table"
    both = (said_us, held_us)
    far = None not in both and abs(said_us - held_us) > share * max(both)
    if said_calls == held_calls and not far:
        return ""
    return f"{where}: {listed}; {held_calls:,} calls, {held_us:,.1f} us in the table"
