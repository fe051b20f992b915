"""The hardware table as answers, and what tells the device that a rank was recorded on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..roofline.consistency import device_hints
from ..roofline.device import Device, Quantity, all_devices, device_sources, load_device
from .answer import Answer, DeviceListRow, DeviceRow, EvidenceRow
from .device_choice import core_bounds, known_value, stated_device
from .labels import labelled_groups

if TYPE_CHECKING:
    from .session import Session

_CONFIDENCE = ("low", "medium", "high")  # ascending


def devices_list() -> Answer:
    """Every device of the hardware table in one line; peaks are derived from cores, clock and rate."""
    rows = tuple(_list_row(device) for device in all_devices())
    return Answer(command="devices", run=None, device=None, coverage=None, rows=rows)


def devices_show(name: str) -> Answer:
    """Every number of one device with unit, source and confidence, then the peaks that follow from
    them.

    `name` is a SoC, an alias or a TOML file. Raises UnknownDevice. Extras: `absent` (what no source gives,
    with the reason) and `sources` (what the source ids stand for).
    """
    device = load_device(name)
    rows = [_quantity_row(device, field, quantity) for field, quantity in device.quantities()]
    rows += _peak_rows(device)
    rows.append(
        DeviceRow(
            device.soc,
            "prefetch",
            device.prefetch.status,
            "",
            device.prefetch.source,
            device.prefetch.confidence,
        )
    )
    cited = {part.strip() for row in rows for part in row.source.split(",")}
    return Answer(
        command="devices",
        run=None,
        device=None,
        coverage=None,
        rows=tuple(rows),
        notes=(f"{device.title}; aliases: {', '.join(device.aliases) or 'none'}", *device.notes),
        extras={
            "absent": tuple(
                {"quantity": field, "reason": why} for field, why in sorted(device.absent.items())
            ),
            "sources": tuple(
                {"id": key, "title": title} for key, title in device_sources().items() if key in cited
            ),
        },
    )


def devices_detect(session: Session) -> Answer:
    """The chip that the selected rank was recorded on, and what in the export says so, one row per
    evidence.
    """
    rank = session.rows(
        "SELECT * FROM ranks WHERE run_id = ? AND rank_id = ?", [session.run.run_id, session.rank_id]
    )[0]
    hint = (session.device.hint,) if session.device.hint else ()
    return Answer(
        command="devices",
        run=session.run,
        device=session.device_info,
        coverage=None,
        rows=_evidence_rows(rank, session),
        notes=(*device_notes(session), *hint),
    )


def device_notes(session: Session) -> tuple[str, ...]:
    """What must be said about the device: how it was told, and what the kernels themselves say for or against
    it.
    """
    if session.device.device is None:
        return session.device.notes
    groups = [group for group in labelled_groups(session) if group.is_aicore]
    hints = device_hints(
        session.device.device,
        ((group.work, group.statistics, group.label) for group in groups),
        session.roofline_options,
    )
    return (*session.device.notes, *hints)


def _evidence_rows(rank: dict[str, Any], session: Session) -> tuple[EvidenceRow, ...]:
    cycles = (
        f"aic_total_cycles / (cube_utilization / 100 x duration), median of {rank['evidence_rows'] or 0} rows"
    )
    spread = rank["cube_cores_mhz_spread"]
    steady = "" if spread is None else f"spread over the rows {spread * 100:.2f} %"
    return (
        EvidenceRow("cube cores x MHz", _number(rank["cube_cores_mhz"]), cycles, steady),
        EvidenceRow(
            "cube clock, MHz", _number(rank["aic_mhz"]), "aic_total_cycles / (aicore_time x block), mode", ""
        ),
        EvidenceRow(
            "vector clock, MHz", _number(rank["aiv_mhz"]), "aiv_total_cycles / (aiv_time x block), mode", ""
        ),
        EvidenceRow("cube cores", _number(rank["cube_cores"]), "the two above divided", ""),
        *_weak_rows(rank),
        *_stated_rows(rank, session),
        EvidenceRow(
            "device",
            session.device_info.soc,
            session.device.source,
            f"{session.device_info.confidence} confidence",
        ),
    )


def _stated_rows(rank: dict[str, Any], session: Session) -> list[EvidenceRow]:
    """What the driver says, where a raw profile is beside the export."""
    stated = stated_device(session.con, rank)
    if stated is None:
        return []
    vectors = f", {stated.vector_cores} vector cores" if stated.vector_cores else ""
    value = f"{stated.cube_cores} cube cores{vectors} at {stated.cube_mhz:,.0f} MHz"
    return [EvidenceRow("the driver's word", value, stated.source, "rated, not measured")]


def _weak_rows(rank: dict[str, Any]) -> tuple[EvidenceRow, ...]:
    """Bounds and sampled counters, where the capture has them."""
    bounds, rows = core_bounds(rank), []
    if bounds.known:
        rows.append(EvidenceRow("cores, bounds", str(bounds), "blocks over rounds of the cores", "no count"))
    if rank["clock_max_mhz"] is not None:
        span = f"{rank['clock_min_mhz']:,.0f} to {rank['clock_max_mhz']:,.0f}"
        rows.append(EvidenceRow("sampled clock, MHz", span, "AICORE_FREQ, while kernels started", ""))
    if rank["hbm_peak_gb_s"] is not None:
        peak = _number(rank["hbm_peak_gb_s"])
        rows.append(
            EvidenceRow("HBM, GB/s", peak, "HBM counters, busiest interval", "the memory does at least that")
        )
    return tuple(rows)


def _list_row(device: Device) -> DeviceListRow:
    peaks = device.peaks_tflops()
    judged = [each for each in (device.cube_cores, device.clock_mhz, device.hbm_gb_s) if each is not None]
    return DeviceListRow(
        soc=device.soc,
        title=device.title,
        family=device.family,
        aliases=device.aliases,
        cube_cores=round(device.cube_cores.value),
        vector_cores=None if device.vector_cores is None else round(device.vector_cores.value),
        clock_mhz=device.clock_mhz.value,
        hbm_gb_s=known_value(device.hbm_gb_s),
        hbm_max_gb_s=known_value(device.hbm_max_gb_s),
        l2_mib=known_value(device.l2_mib),
        fp16_tflops=peaks.get("fp16"),
        int8_tops=peaks.get("int8"),
        confidence=min((each.confidence for each in judged), key=_CONFIDENCE.index),
    )


def _quantity_row(device: Device, field: str, quantity: Quantity) -> DeviceRow:
    source = f"{quantity.source} ({quantity.note})" if quantity.note else quantity.source
    return DeviceRow(device.soc, field, quantity.value, quantity.unit, source, quantity.confidence)


def _peak_rows(device: Device) -> list[DeviceRow]:
    """Derived peaks; as sure as the least sure of cores, clock and rate."""
    rows = []
    for dtype, peak in device.peaks_tflops().items():
        parts = (device.cube_cores, device.clock_mhz, device.cube_ops_per_cycle[dtype])
        confidence = min((each.confidence for each in parts), key=_CONFIDENCE.index)
        rows.append(
            DeviceRow(device.soc, f"peak.{dtype}", peak, "TFLOP/s", "cores x clock x ops/cycle", confidence)
        )
    return rows


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:,.2f}".rstrip("0").rstrip(".")
