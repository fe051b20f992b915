"""Tables beside the kernels: values, units and counts of every kind of file, and what damage costs."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from npu_roofline.ingest.stage import Staging

from .kernel_csv import row, table, write

KERNELS = table([row()])


def profile(folder: Path, name: str, text: str) -> Path:
    """A profile with one MatMul and one file beside it."""
    write(folder, KERNELS)
    return write(folder, text, name)


def test_api_statistic_is_kept_as_exported(tmp_path: Path, rows: Callable) -> None:
    """Headers with and without the unit; Device_id is the word host and of no use."""
    text = "Device_id,Level,API Name,Time(us),Count,Avg,Min,Max,Variance\n"
    text += "host,acl,aclrtMalloc,475.8,27,17.6,8.8,147.2,731.2\n"
    found = rows(
        profile(tmp_path, "api_statistic.csv", text), "SELECT * EXCLUDE (run_id) FROM api_statistics"
    )
    assert found == [(0, "acl", "aclrtMalloc", 27, 475.8, 17.6, 8.8, 147.2, 731.2)]


def test_task_time_keeps_tasks_that_are_no_kernels(tmp_path: Path, rows: Callable) -> None:
    """us with decimals become whole ns; N/A as a name is no name."""
    text = "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n"
    text += "0,N/A,EVENT_RECORD,17,4,0.020,1779440805781809.542\t,1779440805781809.562\t\n"
    found = rows(
        profile(tmp_path, "task_time_20260101000000.csv", text), "SELECT * EXCLUDE (run_id) FROM task_times"
    )
    start = 1_779_440_805_781_809_542
    assert found == [(0, 0, None, "EVENT_RECORD", 17, 4, 0.02, start, start + 20)]


MEMORY = (
    "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\n"
)


def test_memory_samples_are_in_bytes_and_lost_digits_are_no_time(tmp_path: Path, rows: Callable) -> None:
    """1.5 MB are 1,572,864 bytes; 1.69512E+15 was rounded by a spreadsheet: the row stays, without a time."""
    text = MEMORY + "PTA,1736408883573957.920\t,1.5,2,,4711,NPU:1\nAPP,1.69512E+15,,3,,,NPU:1\n"
    folder = profile(tmp_path, "memory_record.csv", text)
    columns = "source, name, start_ns, allocated_bytes, reserved_bytes, active_bytes, stream_ptr, device"
    assert rows(folder, f"SELECT {columns} FROM memory_events") == [
        ("memory_record", "PTA", 1736408883573957920, 1572864.0, 2097152.0, None, "4711", "NPU:1"),
        ("memory_record", "APP", None, None, 3145728.0, None, None, "NPU:1"),
    ]
    note = "SELECT note FROM files WHERE kind = 'memory_record'"
    assert rows(folder, note) == [("1 cells of Timestamp(us) cannot be read",)]


def test_an_allocation_has_both_ends(tmp_path: Path, rows: Callable) -> None:
    """operator_memory in its short form: 2 KB from 10.5 to 20.25 us."""
    text = "Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Device Type\n"
    text += "aten::add,2,10.5\t,20.25\t,9.75\t,NPU:0\n"
    folder = profile(tmp_path, "operator_memory.csv", text)
    columns = "source, name, size_bytes, start_ns, end_ns, active_end_ns"
    assert rows(folder, f"SELECT {columns} FROM memory_events") == [
        ("operator_memory", "aten::add", 2048.0, 10500, 20250, None)
    ]


DETAILS = (
    "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),"
    "Device Total Duration(us),Device Self Duration With AICore(us),Device Total Duration With AICore(us)\r\n"
)


def test_operator_details_with_line_ends_in_cells(tmp_path: Path, rows: Callable) -> None:
    """Three rows over eleven lines: two calls of one operator are summed up, and stacks keep their frames."""
    stack = '"/m/model.py(5): forward;\r\n/m/run.py(9): <module>"'
    one = f'aten::mm,"4,8;\r\n8,16;\r\n",{stack},1.5,2,3,4,3,4\r\n'
    text = DETAILS + one + one + "aten::empty,,,1,1,0,0,0,0\r\n"
    folder = profile(tmp_path, "operator_details.csv", text)
    columns = "name, input_shapes, call_stack, calls, host_self_us, device_total_aicore_us"
    assert rows(folder, f"SELECT {columns} FROM operator_details ORDER BY name DESC") == [
        ("aten::mm", "4,8;8,16;", "/m/model.py(5): forward\n/m/run.py(9): <module>", 2, 3.0, 8.0),
        ("aten::empty", None, None, 1, 1.0, 0.0),
    ]
    counts = "SELECT rows_read, rows_kept, rows_rejected FROM files WHERE kind = 'operator_details'"
    assert rows(folder, counts) == [(3, 3, 0)]


L2 = "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\n"
NAME = "aclnnMatmul_MatMulCommon_MatMulV2"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (f"2,11,0.93,0.07,{NAME}", (0.93, True)),
        (f"2,11,93,0.07,{NAME}", (None, True)),  # no share
        (f"2,12,0.93,0.07,{NAME}", (0.93, False)),  # another task
        ("2,11,0.93,0.07,Add", (0.93, False)),  # the number started over
    ],
)
def test_a_hit_rate_is_of_the_kernel_with_its_stream_task_and_name(
    tmp_path: Path, rows: Callable, cells: str, expected: tuple
) -> None:
    """The MatMul is task 11 of stream 2; a rate above 1 is no share of requests."""
    folder = profile(tmp_path, "l2_cache.csv", f"{L2}{cells}\n")
    assert rows(folder, "SELECT hit_rate, signature_id IS NOT NULL FROM l2_cache") == [expected]


def test_hit_rates_that_are_all_missing_are_said(tmp_path: Path, rows: Callable) -> None:
    """Every public export has N/A there: the rank says so instead of staying silent."""
    folder = profile(tmp_path, "l2_cache.csv", f"{L2}2,11,N/A,0.07,{NAME}\n")
    ((notes,),) = rows(folder, "SELECT notes FROM ranks")
    assert notes == ["l2_cache.csv holds no hit rate: it is N/A in all of its 1 rows"]


GOOD = "PTA,1736408883573957.920,1,2,,,NPU:0\n"


@pytest.mark.parametrize(
    ("bad", "kept", "rejected"),
    [
        (b"PTA,1\n", 2, 1),  # fields are missing
        (b"PTA,1,2,3,4,5,6,7,8\n", 2, 1),  # too many
        (b",1,2,3,4,5,6\n", 2, 1),  # no component
        (b"PTA\xff\xfe,1,2,3,4,5,6\n", 2, 1),  # no UTF-8
        (b'"PTA,1,2,3,4,5,6\n', 1, 2),  # an open quote swallows what is behind it
    ],
)
def test_a_damaged_row_is_counted_and_named(
    tmp_path: Path, rows: Callable, bad: bytes, kept: int, rejected: int
) -> None:
    """One good row, the damage, one more good row: rows in = kept + rejected, and the kernels are there."""
    folder = write(tmp_path, KERNELS)
    path = folder / "ASCEND_PROFILER_OUTPUT" / "memory_record.csv"
    path.write_bytes(MEMORY.encode() + GOOD.encode() + bad + GOOD.encode())
    query = "SELECT status, rows_read, rows_kept, rows_rejected FROM files WHERE kind = 'memory_record'"
    assert rows(folder, query) == [("read", 3, kept, rejected)]
    assert rows(folder, "SELECT count(*) FROM memory_events") == [(kept,)]
    assert rows(folder, "SELECT count(*) FROM kernels") == [(1,)]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n", "no column Component"),
        (b"\xff\xfeC\x00o\x00", "is UTF-16 text"),
        (b"Component;Timestamp(us)\nAPP;1\n", "separated by semicolons"),
    ],
)
def test_a_damaged_file_costs_only_itself(
    tmp_path: Path, staged: Callable[..., Staging], content: bytes, why: str
) -> None:
    """The file is failed with a reason; the kernels are read."""
    folder = write(tmp_path, KERNELS)
    (folder / "ASCEND_PROFILER_OUTPUT" / "memory_record.csv").write_bytes(content)
    con = staged(folder).con
    ((status, note),) = con.execute("SELECT status, note FROM files WHERE kind = 'memory_record'").fetchall()
    assert status == "failed"
    assert why in note
    assert con.execute("SELECT count(*) FROM kernels").fetchone() == (1,)


def test_columns_that_nothing_knows_are_named(tmp_path: Path, rows: Callable) -> None:
    """A later exporter may add columns: the rows are read, the names said."""
    text = "Component,Timestamp(us),Total Reserved(MB),Device,Colour\nHCCL,10.000,1,NPU:0,red\n"
    folder = profile(tmp_path, "npu_module_mem.csv", text)
    query = "SELECT rows_kept, note FROM files WHERE kind = 'npu_module_mem'"
    assert rows(folder, query) == [(1, "columns not known here: Colour")]


@pytest.mark.parametrize(
    "name",
    ["l2_cache", "api_statistic", "memory_record", "operator_memory", "npu_module_mem", "operator_details"],
)
def test_real_files_are_read_whole(shared_profiles: Path, rows: Callable, name: str) -> None:
    """d02: as many rows are kept as the csv module of Python finds, multi-line cells included."""
    folder = shared_profiles / "d02_text_level1"
    (path,) = folder.rglob(f"{name}.csv")
    with path.open(newline="") as file:
        expected = sum(1 for fields in csv.reader(file) if fields) - 1
    query = f"SELECT rows_read, rows_kept, rows_rejected FROM files WHERE kind = '{name}'"
    assert rows(folder, query) == [(expected, expected, 0)]


def test_real_sums_are_those_of_the_file(shared_profiles: Path, rows: Callable) -> None:
    """d02: 859 operators with the host time that the csv module sums; every L2 row is of one kernel."""
    folder = shared_profiles / "d02_text_level1"
    (path,) = folder.rglob("operator_details.csv")
    with path.open(newline="") as file:
        expected = sum(float(cells["Host Self Duration(us)"]) for cells in csv.DictReader(file))
    ((calls, host_us),) = rows(folder, "SELECT sum(calls), sum(host_self_us) FROM operator_details")
    assert (calls, host_us) == (859, pytest.approx(expected))
    assert rows(folder, "SELECT count(*), count(signature_id), count(hit_rate) FROM l2_cache") == [
        (179, 179, 0)
    ]
