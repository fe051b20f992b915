"""Which chip a run was recorded on: from the user's word, or from the export's own arithmetic, never by
a guess.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import UnknownDevice
from ..ingest.shapes import dtype_info
from .device import find_devices, load_device, load_device_text
from .device_model import Device, Quantity
from .options import RooflineOptions
from .signatures import Fit, NameTrap, fit_evidence, name_trap
from .stated import StatedDevice, with_stated
from .weak_evidence import CoreBounds, narrowed, sampled_notes

_HINT = (
    "name the chip: --device 910B3 (see `npu-roofline devices list`), or record with level1 PipeUtilization"
)


@dataclass(frozen=True)
class DeviceEvidence:
    """What an export says about its chip, and what the user says.

    `cube_cores_mhz` = median of aic_total_cycles / (cube_utilization/100 * Duration), cores x MHz, with
    its relative spread over rows; `aic_mhz` = mode of aic_total_cycles / (aicore_time * Block);
    `aiv_mhz` the same on the vector side; `dtypes` the short names of all operands; `bounds` what blocks
    say about the number of cores; `clock_min_mhz`, `clock_max_mhz` and `hbm_peak_gb_s` (1e9) as sampled;
    `stated` what the driver says (info.json of a raw profile). None = the export does not tell.
    """

    cube_cores_mhz: float | None = None
    spread: float | None = None
    aic_mhz: float | None = None
    cube_cores: float | None = None
    aiv_mhz: float | None = None
    dtypes: frozenset[str] = frozenset()
    device_argument: str | None = None
    device_toml: str | None = None
    bounds: CoreBounds | None = None
    clock_min_mhz: float | None = None
    clock_max_mhz: float | None = None
    hbm_peak_gb_s: float | None = None
    stated: StatedDevice | None = None


@dataclass(frozen=True)
class ResolvedDevice:
    """The device whose numbers are used, and why: `soc` names every chip that the evidence fits.

    `device` is None when nothing tells; `source` then says what is missing and `hint` what to do.
    """

    device: Device | None
    soc: str
    candidates: tuple[str, ...]
    source: str
    confidence: str
    notes: tuple[str, ...] = ()
    hint: str = ""


def resolve_device(
    evidence: DeviceEvidence, hbm_gb_s: float | None = None, options: RooflineOptions | None = None
) -> ResolvedDevice:
    """The device of a run; raises UnknownDevice when the user names one that is not known or not valid.

    Trust: the user's `--device`, then info.json, then the arithmetic of the rows. `hbm_gb_s` replaces the
    bandwidth of the table (boards carry HBM of different vendors), in GB/s of 1e9.
    """
    options = options or RooflineOptions()
    fit = fit_evidence(evidence.cube_cores_mhz, evidence.aic_mhz, evidence.aiv_mhz, options)
    fit = with_stated(fit, evidence.stated, options)
    trap = name_trap(evidence.device_argument) if evidence.device_toml is None else None
    if trap is None and (evidence.device_toml or evidence.device_argument):
        resolved = _from_user(evidence, fit, options)
    else:
        fit = narrowed(fit, evidence.bounds or CoreBounds(), evidence.clock_max_mhz, options)
        resolved = _from_evidence(evidence, fit, trap, options)
    resolved = _with_hbm(resolved, hbm_gb_s)
    if resolved.device is None:
        return resolved
    said = sampled_notes(resolved.device, evidence.clock_min_mhz, evidence.hbm_peak_gb_s, options)
    return dataclasses.replace(resolved, notes=(*resolved.notes, *said))


def _from_user(evidence: DeviceEvidence, fit: Fit, options: RooflineOptions) -> ResolvedDevice:
    devices, where = _named(evidence)
    device = devices[0]
    notes: list[str] = []
    confidence = "medium"
    if fit.candidates:
        if {each.soc for each in devices} & set(fit.candidates):
            confidence = "high"
        elif device.cube_cores.value == fit.cores:
            confidence = "medium"
        else:
            confidence = "low"
            notes.append(
                f"{where} disagrees with the export: {device.soc} has {device.cube_cores.value:.0f} cores "
                f"at {device.clock_mhz.value:.0f} MHz, the rows say {fit.formula}, which fits "
                f"{', '.join(fit.candidates)}"
            )
    device, clock_notes = _observed_clock(device, fit, options)
    misfit = _dtype_misfit([device], evidence.dtypes)
    if misfit:
        confidence = "low"
        notes.append(misfit)
    names = tuple(each.soc for each in devices)
    return ResolvedDevice(device, _described(devices), names, where, confidence, (*notes, *clock_notes))


def _named(evidence: DeviceEvidence) -> tuple[list[Device], str]:
    """The device or devices of equal numbers that the user named, and how."""
    if evidence.device_toml is not None:
        return [load_device_text(evidence.device_toml, "the --device file")], "the --device file"
    name = evidence.device_argument or ""
    if "\n" in name:
        return [load_device_text(name, "the --device text")], "the --device text"
    found = list(find_devices(name))
    if len(found) > 1 and not all(same_roofs(found[0], other) for other in found):
        raise UnknownDevice(
            f"--device {name!r} stands for several devices with different roofs",
            f"say which one: {', '.join(device.soc for device in found)}",
        )
    return found or [load_device(name)], f"--device {name}"


def _from_evidence(
    evidence: DeviceEvidence, fit: Fit, trap: NameTrap | None, options: RooflineOptions
) -> ResolvedDevice:
    names = list(fit.candidates)
    notes = list(fit.notes)
    if trap is not None:
        notes.append(f"--device {evidence.device_argument} does not say which chip: {trap.reason}")
        names = [name for name in names if name in trap.candidates]
        if not names:
            found = f"; the rows say {fit.formula}" if fit.formula else ""
            return _unknown(f"{notes[-1]}{found}", f"say which one: {', '.join(trap.candidates)}", fit.notes)
    if not names:
        return _unknown(fit.reason, _HINT, fit.notes)
    candidates = [load_device(name) for name in names]
    if fit.undecided:
        bounds = evidence.bounds or CoreBounds()
        candidates = [device for device in candidates if bounds.allow(device)] or candidates
        names = [device.soc for device in candidates]
        if not _same_floors([_observed_clock(device, fit, options)[0] for device in candidates]):
            reason = f"not known, one of {_described(candidates)}: {fit.formula}; {'; '.join(fit.notes)}"
            return _unknown(reason, f"say which one: --device {', '.join(names)}", ())
        notes = [f"no other chip has these cores, and {bounds}"]
        fit = dataclasses.replace(fit, confidence="low")
    misfit = _dtype_misfit(candidates, evidence.dtypes)
    if misfit:
        return _unknown(f"{misfit}; the rows say {fit.formula}", _HINT, tuple(notes))
    device, clock_notes = _observed_clock(candidates[0], fit, options)
    confidence = fit.confidence
    if evidence.spread is not None and evidence.spread > options.evidence_spread:
        confidence = "medium" if confidence == "high" else "low"
        notes.append(
            f"cores x MHz spreads by {evidence.spread:.1%} over the rows: the clock changed, or devices mix"
        )
    if not all(same_roofs(candidates[0], other) for other in candidates) and confidence == "high":
        confidence = "medium"
    notes.extend(clock_notes)
    return ResolvedDevice(device, _described(candidates), tuple(names), fit.formula, confidence, tuple(notes))


def _unknown(reason: str, hint: str, notes: Iterable[str]) -> ResolvedDevice:
    return ResolvedDevice(None, "unknown", (), reason, "low", tuple(notes), hint)


def _observed_clock(device: Device, fit: Fit, options: RooflineOptions) -> tuple[Device, list[str]]:
    """The device at the clock that the rows show, when its cores are the ones that the rows show."""
    if fit.mhz is None or (fit.cores is not None and fit.cores != device.cube_cores.value):
        return device, []
    rated = device.clock_mhz.value
    drop = 1 - fit.mhz / rated
    if abs(drop) <= options.clock_tolerance:
        return device, []
    what = "throttling" if drop >= options.throttling_share else "another clock than rated"
    note = (
        f"the rows show {fit.mhz:.0f} MHz, {device.soc} is rated {rated:.0f}: {what}; peaks are scaled to it"
    )
    clock = Quantity(fit.mhz, "MHz", "measured in this capture", "high")
    return dataclasses.replace(device, clock_mhz=clock), [note]


def _dtype_misfit(devices: list[Device], dtypes: frozenset[str]) -> str:
    """Why none of the devices can have run these dtypes: FP8 and FP4 cube types exist on A5 only."""
    kinds = {info.kind for info in map(dtype_info, dtypes) if info is not None} & {"fp8", "fp4"}
    if not kinds or any(_kinds_of(device) >= kinds for device in devices):
        return ""
    names = "/".join(device.soc for device in devices)
    return f"operands of type {', '.join(sorted(kinds))} run on A5 parts only, not on {names}"


def _kinds_of(device: Device) -> set[str]:
    return {info.kind for info in map(dtype_info, device.cube_ops_per_cycle) if info is not None}


def same_roofs(first: Device, second: Device) -> bool:
    """True when two devices have the same peaks and the same HBM and L2 figures."""
    figures = ("hbm_bytes_s", "hbm_max_bytes_s", "l2_bytes", "l2_read_bytes_s", "l2_read_write_bytes_s")
    return first.peaks_tflops() == second.peaks_tflops() and all(
        getattr(first, name) == getattr(second, name) for name in figures
    )


def _same_floors(devices: list[Device]) -> bool:
    """True when the times that cannot be beaten are the same on all of them, L2 aside."""
    figures = {(tuple(d.peaks_tflops().items()), d.hbm_bytes_s, d.hbm_max_bytes_s) for d in devices}
    return len(figures) == 1


def _described(devices: Iterable[Device]) -> str:
    """`910_9381/910_9382 (A3 die) or 910B2/910B2C (A2 376T)`: every candidate, grouped by product."""
    groups: dict[str, list[str]] = {}
    for device in devices:
        groups.setdefault(device.product, []).append(device.soc)
    return " or ".join(f"{'/'.join(names)} ({product})" for product, names in groups.items())


def _with_hbm(resolved: ResolvedDevice, hbm_gb_s: float | None) -> ResolvedDevice:
    if hbm_gb_s is None or resolved.device is None:
        return resolved
    given = Quantity(hbm_gb_s, "GB/s", "--hbm-gb-s", "high")
    absent = {
        name: why for name, why in resolved.device.absent.items() if name not in ("hbm_gb_s", "hbm_max_gb_s")
    }
    device = dataclasses.replace(resolved.device, hbm_gb_s=given, hbm_max_gb_s=given, absent=absent)
    note = f"HBM bandwidth {hbm_gb_s:,.0f} GB/s as given by --hbm-gb-s"
    return dataclasses.replace(resolved, device=device, notes=(*resolved.notes, note))
