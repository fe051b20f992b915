"""profiler_info, profiler_metadata, step_trace_time and op_statistic, in the variants the exporters write."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from npu_roofline.ingest.run_info import RunInfoFile, read_distributed, read_profiler_info
from npu_roofline.ingest.stage import Staging

from .kernel_csv import row, starts, table, write

KERNELS = table([row(start=start) for start in starts(2)])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            {
                "config": {
                    "common_config": {"schedule": {"wait": 0}},
                    "experimental_config": {
                        "_profiler_level": "Level1",
                        "_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION",
                        "_export_type": ["text"],
                    },
                },
                "start_info": {"freq": 100},
                "torch_npu_version": "2.7.1",
                "cann_version": "8.3.RC1",
                "rank_id": "3",
            },
            RunInfoFile(3, "Level1", "ACL_AICORE_PIPE_UTILIZATION", "8.3.RC1", "2.7.1"),
        ),
        (
            {
                "config": {
                    "common_config": {"schedule": {"_wait": 1}},
                    "experimental_config": {"_profiler_level": "Level1", "_export_type": "text"},
                },
                "rank_id": 1,
            },
            RunInfoFile(1, "Level1"),
        ),
        ({"rank_id": -1}, RunInfoFile()),
        ({"rank_id": "abc", "config": []}, RunInfoFile()),
    ],
)
def test_every_variant_of_profiler_info_is_read(tmp_path: Path, data: dict, expected: RunInfoFile) -> None:
    """Numbers and texts, old and new keys, nothing at all: what is not said is None, and freq is no clock."""
    (tmp_path / "profiler_info_0.json").write_text(json.dumps(data))
    assert read_profiler_info(tmp_path / "profiler_info_0.json") == expected


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 100_000, b'{"rank_id": ' + b"9" * 5000 + b"}"]
)
def test_damaged_json_says_so_and_stops_nothing(
    tmp_path: Path, staged: Callable[..., Staging], content: bytes
) -> None:
    """A damaged profiler_info is a failed file with a reason; the kernels are read."""
    profile = write(tmp_path, KERNELS)
    (profile / "profiler_info_0.json").write_bytes(content)
    con = staged(profile).con
    assert con.execute("SELECT count(*) FROM kernels").fetchone() == (2,)
    found = con.execute("SELECT status, note FROM files WHERE kind = 'profiler_info'").fetchall()
    assert found in ([("failed", "not valid JSON")], [("failed", "not a JSON object")])


def test_parallel_sizes_are_kept_as_json(tmp_path: Path) -> None:
    """profiler_metadata gives the parallel sizes and groups; environment variables are left out."""
    path = tmp_path / "profiler_metadata.json"
    path.write_text(json.dumps({"distributed_args": {"world_size": 4}, "ENV_VARIABLES": {"A": "secret"}}))
    assert read_distributed(path) == ('{"distributed_args": {"world_size": 4}}', None)


STEP_TRACE = "Device_id,Step,Computing,Communication(Not Overlapped),Free,Preparing\n"


def test_step_times_stand_beside_their_step(tmp_path: Path, rows: Callable) -> None:
    """The profiler's own times are put to the step of the same number; what the file lacks is NULL."""
    profile = write(tmp_path, KERNELS)
    write(profile, STEP_TRACE + "0,3,80.0,0.0,10.5,\n", "step_trace_time.csv")
    times = "trace_computing_us, trace_free_us, trace_preparing_us, trace_stage_us"
    assert rows(profile, f"SELECT step_id, wall_us, {times} FROM steps") == [
        (3, 90.0, 80.0, 10.5, None, None)
    ]


def test_a_step_without_kernels_is_there_with_its_times(tmp_path: Path, rows: Callable) -> None:
    """A rank that exported step times only has steps without kernels, and its device from that file."""
    profile = write(tmp_path, STEP_TRACE + "6,13,80.0,0.0,10.5,\n", "step_trace_time.csv")
    columns = "step_id, wall_us, kernels, source, trace_computing_us, device_id"
    assert rows(profile, f"SELECT {columns} FROM steps JOIN ranks USING (rank_id)") == [
        (13, None, 0, "step_trace_time", 80.0, 6)
    ]


def test_times_of_another_capture_are_noticed(tmp_path: Path, rows: Callable) -> None:
    """Two kernels of 40 us cannot be the 5,594 us of computing that the file says: the rank says so."""
    profile = write(tmp_path, KERNELS)
    write(profile, STEP_TRACE + "0,3,5594.6,0,0,0\n", "step_trace_time.csv")
    ((notes,),) = rows(profile, "SELECT notes FROM ranks")
    assert len(notes) == 1
    assert "5,595 us of computing, the kernel table holds 80 us" in notes[0]


def test_times_that_fit_are_not_remarked_on(tmp_path: Path, rows: Callable) -> None:
    """80 us of kernels and 80 us of computing belong together: no note."""
    profile = write(tmp_path, KERNELS)
    write(profile, STEP_TRACE + "0,3,80.0,0,0,0\n", "step_trace_time.csv")
    assert rows(profile, "SELECT notes FROM ranks") == [([],)]


def test_op_statistic_is_kept_as_exported(tmp_path: Path, rows: Callable) -> None:
    """With the leading Model Name of old exports; a damaged row is left out and counted."""
    profile = write(tmp_path, KERNELS)
    header = (
        "Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
    )
    write(
        profile,
        header + "m,MatMulV2,AI_CORE,2,80,40,40,40,100\nm,Add,AI_CORE,two,1,1,1,1,1\n",
        "op_statistic.csv",
    )
    query = "SELECT type, core, count, total_us, ratio_pct FROM op_statistics"
    assert rows(profile, query) == [("MatMulV2", "AI_CORE", 2, 80.0, 100.0)]
    query = "SELECT rows_read, rows_kept, rows_rejected FROM files WHERE kind = 'op_statistic'"
    assert rows(profile, query) == [(2, 1, 1)]


def test_a_damaged_small_table_fails_alone(tmp_path: Path, rows: Callable) -> None:
    """A step_trace_time without its columns is a failed file; the kernels are read."""
    profile = write(tmp_path, KERNELS)
    write(profile, "a,b\n1,2\n", "step_trace_time.csv")
    assert rows(profile, "SELECT status FROM files WHERE kind = 'step_trace_time'") == [("failed",)]
    assert rows(profile, "SELECT count(*) FROM kernels") == [(2,)]
