"""From measured cores x MHz to the chips that have them (signatures.toml), and the names that say too
little.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .options import RooflineOptions


@dataclass(frozen=True)
class ChipSignature:
    """One row of the table: cube cores, rated MHz, the chips that have them, and in what those differ.

    `faster` names the candidate with more HBM bandwidth, which measurements above the roof point to. Among
    `undecided` candidates none is more likely than the others.
    """

    cores: int
    mhz: float
    candidates: tuple[str, ...]
    differ: str = ""
    faster: str = ""
    undecided: bool = False


@dataclass(frozen=True)
class NameTrap:
    """A name that stands for a family: its members, and why it does not say which chip."""

    names: tuple[str, ...]
    candidates: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Fit:
    """What the rows say: the chips that fit, measured cores and MHz (None = not told), formula, confidence.

    Without candidates `reason` says what is missing. `undecided` candidates are all named and none is used,
    unless their roofs are the same.
    """

    candidates: tuple[str, ...] = ()
    cores: int | None = None
    mhz: float | None = None
    formula: str = ""
    confidence: str = "low"
    notes: tuple[str, ...] = ()
    reason: str = ""
    undecided: bool = False


@lru_cache(maxsize=1)
def _tables() -> tuple[tuple[ChipSignature, ...], tuple[NameTrap, ...]]:
    table = tomllib.loads(Path(__file__).with_name("signatures.toml").read_text(encoding="utf-8"))
    rows = tuple(
        ChipSignature(
            row["cores"],
            row["mhz"],
            tuple(row["candidates"]),
            row.get("differ", ""),
            row.get("faster", ""),
            row.get("undecided", False),
        )
        for row in table["signature"]
    )
    traps = tuple(
        NameTrap(tuple(row["names"]), tuple(row["candidates"]), row["reason"]) for row in table["name_trap"]
    )
    return rows, traps


def chip_signatures() -> tuple[ChipSignature, ...]:
    """The signature table, in the order of the file."""
    return _tables()[0]


def name_trap(name: str | None) -> NameTrap | None:
    """The family that a name stands for; None when the name may be a SoC or an alias."""
    wanted = (name or "").strip().lower()
    return next((trap for trap in _tables()[1] if wanted in map(str.lower, trap.names)), None)


def fit_evidence(
    cube_cores_mhz: float | None, aic_mhz: float | None, aiv_mhz: float | None, options: RooflineOptions
) -> Fit:
    """Chips whose cores and clock the rows show; cores x MHz and MHz as in `resolve.DeviceEvidence`."""
    if cube_cores_mhz is None:
        return _by_clock(aic_mhz, aiv_mhz, options)
    formula = f"cores x MHz = aic_total_cycles / (cube_utilization/100 x Duration) = {cube_cores_mhz:,.0f}"
    if aic_mhz is None:
        return _by_product(cube_cores_mhz, formula, options)
    cores = round(cube_cores_mhz / aic_mhz)
    formula = (
        f"{formula}, MHz = aic_total_cycles / (aicore_time x Block) = {aic_mhz:,.0f}: {cores} cube cores"
    )
    if cores < 1 or abs(cube_cores_mhz / aic_mhz - cores) > options.clock_tolerance * cores:
        reason = f"{formula}, which is no whole number of cores"
        return Fit(formula=formula, reason=reason)
    return fit_cores(cores, aic_mhz, formula, options)


def fit_cores(cores: int, mhz: float, formula: str, options: RooflineOptions) -> Fit:
    """Chips with that many cube cores at that clock; `formula` says how both are known."""
    same_cores = [row for row in chip_signatures() if row.cores == cores]
    if not same_cores:
        return Fit((), cores, mhz, formula, reason=f"no known chip has {cores} cube cores ({formula})")
    nearest = min(same_cores, key=lambda row: (abs(row.mhz - mhz), row.mhz))
    if abs(nearest.mhz - mhz) <= options.clock_tolerance * nearest.mhz:
        notes = (nearest.differ,) if nearest.differ else ()
        confidence = "medium" if notes else "high"
        return Fit(nearest.candidates, cores, mhz, formula, confidence, notes, undecided=nearest.undecided)
    # A clock that nothing is rated for: throttled or fixed by hand. Any chip with these cores may be
    # it; the one rated next above the clock is used, because chips slow down and do not speed up.
    above = [row for row in same_cores if row.mhz >= mhz] or same_cores
    order = sorted(above, key=lambda row: abs(row.mhz - mhz))
    names = tuple(name for row in order for name in row.candidates)
    note = f"{mhz:.0f} MHz is no rated clock: the chip is known only by its {cores} cube cores"
    return Fit(names, cores, mhz, formula, "low", (note,))


def _by_product(cube_cores_mhz: float, formula: str, options: RooflineOptions) -> Fit:
    rows = [
        row
        for row in chip_signatures()
        if abs(row.cores * row.mhz - cube_cores_mhz) <= options.clock_tolerance * cube_cores_mhz
    ]
    if not rows:
        return Fit(formula=formula, reason=f"no known chip has {cube_cores_mhz:,.0f} cores x MHz")
    names = tuple(name for row in rows for name in row.candidates)
    note = "the clock alone could not be measured: chips with the same cores x MHz are not told apart"
    return Fit(names, rows[0].cores, None, formula, "medium" if len(rows) == 1 else "low", (note,))


def _by_clock(aic_mhz: float | None, aiv_mhz: float | None, options: RooflineOptions) -> Fit:
    mhz, side = (aic_mhz, "aic") if aic_mhz is not None else (aiv_mhz, "aiv")
    if mhz is None:
        # True of exports without these columns and of those where they tell nothing (256 blocks, 0.03 %).
        reason = (
            "no row gives cube_utilization above 1 % or a core clock; "
            "the export does not say which chip it was"
        )
        return Fit(reason=reason)
    core_time = "aicore_time" if side == "aic" else "aiv_time"
    formula = f"MHz = {side}_total_cycles / ({core_time} x Block) = {mhz:,.0f}"
    # A chip may run slower than rated and not faster: a clock alone tells only the fastest ones apart.
    rows = [row for row in chip_signatures() if row.mhz >= mhz * (1 - options.clock_tolerance)]
    rated = [row for row in rows if row.mhz <= mhz * (1 + options.clock_tolerance)]
    if len(rows) != 1 or not rated:
        fits = ", ".join(name for row in rated for name in row.candidates) or "no known chip"
        slower = len(rows) - len(rated)
        others = " and, throttled, any chip that is rated higher" if slower else ""
        reason = f"only the clock is known ({formula}), which fits {fits}{others}"
        return Fit((), None, mhz, formula, reason=reason)
    note = (
        f"only the clock is known; no other chip in the table is rated {rows[0].mhz:.0f} MHz or more, so its "
        f"{rows[0].cores} cube cores are those of the table, not counted in this capture"
    )
    return Fit(rows[0].candidates, None, mhz, formula, "low", (note,))
