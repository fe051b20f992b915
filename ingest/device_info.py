"""info.json.N of raw PROF_* folders: cores and rated clock of the chip, as its driver states them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .database import insert_rows
from .options import IngestOptions
from .run_info import read_json_object

if TYPE_CHECKING:
    import duckdb

_NUMBER = re.compile(r"\d{1,6}(\.\d{1,6})?", re.ASCII)
_MOST_CORES = 1024


@dataclass
class DeviceInfoFile:
    """The devices of one file, as rows of the table, or why there are none."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    problem: str | None = None


def read_device_info(path: Path, options: IngestOptions) -> DeviceInfoFile:
    """Read one info.json.N; a number that no chip has is not known, a damaged file says why."""
    data, problem = read_json_object(path, options)
    if data is None:
        return DeviceInfoFile(problem=problem)
    devices = data.get("DeviceInfo")
    if not isinstance(devices, list):
        return DeviceInfoFile(problem="no DeviceInfo")
    platform = data.get("platform_version")
    rows = [device_row(entry, platform, options) for entry in devices if isinstance(entry, dict)]
    return DeviceInfoFile(rows, None if rows else "DeviceInfo names no device")


def device_row(entry: Mapping[str, Any], platform: Any, options: IngestOptions) -> dict[str, Any]:
    """One device as a row of the table, from the cells of one entry of DeviceInfo."""
    return {
        "device_id": _whole(entry.get("id")),
        "cube_cores": _whole(entry.get("ai_core_num")),
        "vector_cores": _whole(entry.get("aiv_num")),
        "cube_mhz": _clock(entry.get("aic_frequency"), options),
        "vector_mhz": _clock(entry.get("aiv_frequency"), options),
        "platform_version": str(platform)[:64] if isinstance(platform, str | int) else None,
    }


def add_device_info(con: duckdb.DuckDBPyConnection, rank_id: int, found: DeviceInfoFile, source: str) -> None:
    """Write the devices that one rank's folder names; `source` is the kind of file that says it."""
    insert_rows(con, "device_info", [(1, rank_id, *row.values(), source) for row in found.rows])


def _number(value: Any) -> float | None:
    """24, "1800" -> a number; anything else is none."""
    text = str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    return float(text) if _NUMBER.fullmatch(text) else None


def _whole(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number.is_integer() and number <= _MOST_CORES else None


def _clock(value: Any, options: IngestOptions) -> float | None:
    number = _number(value)
    return number if number is not None and options.clock_min_mhz <= number <= options.clock_max_mhz else None
