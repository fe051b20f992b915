"""devices: the table as answers, and the device of a run with the evidence for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from npu_roofline.analyzer.device_choice import device_info, read_device_argument
from npu_roofline.analyzer.devices import device_notes, devices_detect, devices_list, devices_show
from npu_roofline.analyzer.hotspots import hotspots
from npu_roofline.analyzer.load import ingest_run
from npu_roofline.analyzer.session import open_session
from npu_roofline.analyzer.summary import summary
from npu_roofline.errors import InputMissing, UnknownDevice
from npu_roofline.roofline.resolve import DeviceEvidence, resolve_device

from tests.analyzer.tiny_run import Kernel, session_of
from tests.ingest.kernel_csv import row, table, write
from tests.ingest.test_device_info import CHIP, raw_folder


def test_the_list_derives_peaks() -> None:
    """910B2 has 24 cores x 1800 MHz x 8192 operations per cycle = 353.9 TFLOP/s in fp16, and twice that
    in int8.
    """
    row = next(row for row in devices_list().rows if row.soc == "910B2")
    assert (row.cube_cores, row.clock_mhz, row.hbm_gb_s, row.l2_mib) == (24, 1800, 1600, 192)
    assert row.fp16_tflops == pytest.approx(353.8944)
    assert row.int8_tops == pytest.approx(707.7888)


def test_one_device_is_shown_with_a_source_for_every_number() -> None:
    """No row is without source and confidence, and every cited source id is explained."""
    answer = devices_show("910B3")
    assert all(row.source and row.confidence for row in answer.rows)
    explained = {each["id"] for each in answer.extras["sources"]}
    cited = {each for row in answer.rows for each in re.findall(r"\bS\d+\b", row.source.split("(")[0])}
    assert cited
    assert cited <= explained


def test_an_unknown_device_is_refused() -> None:
    """A name that is in no table is an error with a way on, never a guess."""
    with pytest.raises(UnknownDevice) as caught:
        devices_show("910Z9")
    assert caught.value.hint


def test_what_nothing_tells_stays_unknown() -> None:
    """Without evidence there is no SoC, no bandwidth and no peak: None, not a default."""
    info = device_info(resolve_device(DeviceEvidence()))
    assert (info.soc, info.hbm_gb_s, info.peaks, info.confidence) == (None, None, {}, "unknown")


def test_detection_shows_what_the_export_says() -> None:
    """43,200 cores x MHz at 1800 MHz is 24 cores; a value that the export does not hold is None."""
    session = session_of([Kernel(0, 10)], device=None)
    session.con.execute(
        "UPDATE ranks SET cube_cores_mhz = 43200, aic_mhz = 1800, cube_cores = 24, evidence_rows = 7"
    )
    values = {row.evidence: row.value for row in devices_detect(session).rows}
    assert values == {
        "cube cores x MHz": "43,200",
        "cube clock, MHz": "1,800",
        "vector clock, MHz": None,
        "cube cores": "24",
        "device": None,
    }


def test_a_device_file_travels_as_text(tmp_path: Path) -> None:
    """--device my.toml gives the name and the text; a SoC name stays a name."""
    path = tmp_path / "my.toml"
    path.write_text("soc = 'x'\n", encoding="utf-8")
    assert read_device_argument(str(path)) == ("my.toml", "soc = 'x'\n")
    assert read_device_argument("910B3") == ("910B3", None)
    assert read_device_argument(None) == (None, None)
    with pytest.raises(InputMissing):
        read_device_argument(str(tmp_path / "none.toml"))


def test_a_raw_profile_tells_the_chip(tmp_path: Path) -> None:
    """info.json in a PROF folder beside a level 0 table: detect names chip, source and the driver's word."""
    folder = write(tmp_path / "run_ascend_pt", table([row(type="N/A", core="N/A")], "level0"))
    raw_folder(folder, {"DeviceInfo": [CHIP], "platform_version": "5"})
    ingest_run([tmp_path], tmp_path / "db.duckdb")
    with open_session(tmp_path / "db.duckdb") as session:
        answer = devices_detect(session)
    assert answer.device is not None
    assert (answer.device.cube_cores, answer.device.source) == (24, "info.json: 24 cube cores at 1,800 MHz")
    said = {each.evidence: each.value for each in answer.rows}
    assert said["the driver's word"] == "24 cube cores, 48 vector cores at 1,800 MHz"


def test_kernels_that_the_device_cannot_have_run_are_said_beside_it() -> None:
    """Two matmuls of 178.3 MB in 150 us are 1.19 TB/s, more than a 910B4 has (0.88 at most) and than its L2
    holds: detect, hotspots and summary name the sister that has it.
    """
    kernels = [
        Kernel(
            i * 200,
            150.0,
            "MatMul",
            "AI_CORE",
            shapes=(f"{i + 1},5120;5120,17408", "DT_BF16", f"{i + 1},17408"),
        )
        for i in range(2)
    ]
    session = session_of(kernels, device="910B4")
    for answer in (hotspots(session), summary(session)):
        assert any("910B4-1 likely" in note for note in answer.notes)
    assert any("910B4-1 likely" in note for note in device_notes(session))
