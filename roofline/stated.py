"""Cores and rated clock as the driver states them (info.json of a raw profile), against the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .options import RooflineOptions
from .signatures import Fit, fit_cores


@dataclass(frozen=True)
class StatedDevice:
    """What the driver says: cube cores and their rated MHz, vector cores (None = not said), in which file."""

    cube_cores: int | None = None
    cube_mhz: float | None = None
    vector_cores: int | None = None
    source: str = "info.json"


def with_stated(fit: Fit, stated: StatedDevice | None, options: RooflineOptions) -> Fit:
    """The fit of the rows together with the driver's word, which counts first; agreement and contradiction
    are said.
    """
    if stated is None or not stated.cube_cores or stated.cube_mhz is None:
        return fit
    formula = f"{stated.source}: {stated.cube_cores} cube cores at {stated.cube_mhz:,.0f} MHz"
    said = fit_cores(stated.cube_cores, stated.cube_mhz, formula, options)
    if fit.cores is not None and fit.cores != stated.cube_cores:
        note = (
            f"{formula}, but the rows say {fit.formula}: they contradict each other; {stated.source} is used"
        )
        return replace(said, confidence="low", notes=(*said.notes, note))
    if fit.mhz is None:
        return said
    if abs(fit.mhz - stated.cube_mhz) > options.clock_tolerance * stated.cube_mhz:
        note = f"{formula}; the rows show {fit.mhz:,.0f} MHz, another clock than rated ({fit.formula})"
        return replace(said, mhz=fit.mhz, notes=(*said.notes, note))
    if fit.cores is None:
        return replace(said, notes=(*said.notes, f"the rows show the same clock: {fit.formula}"))
    return replace(said, formula=f"{formula}, as the rows say: {fit.formula}")
