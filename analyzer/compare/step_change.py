"""The step before and after: wall, busy and idle, and where a change of it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from ...units import format_duration
from ..answer_compare import Residual, StepComparison, StepTime, StepTimes
from ..options import AnalysisOptions
from ..step_times import rank_step_times
from .judgement import judge_times
from .sides import Side, StepRef

if TYPE_CHECKING:
    from ..session import Session

INCOMPLETE_SHARE = 0.05  # fewer or more kernels than this beside the median step: cut off, or another batch


@dataclass(frozen=True)
class StepTotals:
    """One step of a side; captures that make up one step together are added up. Times us."""

    step: StepRef
    wall_us: float
    busy_us: float
    idle_us: float
    kernels: int
    kernels_us: float  # summed durations of AI-core and communication rows


def step_totals(side: Side) -> list[StepTotals]:
    """The steps of a side; that wall = busy + idle is checked on each capture."""
    times = [[_by_step(each) for each in captures] for captures in side.repeats]
    found: list[StepTotals] = []
    steps = iter(side.steps())
    for captures, rows_of in zip(side.repeats, times, strict=True):
        for _ in captures[0].step_ids:
            step = next(steps)
            rows = [
                by_id.get(step_id, _NOTHING_RAN)
                for by_id, step_id in zip(rows_of, step.step_ids, strict=True)
            ]
            found.append(
                StepTotals(
                    step=step,
                    wall_us=sum(row["wall_ns"] for row in rows) / 1000,
                    busy_us=sum(row["busy_ns"] for row in rows) / 1000,
                    idle_us=sum(row["idle_ns"] for row in rows) / 1000,
                    kernels=sum(row["kernels"] for row in rows),
                    kernels_us=sum(row["aicore_us"] + row["communication_us"] for row in rows),
                )
            )
    return found


# A step in which no AI-core and no communication kernel ran, only other engines.
_NOTHING_RAN: dict[str, Any] = {
    "wall_ns": 0,
    "busy_ns": 0,
    "idle_ns": 0,
    "kernels": 0,
    "aicore_us": 0.0,
    "communication_us": 0.0,
}


def _by_step(session: Session) -> dict[int, dict[str, Any]]:
    """The times of the selected rank by step."""
    return {row["step_id"]: row for row in rank_step_times(session, (session.rank_id,))}


def set_aside(steps: Sequence[StepTotals], options: AnalysisOptions) -> dict[int, str]:
    """Steps that say little about the usual one, by number, each with the reason."""
    wall, kernels = median(each.wall_us for each in steps), median(each.kernels for each in steps)
    found = {}
    for each in steps:
        reasons = []
        if not wall / options.outlier_step_ratio <= each.wall_us <= wall * options.outlier_step_ratio:
            others = [other.wall_us for other in steps if other is not each]
            reasons.append(f"takes {format_duration(each.wall_us)}, {_held_against(wall, others)}")
        if abs(each.kernels - kernels) > INCOMPLETE_SHARE * kernels:
            reasons.append(f"holds {each.kernels} kernels, the median is {kernels:.0f}")
        if reasons:
            found[each.step.number] = f"{each.step.text} {' and '.join(reasons)}"
    return found


def _held_against(wall: float, others: Sequence[float]) -> str:
    """What an outlier is one against; of two unlike steps either may be the odd one."""
    if len(others) == 1:
        return f"the only other one {format_duration(others[0])}: which of them is the odd one is open"
    return f"the median is {format_duration(wall)}"


def step_times(sides: Sequence[Sequence[StepTotals]], options: AnalysisOptions) -> tuple[StepTime, ...]:
    """Every step of both sides, in order, with the reason where it is not used to judge the step time."""
    found = []
    for name, steps in zip(("before", "after"), sides, strict=True):
        aside = set_aside(steps, options)
        found += [
            StepTime(
                name,
                each.step.text,
                each.wall_us,
                each.busy_us,
                each.idle_us,
                aside.get(each.step.number, ""),
            )
            for each in steps
        ]
    return tuple(found)


def compare_steps(
    before: Sequence[StepTotals], after: Sequence[StepTotals], options: AnalysisOptions
) -> StepComparison:
    """Medians and means of both sides, and whether wall, busy and idle time changed beyond noise.

    Outliers and incomplete steps are named and left out of that judgement, but not of medians and means.
    """
    aside = [set_aside(side, options) for side in (before, after)]
    sides = [_times(side, out) for side, out in zip((before, after), aside, strict=True)]
    usable = [
        [each for each in side if each.step.number not in out]
        for side, out in zip((before, after), aside, strict=True)
    ]
    wall, busy, idle = (
        judge_times(
            [[getattr(each, name) for each in side] for side in usable],
            max(side.wall_us for side in sides),
            options,
        )
        for name in ("wall_us", "busy_us", "idle_us")
    )
    few = min(len(side) for side in usable) < options.min_usable_steps
    identical = len(before) == len(after) and all(
        (a.wall_us, a.busy_us, a.kernels_us) == (b.wall_us, b.busy_us, b.kernels_us)
        for a, b in zip(before, after, strict=True)
    )
    changes = ["same" if identical else "inconclusive" if few else each.change for each in (wall, busy, idle)]
    counts = " and ".join(str(len(side)) for side in usable)
    why = f"{counts} usable steps, {options.min_usable_steps} a side are needed" if few else wall.why
    delta = sides[1].wall_us - sides[0].wall_us
    return StepComparison(
        before=sides[0],
        after=sides[1],
        wall_delta_us=delta,
        busy_delta_us=sides[1].busy_us - sides[0].busy_us,
        idle_delta_us=sides[1].idle_us - sides[0].idle_us,
        wall_delta_pct=delta / sides[0].wall_us * 100 if sides[0].wall_us > 0 else None,
        wall_change=changes[0],
        wall_ci_low_us=0.0 if identical else None if few else wall.low_us,
        wall_ci_high_us=0.0 if identical else None if few else wall.high_us,
        wall_min_effect_us=wall.min_effect_us,
        busy_change=changes[1],
        idle_change=changes[2],
        why="" if identical or changes[0] != "inconclusive" else why,
    )


def residual_parts(overlap_us: tuple[float, float], idle_us: tuple[float, float]) -> tuple[Residual, ...]:
    """What belongs to no kernel, before and after: with the kernels it adds up to the change of the wall."""
    return (
        Residual(
            "overlap of streams",
            *overlap_us,
            overlap_us[1] - overlap_us[0],
            "busy time minus summed kernel durations: kernels that run together are counted once in a step",
        ),
        Residual(
            "idle",
            *idle_us,
            idle_us[1] - idle_us[0],
            "no kernel ran: the device waited for the host, or for what this export does not show",
        ),
    )


def residuals(step: StepComparison) -> tuple[Residual, ...]:
    """With the rows' `delta_step_us`, the first two parts add up to the change of the mean wall, and all
    three to the change of the median wall.
    """
    sides = (step.before, step.after)
    overlap = [side.busy_mean_us - side.kernels_mean_us for side in sides]
    median_less_mean = [side.wall_us - side.wall_mean_us for side in sides]
    return (
        *residual_parts((overlap[0], overlap[1]), (sides[0].idle_mean_us, sides[1].idle_mean_us)),
        Residual(
            "median against mean",
            median_less_mean[0],
            median_less_mean[1],
            median_less_mean[1] - median_less_mean[0],
            "means add up but are moved by single slow steps; the step time that is quoted is the median",
        ),
    )


def _times(steps: Sequence[StepTotals], aside: dict[int, str]) -> StepTimes:
    return StepTimes(
        steps=len(steps),
        wall_us=median(each.wall_us for each in steps),
        busy_us=median(each.busy_us for each in steps),
        idle_us=median(each.idle_us for each in steps),
        wall_mean_us=fmean(each.wall_us for each in steps),
        busy_mean_us=fmean(each.busy_us for each in steps),
        idle_mean_us=fmean(each.idle_us for each in steps),
        kernels_mean_us=fmean(each.kernels_us for each in steps),
        usable_steps=len(steps) - len(aside),
        set_aside=tuple(aside.values()),
    )
