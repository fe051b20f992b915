"""The rows of `compare`: kernel pairs, the step before and after, the residual and the verdict."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CompareRow:
    """One paired kernel position (or one that is new or gone)."""

    key: str
    layer: int | None
    position: int | None
    type: str
    before_us: float | None  # median per occurrence; None = not there
    after_us: float | None
    before_step_us: float | None  # mean per step; these add up
    after_step_us: float | None
    delta_us: float | None  # after - before, per occurrence
    delta_pct: float | None  # delta_us / before_us x 100
    ci_low_us: float | None  # of delta_us; None until measured
    ci_high_us: float | None
    n_before: int
    n_after: int
    change: str  # faster | slower | same | new | gone | inconclusive
    delta_step_us: float | None = None  # after_step_us - before_step_us, a missing side counted as 0
    input_shapes: str | None = None
    part: str | None = None
    bound_before: str | None = None
    bound_after: str | None = None
    note: str = ""


@dataclass(frozen=True)
class StepTimes:
    """The step of one side: medians and means over its steps, us."""

    steps: int
    wall_us: float
    busy_us: float
    idle_us: float
    wall_mean_us: float
    busy_mean_us: float
    idle_mean_us: float


@dataclass(frozen=True)
class StepComparison:
    """Step time before and after."""

    before: StepTimes
    after: StepTimes
    wall_delta_us: float
    busy_delta_us: float
    idle_delta_us: float


@dataclass(frozen=True)
class Residual:
    """What the paired rows do not explain of the step's change (means per step, us)."""

    paired_step_us: float
    step_delta_us: float
    residual_us: float
    reason: str


@dataclass(frozen=True)
class CriterionRow:
    """One criterion of a verdict with its number and its threshold."""

    name: str
    value: float | None
    threshold: float | None
    unit: str
    met: bool | None  # None = cannot be told
    note: str = ""


@dataclass(frozen=True)
class Verdict:
    """The outcome of an experiment and what to do next."""

    outcome: str  # accepted | rejected | inconclusive
    criteria: tuple[CriterionRow, ...]
    failure_signals: tuple[str, ...]
    next_action: str
