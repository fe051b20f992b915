"""Did it change? Noise, smallest effect that counts, interval and label of all rows at once.

The unit of repetition is the step: kernels of one step share its clock, its neighbours and its batch. Real
gains are 0-3 %, noise is as large and differs tenfold between kernels, so a label needs all of this:

1. the median per call moved by more than the smallest effect that counts: 1 %, or twice the row's noise;
2. the interval of that change excludes zero;
3. the mean per step moved the same way, and its own, wider interval excludes zero: a median that jumps
   between two clusters, and a mean that one slow call drags along, both fail here;
4. it is large enough to matter to the step.

Few steps tell little about noise. The scatter between the layers of a step, with each layer's usual level and
the step's own level taken out, is a second measure of it with many degrees of freedom: the two are pooled,
and the result is never below what the steps themselves show. From `resample_min_steps` on, intervals come
from resampling steps, which needs no assumption about shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..options import AnalysisOptions
from .resampling import resampled_medians
from .student import t_quantile

Values = NDArray[np.float64]

MEDIAN_COST = 1.2533  # standard error of a median over that of a mean, normal scatter: sqrt(pi / 2)
ROBUST_STEPS = 8  # from here on the median deviation measures noise, so that one wild step does not; it needs
# so many: of five deviations about a median one is zero, and the noise comes out a third too small
MAD_TO_SIGMA = 1.4826


@dataclass(frozen=True)
class Samples:
    """One side of R rows over n steps; NaN = the row does not occur in the step, or is not known.

    Times us per call. `scatter*` is the standard deviation of one call inside a step, layer and step levels
    taken out; `scatter_degrees` its degrees of freedom, 0 where a step holds too few calls.
    """

    median_us: Values  # [R] over all calls
    step_median_us: Values  # [R, n]
    step_mean_us: Values  # [R, n]
    calls: Values  # [R] per step in which the row occurs
    scatter_us: Values  # [R]
    scatter_robust_us: Values  # [R]
    scatter_degrees: Values  # [R]

    @property
    def steps(self) -> Values:
        """[R] steps in which the row occurs."""
        return np.isfinite(self.step_mean_us).sum(axis=1).astype(float)


@dataclass(frozen=True)
class Judgement:
    """What can be said about each row; NaN where two steps a side are not there to tell."""

    delta_us: Values
    noise_us: Values
    min_effect_us: Values
    ci_low_us: Values
    ci_high_us: Values
    change: list[str]  # faster | slower | same | inconclusive
    why: list[str]


@dataclass(frozen=True)
class TimeChange:
    """What can be said about one time per step."""

    change: str  # faster | slower | same | inconclusive
    why: str
    low_us: float | None = None
    high_us: float | None = None
    min_effect_us: float | None = None


def judge_times(sides: Sequence[Sequence[float]], step_us: float, options: AnalysisOptions) -> TimeChange:
    """The judgement of kernels on one time per step and side, us: a step's wall, a stream's tail."""
    if not all(sides):
        return TimeChange("inconclusive", "no usable step")
    before, after = (_one_row(side) for side in sides)
    found = judge(before, after, np.zeros(1, dtype=np.int64), step_us, options)
    return TimeChange(
        found.change[0],
        found.why[0],
        known(found.ci_low_us[0]),
        known(found.ci_high_us[0]),
        known(found.min_effect_us[0]),
    )


def known(value: float) -> float | None:
    """A number, or None where it is not known."""
    return float(value) if math.isfinite(value) else None


def _one_row(values: Sequence[float]) -> Samples:
    row = np.array([values], dtype=float)
    nothing = np.full(1, np.nan)
    return Samples(np.median(row, axis=1), row, row, np.ones(1), nothing, nothing, np.zeros(1))


@dataclass(frozen=True)
class _Spread:
    noise_us: Values
    degrees: Values


def judge(
    before: Samples, after: Samples, kind: NDArray[np.int64], step_us: float, options: AnalysisOptions
) -> Judgement:
    """Label R rows that occur on both sides.

    `kind` numbers rows of one kind of work, which share their noise; `step_us` is the length of a
    step. Swapping the sides negates every change and turns every label into its opposite.
    """
    level = np.minimum(before.median_us, after.median_us)
    delta = after.median_us - before.median_us
    calls = np.minimum(before.calls, after.calls)
    shown = _spread(before, after, "step_median_us", level, kind, options)
    floor = np.maximum(options.min_effect_share * level, options.min_effect_us)
    effect = np.maximum(floor, options.noise_multiple * shown.noise_us)
    low, high = _interval(before, after, "step_median_us", delta, shown, options.interval_level, options)
    mean = _center(after.step_mean_us) - _center(before.step_mean_us)
    means = _spread(before, after, "step_mean_us", level, kind, options)
    mean_low, mean_high = _interval(before, after, "step_mean_us", mean, means, options.mean_level, options)
    same_numbers = _equal(before, after)
    low, high = np.where(same_numbers, 0.0, low), np.where(same_numbers, 0.0, high)
    measured = np.isfinite(low)
    tests = (
        (np.abs(delta) >= effect, "smaller than the smallest effect that counts here"),
        ((low > 0) | (high < 0), "the interval holds zero"),
        (((mean_low > 0) | (mean_high < 0)) & (mean * delta > 0), "the mean per step does not confirm it"),
        (
            np.abs(mean) * calls >= options.min_effect_step_share * step_us,
            "too small a part of the step to be told from chance",
        ),
    )
    inside = (low >= -floor) & (high <= floor)
    return Judgement(delta, shown.noise_us, effect, low, high, *_labels(delta, measured, inside, tests))


def _labels(
    delta: Values,
    measured: NDArray[np.bool_],
    inside: NDArray[np.bool_],
    tests: tuple[tuple[NDArray[np.bool_], str], ...],
) -> tuple[list[str], list[str]]:
    changes, reasons = [], []
    for row in range(len(delta)):
        failed = next((reason for met, reason in tests if not met[row]), "")
        if not measured[row]:
            change, why = "inconclusive", "fewer than two steps on a side: no noise to hold it against"
        elif not failed:
            change, why = ("slower" if delta[row] > 0 else "faster"), ""
        elif inside[row]:
            change, why = "same", ""
        else:
            change, why = "inconclusive", failed
        changes.append(change)
        reasons.append(why)
    return changes, reasons


def _spread(
    before: Samples,
    after: Samples,
    statistic: str,
    level: Values,
    kind: NDArray[np.int64],
    options: AnalysisOptions,
) -> _Spread:
    """Noise of one step's value (a standard deviation, us) and the degrees of freedom behind it."""
    sides = (getattr(before, statistic), getattr(after, statistic))
    own, degrees = _between_steps(*sides)
    scatter, scatter_degrees = _inside_steps(before, after, robust=statistic == "step_median_us")
    weight = np.minimum(scatter_degrees, options.scatter_steps)
    known = np.where(weight > 0, scatter, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        pooled = np.sqrt((degrees * own**2 + weight * known**2) / (degrees + weight))
    noise = np.maximum.reduce(
        (own, pooled, known, _of_kind(own, level, kind), options.noise_floor_share * level)
    )
    return _Spread(np.where(degrees > 0, noise, np.nan), degrees + weight)


def _between_steps(before: Values, after: Values) -> tuple[Values, Values]:
    """Standard deviation of step values about their own side, and its degrees of freedom."""
    counts = [np.isfinite(side).sum(axis=1) for side in (before, after)]
    degrees = np.where(np.minimum(*counts) >= 2, counts[0] + counts[1] - 2, 0).astype(float)
    squares = sum(_squares_about_mean(side) for side in (before, after))
    with np.errstate(invalid="ignore", divide="ignore"):
        plain = np.sqrt(squares / degrees)
        deviations = [np.abs(side - _center(side)[:, None]) for side in (before, after)]
        correction = np.sqrt((degrees + 2) / degrees)
        robust = MAD_TO_SIGMA * correction * _center(np.concatenate(deviations, axis=1))
    return np.where(np.minimum(*counts) >= ROBUST_STEPS, robust, plain), degrees


def _inside_steps(before: Samples, after: Samples, robust: bool) -> tuple[Values, Values]:
    """The same noise, estimated from the scatter of the calls inside a step; 0 degrees where not known."""
    name, cost = ("scatter_robust_us", MEDIAN_COST) if robust else ("scatter_us", 1.0)
    degrees = before.scatter_degrees + after.scatter_degrees
    squares = sum(np.nan_to_num(getattr(side, name)) ** 2 * side.scatter_degrees for side in (before, after))
    with np.errstate(invalid="ignore", divide="ignore"):
        one_call = np.sqrt(squares / degrees)
        noise = cost * one_call / np.sqrt(np.minimum(before.calls, after.calls))
    return np.where(degrees > 0, noise, np.nan), degrees


def _of_kind(own: Values, level: Values, kind: NDArray[np.int64]) -> Values:
    """Noise that rows of the same kind show together, scaled to each row's level; 0 where none shows any.

    A level of next to nothing (some kernels of one tick, the others of none) has no relative noise.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        relative = (own / level) ** 2
    usable = np.isfinite(relative)
    size = int(kind.max()) + 1 if len(kind) else 0
    totals = np.bincount(kind[usable], weights=relative[usable], minlength=size)
    counts = np.bincount(kind[usable], minlength=size)
    typical = np.sqrt(totals / np.maximum(counts, 1))
    return typical[kind] * level if size else own


def _interval(
    before: Samples,
    after: Samples,
    statistic: str,
    delta: Values,
    spread: _Spread,
    coverage: float,
    options: AnalysisOptions,
) -> tuple[Values, Values]:
    """Interval of the change: resampled steps where there are enough, else Student's t on the noise."""
    upper = (1 + coverage) / 2
    steps = (before.steps, after.steps)
    enough = np.minimum(*steps) >= options.resample_min_steps
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(1 / steps[0] + 1 / steps[1])
    quantiles = np.array([t_quantile(upper, d) if d >= 1 else np.nan for d in spread.degrees])
    half = quantiles * root * spread.noise_us * _median_cost(before, after, statistic)
    low, high = delta - half, delta + half
    if enough.any():
        sides = [getattr(side, statistic)[enough] for side in (before, after)]
        # Each side with either seed, so that the interval of the swapped runs is this one, mirrored.
        moves = [
            np.hstack([resampled_medians(values, options.resamples, seed) for seed in seeds])
            - _center(values)[:, None]
            for values, seeds in zip(sides, ((0, 1), (1, 0)), strict=True)
        ]
        ends = np.quantile(moves[1] - moves[0], (1 - upper, upper), axis=1)
        low[enough], high[enough] = delta[enough] + ends[0], delta[enough] + ends[1]
    return low, high


def _median_cost(before: Samples, after: Samples, statistic: str) -> Values:
    """How much wider the median of single calls strays than their mean; many calls in a step even out."""
    single = (before.scatter_degrees + after.scatter_degrees == 0) & (
        np.maximum(before.steps, after.steps) > 2
    )
    return np.where(single & (statistic == "step_median_us"), MEDIAN_COST, 1.0)


def _equal(before: Samples, after: Samples) -> NDArray[np.bool_]:
    """Rows whose numbers are identical on both sides: the same capture compared with itself."""
    if before.step_mean_us.shape != after.step_mean_us.shape:
        return np.zeros(len(before.median_us), dtype=bool)
    return np.all(
        np.isclose(before.step_mean_us, after.step_mean_us, rtol=0, atol=0, equal_nan=True)
        & np.isclose(before.step_median_us, after.step_median_us, rtol=0, atol=0, equal_nan=True),
        axis=1,
    )


def _center(values: Values) -> Values:
    """Median over the steps in which the row occurs, their mean while they are few; NaN without a step."""
    steps = np.isfinite(values).sum(axis=1)
    result = np.full(len(values), np.nan)
    few, many = (steps > 0) & (steps < ROBUST_STEPS), steps >= ROBUST_STEPS
    if few.any():
        result[few] = np.nanmean(values[few], axis=1)
    if many.any():
        result[many] = np.nanmedian(values[many], axis=1)
    return result


def _squares_about_mean(values: Values) -> Values:
    present = np.isfinite(values)
    counts = np.maximum(present.sum(axis=1), 1)
    means = np.where(present, values, 0.0).sum(axis=1) / counts
    return np.where(present, (values - means[:, None]) ** 2, 0.0).sum(axis=1)
