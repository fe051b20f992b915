"""Small traces written by hand, in the words of torch_npu: two launches, their operators and arrows."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .kernel_csv import row, table, write

Event = dict[str, Any]

PYTHON, CANN, HARDWARE, HCCL, CLOCK, HBM, LLC, MSTX = 10, 20, 30, 40, 50, 60, 70, 80
MAIN, BACKWARD, QUEUE = 101, 102, 103
NONE = 4294967295
# A start as exports have it: float64 would lose its last digits.
BASE_NS = 1_736_412_474_700_000_123
SITE = "/usr/lib/python3.11/site-packages"


def us(at_ns: int) -> str:
    """us with ns decimals, as text."""
    return f"{at_ns // 1000}.{at_ns % 1000:03d}"


def process(pid: int, name: str) -> Event:
    """Metadata that names a process."""
    return {"name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}, "ph": "M"}


def names() -> list[Event]:
    """The processes of every trace here."""
    return [
        process(PYTHON, "Python"),
        process(CANN, "CANN"),
        process(HARDWARE, "Ascend Hardware"),
        process(HCCL, "HCCL"),
        process(CLOCK, "AI Core Freq"),
        process(HBM, "HBM"),
        process(LLC, "LLC"),
        process(MSTX, "MSTX"),
    ]


def span(name: str, pid: int, tid: int, at: int, length: int, cat: str | None = None, **args: Any) -> Event:
    """A complete event; `at` and `length` in ns, `at` from BASE_NS."""
    event: Event = {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": us(BASE_NS + at)}
    event |= {"dur": length / 1000, "args": args}
    return event | ({} if cat is None else {"cat": cat})


def op(
    name: str, at: int, length: int, tid: int = MAIN, stack: Iterable[str] = (), dims: str | None = None
) -> Event:
    """An operator as torch_npu writes it: arguments and frames joined by ; and a line end."""
    args: dict[str, Any] = {"Sequence number": -1, "Fwd thread id": 0}
    args |= {} if dims is None else {"Input Dims": dims, "Input type": "c10::BFloat16"}
    args |= {"Call stack": ";\r\n".join(stack)} if stack else {}
    return span(name, PYTHON, tid, at, length, "cpu_op", **args)


def task(name: str, kind: str, stream: int, number: int, at: int, length: int, **args: Any) -> Event:
    """A task of the hardware."""
    ids = {"Model Id": NONE, "Task Type": kind, "Physic Stream Id": stream, "Task Id": number, "Batch Id": 0}
    return span(name, HARDWARE, stream, at, length, **ids, **{"Subtask Id": NONE, "connection_id": 7}, **args)


def arrow(cat: str, number: int | str, tail: tuple[int, int, int], head: tuple[int, int, int]) -> list[Event]:
    """Tail and head of an arrow; each is (pid, tid, ns from BASE_NS)."""
    ends = [("s", tail), ("f", head)]
    return [
        {
            "ph": ph,
            "bp": "e",
            "name": cat,
            "id": number,
            "pid": pid,
            "tid": tid,
            "ts": us(BASE_NS + at),
            "cat": cat,
        }
        for ph, (pid, tid, at) in ends
    ]


LINEAR = [
    f"{SITE}/torch/nn/modules/linear.py(114): forward",
    "/work/model.py(123): forward",
    "/work/serve.py(7): main",
]
LAUNCHES: list[Event] = [
    op("ProfilerStep#5", 0, 90_000),
    span("nn.Module: Block_0", PYTHON, MAIN, 500, 40_000, "python_function"),
    span("nn.Module: Linear_0", PYTHON, MAIN, 900, 20_000, "python_function"),
    op("aten::linear", 1_000, 9_000, stack=LINEAR, dims="4,8;\r\n8,16"),
    op("aten::addmm", 2_000, 7_000, stack=LINEAR, dims="4,8;\r\n8,16"),
    op("aclnnAddmm", 3_000, 5_000, stack=LINEAR),
    *arrow("async_npu", 1, (PYTHON, MAIN, 3_000), (HARDWARE, 2, 50_000)),
    task("aclnnAddmm_MatMulCommon_MatMulV2", "KERNEL_AICORE", 2, 11, 50_000, 12_345),
    span("model.py(200): norm", PYTHON, MAIN, 24_000, 9_000, "python_function"),
    op("npu::npu_rms_norm", 25_000, 5_000, dims="4,16"),
    op("aclnnRmsNorm", 26_000, 2_000),
    *arrow("async_npu", 2, (PYTHON, MAIN, 26_000), (HARDWARE, 2, 70_000)),
    task("aclnnRmsNorm_RmsNorm_RmsNorm", "KERNEL_AIVEC", 2, 12, 70_000, 3_000),
    task("CMO", "SDMA_SQE", 9, 1, 51_000, 4_000),
    task(
        "MEMCPY_ASYNC",
        "PCIE_DMA_SQE",
        2,
        13,
        80_000,
        2_000,
        **{"data size(Byte)": 4096, "memcpy direction": "host to device"},
    ),
    task("EVENT_RECORD", "EVENT_RECORD_SQE", 2, 14, 83_000, 20),
    task("EVENT_WAIT", "EVENT_WAIT_SQE", 9, 2, 84_000, 20),
]
WHOLE = [*names(), *LAUNCHES]


def kernels_csv(folder: Path, shift_ns: int = 0) -> Path:
    """The kernel table of the same capture."""
    rows = [
        row(
            start=us(BASE_NS + at + shift_ns),
            name=name,
            type=type_,
            core=core,
            duration=duration,
            stream="2",
            task=task_,
        )
        for at, name, type_, core, duration, task_ in (
            (50_000, "aclnnAddmm_MatMulCommon_MatMulV2", "MatMulV2", "AI_CORE", "12.345", "11"),
            (70_000, "aclnnRmsNorm_RmsNorm_RmsNorm", "RmsNorm", "AI_VECTOR_CORE", "3.0", "12"),
        )
    ]
    return write(folder, table(rows))


def write_trace(
    folder: Path, events: Iterable[Event], form: str = "list", name: str = "trace_view.json"
) -> Path:
    """Write a trace in one of the forms that tools write; returns the path of the file."""
    events = list(events)
    folder.mkdir(parents=True, exist_ok=True)
    text = {
        "list": lambda: json.dumps(events),
        "compact": lambda: json.dumps(events, separators=(",", ":")),
        "lines": lambda: "[\n" + ",\n".join(json.dumps(event) for event in events) + "\n]\n",
        "indented": lambda: json.dumps(events, indent=2),
        "object": lambda: json.dumps({"schemaVersion": 1, "traceEvents": events, "displayTimeUnit": "ns"}),
        "object first": lambda: json.dumps({"otherData": {"traceName": "x"}, "traceEvents": events}),
        "object last": lambda: json.dumps(
            {"traceEvents": events, "distributedInfo": {"ranks": [{"name": 1}, {"name": 2}]}}
        ),
        "marked": lambda: "\ufeff" + json.dumps(events),
        "packed": lambda: json.dumps(events),
    }[form]()
    path = folder / (f"{name}.gz" if form == "packed" else name)
    path.write_bytes(gzip.compress(text.encode()) if form == "packed" else text.encode("utf-8"))
    return path


FORMS = ("list", "compact", "lines", "indented", "object", "object first", "object last", "marked", "packed")
