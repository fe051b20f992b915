"""Evidence that bounds a chip without counting its cores: rounds of blocks, and sampled clock and bandwidth.

Profiler databases have no cube_utilization, so cores x MHz cannot be had from them; what is left narrows the
chips of one clock, and says when a capture contradicts the chip it is held against.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .device import load_device
from .device_model import Device, Quantity
from .options import RooflineOptions
from .signatures import Fit, chip_signatures


@dataclass(frozen=True)
class CoreBounds:
    """Least and most cores that the blocks leave possible (ranks.cube_cores_min ...); None = open."""

    cube_min: int | None = None
    cube_max: int | None = None
    vector_min: int | None = None
    vector_max: int | None = None

    @property
    def known(self) -> bool:
        """Whether anything is bounded."""
        bounds = (self.cube_min, self.cube_max, self.vector_min, self.vector_max)
        return any(bound is not None for bound in bounds)

    def allow(self, device: Device) -> bool:
        """Whether a chip has cores within the bounds; one whose vector cores are not known may have."""
        return _within(device.cube_cores, self.cube_min, self.cube_max) and _within(
            device.vector_cores, self.vector_min, self.vector_max
        )

    def __str__(self) -> str:
        parts = (
            _span(self.cube_min, self.cube_max, "cube cores"),
            _span(self.vector_min, self.vector_max, "vector cores"),
        )
        return " and ".join(part for part in parts if part)


def narrowed(fit: Fit, bounds: CoreBounds, sampled_mhz: float | None, options: RooflineOptions) -> Fit:
    """A fit of which only the clock is known, narrowed to the chips whose cores the bounds allow.

    `sampled_mhz` is the clock of AICORE_FREQ, which counts where the rows show none. Never more than medium
    confidence, and that only where some bound is an upper one.
    """
    if fit.candidates or fit.cores is not None:
        return fit
    mhz, formula = fit.mhz, fit.formula
    if mhz is None and sampled_mhz is not None:
        mhz, formula = sampled_mhz, f"MHz = AICORE_FREQ = {sampled_mhz:,.0f}"
    if mhz is None or (fit.mhz is not None and not bounds.known):
        return fit
    rows = [
        replace(row, candidates=kept)
        for row in chip_signatures()
        if abs(row.mhz - mhz) <= options.clock_tolerance * row.mhz
        and (kept := tuple(name for name in row.candidates if bounds.allow(load_device(name))))
    ]
    said = f"{formula}, {bounds} by the rounds of their blocks" if bounds.known else formula
    if len(rows) != 1 or not bounds.known:
        fits = ", ".join(name for row in rows for name in row.candidates) or "no known chip"
        return Fit((), None, mhz, formula, reason=f"only the clock is known ({said}), which fits {fits}")
    squeezed = bounds.cube_max is not None or bounds.vector_max is not None
    note = f"bounds are no count: no other chip in the table has {mhz:,.0f} MHz and {bounds}"
    notes = (note, rows[0].differ) if rows[0].differ else (note,)
    return Fit(rows[0].candidates, None, mhz, said, "medium" if squeezed else "low", notes)


def sampled_notes(
    device: Device,
    clock_min_mhz: float | None,
    hbm_peak_gb_s: float | None,
    options: RooflineOptions,
) -> tuple[str, ...]:
    """What the sampled clock (MHz) and HBM bandwidth (GB/s of 1e9) say against the chip's own numbers."""
    notes = []
    rated = device.clock_mhz.value
    if clock_min_mhz is not None and clock_min_mhz < rated * (1 - options.throttling_share):
        notes.append(
            f"AICORE_FREQ: the clock was down to {clock_min_mhz:,.0f} MHz while kernels ran "
            f"({rated:,.0f} are used): throttling, so some kernels had less than the peaks shown"
        )
    nominal = device.hbm_gb_s
    if hbm_peak_gb_s is not None and nominal is not None and hbm_peak_gb_s > nominal.value:
        notes.append(
            f"HBM counters: {hbm_peak_gb_s:,.0f} GB/s in one sampling interval, more than the "
            f"{nominal.value:,.0f} of {device.soc}: it is another chip or board; say --device or --hbm-gb-s"
        )
    return tuple(notes)


def _within(cores: Quantity | None, least: int | None, most: int | None) -> bool:
    if cores is None:
        return True
    return (least is None or cores.value >= least) and (most is None or cores.value <= most)


def _span(least: int | None, most: int | None, what: str) -> str:
    if least is None and most is None:
        return ""
    if least is None:
        return f"at most {most} {what}"
    return f"at least {least} {what}" if most is None else f"{least} to {most} {what}"
