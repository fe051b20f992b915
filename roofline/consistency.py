"""What all kernels of a run together say about the device that was assumed for it."""

from __future__ import annotations

from collections.abc import Iterable

from .classify import Label
from .device_model import Device
from .measure import Measurement
from .model import Work
from .options import RooflineOptions
from .signatures import chip_signatures

Labelled = tuple[Work, Measurement, Label]


def device_hints(device: Device, labelled: Iterable[Labelled], options: RooflineOptions) -> tuple[str, ...]:
    """Sentences to show beside the device: a faster sister that fits better, and contradictions found.

    A matmul above the highest HBM figure whose working set L2 cannot hold needs other memory, not L2.
    """
    groups = list(labelled)
    contradicted = [label for _, _, label in groups if label.contradicts_pipes]
    beyond = [work for work, measurement, _ in groups if _beyond_hbm(work, measurement, device, options)]
    hints: list[str] = []
    faster = _faster_sister(device)
    if faster and len(beyond) >= options.faster_sister_matmuls:
        hints.append(
            f"{len(beyond)} matmuls move more than the HBM of {device.soc} can, with more data than L2 "
            f"holds: {faster} likely"
        )
    if contradicted:
        reach = "1 kernel reaches" if len(contradicted) == 1 else f"{len(contradicted)} kernels reach"
        hints.append(
            f"{reach} more of the compute peak than the cube was busy: wrong device, dtype or shapes"
        )
    return tuple(hints)


def _beyond_hbm(work: Work, measurement: Measurement, device: Device, options: RooflineOptions) -> bool:
    roof, l2 = device.hbm_max_bytes_s, device.l2_bytes
    if (
        work.family != "matmul"
        or work.bytes_lo is None
        or work.working_set_bytes is None
        or measurement.median_us <= 0
    ):
        return False
    if roof is None or l2 is None or work.working_set_bytes <= options.l2_set_ratio * l2:
        return False
    return work.bytes_lo / measurement.median_us * 1e6 > roof


def _faster_sister(device: Device) -> str:
    """The chip of the same cores and clock that has more bandwidth, where the table names one."""
    rows = (row for row in chip_signatures() if device.soc in row.candidates)
    return next((row.faster for row in rows if row.faster and row.faster != device.soc), "")
