"""Which device the numbers are held against: the one named, or the one that the export shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputMissing
from ..roofline.device import Quantity
from ..roofline.resolve import DeviceEvidence, ResolvedDevice, resolve_device
from ..roofline.stated import StatedDevice
from ..roofline.weak_evidence import CoreBounds
from .answer import DeviceInfo

if TYPE_CHECKING:
    import duckdb


def read_device_argument(argument: str | None) -> tuple[str | None, str | None]:
    """Split a --device value into (SoC or file name, text of the device file).

    The text travels with the run, so that the database stands alone. Raises InputMissing for a file that
    cannot be read.
    """
    if argument is None or not argument.lower().endswith(".toml"):
        return argument, None
    try:
        return Path(argument).name, Path(argument).read_text(encoding="utf-8")
    except OSError as error:
        raise InputMissing(
            f"cannot read the device file {argument}: {error.strerror}",
            "check the path, or name a SoC such as 910B3",
        ) from error
    except UnicodeDecodeError as error:
        raise InputMissing(f"the device file {argument} is not UTF-8 text", "save it as UTF-8") from error


def resolve_for_rank(
    con: duckdb.DuckDBPyConnection,
    record: Any,
    rank: dict[str, Any],
    device: str | None,
    hbm_gb_s: float | None,
) -> ResolvedDevice:
    """The device of one rank: the command's --device, else the one given to ingest, else what the
    export shows.

    `record` is the run, `rank` its row of the table ranks; `hbm_gb_s` (1e9 bytes/s) overrides the HBM
    bandwidth.
    """
    argument, toml = read_device_argument(device)
    if device is None:
        argument, toml = record.device_argument, record.device_toml
    dtypes = con.execute(
        "SELECT DISTINCT dtype FROM tensors WHERE run_id = ? AND dtype IS NOT NULL", [record.run_id]
    ).fetchall()
    evidence = DeviceEvidence(
        cube_cores_mhz=rank["cube_cores_mhz"],
        spread=rank["cube_cores_mhz_spread"],
        aic_mhz=rank["aic_mhz"],
        cube_cores=rank["cube_cores"],
        aiv_mhz=rank["aiv_mhz"],
        dtypes=frozenset(dtype for (dtype,) in dtypes),
        device_argument=argument,
        device_toml=toml,
        bounds=core_bounds(rank),
        clock_min_mhz=rank["clock_min_mhz"],
        clock_max_mhz=rank["clock_max_mhz"],
        hbm_peak_gb_s=rank["hbm_peak_gb_s"],
        stated=stated_device(con, rank),
    )
    return resolve_device(evidence, hbm_gb_s=hbm_gb_s)


def stated_device(con: duckdb.DuckDBPyConnection, rank: dict[str, Any]) -> StatedDevice | None:
    """What info.json says about the rank's own device; None when it names several and none is the rank's."""
    rows = con.execute(
        "SELECT device_id, cube_cores, cube_mhz, vector_cores, source FROM device_info "
        "WHERE run_id = ? AND rank_id = ? AND cube_cores IS NOT NULL AND cube_mhz IS NOT NULL",
        [rank["run_id"], rank["rank_id"]],
    ).fetchall()
    own = [row for row in rows if row[0] is not None and row[0] == rank["device_id"]] or rows
    found = {StatedDevice(*row[1:]) for row in own}
    return found.pop() if len(found) == 1 else None


def device_of_argument(argument: str) -> ResolvedDevice:
    """The device that the user names where there is no capture to hold it against: a SoC or a TOML file.

    Raises UnknownDevice or InputMissing.
    """
    name, toml = read_device_argument(argument)
    return resolve_device(DeviceEvidence(device_argument=name, device_toml=toml))


def device_info(resolved: ResolvedDevice) -> DeviceInfo:
    """The resolved device as reports show it; soc is None when nothing tells the device."""
    device = resolved.device
    if device is None:
        return DeviceInfo(
            soc=None, source=resolved.source, confidence="unknown", candidates=resolved.candidates
        )
    return DeviceInfo(
        soc=resolved.soc,
        source=resolved.source,
        confidence=resolved.confidence,
        candidates=resolved.candidates,
        hbm_gb_s=known_value(device.hbm_gb_s),
        hbm_max_gb_s=known_value(device.hbm_max_gb_s),
        l2_mib=known_value(device.l2_mib),
        cube_cores=round(device.cube_cores.value),
        clock_mhz=device.clock_mhz.value,
        peaks=device.peaks_tflops(),
    )


def core_bounds(rank: dict[str, Any]) -> CoreBounds:
    """What the blocks of the kernels leave possible for the number of cores."""
    sides = ("cube_cores_min", "cube_cores_max", "vector_cores_min", "vector_cores_max")
    return CoreBounds(*(rank[side] for side in sides))


def known_value(quantity: Quantity | None) -> float | None:
    """The number of a quantity; None where no source gives one."""
    return None if quantity is None else quantity.value
