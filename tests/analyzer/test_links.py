"""`summary --by link`: a transfer against one link of the device, pairs, and where the time goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.analyzer.load import ingest_run
from npu_roofline.analyzer.session import open_session
from npu_roofline.analyzer.summary import summary

from tests.ingest.kernel_csv import row, table, write


def moved(size_mb: float, time_ms: float) -> dict[str, float]:
    """What one link moved."""
    return {"Transit Size(MB)": size_mb, "Transit Time(ms)": time_ms, "Bandwidth(GB/s)": size_mb / time_ms}


def asked(folder: Path, device: str | None, slow_ms: float = 1.0) -> Answer:
    """The links of a rank with one all-reduce of 40 MB over HCCS to two peers, one of them slower."""
    write(folder, table([row()]))
    times = {"Elapse Time(ms)": 10, "Transit Time(ms)": 2, "Wait Time(ms)": 5, "Synchronization Time(ms)": 4}
    link = {"HCCS": moved(40, 1 + slow_ms), "SDMA": moved(40, 1 + slow_ms), "RDMA": moved(0, 1)}
    entry = {"Communication Time Info": {**times, "Idle Time(ms)": 3}, "Communication Bandwidth Info": link}
    pairs = {
        "0-1": {"Transport Type": "HCCS", **moved(20, 1)},
        "0-2": {"Transport Type": "HCCS", **moved(20, slow_ms)},
    }
    for name, key, content in (
        ("communication.json", "hcom_allReduce__1_0_1@1", entry),
        ("communication_matrix.json", "allreduce-total@1", pairs),
    ):
        write(folder, json.dumps({"step3": {"collective": {key: content}, "p2p": {}}}), name)
    ingest_run([folder], folder / "db.duckdb", device=device)
    with open_session(folder / "db.duckdb") as session:
        return summary(session, by="link")


def test_a_transfer_is_held_against_one_link_of_the_device(tmp_path: Path) -> None:
    """40 MB in 2 ms are 20 GB/s, 71 % of the 28 of one of the seven links of a 910B2."""
    answer = asked(tmp_path, "910B2")
    hccs, sdma = answer.rows
    assert (hccs.key, hccs.collectives, hccs.bytes, hccs.gb_s, hccs.device_gb_s) == (
        "HCCS",
        1,
        40e6,
        20.0,
        28,
    )
    assert hccs.of_device == pytest.approx(20 / 28)
    assert hccs.device_figure == "hccs_per_peer of 910B2, 28 GB/s (S4)"
    assert (sdma.device_gb_s, sdma.note) == (
        None,
        "the engine behind HCCS, PCIE and SIO: the same bytes again",
    )
    (collective,) = answer.extras["collectives"]
    assert (collective.type, collective.count, collective.wait_us, collective.idle_us) == (
        "allReduce",
        1,
        5e3,
        3e3,
    )
    assert any("20 % moving data, 50 % waiting for other ranks" in note for note in answer.notes)


def test_without_a_known_chip_only_the_measurement_is_told(tmp_path: Path) -> None:
    """No chip, no figure: 20 GB/s, and nothing to hold it against."""
    (hccs, _) = asked(tmp_path, None).rows
    assert (hccs.gb_s, hccs.device_gb_s, hccs.of_device) == (20.0, None, None)


def test_a_slow_pair_is_named(tmp_path: Path) -> None:
    """20 MB in 4 ms are 5 GB/s beside 20: the pair comes first and the note names it."""
    answer = asked(tmp_path, "910B2", slow_ms=4.0)
    first = answer.extras["pairs"][0]
    assert (first.src_rank, first.dst_rank, first.gb_s) == (0, 2, 5.0)
    assert "HCCS from rank 0 to 2 moves 5.0 GB/s, the fastest pair 20.0" in answer.notes


def test_nothing_recorded_says_what_records_it(tmp_path: Path) -> None:
    """Without communication.json there are no rows, and the note names the profiler level."""
    write(tmp_path, table([row()]))
    ingest_run([tmp_path], tmp_path / "db.duckdb")
    with open_session(tmp_path / "db.duckdb") as session:
        answer = summary(session, by="link")
    assert answer.rows == ()
    assert any("profiler_level=Level1" in note for note in answer.notes)


def test_chips_of_equal_roofs_and_other_links_are_both_named(shared_profiles: Path, tmp_path: Path) -> None:
    """d02 fits an A3 die and a 910B2, whose links differ: no figure is chosen, both are said."""
    ingest_run([shared_profiles / "d02_text_level1"], tmp_path / "db.duckdb")
    with open_session(tmp_path / "db.duckdb") as session:
        hccs = summary(session, by="link").rows[0]
    assert hccs.gb_s == pytest.approx(427.596096 / 27.315705875)
    assert hccs.device_gb_s is None
    assert "196 GB/s" in hccs.device_figure
    assert "28 GB/s" in hccs.device_figure
