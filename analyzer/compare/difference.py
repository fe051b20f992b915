"""Two runs, one answer: pair, measure, add up, and check that nothing was lost on the way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..answer import Answer, Coverage
from ..answer_compare import CompareRow, Residual, StepComparison, StreamChange, Verdict
from ..coverage import check_sum, coverage
from ..labels import labelled_groups
from ..sqlfiles import rows_of
from .aligned import aligned_timeline
from .distribution import Spread, call_spreads, read_spreads
from .gather import gathered, paired
from .notes import comparison_notes, trace_notes
from .outputs import OutputsComparison
from .paths import PathEvidence, path_evidence, path_rows, path_sides
from .prefetch_checks import PrefetchEvidence, prefetch_evidence, prefetch_rows
from .roofline_moves import roofline_moves
from .rows import Compared, SignatureText, compare_rows, pair_keys
from .sentence import headline, regressions, what_changed
from .sides import Side
from .step_change import StepTotals, compare_steps, residuals, step_times, step_totals
from .streams import compare_streams
from .table import read_side
from .target import TargetChange, find_target
from .totals import changes_by, signature_changes, wait_changes
from .usual import usual_step
from .verdict import Evidence, two_of_four_note, verdict

if TYPE_CHECKING:
    import duckdb

    from ..options import AnalysisOptions
    from ..session import Session


def compare(
    before: Session | Side,
    after: Session | Side,
    target: str | None = None,
    outputs: OutputsComparison | None = None,
) -> Answer:
    """What changed between two runs: every place of the step paired, judged against noise, and added up.

    `target` names the kernel that the change was made for (a candidate, a hotspot, a row's key or a type);
    its window is then judged, too. `outputs` is what `compare_outputs` found: without it nothing is accepted.

    Rows are places of the step, largest change per step first.

    Extras: `sentence`, `step`, `residual`, `verdict`, `target` and `outputs` (where given), `usual`,
    `roofline`, `step_times`, `groups`, `types`, `signatures`, `waits`, `streams`, `other_engines`,
    `regressions`, `distributions`, `aligned`, `before` and `after` (the runs), and where a trace was ingested
    `prefetch`, `path_sides` and `path`. Medians per call say whether
    a place changed; means per step add up: rows and residuals give the change of the step, which is checked.

    Raises WrongUsage for sides whose captures do not fit together or an ambiguous target, InputMissing for a
    target that is not there, InternalError when a sum does not reconcile.
    """
    sides = (Side.of(before), Side.of(after))
    measured = _measure(sides)
    rows, step = measured.rows, measured.step
    aimed = None if target is None else find_target(sides[0].first, rows, step.before.steps, target)
    known = _evidence(sides, measured, aimed, outputs)
    found = verdict(known)
    signatures = signature_changes(measured.compared, measured.step_us, known.options)
    changes = what_changed(rows, step, measured.identical, measured.streams, signatures, aimed)
    return Answer(
        command="compare",
        run=sides[1].first.run,
        device=sides[1].first.device_info,
        coverage=_coverage(sides),
        rows=rows,
        notes=_notes(sides, measured, known, found),
        extras={
            "sentence": "No difference: " + changes if measured.identical else headline(found, changes),
            "before": sides[0].first.run,
            "after": sides[1].first.run,
            "sides": (sides[0].name, sides[1].name),
            "run_names": tuple(each.run.name for side in sides for each in side.sessions),
            "step": step,
            "residual": measured.left_over,
            "verdict": found,
            **({} if aimed is None else {"target": aimed}),
            **({} if outputs is None else {"outputs": outputs.rows}),
            **_sums(measured, known.options),
            "roofline": roofline_moves(sides[1].first, rows),
            **_pictures(measured, sides, aimed),
            "signatures": signatures,
            "streams": measured.streams,
            **_traced(known.prefetches, known.path),
            "regressions": regressions(rows, step, signatures=signatures),
        },
    )


def _evidence(
    sides: tuple[Side, Side],
    measured: _Measured,
    aimed: TargetChange | None,
    outputs: OutputsComparison | None,
) -> Evidence:
    """What the verdict rests on, the traces of both sides among it."""
    pairs, keys = measured.compared.pairs, pair_keys(measured.compared)
    return Evidence(
        rows=measured.rows,
        step=measured.step,
        streams=measured.streams,
        target=aimed,
        outputs=outputs,
        options=sides[0].first.options,
        prefetches=prefetch_evidence(sides, pairs, keys, aimed),
        path=path_evidence(sides, pairs, keys, aimed),
    )


def _notes(sides: tuple[Side, Side], measured: _Measured, known: Evidence, found: Verdict) -> tuple[str, ...]:
    return (
        *comparison_notes(*sides, measured.compared.pairs, measured.rows, measured.step),
        *trace_notes(known.prefetches, known.path),
        two_of_four_note(found),
    )


def _traced(prefetches: PrefetchEvidence, path: PathEvidence) -> dict[str, Any]:
    """The extras that need a trace; none of them where none was ingested."""
    found = {
        "prefetch": prefetch_rows(prefetches),
        "path_sides": path_sides(path),
        "path": path_rows(path),
    }
    return {name: rows for name, rows in found.items() if rows}


@dataclass(frozen=True)
class _Measured:
    """Both sides paired, measured, checked; `every` row in the pairs' order, `rows` without other engines."""

    totals: tuple[list[StepTotals], list[StepTotals]]
    step: StepComparison
    step_us: float
    compared: Compared
    every: list[CompareRow]
    rows: tuple[CompareRow, ...]
    streams: tuple[StreamChange, ...]
    left_over: tuple[Residual, ...]
    spreads: dict[tuple[int, int], Spread]

    @property
    def identical(self) -> bool:
        """Whether both sides hold the same numbers."""
        same = self.step.wall_change == "same" and self.step.wall_ci_low_us == 0
        return same and all(row.change == "same" for row in self.rows)


def _measure(sides: tuple[Side, Side]) -> _Measured:
    options = sides[0].first.options
    totals = (step_totals(sides[0]), step_totals(sides[1]))
    step = compare_steps(*totals, options)
    # The longer of the two, so that swapping the sides changes no threshold.
    step_us = max(step.before.wall_us, step.after.wall_us)
    with gathered(*sides) as scratch:
        compared = _compared(scratch, sides, (len(totals[0]), len(totals[1])))
        streams = compare_streams(*sides, scratch, step_us, options)
        spreads = read_spreads(scratch)
    every = compare_rows(compared, step_us, options, (_bounds(sides[0]), _bounds(sides[1])))
    busy = [row for row, counts_as_busy in zip(every, compared.busy, strict=True) if counts_as_busy]
    rows = tuple(sorted(busy, key=_largest_first))
    left_over = residuals(step)
    _check_sums(rows, compared, totals, step, left_over)
    return _Measured(totals, step, step_us, compared, every, rows, streams, left_over, spreads)


def _pictures(measured: _Measured, sides: tuple[Side, Side], aimed: TargetChange | None) -> dict[str, Any]:
    """The extras that a figure draws: how calls are spread, and both sides around one call."""
    keys = pair_keys(measured.compared)
    wanted = (aimed.key, *aimed.window_keys) if aimed else ()
    return {
        "distributions": call_spreads(measured.spreads, keys, measured.rows, wanted),
        "aligned": aligned_timeline(sides, measured.compared.pairs, keys, measured.rows, aimed),
    }


def _sums(measured: _Measured, options: AnalysisOptions) -> dict[str, Any]:
    """The extras that add rows and steps up in other ways."""
    compared, rows = measured.compared, measured.rows
    steps = (len(measured.totals[0]), len(measured.totals[1]))
    other = [row for row, busy in zip(measured.every, compared.busy, strict=True) if not busy]
    return {
        "usual": usual_step(compared, measured.every, measured.totals, options),
        "step_times": step_times(measured.totals, options),
        "groups": changes_by(rows, lambda row: row.group, steps),
        "types": changes_by(rows, lambda row: row.type, steps),
        "waits": wait_changes(compared, pair_keys(compared), measured.step_us, options),
        "other_engines": tuple(sorted(other, key=_largest_first)),
    }


def _compared(
    scratch: duckdb.DuckDBPyConnection, sides: tuple[Side, Side], steps: tuple[int, int]
) -> Compared:
    pairs = paired(scratch, steps)
    texts = {
        row["signature"]: SignatureText(row["core"], row["input_shapes"])
        for row in rows_of(scratch, "FROM _signatures")
    }
    return Compared(
        pairs=pairs,
        before=read_side(scratch, 0, len(pairs), steps[0]),
        after=read_side(scratch, 1, len(pairs), steps[1]),
        texts=texts,
        graphs=(len(sides[0].repeats[0]), len(sides[1].repeats[0])),
    )


def _bounds(side: Side) -> dict[int, str]:
    """bound/limiter of each signature, as hotspots labels it."""
    return {
        group.signature_id: f"{group.label.bound}/{group.label.limiter}"
        for session in side.sessions
        for group in labelled_groups(session)
    }


def _coverage(sides: tuple[Side, Side]) -> Coverage:
    """The coverage of the side after, with the sentences of both sides."""
    found = [coverage(side.first) for side in sides]
    before, after = (each.sentence.removeprefix("Coverage: ") for each in found)
    return replace(found[1], sentence=f"Coverage before: {before} After: {after}")


def _check_sums(
    rows: tuple[CompareRow, ...],
    compared: Compared,
    totals: tuple[list[StepTotals], list[StepTotals]],
    step: StepComparison,
    left_over: tuple[Residual, ...],
) -> None:
    """Conservation on means: rows = kernels, waits = idle, rows + residuals = the change of the step."""
    for name, side, table in (
        ("before", step.before, compared.before),
        ("after", step.after, compared.after),
    ):
        added = sum(getattr(row, f"{name}_step_us") or 0.0 for row in rows)
        check_sum(f"kernels per step {name}", added, side.kernels_mean_us)
        check_sum(
            f"waits per step {name}",
            float(table.waited_us.sum()) / len(totals[0 if name == "before" else 1]),
            side.idle_mean_us,
        )
    changed = sum(row.delta_step_us or 0.0 for row in rows)
    parts = step.before.wall_mean_us + changed + sum(each.delta_us for each in left_over[:2])
    check_sum("rows, overlap and idle against the step", parts, step.after.wall_mean_us)
    check_sum(
        "the same against the median step",
        step.before.wall_us + changed + sum(each.delta_us for each in left_over),
        step.after.wall_us,
    )


def _largest_first(row: CompareRow) -> tuple[float, str]:
    return (-abs(row.delta_step_us or 0.0), row.key)
