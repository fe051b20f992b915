"""The streams of both sides side by side: a prefetch that moves work must not grow a tail elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from ..answer_compare import StreamChange
from ..options import AnalysisOptions
from ..sqlfiles import rows_of, sql
from .judgement import judge_times
from .sides import Side

if TYPE_CHECKING:
    import duckdb

_TIMES = ("kernels", "busy_us", "alone_us", "after_main_us", "longest_us")
# What makes a tail: work after the main stream's end, or while nothing else runs.
_TAILS = (("after_main_us", "ends later after the main stream"), ("alone_us", "runs alone for longer"))
# Time that the same pairs of kernels spend on a stream of either side: what makes two streams the same.
_SHARED = """
WITH spent AS (
    SELECT side, pair, stream, sum(duration_us) AS total_us FROM _paired GROUP BY ALL
)
SELECT b.stream AS before, a.stream AS after, sum(least(b.total_us, a.total_us)) AS shared_us
FROM spent AS b JOIN spent AS a USING (pair) WHERE b.side = 0 AND a.side = 1
GROUP BY ALL ORDER BY shared_us DESC, before NULLS LAST, after NULLS LAST
"""


STEPS_MEASURED = 100  # per run; medians and noise of streams do not get better with more


@dataclass
class _Stream:
    """One stream of one side: what was measured in each step."""

    is_main: bool = False
    steps: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in _TIMES})

    def median(self, name: str) -> float | None:
        return median(self.steps[name]) if self.steps[name] else None


_Streams = dict[int | None, _Stream]


def compare_streams(
    before: Side,
    after: Side,
    scratch: duckdb.DuckDBPyConnection,
    step_us: float,
    options: AnalysisOptions,
) -> tuple[StreamChange, ...]:
    """One row per stream, main stream first; told apart by the kernels that they run, then by number."""
    sides = (_stream_times(before), _stream_times(after))
    rows = [_row(left, right, step_us, options) for left, right in _matched(sides, _shared(scratch))]
    return tuple(sorted(rows, key=lambda row: (not row.is_main, -_longest_busy(row), str(row))))


def _stream_times(side: Side) -> _Streams:
    """The streams of a side over all steps; the captures of one step and the repeats together."""
    found: _Streams = {}
    for session in side.sessions:
        chosen = spread_evenly(session.step_ids, STEPS_MEASURED)
        for row in rows_of(session.con, sql("compare_streams.sql"), {"steps": list(chosen)}):
            stream = found.setdefault(row["stream_id"], _Stream())
            stream.is_main |= bool(row["is_main"])
            for name in _TIMES:
                if row[name] is not None:
                    stream.steps[name].append(float(row[name]))
    return found


def spread_evenly(steps: Sequence[int], most: int) -> tuple[int, ...]:
    """At most so many of the steps, the first and the last among them."""
    if len(steps) <= most:
        return tuple(steps)
    return tuple(steps[at * (len(steps) - 1) // (most - 1)] for at in range(most))


def _shared(scratch: duckdb.DuckDBPyConnection) -> list[tuple[int | None, int | None]]:
    """Pairs of streams, those with the most time in the same kernels first."""
    return [(before, after) for before, after, _ in scratch.execute(_SHARED).fetchall()]


def _matched(
    sides: tuple[_Streams, _Streams], shared: list[tuple[int | None, int | None]]
) -> list[tuple[tuple[int | None, _Stream] | None, tuple[int | None, _Stream] | None]]:
    """Each stream once: most shared time first, then equal numbers, then alone."""
    left, right = dict(sides[0]), dict(sides[1])
    found: list[tuple[tuple[int | None, _Stream] | None, tuple[int | None, _Stream] | None]] = []
    for before, after in [*shared, *((each, each) for each in sides[0])]:
        if before in left and after in right:
            found.append(((before, left.pop(before)), (after, right.pop(after))))
    found += [((name, stream), None) for name, stream in left.items()]
    return found + [(None, (name, stream)) for name, stream in right.items()]


def _row(
    left: tuple[int | None, _Stream] | None,
    right: tuple[int | None, _Stream] | None,
    step_us: float,
    options: AnalysisOptions,
) -> StreamChange:
    before, after = (each[1] if each else None for each in (left, right))
    values: dict[str, Any] = {}
    for name in _TIMES:
        stem, unit = (name.removesuffix("_us"), "_us") if name.endswith("_us") else (name, "")
        for when, stream in (("before", before), ("after", after)):
            values[f"{stem}_{when}{unit}"] = stream.median(name) if stream else None
    note, longer = "new stream" if after else "stream is gone", False
    if before and after:
        is_main = before.is_main or after.is_main
        note = "" if is_main else _tail(before, after, step_us, options)
        longer = bool(note)
    return StreamChange(
        stream_before=left[0] if left else None,
        stream_after=right[0] if right else None,
        is_main=any(stream is not None and stream.is_main for stream in (before, after)),
        note=note,
        longer_tail=longer,
        **values,
    )


def _tail(before: _Stream, after: _Stream, step_us: float, options: AnalysisOptions) -> str:
    """How the tail grew, where it did beyond the noise of the steps and by more than a launch gap."""
    told = []
    for name, words in _TAILS:
        sides = [[max(0.0, each) for each in stream.steps[name]] for stream in (before, after)]
        if not all(sides):
            continue
        grown = median(sides[1]) - median(sides[0])
        if grown > options.idle_gap_us and judge_times(sides, step_us, options).change == "slower":
            told.append(f"{words}: {grown:+.1f} us")
    return "; ".join(told)


def _longest_busy(row: StreamChange) -> float:
    return max(row.busy_before_us or 0.0, row.busy_after_us or 0.0)
