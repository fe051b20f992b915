"""What a pair of runs proves so far; what was not measured is said, and nothing is accepted without it."""

from __future__ import annotations

from collections.abc import Sequence

from ..answer_compare import CompareRow, CriterionRow, StepComparison, StreamChange, Verdict
from ..options import AnalysisOptions


def verdict(
    rows: Sequence[CompareRow],
    step: StepComparison,
    streams: Sequence[StreamChange],
    options: AnalysisOptions,
) -> Verdict:
    """The criteria of an acceptance with their numbers.

    Outcome: rejected where the step got slower beyond noise; else inconclusive, because equal outputs are a
    condition of acceptance and a capture does not hold them.
    """
    criteria = _criteria(rows, step, streams, options)
    met = {each.name: each.met for each in criteria}
    if step.wall_change == "slower":
        outcome, action = "rejected", "undo the change, or find which of the slower rows causes it"
    elif step.wall_change == "same" and not any(row.change in ("faster", "slower") for row in rows):
        outcome, action = "inconclusive", "nothing changed beyond noise: keep the code as it was"
    elif met["step faster"] is None:
        outcome = "inconclusive"
        action = (
            f"capture at least {options.min_usable_steps} usable steps a side, better 20, with the same batch"
        )
    else:
        outcome, action = "inconclusive", "compare the outputs of both runs; then judge again"
    return Verdict(outcome, criteria, _signals(rows, step, streams), action)


def _criteria(
    rows: Sequence[CompareRow],
    step: StepComparison,
    streams: Sequence[StreamChange],
    options: AnalysisOptions,
) -> tuple[CriterionRow, ...]:
    slower = [row for row in rows if row.change == "slower"]
    faster = [row for row in rows if row.change == "faster"]
    share = None
    if step.wall_min_effect_us is not None and step.before.wall_us > 0:
        share = -step.wall_min_effect_us / step.before.wall_us * 100
    tails = [stream for stream in streams if stream.longer_tail]
    told = step.wall_change != "inconclusive"
    return (
        CriterionRow(
            "step faster",
            step.wall_delta_pct,
            share,
            "%",
            step.wall_change == "faster" if told else None,
            step.why,
        ),
        CriterionRow(
            "a kernel faster", float(len(faster)), 1.0, "places", bool(faster) if _any_told(rows) else None
        ),
        CriterionRow(
            "no kernel slower",
            float(len(slower)),
            0.0,
            "places",
            not slower if _any_told(rows) else None,
            "a place counts when it is slower beyond noise and beyond the smallest effect",
        ),
        CriterionRow(
            "no long tail on another stream",
            float(len(tails)),
            0.0,
            "streams",
            not tails,
            f"a tail counts from {options.idle_gap_us:g} us",
        ),
        CriterionRow("outputs equal", None, None, "", None, "not measured: a capture holds no outputs"),
    )


def _any_told(rows: Sequence[CompareRow]) -> bool:
    """Whether the noise of any row is known; with one step a side nothing can be told."""
    return any(row.ci_low_us is not None for row in rows)


def _signals(
    rows: Sequence[CompareRow], step: StepComparison, streams: Sequence[StreamChange]
) -> tuple[str, ...]:
    """Failure signals that these two captures show by themselves."""
    found = []
    faster = any(row.change == "faster" for row in rows)
    slower = any(row.change == "slower" for row in rows)
    if slower and not faster:
        found.append(
            "no kernel got faster and others got slower: the change costs bandwidth and brings nothing"
        )
    if step.busy_delta_us < 0 < step.idle_delta_us and step.wall_delta_us >= 0:
        found.append("kernels got faster but the device waited longer: the waiting only moved")
    if any(stream.longer_tail for stream in streams):
        found.append("another stream got a longer tail: the change may have brought a new point of waiting")
    return tuple(found)
