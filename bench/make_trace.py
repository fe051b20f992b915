"""Writes the trace that the measurements read: any number of bytes, the same bytes every time.

Each launch has what torch_npu records for it with_stack and with_modules: nested operators with shapes and
call stack, python functions, the task queue, the host's API calls, the arrows between them, and the task on
its stream. The proportions are those of a level-2 capture of a training step.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROCESS, CANN, HARDWARE, CLOCK, HBM = 3178231, 3254508768, 3254508960, 3254508992, 3254509088
MAIN, QUEUE = 3178231, 3181770
STREAM = 166
MISSING = 4294967295
BEGIN_NS = 1_781_004_000_123_456_542
LAYERS = 14
LAUNCHES_PER_STEP = 750
# ns between two launches, and from the launch to the start of its kernel.
PACE_NS, DELAY_NS, KERNEL_NS = 14_000, 900_000, 11_417
# (torch operator, operator inside it, API, kernel, kind of task, shapes, module).
LAUNCHES = (
    ("aten::linear", "aten::addmm", "aclnnAddmm", "MatMulV2", "KERNEL_AICORE", "4,64;\r\n64,32", "Linear"),
    ("npu::npu_rms_norm", None, "aclnnRmsNorm", "RmsNorm", "KERNEL_AIVEC", "4,3072;\r\n3072", "RMSNorm"),
    ("aten::mul", None, "aclnnMul", "Mul", "KERNEL_AIVEC", "4,1024;\r\n4,1024", "MLP"),
    ("aten::add_", None, "aclnnInplaceAdd", "Add", "KERNEL_AIVEC", "4,3072;\r\n4,3072", "DecoderLayer"),
    ("aten::silu", None, "aclnnSilu", "Swish", "KERNEL_AIVEC", "4,1024", "SiLU"),
)  # fmt: skip
_SITE = "/usr/lib/python3.11/site-packages"


def write_trace(path: Path, size: int, form: str = "list") -> int:
    """Write at least `size` bytes of a trace; returns the number of launches in it.

    `form` is "list" (torch_npu) or "object" ({"traceEvents": [...]}, as other tools write it).
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.write("[" if form == "list" else '{"schemaVersion": 1, "traceEvents": [')
        file.write(", ".join(json.dumps(event) for event in _names()))
        launches, written = 0, 0
        while written < size:
            written += file.write(", " + ", ".join(_texts(launches)))
            launches += 1
        file.write("]" if form == "list" else '], "displayTimeUnit": "ns"}')
    return launches


def _names() -> Iterator[dict[str, Any]]:
    processes = {
        PROCESS: "Python",
        CANN: "CANN",
        HARDWARE: "Ascend Hardware",
        CLOCK: "AI Core Freq",
        HBM: "HBM",
    }
    for pid, name in processes.items():
        yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
    yield {
        "ph": "M", "name": "thread_name", "pid": HARDWARE, "tid": STREAM,
        "args": {"name": f"Stream {STREAM}"},
    }  # fmt: skip
    yield {
        "name": "AI Core Freq",
        "ts": _us(BEGIN_NS),
        "pid": CLOCK,
        "tid": 0,
        "args": {"MHz": 1800},
        "ph": "C",
    }


def _texts(number: int) -> list[str]:
    """Every event of one launch as JSON text."""
    at = BEGIN_NS + number * PACE_NS
    return [json.dumps(event) for event in _launch(number, at)]


