"""info.json.N of a raw profile: cores and clock of the chip, and how damage is met."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .kernel_csv import row, table, write

# As msprof writes it: clocks are texts.
CHIP = {"id": 0, "ai_core_num": 24, "aiv_num": 48, "aic_frequency": "1800", "aiv_frequency": "1800"}


def raw_folder(profile: Path, content: Any, device: int = 0) -> Path:
    """PROF_*/device_N/info.json.N beside the exported tables."""
    folder = profile / "PROF_000001_20260101" / f"device_{device}"
    folder.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / f"info.json.{device}").write_text(text)
    return profile


COLUMNS = "rank_id, device_id, cube_cores, vector_cores, cube_mhz, vector_mhz, platform_version"


def test_the_chip_is_read_beside_the_kernels(tmp_path: Path, rows: Callable) -> None:
    """The raw folder is inside the profile: one rank, one device, numbers from texts."""
    folder = write(tmp_path / "run_ascend_pt", table([row()]))
    raw_folder(folder, {"DeviceInfo": [CHIP], "platform_version": "5"})
    assert rows(tmp_path, f"SELECT {COLUMNS} FROM device_info") == [(0, 0, 24, 48, 1800.0, 1800.0, "5")]
    assert rows(tmp_path, "SELECT status FROM files WHERE kind = 'device_info'") == [("read",)]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("{", "failed"),
        ({"DeviceInfo": 5}, "failed"),
        ({}, "failed"),
        ({"DeviceInfo": [1]}, "failed"),
        ({"DeviceInfo": [{**CHIP, "ai_core_num": "many", "aic_frequency": 1e300}]}, "read"),
        ({"DeviceInfo": [{**CHIP, "ai_core_num": 10**9, "aic_frequency": "5"}]}, "read"),
    ],
)
def test_damage_is_named_and_numbers_that_no_chip_has_are_not_known(
    tmp_path: Path, rows: Callable, content: Any, status: str
) -> None:
    """No JSON, no DeviceInfo: failed. A billion cores, 5 MHz or words: not known. The kernels are read."""
    folder = raw_folder(write(tmp_path / "run_ascend_pt", table([row()])), content)
    assert rows(folder, "SELECT status FROM files WHERE kind = 'device_info'") == [(status,)]
    assert rows(folder, "SELECT cube_cores, cube_mhz FROM device_info") == (
        [(None, None)] if status == "read" else []
    )
    assert rows(folder, "SELECT count(*) FROM kernels") == [(1,)]
