"""What a measured prefetch says about the model's assumptions: the copy engine's rate, eta, and beta.

A before/after pair gives the time that the target gained and the time that the window lost. The benefit model
read backwards turns them into bytes that arrived and a rate. Where all bytes arrived, the rate is only a
lower bound: the copy was done before the window ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import WrongUsage
from ..units import format_bytes
from .answer import Answer
from .answer_plan import CalibrationRow
from .benefit import MemoryRates, TargetLoad, hbm_bytes_us, l2_bytes_us
from .candidates import Survey, memory_rates, survey
from .coverage import coverage
from .ids import only_id
from .labels import LabelledGroup, labelled_positions
from .options import AnalysisOptions
from .sites import Rules, Site, target_load
from .windows import Window

if TYPE_CHECKING:
    from .session import Session

_ALL_ARRIVED = 0.8  # share of the bytes from which the model's own error may hide the rest
MEASURED, AT_LEAST = "measured", "at least"


@dataclass(frozen=True)
class Fit:
    """What one pair tells; times us, rates B/us. None where the pair does not tell it."""

    saved_us: float
    window_lost_us: float
    arrived_bytes: float
    rate: float  # bytes per us of the copy
    bound: str  # MEASURED, or AT_LEAST where the copy was done before the window ended
    eta: float
    beta: float | None


def calibrate(before: Session, after: Session, target: str, max_size: int | None = None) -> Answer:
    """Fit cmo_gb_s, eta and beta from two runs of which only one prefetch differs.

    target: id of the candidate that was prefetched for; max_size: bytes of the call, default what
    `candidates` proposes for it. Raises WrongUsage when the target is none, or did not get faster.
    """
    found = survey(before)
    row_id = only_id(target, [row.id for row in found.rows if row.status == "candidate"], "candidates")
    site = found.sites[row_id]
    assert site.best is not None
    rates, _ = memory_rates(before)
    assert rates is not None  # a candidate was found, so the device has them
    asked = site.best.size.max_size if max_size is None else max_size
    if asked <= 0:
        raise WrongUsage(f"--max-size {asked} is no prefetch", "give the bytes that the call asked for")
    saved = site.group.statistics.median_us - _same_place(after, site.group).statistics.median_us
    if saved <= 0:
        raise WrongUsage(
            f"{row_id} did not get faster: median {saved:+.2f} us the wrong way",
            "fit from a pair that `compare` accepts",
        )
    lost = _window_lost(site, found, after)
    fitted = fit(site.best.window, _load(site, before, rates), saved, lost, asked, rates, before.options)
    return Answer(
        command="calibrate",
        run=before.run,
        device=before.device_info,
        coverage=coverage(before),
        rows=_rows(fitted, asked, before.options),
        notes=(
            f"The target gained {saved:.2f} us and its window lost {lost:.2f} us per call (medians).",
            "One pair is one point: let `compare` say whether it is beyond noise before using the figures.",
        ),
        extras={"target": row_id, "after": after.run.name},
    )


def fit(
    window: Window,
    load: TargetLoad,
    saved_us: float,
    window_lost_us: float,
    asked: int,
    rates: MemoryRates,
    options: AnalysisOptions,
) -> Fit:
    """The model read backwards: arrived = saved / (1/HBM - 1/L2); rate = arrived / (window - latency).

    beta = what the window lost / (copy time x its HBM utilisation); None for an idle window, which tells
    nothing about it.
    """
    per_byte = 1.0 / hbm_bytes_us(load, rates, options) - 1.0 / l2_bytes_us(rates, options)
    arrived = min(float(asked), saved_us / per_byte / load.hit_share)
    running = max(window.median_us - options.t_lat_us, 1e-9)
    bound = AT_LEAST if arrived >= _ALL_ARRIVED * asked else MEASURED
    rate = (asked if bound == AT_LEAST else arrived) / running
    spare = window.spare_bytes / window.duration_us
    copy = asked / (options.eff_hbm * rates.hbm_bytes_s) * 1e6
    busy = copy * window.utilisation
    beta = max(0.0, window_lost_us) / busy if busy > 0 else None
    return Fit(saved_us, window_lost_us, arrived, rate, bound, min(1.0, rate / spare) if spare else 1.0, beta)


def _load(site: Site, session: Session, rates: MemoryRates) -> TargetLoad:
    return target_load(site.group, Rules(rates, session.options, 1.0, None, None, False, False))


def _same_place(after: Session, group: LabelledGroup) -> LabelledGroup:
    """The same signature at the same position of the other run. Raises WrongUsage when it is not there."""
    for each in labelled_positions(after):
        if (each.row.hex_id, each.part, each.position) == (group.row.hex_id, group.part, group.position):
            return each
    raise WrongUsage(
        f"{group.row.type} {group.row.input_shapes} is at no such place in run {after.run.name}",
        "give two runs of the same model and batch",
    )


def _window_lost(site: Site, found: Survey, after: Session) -> float:
    """Sum of what the kernels inside the window take longer, medians, us."""
    assert site.best is not None
    inside = {each.place for each in site.best.window.inside}
    groups = [found.places[place] for place in sorted(inside)]
    return sum(_same_place(after, each).statistics.median_us - each.statistics.median_us for each in groups)


def _rows(found: Fit, asked: int, options: AnalysisOptions) -> tuple[CalibrationRow, ...]:
    arrived = (
        f"{format_bytes(found.arrived_bytes)} of {format_bytes(asked)} arrived, by what the target gained"
    )
    rows = [
        CalibrationRow("cmo_gb_s", round(found.rate / 1e3, 1), found.bound, "--cmo-gb-s", None, arrived),
        CalibrationRow(
            "eta",
            round(found.eta, 3),
            found.bound,
            "--eta",
            options.eta,
            "rate / spare bandwidth of the window",
        ),
    ]
    if found.beta is not None:
        how = "what the window lost / (copy time x its HBM utilisation)"
        rows.append(
            CalibrationRow("beta", round(found.beta, 3), MEASURED, "[analysis] beta", options.beta, how)
        )
    return tuple(rows)
