"""The rows of `tune`: the experiments of a tuning, what is tuned, and the one change to try next."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExperimentRow:
    """One experiment; gains are per cent of the step before, positive = faster."""

    experiment: int
    recorded_at: str  # ISO 8601, UTC
    dependency: str | None
    max_size: int  # bytes
    coefficient: float | None  # share of the weight; None = its size is not known
    gain_pct: float | None  # None = not measured
    gain_low_pct: float | None  # 95 % interval; None = not known
    gain_high_pct: float | None
    floor_pct: float  # smallest gain that counts
    gain_of: str  # target and window | step | headline
    reading: str  # gain | none | harm | severe | moved | broken | unclear
    outcome: str  # accepted | rejected | inconclusive | headline
    knee: bool  # the smallest size that is as good as the best
    before: str | None = None
    after: str | None = None
    captures: str = ""  # whether the runs are still in the database
    target_pct: float | None = None  # change of the target per call, negative = faster
    window_pct: float | None = None
    note: str | None = None


@dataclass(frozen=True)
class TuningRow:
    """What is tuned, and what its sizes are shares of."""

    name: str
    started_at: str  # ISO 8601, UTC
    target: str
    target_text: str | None
    run: str | None
    weight_bytes: int | None
    most_bytes: int | None  # L2 budget and cap; None = no limit is known
    dependency: str | None
    dependencies: tuple[str, ...]  # other places, in the order in which they are tried
    keeps: str | None = None  # the tuning whose result stays in place
    experiments: int = 0


@dataclass(frozen=True)
class NextStep:
    """Exactly one change to try, or the reason to stop."""

    action: str  # try | repeat | stack | stop
    stage: str  # size | position | stacking | keep | give_up | outputs
    change: str  # what to do, in words
    max_size: int | None = None  # bytes
    coefficient: float | None = None
    dependency: str | None = None
    from_experiment: int | None = None  # that the change is made to
    keep: int | None = None  # the experiment that is kept so far
    why: str = ""
