"""What the profiler says about collectives: three levels, from JSON and from analysis.db, and damage."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .kernel_csv import row, table, write

TIMES = {
    "Start Timestamp(us)": 1000.5,
    "Elapse Time(ms)": 4.0,
    "Transit Time(ms)": 1.0,
    "Wait Time(ms)": 2.0,
    "Synchronization Time(ms)": 1.5,
    "Idle Time(ms)": 1.0,
}
NOTHING = {"Transit Size(MB)": 0, "Transit Time(ms)": 0, "Bandwidth(GB/s)": 0}
HCCS = {"Transit Size(MB)": 20.0, "Transit Time(ms)": 1.0, "Bandwidth(GB/s)": 20.0, "Large Packet Ratio": 0.5}
ENTRY = {"Communication Time Info": TIMES, "Communication Bandwidth Info": {"RDMA": NOTHING, "HCCS": HCCS}}
NAME = "hcom_allReduce__586_0_1@175"


def profile(folder: Path, content: Any, name: str = "communication.json") -> Path:
    """A profile with one MatMul and one communication file."""
    write(folder, table([row()]))
    return write(folder, content if isinstance(content, str) else json.dumps(content), name)


def test_a_collective_has_its_times_and_the_links_that_moved(tmp_path: Path, rows: Callable) -> None:
    """ms become us and MB (1e6) bytes; RDMA moved nothing and has no row; the total is left out."""
    content = {"step3": {"p2p": {}, "collective": {NAME: ENTRY, "Total Op Info": ENTRY}}}
    columns = "level, step_id, kind, name, group_name, link, start_ns, elapse_us, transit_us, wait_us"
    columns += ", synchronization_us, idle_us, size_bytes, gb_s, large_packet_ratio, source"
    found = rows(profile(tmp_path, content), f"SELECT {columns} FROM communication ORDER BY level DESC")
    own = (3, "collective", "hcom_allReduce__586_0_1", "175")
    times = (1_000_500, 4000.0, 1000.0, 2000.0, 1500.0, 1000.0)
    assert found == [
        ("operator", *own, None, *times, None, None, None, "communication"),
        ("link", *own, "HCCS", None, None, 1000.0, None, None, None, 20e6, 20.0, 0.5, "communication"),
    ]


def test_pairs_know_their_ranks_and_which_sum_they_are(tmp_path: Path, rows: Callable) -> None:
    """Newer exports sum up (total) and show single collectives (top1); both say so in `part`."""
    moved = {**HCCS, "Transport Type": "HCCS", "Op Name": "x"}
    content = {
        "step": {"collective": {"allreduce-total@175": {"0-7": moved}, "allreduce-top1@175": {"0-7": moved}}}
    }
    columns = "step_id, name, part, group_name, link, src_rank, dst_rank, size_bytes"
    found = rows(
        profile(tmp_path, content, "communication_matrix.json"),
        f"SELECT {columns} FROM communication ORDER BY part DESC",
    )
    assert found == [
        (None, "allreduce", "total", "175", "HCCS", 0, 7, 20e6),
        (None, "allreduce", "top1", "175", "HCCS", 0, 7, 20e6),
    ]


@pytest.mark.parametrize(
    ("content", "status", "kept", "skipped"),
    [
        (
            {"step3": {"collective": {NAME: ENTRY, "b@1": 5, "c@1": {"Communication Time Info": 1}}}},
            "read",
            2,
            2,
        ),
        ({"step3": {"collective": [1]}}, "read", 0, 1),
        ({"step3": 7}, "read", 0, 0),
        (
            {"step3": {"collective": {NAME: {**ENTRY, "Communication Bandwidth Info": {"HCCS": {}}}}}},
            "read",
            1,
            1,
        ),
        ("{", "failed", None, None),
        ("[]", "failed", None, None),
        ("[" * 5000, "failed", None, None),
    ],
)
def test_damage_is_counted_or_named(
    tmp_path: Path, rows: Callable, content: Any, status: str, kept: int | None, skipped: int | None
) -> None:
    """Entries of a wrong kind are counted; a file that is no JSON object fails alone."""
    folder = profile(tmp_path, content)
    query = "SELECT status, rows_kept, rows_rejected FROM files WHERE kind = 'communication'"
    assert rows(folder, query) == [(status, kept, skipped)]
    assert rows(folder, "SELECT count(*) FROM kernels") == [(1,)]


@pytest.mark.parametrize("huge", ["1e999", "-5", "1" + "0" * 400, '"x"', "null", "NaN"])
def test_numbers_that_cannot_be_are_not_known(tmp_path: Path, rows: Callable, huge: str) -> None:
    """A time of 1e999 ms, -5 ms or text is no time; the row stays."""
    text = json.dumps({"step3": {"collective": {NAME: ENTRY}}}).replace(
        '"Elapse Time(ms)": 4.0', f'"Elapse Time(ms)": {huge}'
    )
    assert rows(
        profile(tmp_path, text), "SELECT elapse_us, wait_us FROM communication WHERE level = 'operator'"
    ) == [(None, 2000.0)]


def test_a_database_says_the_same(tmp_path: Path, rows: Callable) -> None:
    """CommAnalyzer* repeats a link per packet size: one row each, as from JSON."""
    write(tmp_path, table([row()]))
    con = sqlite3.connect(tmp_path / "ASCEND_PROFILER_OUTPUT" / "analysis.db")
    con.executescript("""
        CREATE TABLE CommAnalyzerTime (hccl_op_name, group_name, start_timestamp, elapse_time, transit_time,
            wait_time, synchronization_time, idle_time, step, type);
        INSERT INTO CommAnalyzerTime VALUES ('hcom_allReduce__586_0_1', '175', 1000.5, 4.0, 1.0, 2.0, 1.5,
            1.0, 'step3', 'collective');
        CREATE TABLE CommAnalyzerBandwidth (hccl_op_name, group_name, transport_type, transit_size,
            transit_time, bandwidth, large_packet_ratio, package_size, count, total_duration, step, type);
        INSERT INTO CommAnalyzerBandwidth VALUES
            ('hcom_allReduce__586_0_1', '175', 'HCCS', 20, 1, 20, 0.5, 1.9, 2, 0.4, 'step3', 'collective'),
            ('hcom_allReduce__586_0_1', '175', 'HCCS', 20, 1, 20, 0.5, 2.1, 8, 0.6, 'step3', 'collective'),
            ('hcom_allReduce__586_0_1', '175', 'RDMA', 0, 0, 0, 0, 0, 0, 0, 'step3', 'collective');
        CREATE TABLE CommAnalyzerMatrix (hccl_op_name, group_name, src_rank, dst_rank, transport_type,
            transit_size, transit_time, bandwidth, step, type, op_name);
        INSERT INTO CommAnalyzerMatrix VALUES
            ('allreduce-total', '175', '0', '7', 'HCCS', 20.0, 1.0, 20.0, 'step3', 'collective', 'x');
    """)
    con.close()
    columns = "level, step_id, name, group_name, part, link, src_rank, start_ns, elapse_us, size_bytes, gb_s"
    found = rows(tmp_path, f"SELECT {columns} FROM communication ORDER BY level DESC")
    name = "hcom_allReduce__586_0_1"
    assert found == [
        ("pair", 3, "allreduce", "175", "total", "HCCS", 0, None, None, 20e6, 20.0),
        ("operator", 3, name, "175", None, None, None, 1_000_500, 4000.0, None, None),
        ("link", 3, name, "175", None, "HCCS", None, None, None, 20e6, 20.0),
    ]


@pytest.mark.parametrize(
    "profile_name", ["d02_text_level1", "d05_db_level1_insight_touched", "d07_gpt3_2023_memoryl0"]
)
def test_real_pairs_add_up_to_their_links(shared_profiles: Path, rows: Callable, profile_name: str) -> None:
    """Two files of one capture: what a link moved is what its pairs moved, to a thousandth."""
    found = rows(
        shared_profiles / profile_name,
        "SELECT link, sum(size_bytes) FILTER (level = 'link'), sum(size_bytes) FILTER (level = 'pair') "
        "FROM communication WHERE coalesce(part, 'total') = 'total' AND link IN ('HCCS', 'RDMA') "
        "GROUP BY link",
    )
    assert found
    for _, moved, exchanged in found:
        assert moved == pytest.approx(exchanged, rel=1e-3)


def test_real_sums_are_the_exporters_own(shared_profiles: Path, rows: Callable) -> None:
    """d02: elapse, wait and idle of the four collectives add up to Total Op Info of the file."""
    folder = shared_profiles / "d02_text_level1"
    (path,) = folder.rglob("communication.json")
    (content,) = json.loads(path.read_text()).values()
    said = content["collective"]["Total Op Info"]["Communication Time Info"]
    names = ("Elapse Time(ms)", "Wait Time(ms)", "Idle Time(ms)")
    found = rows(
        folder,
        "SELECT sum(elapse_us), sum(wait_us), sum(idle_us) FROM communication WHERE level = 'operator'",
    )
    assert found[0] == pytest.approx([said[name] * 1000 for name in names])
