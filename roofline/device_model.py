"""Devices as data: every number carries value, unit, source and confidence; peaks are derived, never
typed in.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated, Literal

from pydantic import ConfigDict, Strict, field_validator, model_validator
from pydantic.dataclasses import dataclass

Confidence = Literal["high", "medium", "low"]

# The unit that each field must be given in: a number in another unit is a wrong number.
FIELD_UNITS = {
    "cube_cores": "cores",
    "vector_cores": "cores",
    "clock_mhz": "MHz",
    "vector_clock_mhz": "MHz",
    "hbm_gb_s": "GB/s",
    "hbm_max_gb_s": "GB/s",
    "hbm_gib": "GiB",
    "l2_mib": "MiB",
    "l2_read_bytes_per_cycle": "B/cycle/core",
    "l2_write_bytes_per_cycle": "B/cycle/core",
    "l2_read_write_gb_s": "GB/s",
    "gm_core_gb_s": "GB/s",
    "cube_ops_per_cycle": "ops/cycle/core",
    "vector_ops_per_cycle": "ops/cycle/core",
    "on_chip_kib": "KiB",
    "links_gb_s": "GB/s",
}
# Fields that a file may leave out, but only by saying why in its [absent] table.
OPTIONAL_FIELDS = frozenset(FIELD_UNITS) - {"cube_cores", "clock_mhz", "cube_ops_per_cycle"}
_PLACEHOLDERS = frozenset(
    {"", "?", "-", "todo", "tbd", "fixme", "xxx", "n/a", "na", "none", "null", "placeholder"}
)
# No figure of a device, in any of the units above, is larger, or smaller than one over it; products of
# larger ones stop being numbers.
_LARGEST = 1e9
_STRICT = ConfigDict(extra="forbid")


def refuse_placeholder(text: str) -> str:
    """Raise ValueError when a text stands for "fill me in"; returns it otherwise."""
    if text.strip().lower() in _PLACEHOLDERS or text.strip().startswith("<"):
        raise ValueError(f"{text!r} is a placeholder")
    return text


@dataclass(frozen=True, config=_STRICT)
class Quantity:
    """One number: value > 0 in `unit`, the ids of its sources, and how far it is trusted."""

    value: Annotated[float, Strict()]
    unit: str
    source: str
    confidence: Confidence
    note: str = ""

    @field_validator("value")
    @classmethod
    def _positive(cls, value: float) -> float:
        if not math.isfinite(value) or value <= 0:
            raise ValueError(f"{value} is not a positive number")
        if not 1 / _LARGEST <= value <= _LARGEST:
            raise ValueError(f"{value} is not a figure that a device can have")
        return value

    @field_validator("source", "unit")
    @classmethod
    def _stated(cls, text: str) -> str:
        return refuse_placeholder(text)


@dataclass(frozen=True, config=_STRICT)
class Support:
    """Whether a feature works on the device: 'yes', 'untested' or 'no', and who says so."""

    status: Literal["yes", "untested", "no"]
    source: str
    confidence: Confidence

    @field_validator("source")
    @classmethod
    def _stated(cls, text: str) -> str:
        return refuse_placeholder(text)


@dataclass(frozen=True, config=_STRICT)
class Device:
    """One SoC; cores, clock and rates as quantities, None where no source has a figure (`absent` says why).

    `family` is A2, A3, A5, ...; `product` the name people use ("A3 die", "A2 376T"). HBM and L2 figures
    are per die. `hbm_gb_s` is the nominal bandwidth, `hbm_max_gb_s` the upper end of what the sources
    say: only above it is a kernel "above the HBM roof".
    """

    soc: str
    title: str
    family: str
    product: str
    cube_cores: Quantity
    clock_mhz: Quantity
    cube_ops_per_cycle: dict[str, Quantity]
    prefetch: Support
    aliases: tuple[str, ...] = ()
    vector_cores: Quantity | None = None
    vector_clock_mhz: Quantity | None = None
    vector_ops_per_cycle: dict[str, Quantity] | None = None
    hbm_gb_s: Quantity | None = None
    hbm_max_gb_s: Quantity | None = None
    hbm_gib: Quantity | None = None
    l2_mib: Quantity | None = None
    l2_read_bytes_per_cycle: Quantity | None = None
    l2_write_bytes_per_cycle: Quantity | None = None
    l2_read_write_gb_s: Quantity | None = None
    gm_core_gb_s: Quantity | None = None
    on_chip_kib: dict[str, Quantity] | None = None
    links_gb_s: dict[str, Quantity] | None = None
    absent: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @field_validator("soc", "title", "family", "product")
    @classmethod
    def _stated(cls, text: str) -> str:
        return refuse_placeholder(text)

    @model_validator(mode="after")
    def _complete(self) -> Device:
        """Every field is given in its unit, or its absence is explained."""
        for name in sorted(OPTIONAL_FIELDS):
            given = getattr(self, name) is not None
            if given == (name in self.absent):
                raise ValueError(
                    f"{name}: "
                    + ("given and also listed in [absent]" if given else "missing, and not in [absent]")
                )
        unknown = sorted(set(self.absent) - OPTIONAL_FIELDS)
        if unknown:
            raise ValueError(f"[absent] names {', '.join(unknown)}, which cannot be left out")
        for reason in self.absent.values():
            refuse_placeholder(reason)
        for name, quantity in self.quantities():
            wanted = FIELD_UNITS[name.partition(".")[0]]
            if quantity.unit != wanted:
                raise ValueError(f"{name}: unit {quantity.unit!r}, expected {wanted!r}")
        if "fp16" not in self.cube_ops_per_cycle:
            raise ValueError("cube_ops_per_cycle: fp16 is missing")
        return self

    def quantities(self) -> list[tuple[str, Quantity]]:
        """Every number of the device with its field name (`cube_ops_per_cycle.fp16`), in order of
        declaration.
        """
        found: list[tuple[str, Quantity]] = []
        for name in FIELD_UNITS:
            value = getattr(self, name)
            if isinstance(value, dict):
                found.extend((f"{name}.{key}", quantity) for key, quantity in value.items())
            elif value is not None:
                found.append((name, value))
        return found

    def cube_peak_ops(self, dtype: str | None, hf32: bool | None = None) -> float | None:
        """Operations per second of all cube cores: cores x clock x rate; None when the device has no
        such rate.

        fp32 matmuls use the hf32 rate when the export says that HF32 is eligible (`HF32 Eligible` YES).
        """
        name = "hf32" if dtype == "fp32" and hf32 else dtype
        return self._peak(self.cube_ops_per_cycle, name, self.cube_cores, self.clock_mhz)

    def vector_peak_ops(self, dtype: str | None) -> float | None:
        """Operations per second of all vector cores, fused multiply-adds assumed; None when not known."""
        clock = self.vector_clock_mhz or self.clock_mhz
        return self._peak(self.vector_ops_per_cycle, dtype, self.vector_cores, clock)

    def peaks_tflops(self) -> dict[str, float]:
        """Cube peak by dtype, in 1e12 operations per second."""
        peaks = {name: self.cube_peak_ops(name) for name in self.cube_ops_per_cycle}
        return {name: peak / 1e12 for name, peak in peaks.items() if peak is not None}

    @property
    def hbm_bytes_s(self) -> float | None:
        """Nominal HBM bandwidth, B/s."""
        return None if self.hbm_gb_s is None else self.hbm_gb_s.value * 1e9

    @property
    def hbm_max_bytes_s(self) -> float | None:
        """Highest HBM bandwidth that a source gives, B/s; the nominal figure where there is only one."""
        highest = self.hbm_max_gb_s or self.hbm_gb_s
        return None if highest is None else highest.value * 1e9

    @property
    def l2_bytes(self) -> float | None:
        """L2 capacity, B."""
        return None if self.l2_mib is None else self.l2_mib.value * 2**20

    @property
    def l2_read_bytes_s(self) -> float | None:
        """L2 read bandwidth of all cores, B/s: the figure for weights."""
        if self.l2_read_bytes_per_cycle is None:
            return None
        return self.l2_read_bytes_per_cycle.value * self.cube_cores.value * self.clock_mhz.value * 1e6

    @property
    def l2_read_write_bytes_s(self) -> float | None:
        """L2 bandwidth of reads plus writes, B/s; the read figure where no source has one."""
        if self.l2_read_write_gb_s is None:
            return self.l2_read_bytes_s
        return self.l2_read_write_gb_s.value * 1e9

    @property
    def gm_core_bytes_s(self) -> float | None:
        """What one core can load from global memory, B/s."""
        return None if self.gm_core_gb_s is None else self.gm_core_gb_s.value * 1e9

    @property
    def prefetch_supported(self) -> bool | None:
        """True or False; None where the runtime has the feature but nobody reports having used it."""
        return {"yes": True, "no": False, "untested": None}[self.prefetch.status]

    @staticmethod
    def _peak(
        rates: dict[str, Quantity] | None, dtype: str | None, cores: Quantity | None, clock: Quantity
    ) -> float | None:
        if rates is None or dtype is None or cores is None or dtype not in rates:
            return None
        return rates[dtype].value * cores.value * clock.value * 1e6
