"""The rows of `compare`: kernel pairs, the step, what the pairs do not explain, the verdict."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CompareRow:
    """One place of the step on both sides, or one that is new or gone; all layers together.

    A missing side is None, never zero. `*_step_us` are means per step: over all rows they add up to the
    summed durations of a step, a missing side counted as 0 in `delta_step_us`.
    """

    key: str  # the same when the runs are swapped
    layer: int | None  # None = the place repeats over `layers` layers, or lies outside them
    position: int | None  # in the layer, or in its part of the step; None = found by signature alone
    type: str
    before_us: float | None  # median per call; None = not there
    after_us: float | None
    before_step_us: float | None  # mean per step; these add up
    after_step_us: float | None
    delta_us: float | None  # after - before, per call
    delta_pct: float | None  # delta_us / before_us x 100
    ci_low_us: float | None  # 95 % interval of delta_us; None = fewer than two steps on a side
    ci_high_us: float | None
    n_before: int  # calls over the selected steps
    n_after: int
    change: str  # faster | slower | same | new | gone | inconclusive
    delta_step_us: float | None = None  # after_step_us - before_step_us
    input_shapes: str | None = None
    part: str | None = None  # before | layer | between | after | side; None = nothing repeats in the step
    bound_before: str | None = None
    bound_after: str | None = None
    note: str = ""
    group: str = ""  # matmul, attention, layout, …
    name: str | None = None  # of one kernel of the place, to find it in a timeline
    layers: int | None = None  # in which the place occurs; None outside layers
    noise_us: float | None = None  # standard deviation of a step's value
    min_effect_us: float | None = None  # what delta_us must reach to count
    paired_by: str = ""  # same | shapes | renamed | moved; empty for new and gone
    signature_before: str | None = None  # 16 hex digits, as in hotspots
    signature_after: str | None = None
    stream_before: int | None = None
    stream_after: int | None = None


@dataclass(frozen=True)
class GroupChange:
    """Time per step of one operator type, group of types, or signature over all its places (means, us)."""

    name: str
    kernels_before: float  # calls per step
    kernels_after: float
    before_step_us: float
    after_step_us: float
    delta_step_us: float
    delta_pct: float | None  # None where there was nothing before


@dataclass(frozen=True)
class SignatureChange:
    """One kind of work over all its places: the finest grain at which a change can often still be told."""

    name: str  # type of the places before
    input_shapes: str | None
    places: int
    before_us: float  # median per call of each place, weighted by calls
    after_us: float
    delta_us: float
    delta_pct: float
    ci_low_us: float | None
    ci_high_us: float | None
    noise_us: float | None  # standard deviation of a step's value
    before_step_us: float
    after_step_us: float
    delta_step_us: float
    change: str
    note: str = ""


@dataclass(frozen=True)
class StepTimes:
    """The step of one side, us: medians, which one slow step does not move, and means, which add up."""

    steps: int
    wall_us: float
    busy_us: float
    idle_us: float
    wall_mean_us: float
    busy_mean_us: float
    idle_mean_us: float
    kernels_mean_us: float = 0.0  # summed durations; exceed busy where streams overlap
    usable_steps: int = 0  # without outliers and incomplete steps
    set_aside: tuple[str, ...] = ()  # those, each with the reason


@dataclass(frozen=True)
class StepComparison:
    """Step time before and after; deltas are of the medians."""

    before: StepTimes
    after: StepTimes
    wall_delta_us: float
    busy_delta_us: float
    idle_delta_us: float
    wall_delta_pct: float | None = None
    wall_change: str = "inconclusive"  # faster | slower | same | inconclusive
    wall_ci_low_us: float | None = None
    wall_ci_high_us: float | None = None
    wall_min_effect_us: float | None = None
    busy_change: str = "inconclusive"
    idle_change: str = "inconclusive"
    why: str = ""  # why the change of the wall is inconclusive


@dataclass(frozen=True)
class StepTime:
    """One step of one side, us; `set_aside` says why it is not used to judge the step time."""

    side: str  # before | after
    step: str  # 'step 4 of longcat'
    wall_us: float
    busy_us: float
    idle_us: float
    set_aside: str = ""


@dataclass(frozen=True)
class Residual:
    """A part of the step's change that is no kernel's; with all `delta_step_us` it adds up to the step."""

    name: str  # 'overlap of streams' | 'idle' | 'median against mean'
    before_us: float
    after_us: float
    delta_us: float
    meaning: str


@dataclass(frozen=True)
class UsualStep:
    """The mean of the steps that are not set aside, us: wall before + groups + residual = wall after."""

    steps_before: int
    steps_after: int
    before_wall_us: float
    after_wall_us: float
    groups: tuple[GroupChange, ...]
    residual: tuple[Residual, ...]


@dataclass(frozen=True)
class WaitChange:
    """Idle time right before one place, per step (medians, us): where the device waited more or less."""

    key: str  # of the row the device waited for
    type: str
    part: str | None
    position: int | None
    before_step_us: float
    after_step_us: float
    delta_step_us: float


@dataclass(frozen=True)
class StreamChange:
    """One stream, medians per step, us; a tail is work that runs alone or after the main stream's end."""

    stream_before: int | None  # None = rows without a stream, or not there
    stream_after: int | None
    is_main: bool
    kernels_before: float | None
    kernels_after: float | None
    busy_before_us: float | None
    busy_after_us: float | None
    alone_before_us: float | None  # no other stream runs
    alone_after_us: float | None
    after_main_before_us: float | None  # its last end minus the main stream's last end
    after_main_after_us: float | None
    longest_before_us: float | None  # longest kernel, median over steps
    longest_after_us: float | None
    note: str = ""
    longer_tail: bool = False  # beyond the noise of the steps


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
class PrefetchCheck:
    """What the traces say of the prefetches, one number a side; None = not known, never zero."""

    name: str
    before: float | None
    after: float | None
    unit: str
    met: bool | None  # of the run after; None = nothing to meet, or cannot be told
    note: str = ""


@dataclass(frozen=True)
class PathRow:
    """What the critical path is made of, means per step, us; the rows of a side add up to its step."""

    name: str
    before_us: float | None  # None = no path was validated for this side
    after_us: float | None
    delta_us: float | None
    before_share: float | None  # of the step
    after_share: float | None


@dataclass(frozen=True)
class PathSide:
    """Whether the path of one side is believed, and why not."""

    side: str  # before | after
    status: str  # validated | refused | not measured
    steps: int  # whose path is validated
    refused: int
    target_calls: int | None  # in those steps; None = no target was named, or no path
    target_on_path: int | None
    reason: str


@dataclass(frozen=True)
class Verdict:
    """The outcome of an experiment and what to do next."""

    outcome: str  # accepted | rejected | inconclusive
    criteria: tuple[CriterionRow, ...]
    failure_signals: tuple[str, ...]
    next_action: str
    two_of_four: tuple[CriterionRow, ...] = ()  # the specification's weaker rule: two of these are enough
    two_of_four_met: int = 0
    facts: tuple[str, ...] = ()  # what was established, as the rules of signals.toml name it
