"""The label of a signature: what limits it, how sure that is, and the numbers that say so."""

from __future__ import annotations

from dataclasses import dataclass

from .device import Device
from .floors import Floors
from .measure import Measurement
from .model import Work
from .options import RooflineOptions


@dataclass(frozen=True)
class Label:
    """`bound`/`limiter` with confidence ('high'|'medium'|'low') and one sentence with the numbers.

    `single_pass`: memory/mte2 of a matmul whose weight is read once (M or N within one tile).
    `anomaly`: a name and reason when the numbers contradict the model (above a roof, below the floor).
    `shape_bound` and `pmu_bound` are the two labels computed apart, from shapes and from pipes; None =
    no evidence. `potential_us` is per occurrence: median - achievable time, not below 0.
    """

    bound: str
    limiter: str
    confidence: str
    reason: str
    floors: Floors
    notes: tuple[str, ...] = ()
    single_pass: bool = False
    anomaly: str | None = None
    fed_by_l2: bool = False
    shape_bound: str | None = None
    pmu_bound: str | None = None
    potential_us: float | None = None


def classify(work: Work, measurement: Measurement, device: Device | None, options: RooflineOptions) -> Label:
    """Label one signature from medians by the decision procedure; without a device from pipes only."""
    raise NotImplementedError
