"""One tuning and its experiments, as the ledger keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import hypot

HEADLINE = "headline"  # a gain that was quoted, without captures


@dataclass(frozen=True)
class Tuning:
    """One row of the table tunings: what is searched for, and the places and sizes that are open to it."""

    tuning_id: int
    name: str
    started_at: datetime
    target: str
    target_text: str | None = None
    run_name: str | None = None
    run_hash: str | None = None
    weight_bytes: int | None = None
    first_bytes: int | None = None
    most_bytes: int | None = None
    dependency: str | None = None
    dependencies: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    keeps: str | None = None


@dataclass(frozen=True)
class Experiment:
    """One row of the table experiments; gains are per cent of the step before, positive = faster."""

    tuning_id: int
    experiment_id: int
    recorded_at: datetime
    dependency: str | None
    max_size: int
    coefficient: float | None = None
    before: str | None = None
    after: str | None = None
    run_names: tuple[str, ...] = ()
    run_hashes: tuple[str, ...] = ()
    outcome: str = "inconclusive"
    gain_of: str = HEADLINE
    gain_pct: float | None = None
    gain_low_pct: float | None = None
    gain_high_pct: float | None = None
    floor_pct: float = 0.0
    target_pct: float | None = None
    window_pct: float | None = None
    facts: tuple[str, ...] = ()
    note: str | None = None

    @property
    def half_width_pct(self) -> float:
        """Half the 95 % interval of the gain; 0 where none is known, the floor then stands alone."""
        if self.gain_low_pct is None or self.gain_high_pct is None:
            return 0.0
        return (self.gain_high_pct - self.gain_low_pct) / 2

    @property
    def noise_pct(self) -> float:
        """What the gain must exceed to be one."""
        return max(self.floor_pct, self.half_width_pct)

    def apart(self, other: Experiment) -> bool:
        """Whether the gains of two experiments differ beyond their noise.

        Independent intervals add in squares; below the larger floor nothing counts.
        """
        if self.gain_pct is None or other.gain_pct is None:
            return False
        needed = max(self.floor_pct, other.floor_pct, hypot(self.half_width_pct, other.half_width_pct))
        return abs(self.gain_pct - other.gain_pct) > needed