def _launch(number: int, at: int) -> Iterator[dict[str, Any]]:
    outer, inner, api, kernel, kind, shapes, module = LAUNCHES[number % len(LAUNCHES)]
    layer = number // len(LAUNCHES) % LAYERS
    start = at + DELAY_NS
    if number % LAUNCHES_PER_STEP == 0:
        step = number // LAUNCHES_PER_STEP
        yield _op(f"ProfilerStep#{step}", at - 500, LAUNCHES_PER_STEP * PACE_NS - 100, None, layer)
    yield _python(f"nn.Module: {module}_{layer}", at, 13_000, number * 3)
    yield _python("torch/nn/modules/module.py(1520): _call_impl", at + 10, 12_900, number * 3 + 1)
    yield _python(f"model/layers.py({100 + layer}): forward", at + 20, 12_800, number * 3 + 2)
    yield _op(outer, at + 1_000, 9_000, shapes, layer)
    if inner is not None:
        yield _op(inner, at + 1_500, 8_000, shapes, layer)
    yield _op(api, at + 2_000, 4_000, None, layer)
    queue = {"pid": PROCESS, "cat": "async_task_queue", "name": "enqueue_to_dequeue", "id": number, "bp": "e"}
    yield _host("Enqueue", MAIN, at + 3_000, 1_200, "enqueue", {"correlation_id": number})
    yield _host(f"Dequeue@{api}", QUEUE, at + 7_000, 5_000, "dequeue", {"correlation_id": number})
    yield {"ph": "s", **queue, "tid": MAIN, "ts": _us(at + 3_000)}
    yield {"ph": "f", **queue, "tid": QUEUE, "ts": _us(at + 7_000)}
    yield _cann(f"AscendCL@{api}", at + 7_500, 4_000, "acl", MISSING)
    yield _cann("Node@launch", at + 8_000, 2_500, "node", number)
    task = {"Model Id": MISSING, "Task Type": kind, "Physic Stream Id": STREAM, "Task Id": number % 65536}
    more = {"Batch Id": number // 65536, "Subtask Id": MISSING, "connection_id": number}
    yield {
        "name": f"{api}_{kernel}Common_{kernel}", "pid": HARDWARE, "tid": STREAM, "ts": _us(start),
        "dur": (KERNEL_NS + number % 977) / 1000, "args": {**task, **more}, "ph": "X",
    }  # fmt: skip
    yield from _arrow("HostToDevice", f"HostToDevice{number}", str(number), (CANN, QUEUE, at + 8_000), start)
    yield from _arrow("async_npu", "torch_to_npu", start, (PROCESS, MAIN, at + 2_000), start)
    if number % 40 == 0:
        for way in ("Read", "Write"):
            args = {f"{way}(MB/s)": 1000.5 + number % 700}
            yield {"name": f"HBM 0/{way}", "ts": _us(at), "pid": HBM, "tid": 0, "args": args, "ph": "C"}


def _op(name: str, at: int, length: int, shapes: str | None, layer: int) -> dict[str, Any]:
    dims = {} if shapes is None else {"Input Dims": shapes, "Input type": "c10::BFloat16;\r\nc10::BFloat16"}
    stack = [
        f"{_SITE}/torch/nn/modules/linear.py(114): forward",
        f"{_SITE}/torch/nn/modules/module.py(1527): _call_impl",
        f"/work/model/layers.py({100 + layer}): forward",
        "/work/model/decoder.py(412): forward",
        "/work/serve.py(77): <module>",
    ]
    args = {"Sequence number": -1, "Fwd thread id": 0, **dims, "Call stack": ";\r\n".join(stack)}
    return _host(name, MAIN, at, length, "cpu_op", args)


def _python(name: str, at: int, length: int, number: int) -> dict[str, Any]:
    args = {"Python id": number, "Python parent id": max(0, number - 1)}
    return _host(name, MAIN, at, length, "python_function", args)


def _host(name: str, tid: int, at: int, length: int, cat: str, args: dict[str, Any]) -> dict[str, Any]:
    return {
        "ph": "X", "name": name, "pid": PROCESS, "tid": tid, "ts": _us(at), "dur": length / 1000, "cat": cat,
        "args": args,
    }  # fmt: skip


def _cann(name: str, at: int, length: int, level: str, connection: int) -> dict[str, Any]:
    args = {"Thread Id": QUEUE, "Mode": "launch", "level": level, "id": "0", "item_id": "0"}
    return {
        "name": name, "pid": CANN, "tid": QUEUE, "ts": _us(at), "dur": length / 1000,
        "args": {**args, "connection_id": connection}, "ph": "X",
    }  # fmt: skip


def _arrow(
    cat: str, name: str, number: str | int, tail: tuple[int, int, int], head: int
) -> Iterator[dict[str, Any]]:
    pid, tid, at = tail
    yield {"name": name, "ph": "s", "cat": cat, "id": number, "pid": pid, "tid": tid, "ts": _us(at)}
    yield {
        "name": name, "ph": "f", "id": number, "ts": _us(head), "cat": cat, "pid": HARDWARE, "tid": STREAM,
        "bp": "e",
    }  # fmt: skip


def _us(at_ns: int) -> str:
    """us with three decimals, as text: what torch_npu writes."""
    return f"{at_ns // 1000}.{at_ns % 1000:03d}"


if __name__ == "__main__":
    print(write_trace(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
