"""Recording an experiment: the verdict of a comparison, or a gain that was only quoted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path

from ...errors import WrongUsage
from ..answer import Answer
from ..answer_compare import CompareRow, StepComparison, Verdict
from ..compare.target import TargetChange
from ..options import AnalysisOptions
from .answers import answer_of
from .ledger import Ledger, add_experiment, now, read_ledger, writing
from .next_step import next_step
from .records import HEADLINE, Experiment
from .words import size_text


@dataclass(frozen=True)
class Setting:
    """Where the prefetch was and how much it asked for; None = as `tune next` proposed."""

    max_size: int | None = None
    dependency: str | None = None


@dataclass(frozen=True)
class _Gain:
    gain_of: str
    pct: float | None
    low: float | None
    high: float | None
    floor: float


def record_pair(
    db: Path | str, tuning: str | None, setting: Setting, compared: Answer, sides: tuple[str, str]
) -> Answer:
    """Write the verdict of a comparison into the ledger and answer with the next change.

    `compared` is the answer of `compare` with the tuning's target; `sides` are its two arguments as written.
    """
    gain = measured_gain(compared)
    verdict: Verdict = compared.extras["verdict"]
    target: TargetChange | None = compared.extras.get("target")
    runs = tuple(dict.fromkeys(compared.extras["run_names"]))
    with writing(db, tuning) as (con, ledger):
        made = replace(
            _blank(ledger, setting),
            before=sides[0],
            after=sides[1],
            run_names=runs,
            run_hashes=tuple(ledger.runs_now.get(name, "") for name in runs),
            outcome=verdict.outcome,
            gain_of=gain.gain_of,
            gain_pct=gain.pct,
            gain_low_pct=gain.low,
            gain_high_pct=gain.high,
            floor_pct=gain.floor,
            target_pct=target.delta_pct if target else None,
            window_pct=target.window_delta_pct if target else None,
            facts=verdict.facts,
        )
        add_experiment(con, made)
    return answer_of(read_ledger(db, ledger.tuning.name), "record")


def record_gain(
    db: Path | str,
    tuning: str | None,
    setting: Setting,
    gain_pct: float,
    noise_pct: float | None = None,
    options: AnalysisOptions | None = None,
) -> Answer:
    """Write a gain without captures: per cent, positive = faster; `noise_pct` is half its interval.

    Without a noise of its own it counts from `noise_floor_share` on: the least that steps stray.
    """
    floor = (options or AnalysisOptions()).noise_floor_share * 100
    with writing(db, tuning) as (con, ledger):
        known = noise_pct is not None
        made = replace(
            _blank(ledger, setting),
            outcome=HEADLINE,
            gain_pct=gain_pct,
            gain_low_pct=gain_pct - noise_pct if known else None,
            gain_high_pct=gain_pct + noise_pct if known else None,
            floor_pct=floor,
        )
        add_experiment(con, made)
    return answer_of(read_ledger(db, ledger.tuning.name), "record")


def measured_gain(compared: Answer) -> _Gain:
    """What the pair won, per cent of the step before: of the target and its window where these were judged.

    The step's own time is the gain that counts in the end, but one prefetch moves it by less than steps
    stray; the target and what its window paid for it are known far better. Without a window the step stands.
    """
    step: StepComparison = compared.extras["step"]
    target: TargetChange | None = compared.extras.get("target")
    whole = step.before.wall_us
    if target is not None and target.window_keys and whole > 0:
        keys = {target.key, *target.window_keys}
        rows = [row for row in compared.rows if row.key in keys]
        if found := _net(rows, step.before.steps, whole):
            return found
    return _of_step(step)


def _net(rows: Sequence[CompareRow], steps: int, step_us: float) -> _Gain | None:
    """Target and window together; None where one of them has no interval.

    Median change per call x calls per step, summed; half widths add in squares. The floor is the smallest
    effect of the row that needs most.
    """
    total, squares, floor = 0.0, 0.0, 0.0
    for row in rows:
        if row.delta_us is None or row.ci_low_us is None or row.ci_high_us is None:
            return None
        calls = row.n_before / max(1, steps)
        total += row.delta_us * calls
        squares += ((row.ci_high_us - row.ci_low_us) / 2 * calls) ** 2
        floor = max(floor, (row.min_effect_us or 0.0) * calls)
    gain, half = -total / step_us * 100, sqrt(squares) / step_us * 100
    return _Gain("target and window", gain, gain - half, gain + half, floor / step_us * 100)


def _of_step(step: StepComparison) -> _Gain:
    """The step's wall; its gain is not measured while too few usable steps are there to judge it."""
    whole = step.before.wall_us
    floor = (step.wall_min_effect_us or 0.0) / whole * 100 if whole > 0 else 0.0
    low, high = step.wall_ci_low_us, step.wall_ci_high_us
    if low is None or high is None or step.wall_delta_pct is None or whole <= 0:
        return _Gain("step", None, None, None, floor)
    return _Gain("step", -step.wall_delta_pct, -high / whole * 100, -low / whole * 100, floor)


def _blank(ledger: Ledger, setting: Setting) -> Experiment:
    """An experiment with its place and size; raises WrongUsage where none is given and none was proposed."""
    proposed = next_step(ledger.tuning, ledger.experiments)
    size = setting.max_size or proposed.max_size
    if size is None:
        raise WrongUsage("no size was proposed for this experiment", "give --max-size, e.g. 18MiB")
    weight = ledger.tuning.weight_bytes
    if weight is not None and size > weight:
        raise WrongUsage(
            f"max_size {size_text(size)} is more than the weight, {size_text(weight)}",
            "the operator cuts it to the weight: record that size",
        )
    dependency = setting.dependency or proposed.dependency
    return Experiment(
        tuning_id=ledger.tuning.tuning_id,
        experiment_id=len(ledger.experiments) + 1,
        recorded_at=now(),
        dependency=dependency,
        max_size=size,
        coefficient=None if weight is None else size / weight,
        note=_two_changes(ledger.experiments, size, dependency),
    )


def _two_changes(earlier: Sequence[Experiment], size: int, dependency: str | None) -> str | None:
    """Said where no earlier experiment shares the size or the place: what did it cannot be told then."""
    if not earlier or any(each.max_size == size or each.dependency == dependency for each in earlier):
        return None
    return "size and dependency both differ from every earlier experiment: which of them did it is open"
