"""The streams of both sides side by side: a prefetch that moves work must not grow a tail elsewhere."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from ..answer_compare import StreamChange
from ..options import AnalysisOptions
from ..sqlfiles import rows_of, sql
from .sides import Side

if TYPE_CHECKING:
    import duckdb

_TIMES = ("kernels", "busy_us", "alone_us", "after_main_us", "longest_us")
# Time that the same pairs of kernels spend on a stream of either side: what makes two streams the same.
_SHARED = """
WITH spent AS (
    SELECT side, pair, stream, sum(duration_us) AS total_us FROM _paired GROUP BY ALL
)
SELECT b.stream AS before, a.stream AS after, sum(least(b.total_us, a.total_us)) AS shared_us
FROM spent AS b JOIN spent AS a USING (pair) WHERE b.side = 0 AND a.side = 1
GROUP BY ALL ORDER BY shared_us DESC, before NULLS LAST, after NULLS LAST
"""
Stream = tuple[int, int | None]  # capture, stream number


def compare_streams(
    before: Side, after: Side, scratch: duckdb.DuckDBPyConnection, options: AnalysisOptions
) -> tuple[StreamChange, ...]:
    """One row per stream, main stream first; told apart by the kernels that they run, then by number."""
    sides = (_stream_times(before), _stream_times(after))
    rows: list[StreamChange] = []
    for left, right in _matched(sides, _shared(scratch)):
        rows.append(_row(left, right, sides, options))
    return tuple(sorted(rows, key=lambda row: (not row.is_main, -_longest_busy(row), str(row))))


def _stream_times(side: Side) -> dict[int | None, dict[str, Any]]:
    """Medians over steps per stream; the captures of one step and the repeats together."""
    cells: dict[int | None, dict[str, Any]] = {}
    for session in side.sessions:
        for row in rows_of(session.con, sql("compare_streams.sql")):
            cell = cells.setdefault(row["stream_id"], {"is_main": False, **{name: [] for name in _TIMES}})
            cell["is_main"] |= bool(row["is_main"])
            for name in _TIMES:
                if row[name] is not None:
                    cell[name].append(float(row[name]))
    for cell in cells.values():
        for name in _TIMES:
            cell[name] = median(cell[name]) if cell[name] else None
    return cells


def _shared(scratch: duckdb.DuckDBPyConnection) -> list[tuple[int | None, int | None]]:
    """Pairs of streams, those with the most time in the same kernels first."""
    return [(before, after) for before, after, _ in scratch.execute(_SHARED).fetchall()]


_NOTHING: Any = object()


def _matched(
    sides: tuple[dict[int | None, Any], dict[int | None, Any]], shared: list[tuple[int | None, int | None]]
) -> list[tuple[Any, Any]]:
    """Each stream once: most shared time first, then equal numbers, then alone."""
    left, right = list(sides[0]), list(sides[1])
    found = []
    for before, after in [*shared, *((each, each) for each in list(left))]:
        if before in left and after in right:
            found.append((before, after))
            left.remove(before)
            right.remove(after)
    found += [(each, _NOTHING) for each in left]
    return found + [(_NOTHING, each) for each in right]


def _row(
    left: Any,
    right: Any,
    sides: tuple[dict[int | None, Any], dict[int | None, Any]],
    options: AnalysisOptions,
) -> StreamChange:
    before, after = (
        {} if name is _NOTHING else side[name] for name, side in zip((left, right), sides, strict=True)
    )
    values = {
        f"{name.removesuffix('_us')}_{when}{'_us' if name.endswith('_us') else ''}": cell.get(name)
        for name in _TIMES
        for when, cell in (("before", before), ("after", after))
    }
    return StreamChange(
        stream_before=None if left is _NOTHING else left,
        stream_after=None if right is _NOTHING else right,
        is_main=bool(before.get("is_main") or after.get("is_main")),
        note=_note(left, right, before, after, options),
        **values,
    )


def _note(
    left: Any, right: Any, before: dict[str, Any], after: dict[str, Any], options: AnalysisOptions
) -> str:
    if left is _NOTHING:
        return "new stream"
    if right is _NOTHING:
        return "stream is gone"
    if after["is_main"]:
        return ""
    told = []
    for name, words in (
        ("after_main_us", "ends later than the main stream did"),
        ("alone_us", "runs alone for longer"),
    ):
        was, now = before[name], after[name]
        if was is None or now is None:
            continue
        grown = max(now, 0.0) - max(was, 0.0)
        if grown > max(options.idle_gap_us, options.min_effect_share * max(was, 0.0)):
            told.append(f"{words}: {grown:+.1f} us")
    return "; ".join(told)


def _longest_busy(row: StreamChange) -> float:
    return max(row.busy_before_us or 0.0, row.busy_after_us or 0.0)
