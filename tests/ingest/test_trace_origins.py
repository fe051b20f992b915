"""Kernels know what launched them; tasks that are no kernels are kept apart; nothing is counted twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from npu_roofline.errors import UnsupportedExport
from npu_roofline.ingest.stage import Staging

from .trace_json import (
    BACKWARD,
    BASE_NS,
    CLOCK,
    HARDWARE,
    HBM,
    HCCL,
    LAUNCHES,
    LLC,
    MAIN,
    MSTX,
    NONE,
    PYTHON,
    SITE,
    WHOLE,
    Event,
    arrow,
    kernels_csv,
    names,
    op,
    process,
    span,
    task,
    us,
    write_trace,
)

Staged = Callable[..., Staging]
ORIGINS = (
    "SELECT kernel_id, torch_op, launch_op, module, source, source_from FROM kernel_origins "
    "ORDER BY kernel_id"
)
# By hand from trace_json: the arrow of the first kernel starts inside aclnnAddmm, in aten::addmm, in
# aten::linear, in Linear_0, in Block_0; its first frame outside of torch is model.py(123). When the second
# starts, Linear_0 has ended; it has no call stack, and the function around it begins in line 200.
BY_HAND = [
    (0, "aten::linear", "aclnnAddmm", "nn.Module: Linear_0", "/work/model.py(123): forward", "call stack"),
    (1, "npu::npu_rms_norm", "aclnnRmsNorm", "nn.Module: Block_0", "model.py(200): norm", "python function"),
]


def beside(folder: Path, events: list[Event], shift_ns: int = 0) -> Path:
    """A profile with the kernel table and a trace of the same capture."""
    kernels_csv(folder, shift_ns)
    write_trace(folder / "ASCEND_PROFILER_OUTPUT", events)
    return folder


@pytest.mark.parametrize("alone", [False, True])
def test_origins_by_hand(tmp_path: Path, staged: Staged, alone: bool) -> None:
    """The same origins with a kernel table and from the trace alone."""
    path = write_trace(tmp_path, WHOLE) if alone else beside(tmp_path, WHOLE)
    con = staged(path).con
    assert con.execute(ORIGINS).fetchall() == BY_HAND
    shapes = con.execute(
        "SELECT o.kernel_id, t.input_dims, t.input_types FROM kernel_origins AS o "
        "JOIN torch_ops AS t USING (op_id) ORDER BY 1"
    ).fetchall()
    assert shapes == [(0, "4,8;8,16", "c10::BFloat16"), (1, "4,16", "c10::BFloat16")]


def test_a_trace_beside_a_kernel_table_adds_no_kernel(tmp_path: Path, staged: Staged) -> None:
    """Two kernels in the table and two tasks of kernels in the trace are two kernels, each with its task."""
    con = staged(beside(tmp_path, WHOLE)).con
    assert con.execute("SELECT name, duration_us, start_ns FROM kernels ORDER BY start_ns").fetchall() == [
        ("aclnnAddmm_MatMulCommon_MatMulV2", 12.345, BASE_NS + 50_000),
        ("aclnnRmsNorm_RmsNorm_RmsNorm", 3.0, BASE_NS + 70_000),
    ]
    joined = con.execute(
        "SELECT kernel_id, task_id FROM trace_tasks WHERE kernel_id IS NOT NULL ORDER BY 1"
    ).fetchall()
    assert joined == [(0, 11), (1, 12)]
    assert con.execute("SELECT rows_read, rows_kept FROM runs").fetchall() == [(2, 2)]
    notes = con.execute("SELECT notes FROM ranks").fetchall()[0][0]
    assert (
        "of 2 kernels 2 (100.0%) are tasks of the trace, for 2 (100.0%) it says which operator launched "
        "them, for 2 (100.0%) from which source line"
    ) in notes


def test_a_trace_alone_says_that_it_has_no_shapes(tmp_path: Path, staged: Staged) -> None:
    """Types from the names, engines from the tasks, the step from what its operators launched, a remark."""
    con = staged(write_trace(tmp_path, WHOLE)).con
    rows = con.execute(
        "SELECT s.type, s.type_source, s.core, s.input_shapes, k.step_id, k.stream_id, k.task_id, "
        "k.duration_us "
        "FROM kernels AS k JOIN signatures AS s USING (signature_id) ORDER BY k.start_ns"
    ).fetchall()
    assert rows == [
        ("MatMulV2", "name", "AI_CORE", None, 5, 2, 11, 12.345),
        ("RmsNorm", "name", "AI_VECTOR_CORE", None, 5, 2, 12, 3.0),
    ]
    notes = con.execute("SELECT notes FROM ranks").fetchall()[0][0]
    assert any("a trace has no shapes" in note for note in notes)
    assert con.execute("SELECT rows_read, rows_kept, rows_rejected FROM runs").fetchall() == [(2, 2, 0)]


def test_ai_core_in_a_trace_is_no_engine(tmp_path: Path, staged: Staged) -> None:
    """Task Type AI_CORE stands for vector kernels too (149 of 172 in a real capture): no engine is known."""
    events = [*names(), task("aclnnMul_Mul_Mul", "AI_CORE", 2, 1, 0, 1_000)]
    con = staged(write_trace(tmp_path, events)).con
    assert con.execute("SELECT core, kernel_class FROM signatures").fetchall() == [(None, "aicore")]


def test_tasks_have_kinds(tmp_path: Path, staged: Staged) -> None:
    """Prefetch, copy, record and wait are told apart from kernels, with stream, bytes and direction."""
    con = staged(write_trace(tmp_path, WHOLE)).con
    rows = con.execute(
        "SELECT kind, stream_id, bytes, direction, start_ns - ? FROM trace_tasks "
        "WHERE kind <> 'kernel' ORDER BY start_ns",
        [BASE_NS],
    ).fetchall()
    assert rows == [
        ("prefetch", 9, None, None, 51_000),
        ("memcpy", 2, 4096, "host to device", 80_000),
        ("event_record", 2, None, None, 83_000),
        ("event_wait", 9, None, None, 84_000),
    ]
    notes = con.execute("SELECT notes FROM ranks").fetchall()[0][0]
    assert "1 prefetch (CMO) tasks: 1 on stream 9" in notes


@pytest.mark.parametrize(
    ("name", "kind", "found"),
    [
        ("CMO", "CMO_SQE", "prefetch"),
        ("EVENT_RECORD", "PLACE_HOLDER_SQE", "event_record"),
        ("Notify Wait", "Notify Wait", "notify_wait"),
        ("NOTIFY_RECORD", "NOTIFY_RECORD_SQE", "notify_record"),
        ("SDMA", "SDMA", "sdma"),
        ("MEMCPY_ASYNC", "SDMA_SQE", "memcpy"),
        ("Write Value", "Write Value", "write_value"),
        ("PROFILING_ENABLE", "PLACE_HOLDER_SQE", "other"),
        ("DSAGenBitMask", "DSA_SQE", "kernel"),
        ("Cumsum", "AI_CPU", "kernel"),
        ("CMO_like_kernel", "KERNEL_MIX_AIC", "kernel"),
    ],
)
def test_kinds_of_tasks(tmp_path: Path, staged: Staged, name: str, kind: str, found: str) -> None:
    """The words of real captures and of the runtime, one by one."""
    con = staged(write_trace(tmp_path, [*WHOLE, task(name, kind, 31, 1, 99_000, 10)])).con
    assert con.execute("SELECT kind FROM trace_tasks WHERE stream_id = 31").fetchall() == [(found,)]


def test_collectives_join_by_name_and_within_a_nanosecond(tmp_path: Path, staged: Staged) -> None:
    """The kernel table cuts the digits that the trace rounds: 739 and 740 ns are one, 742 is another."""
    from .kernel_csv import row, table, write

    cells = [
        row(
            name=f"hcom_allReduce__1_{n}_1",
            type="hcom_allReduce_",
            core="HCCL",
            start=us(BASE_NS + at),
            stream="N/A",
            task="N/A",
        )
        for n, at in ((0, 739), (1, 10_739))
    ]
    write(tmp_path, table(cells))
    events = [
        *names(),
        span("hcom_allReduce__1_0_1", HCCL, 0, 740, 500, connection_id=3, count=4),
        span("hcom_allReduce__1_1_1", HCCL, 0, 10_742, 500, connection_id=4, count=4),
    ]
    write_trace(tmp_path / "ASCEND_PROFILER_OUTPUT", events)
    con = staged(tmp_path).con
    joined = con.execute("SELECT name, kernel_id FROM trace_tasks ORDER BY start_ns").fetchall()
    assert joined == [("hcom_allReduce__1_0_1", 0), ("hcom_allReduce__1_1_1", None)]


def test_level_0_joins_by_name(tmp_path: Path, staged: Staged) -> None:
    """Kernel tables of level 0 have neither stream nor task: name and start tell; another name does not."""
    from .kernel_csv import row, table, write

    starts = ((50_000, "aclnnAddmm_MatMulCommon_MatMulV2"), (70_000, "something_else"))
    cells = [row(name=name, type="N/A", core="N/A", start=us(BASE_NS + at)) for at, name in starts]
    write(tmp_path, table(cells, "level0"))
    write_trace(tmp_path / "ASCEND_PROFILER_OUTPUT", WHOLE)
    rows = staged(tmp_path).con.execute(ORIGINS).fetchall()
    assert rows == BY_HAND[:1]


def test_streams_numbered_in_another_way_join_by_name(tmp_path: Path, staged: Staged) -> None:
    """Where the trace has other numbers of streams than the table, name and start tell."""
    events = [
        event | {"args": event["args"] | {"Physic Stream Id": 77}}
        if "Task Type" in event.get("args", {})
        else event
        for event in WHOLE
    ]
    events += [*names(), *(event for event in LAUNCHES if event["ph"] != "X")]
    assert staged(beside(tmp_path, events)).con.execute(ORIGINS).fetchall() == BY_HAND


def test_another_task_at_the_same_time_is_another_kernel(tmp_path: Path, staged: Staged) -> None:
    """A trace of another capture (starts 5 us later) joins nothing, and says so."""
    con = staged(beside(tmp_path, WHOLE, shift_ns=5_000)).con
    assert con.execute(ORIGINS).fetchall() == []
    notes = con.execute("SELECT notes FROM ranks").fetchall()[0][0]
    assert any(note.startswith("of 2 kernels 0 (0.0%) are tasks of the trace") for note in notes)


def test_a_backward_kernel_has_the_line_of_its_forward_operator(tmp_path: Path, staged: Staged) -> None:
    """On the thread of autograd there is no Python: the arrow fwdbwd leads to an operator with a line."""
    node = op("AddmmBackward0", 60_000, 20_000, BACKWARD)
    events = [
        *WHOLE,
        *arrow("fwdbwd", 9, (PYTHON, MAIN, 2_000), (PYTHON, BACKWARD, 60_000)),
        op("autograd::engine::evaluate_function: AddmmBackward0", 59_000, 30_000, BACKWARD),
        node,
        op("aten::mm", 61_000, 5_000, BACKWARD),
        op("aclnnMm", 62_000, 2_000, BACKWARD),
        *arrow("async_npu", 3, (PYTHON, BACKWARD, 62_000), (HARDWARE, 2, 150_000)),
        task("aclnnMm_MatMulCommon_MatMulV2", "KERNEL_AICORE", 2, 20, 150_000, 9_000),
    ]
    con = staged(write_trace(tmp_path, events)).con
    assert con.execute(ORIGINS).fetchall() == [
        *BY_HAND,
        (2, "aten::mm", "aclnnMm", None, "/work/model.py(123): forward", "forward operator"),
    ]
    flows = con.execute("SELECT category, count(*) FROM trace_flows GROUP BY 1 ORDER BY 1").fetchall()
    assert flows == [("async_npu", 3), ("fwdbwd", 1)]


def test_mstx_ranges_are_found_around_a_launch(tmp_path: Path, staged: Staged) -> None:
    """The innermost range that is open when the operator launches; one that ended before is none."""
    events = [
        *WHOLE,
        span("decode", MSTX, MAIN, 100, 80_000),
        span("attention", MSTX, MAIN, 2_500, 1_000),
        span("mlp", MSTX, MAIN, 24_500, 5_000),
    ]
    con = staged(write_trace(tmp_path, events)).con
    ranges = con.execute("SELECT kernel_id, mstx_range FROM kernel_origins ORDER BY 1").fetchall()
    assert ranges == [(0, "attention"), (1, "mlp")]


@pytest.mark.parametrize(
    ("frames", "source"),
    [
        ([f"{SITE}/torch/nn/functional.py(1): relu", "model.py(5): run"], "model.py(5): run"),
        (
            [f"{SITE}/torchvision/models/alexnet.py(48): forward"],
            f"{SITE}/torchvision/models/alexnet.py(48): forward",
        ),
        (["/usr/lib/python3.11/threading.py(9): run", "<string>(1): <module>"], None),
        ([f"{SITE}/torch_npu/npu.py(1): f", r"C:\work\model.py(8): g"], r"C:\work\model.py(8): g"),
    ],
)
def test_frames_of_the_framework_are_passed_over(
    tmp_path: Path, staged: Staged, frames: list[str], source: str | None
) -> None:
    """torch, torch_npu and the standard library are not where the user looks; a model library is."""
    events = [event for event in WHOLE if event["name"] not in ("aten::linear", "aten::addmm", "aclnnAddmm")]
    events += [op("aten::relu", 3_000, 5_000, stack=frames)]
    con = staged(write_trace(tmp_path, events)).con
    rows = con.execute("SELECT torch_op, source FROM kernel_origins WHERE kernel_id = 0").fetchall()
    assert rows == [("aten::relu", source)]


def test_counters_become_those_of_a_database(tmp_path: Path, staged: Staged) -> None:
    """1,000 MB/s of the exporter are 1,000 x 2^20 bytes = 1.048576 GB/s; a hit rate of 0.84 is 84 %."""

    def sample(name: str, pid: int, at: int, **args: float) -> Event:
        return {"name": name, "ts": us(BASE_NS + at), "pid": pid, "tid": 0, "args": args, "ph": "C"}

    events = [
        *WHOLE,
        sample("AI Core Freq", CLOCK, 0, MHz=1800.0),
        sample("HBM 3/Write", HBM, 10, **{"Write(MB/s)": 1000.0}),
        sample("LLC 1 Read/Hit Rate", LLC, 20, **{"Hit Rate(%)": 0.84}),
        sample("QoS OTHERS", 99, 30, value=5.0),
    ]
    con = staged(write_trace(tmp_path, events)).con
    rows = con.execute("SELECT counter, value, unit, detail FROM counters ORDER BY timestamp_ns").fetchall()
    assert [(*row[:1], round(row[1], 9), *row[2:]) for row in rows] == [
        ("aic_clock", 1800.0, "MHz", None),
        ("hbm_write", 1.048576, "GB/s", "hbm 3"),
        ("llc_hit_rate_read", 84.0, "%", "llc 1"),
    ]


def test_parts_of_collectives_lend_their_bytes(tmp_path: Path, staged: Staged) -> None:
    """A part stands among the tasks of the hardware too, without bytes: one task, with them."""
    part = {"task type": "SDMA", "stream id": 4, "task id": 807, "size(Byte)": 2048}
    events = [
        *WHOLE,
        task("SDMA", "SDMA", 4, 807, 90_000, 700),
        span("Memcpy", HCCL, 1, 90_000, 700, **part),
        span("Notify_Wait", HCCL, 1, 95_000, 50, **{**part, "task type": "Notify Wait", "size(Byte)": None}),
    ]
    con = staged(write_trace(tmp_path, events)).con
    rows = con.execute(
        "SELECT kind, name, bytes FROM trace_tasks WHERE stream_id = 4 ORDER BY start_ns"
    ).fetchall()
    assert rows == [("sdma", "SDMA", 2048), ("notify_wait", "Notify_Wait", None)]


def test_kernels_of_two_devices_are_refused(tmp_path: Path, staged: Staged) -> None:
    """Two devices at once would be read as one that does both."""
    other = task("x", "KERNEL_AIVEC", 2, 5, 0, 10) | {"pid": HARDWARE + 1}
    with pytest.raises(UnsupportedExport, match="of 2 devices"):
        staged(write_trace(tmp_path, [*WHOLE, process(HARDWARE + 1, "Ascend Hardware"), other]))


def test_a_trace_of_the_host_alone_is_refused(tmp_path: Path, staged: Staged) -> None:
    """Without a task of the device there is nothing to ask about."""
    with pytest.raises(UnsupportedExport, match="and no kernels"):
        staged(write_trace(tmp_path, [*names(), op("aten::linear", 0, 10)]))


def test_one_trace_of_several_is_read(tmp_path: Path, staged: Staged) -> None:
    """trace_view.json holds what msprof_*.json holds; of two msprof exports the later counts, in slices."""
    output = tmp_path / "ASCEND_PROFILER_OUTPUT"
    write_trace(output, WHOLE)
    write_trace(output, WHOLE, name="msprof_20250101000000.json")
    con = staged(tmp_path).con
    statuses = "SELECT kind, status FROM files ORDER BY 1, 2"
    assert con.execute(statuses).fetchall() == [("msprof_trace", "ignored"), ("trace_view", "read")]
    half = len(names()) + len(LAUNCHES) // 2
    slices = tmp_path / "PROF_1" / "mindstudio_profiler_output"
    write_trace(slices, WHOLE[:half], name="msprof_slice_0_20250202000000.json")
    write_trace(slices, [*names(), *WHOLE[half:]], name="msprof_slice_1_20250202000000.json")
    write_trace(slices, WHOLE, name="msprof_20250101000000.json")
    con = staged(slices).con
    assert con.execute("SELECT count(*) FROM kernels").fetchall() == [(2,)]
    assert con.execute("SELECT status, count(*) FROM files GROUP BY 1 ORDER BY 1").fetchall() == [
        ("ignored", 1),
        ("read", 2),
    ]


def test_a_part_of_a_mixed_kernel_has_no_certain_engine(tmp_path: Path, staged: Staged) -> None:
    """KERNEL_AICORE with a Subtask Id is MIX_AIC or MIX_AIV; without one it is AI_CORE."""
    events = [*names(), task("a", "KERNEL_AICORE", 2, 1, 0, 10), task("b", "KERNEL_AICORE", 2, 2, 50, 10)]
    events[-1]["args"]["Subtask Id"] = 0
    assert events[-2]["args"]["Subtask Id"] == NONE
    con = staged(write_trace(tmp_path, events)).con
    rows = con.execute(
        "SELECT k.name, s.core, k.context_id FROM kernels AS k "
        "JOIN signatures AS s USING (signature_id) ORDER BY 1"
    ).fetchall()
    assert rows == [("a", "AI_CORE", None), ("b", None, 0)]
