"""One signature under judgement: its work, measurement, device and floors, and the numbers that steps
ask for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..units import format_bytes_decimal, format_bytes_per_s, format_share, format_us
from .device_model import Device
from .floors import Floors, floors_of
from .measure import CUBE_PIPES, VECTOR_PIPES, Measurement
from .measured_bytes import MeasuredBytes, measured_bytes
from .model import Work
from .options import RooflineOptions

DATA_PIPES = ("mte1", "mte2", "mte3", "fixpipe")
STORE_PIPES = ("mte3", "fixpipe")


@dataclass(frozen=True)
class Verdict:
    """What one step of the procedure decided; `cap` is the highest confidence that this step allows."""

    bound: str
    limiter: str
    reason: str
    notes: tuple[str, ...] = ()
    cap: str = "high"
    analytic: bool = False
    single_pass: bool = False
    fed_by_l2: bool = False
    anomaly: str | None = None


@dataclass(frozen=True)
class Case:
    """The inputs of the decision, and what is derived from them once."""

    work: Work
    measurement: Measurement
    device: Device | None
    options: RooflineOptions
    floors: Floors = field(init=False)

    def __post_init__(self) -> None:
        floors = floors_of(self.work, self.measurement, self.device, self.options)
        object.__setattr__(self, "floors", floors)

    @property
    def duration_us(self) -> float:
        """The duration that shares refer to, us."""
        return self.floors.duration_us

    @property
    def has_shapes(self) -> bool:
        """True when both the bytes and the roofs are known."""
        return self.floors.u_m is not None

    @cached_property
    def on_vector(self) -> bool:
        """True when the vector part decides.

        In a mixed kernel the other part waits for the one that the type belongs to, so its core time says
        nothing; it decides only when a pipe of it is full and none of the first is.
        """
        cube = self.work.unit == "cube" or (self.work.unit == "none" and self._has(CUBE_PIPES))
        first, second = self._fullest(not cube), self._fullest(cube)
        if first is None:
            return cube if second is not None else not cube
        if not self._ran(not cube) and self._ran(cube):
            return cube
        full = self.options.pipe_bound
        return cube if first <= full < (second or 0.0) else not cube

    def _ran(self, vector: bool) -> bool:
        """Whether any pipe of a part was busy; a part that did not run is exported with zeros."""
        return max(self.pipes_of(vector).values(), default=0.0) >= self.options.pipe_recorded

    def _fullest(self, vector: bool) -> float | None:
        """The busiest pipe of a part, scalar aside: a waiting part spins in its scalar pipe."""
        pipes = self.pipes_of(vector)
        return max((value for name, value in pipes.items() if name != "scalar"), default=None)

    @cached_property
    def pipes(self) -> Mapping[str, float]:
        """Busy shares of the deciding part, by pipe without prefix (`mac`, `mte2`, ...); empty when not
        recorded.
        """
        return self.pipes_of(self.on_vector)

    def pipes_of(self, vector: bool) -> Mapping[str, float]:
        """Busy shares of the vector or the cube part."""
        return self._pipes_of_parts[vector]

    @cached_property
    def _pipes_of_parts(self) -> tuple[Mapping[str, float], Mapping[str, float]]:
        """(cube part, vector part)."""
        measured = self.measurement.ratios
        cube, vector = (
            {name[4:]: value for name in names if (value := measured.get(name)) is not None}
            for names in (CUBE_PIPES, VECTOR_PIPES)
        )
        return cube, vector

    @property
    def is_mixed(self) -> bool:
        """True when both the cube and the vector part were busy."""
        return all(
            (time or 0.0) > 0 for time in (self.measurement.aicore_time_us, self.measurement.aiv_time_us)
        )

    @cached_property
    def busiest(self) -> float:
        """The busiest pipe of both parts, scalar pipes included; 0.0 when none was recorded."""
        return max((*self.pipes_of(True).values(), *self.pipes_of(False).values()), default=0.0)

    def pipe(self, name: str) -> float:
        """Busy share of a pipe of the deciding part; 0.0 when it does not have that pipe."""
        return self.pipes.get(name, 0.0)

    @cached_property
    def compute_pipe(self) -> str:
        """`vec` or `mac`."""
        return "vec" if self.on_vector else "mac"

    @cached_property
    def u_c(self) -> float:
        """Share of the compute roof that decides: certain FLOPs on the cube, measured ones on the
        vector unit.

        FLOPs of a vector kernel told from shapes decide nothing (FastGelu: .10 from shapes, .72 measured).
        """
        if self.floors.u_c_measured:
            return self.floors.u_c or 0.0
        return (self.floors.u_c_lo or 0.0) if self.work.unit == "cube" else 0.0

    @property
    def u_m(self) -> float:
        """Share of nominal HBM that bytes_lo need; 0.0 without shapes."""
        return self.floors.u_m or 0.0

    @cached_property
    def measured(self) -> MeasuredBytes | None:
        """Traffic that the run measured, if its metric mode does and it can be believed."""
        return None if self.traffic_doubts else self._traffic

    @cached_property
    def _traffic(self) -> MeasuredBytes | None:
        return measured_bytes(self.measurement)

    @cached_property
    def traffic_doubts(self) -> tuple[str, ...]:
        """Why the measured traffic cannot be: none at all, or more than L2 can move."""
        found = self._traffic
        if found is None or self.duration_us <= 0:
            return ()
        if found.total <= 0 and not found.logical and found.hit_rate is None and self.work.bytes_lo:
            return (f"no traffic at all ({found.source}) cannot be: it was not recorded",)
        roof = self.device.l2_read_write_bytes_s if self.device is not None else None
        rate = max(found.total, found.logical or 0.0) / self.duration_us * 1e6
        if roof is None or rate <= self.options.sanity_l2 * roof:
            return ()
        return (
            f"measured {format_bytes_per_s(rate)} ({found.source}), more than L2 can move "
            f"({format_bytes_per_s(roof)}): it is not believed",
        )

    @property
    def hit_rate(self) -> float | None:
        """L2 hit rate of this kernel, 0..1: of its own requests where counted, else of l2_cache.csv."""
        counted = None if self.measured is None else self.measured.hit_rate
        return self.measurement.l2_hit_rate if counted is None else counted

    @cached_property
    def gap_us(self) -> float | None:
        """Duration outside the cores; None without core times, or where the core time is not believable."""
        gap = self.measurement.gap_us
        if gap is None and self.measurement.core_time_us is not None:
            gap = self.measurement.median_us - self.measurement.core_time_us
        return None if gap is None or gap < 0 else gap

    @property
    def wide_range(self) -> bool:
        """True when bytes_lo and bytes_hi are too far apart for one number."""
        lo, hi = self.work.bytes_lo, self.work.bytes_hi
        return lo is not None and hi is not None and hi > self.options.range_ratio * lo

    @property
    def sides_differ(self) -> bool:
        """True when bytes_lo is below the HBM threshold and bytes_hi is not."""
        threshold = self.options.near_roof * self.options.eff_hbm
        return self.u_m < threshold <= (self.floors.u_m_hi or 0.0)

    @property
    def bytes_per_s(self) -> float | None:
        """bytes_lo over the duration."""
        if self.work.bytes_lo is None or self.duration_us <= 0:
            return None
        return self.work.bytes_lo / self.duration_us * 1e6

    def rate_text(self) -> str:
        """`38.0 MB in 29.7 us = 1,279 GB/s, 80 % of 1,600 GB/s HBM`."""
        moved = f"{format_bytes_decimal(self.work.bytes_lo)} in {format_us(self.duration_us)}"
        nominal = self.device.hbm_bytes_s if self.device is not None else None
        if self.bytes_per_s is None or nominal is None:
            return moved
        share = format_share(self.bytes_per_s / nominal)
        return (
            f"{moved} = {format_bytes_per_s(self.bytes_per_s)}, {share} of {format_bytes_per_s(nominal)} HBM"
        )

    def pipes_text(self) -> str:
        """`mac .12, mte2 .82, scalar .31`: the busy shares, in the order of the pipe; empty when not
        recorded.
        """
        return ", ".join(f"{name} {value:.2f}" for name, value in self.pipes.items())

    def _has(self, names: tuple[str, ...]) -> bool:
        return any(self.measurement.ratio(name) is not None for name in names)
