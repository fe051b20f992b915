"""The layout of `msprof op` for 950 parts: summary.jsonl, HardwareInfo.jsonl, an L2 of two halves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from npu_roofline.errors import UnsupportedExport
from npu_roofline.ingest.stage import Staging

from .opprof_files import write_operator

OPERATOR = {
    "category": "OpInfoSummary",
    "Op Name": "add_custom(unsigned char*, Tiling)",
    "Op Type": "vector",
    "Task Duration(us)": 4.5,
    "Block Dim": 2,
    "Mix Block Dim": None,
    "Device Id": 3,
    "Current Freq": 1650.0,
    "Rated Freq": 1650.0,
}
CHIP = [
    {"category": "Device Info", "chip info": "Ascend950PR_9599 V100"},
    {
        "category": "AI Core Information",
        "ai cube count": 36,
        "ai vector count": 72,
        "ai cube frequency(MHZ)": 1650,
        "ai vector frequency(MHZ)": 1650,
    },
]
# Two blocks: reads 1 + 0 hit, 60 + 64 + 4 not, in both halves together 129; writes 8 + 8 hit.
L2 = "block_id,sub_block_id,aiv_read_close_hit,aiv_read_close_miss,aiv_read_close_victim,aiv_read_far_hit"
L2 += ",aiv_read_far_miss,aiv_read_far_victim,aiv_write_close_hit,aiv_write_far_hit\n"
L2 += "0,vector0,1,60,4,0,64,0,8,8\n1,vector0,1,60,4,0,64,0,8,8\n"
MEMORY = "block_id,sub_block_id,read_main_memory_datas(KB),write_main_memory_datas(KB)\n"
MEMORY += "0,vector0,16.125,8\n1,vector0,16.125,8\n"


def written(folder: Path, between: str = "", operator: object = OPERATOR) -> Path:
    """One folder of the tool; `between` separates the objects of summary.jsonl."""
    folder.mkdir()
    (folder / "summary.jsonl").write_text(
        between.join(json.dumps(each) for each in ({"category": "Memory"}, operator))
    )
    (folder / "HardwareInfo.jsonl").write_text("\n".join(json.dumps(each) for each in CHIP))
    (folder / "L2Cache.csv").write_text(L2)
    (folder / "Memory.csv").write_text(MEMORY)
    return folder


@pytest.mark.parametrize("between", ["", "\n", "\n\n "])
def test_the_operator_is_read_whatever_stands_between_the_objects(
    tmp_path: Path, rows: Callable, between: str
) -> None:
    """Objects that follow each other without line ends, with one, with more."""
    folder = written(tmp_path / "OPPROF_1", between)
    columns = "name, type, core, duration_us, block, mix_block, device_id, clock_mhz"
    assert rows(folder, f"SELECT {columns} FROM operator_measurements") == [
        ("add_custom(unsigned char*, Tiling)", "add_custom", "AI_VECTOR_CORE", 4.5, 2, None, 3, 1650.0)
    ]


def test_two_files_of_one_launch_are_one_kernel(tmp_path: Path, rows: Callable) -> None:
    """OpBasicInfo.csv beside summary.jsonl: the table is read, the other one ignored with the reason."""
    folder = write_operator(written(tmp_path / "out"))
    assert rows(folder, "SELECT duration_us FROM kernels") == [(40.0,)]
    query = "SELECT status, note FROM files WHERE path LIKE '%summary.jsonl'"
    assert rows(folder, query) == [("ignored", "OpBasicInfo.csv says the same")]


def test_requests_of_both_halves_of_l2_add_up(tmp_path: Path, rows: Callable) -> None:
    """2 x 129 requests of 128 B are the 32.25 KB that were read; a victim is no hit."""
    columns = "read_bytes, write_bytes, read_hits, read_misses, write_hits, write_misses"
    (found,) = rows(written(tmp_path / "out"), f"SELECT {columns} FROM operator_measurements")
    assert found == (33_024.0, 16_384.0, 2.0, 256.0, 32.0, None)
    assert (found[2] + found[3]) * 128 == found[0]


def test_the_chip_is_told_by_the_hardware_file(tmp_path: Path, rows: Callable) -> None:
    """36 cubes, 72 vector cores, 1,650 MHz, as information about the device of the rank."""
    columns = "cube_cores, vector_cores, cube_mhz, platform_version, source"
    assert rows(written(tmp_path / "out"), f"SELECT {columns} FROM device_info") == [
        (36, 72, 1650.0, "Ascend950PR_9599 V100", "HardwareInfo.jsonl")
    ]


@pytest.mark.parametrize(
    "operator", [{"category": "Other"}, 5, {"category": "OpInfoSummary", "Op Type": "cube"}]
)
def test_a_summary_without_an_operator_is_refused(
    tmp_path: Path, staged: Callable[..., Staging], operator: object
) -> None:
    """No object of the operator, or one without a name: there is no kernel, and the error says so."""
    with pytest.raises(UnsupportedExport, match="no operator there has a name and a duration"):
        staged(written(tmp_path / "out", operator=operator))
