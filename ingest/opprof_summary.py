"""summary.jsonl and HardwareInfo.jsonl: the operator and the chip in the layout for 950 parts.

Objects may follow each other without line ends (formats.md 6), so they are read one after the other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import NpuRooflineError
from .cells import number_text
from .columns import NOT_RECORDED, resolve
from .device_info import DeviceInfoFile, device_row
from .options import IngestOptions
from .probe import fingerprint
from .small_tables import SmallTable

_OPERATOR = "OpInfoSummary"
_CHIP, _CORES = "Device Info", "AI Core Information"


def read_summary(path: Path, options: IngestOptions) -> SmallTable:
    """The operator of summary.jsonl as the one row of OpBasicInfo.csv; a damaged file says why."""
    records, problem = _records(path, options)
    found = [record for record in records if record.get("category") == _OPERATOR]
    if problem or len(found) != 1:
        return SmallTable(problem=problem or f"{len(found)} objects of category {_OPERATOR} instead of one")
    try:
        header = resolve(list(found[0]), "opprof_operator", path.name)
        row: dict[str, Any] = {}
        for column, cell in zip(header.fields, found[0].values(), strict=True):
            if column is None:
                continue
            text = "" if cell is None else str(cell)
            if column.type == "VARCHAR":
                row[column.name] = None if text in NOT_RECORDED else text
            else:
                number = number_text(text, column)
                row[column.name] = float(number) if number and column.type == "DOUBLE" else None
                if number and column.type != "DOUBLE":
                    row[column.name] = int(number)
        return SmallTable([row], fingerprint(path))
    except NpuRooflineError as error:
        return SmallTable(problem=error.message)


def read_hardware(path: Path, options: IngestOptions) -> DeviceInfoFile:
    """Cores and clocks of HardwareInfo.jsonl, in the words of info.json.N."""
    records, problem = _records(path, options)
    by_category = {record.get("category"): record for record in records}
    cores = by_category.get(_CORES)
    if problem or cores is None:
        return DeviceInfoFile(problem=problem or f"no object of category {_CORES}")
    said = {
        "ai_core_num": cores.get("ai cube count"),
        "aiv_num": cores.get("ai vector count"),
        "aic_frequency": cores.get("ai cube frequency(MHZ)"),
        "aiv_frequency": cores.get("ai vector frequency(MHZ)"),
    }
    chip = by_category.get(_CHIP, {}).get("chip info")
    return DeviceInfoFile([device_row(said, chip, options)])


def _records(path: Path, options: IngestOptions) -> tuple[list[dict[str, Any]], str | None]:
    """(the JSON objects of a file, None), or ([], why they cannot be read)."""
    try:
        if path.stat().st_size > options.small_file_limit_bytes:
            return [], "far larger than such a file is; not read"
        text = path.read_text(encoding="utf-8-sig").strip()
        decoder, records, at = json.JSONDecoder(), [], 0
        while at < len(text):
            record, end = decoder.raw_decode(text, at)
            records.append(record)
            at = _past_blanks(text, end)
    except OSError as error:
        return [], f"cannot be read: {error.strerror or error}"
    except (ValueError, RecursionError):
        return [], "not valid JSON objects in UTF-8"
    return [record for record in records if isinstance(record, dict)], None


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
