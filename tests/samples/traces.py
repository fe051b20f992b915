"""A trace beside a sample's kernel table, in the form of torch_npu: kernels, events, launches, prefetches."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

HARDWARE, CANN, NONE = 3170820512, 3170820480, 4294967295
TYPES = {
    "AI_CORE": "KERNEL_AICORE",
    "AI_VECTOR_CORE": "KERNEL_AIVEC",
    "MIX_AIC": "KERNEL_MIX_AIC",
    "MIX_AIV": "KERNEL_MIX_AIV",
    "AI_CPU": "KERNEL_AICPU",
    "COMMUNICATION": "KERNEL_AIVEC",
}
TILING, SIDE = "162", 170
EVENT_US, LATENCY_US, GAP_US = Decimal("0.02"), Decimal("0.4"), 20


def task(name: str, kind: str, stream: int, number: int, start: Decimal, length: Decimal) -> dict[str, Any]:
    """One task of the hardware; times us."""
    ids = {"Model Id": NONE, "Task Type": kind, "Physic Stream Id": stream, "Task Id": number}
    return {
        "ph": "X", "name": name, "pid": HARDWARE, "tid": stream, "ts": f"{start:.3f}", "dur": float(length),
        "args": ids | {"Batch Id": 0, "Subtask Id": NONE, "connection_id": number},
    }  # fmt: skip


def call(name: str, start: Decimal, length: Decimal, connection: int) -> dict[str, Any]:
    """One call of the host into CANN."""
    return {
        "ph": "X", "name": name, "pid": CANN, "tid": 1, "ts": f"{start:.3f}", "dur": float(length),
        "args": {"level": "acl", "connection_id": connection},
    }  # fmt: skip


def write_trace(profile: Path, prefetch_us: float | None) -> None:
    """Write trace_view.json of a sample profile.

    With a prefetch of `prefetch_us` behind every second GroupedMatmul of a layer, on a stream of its own;
    None: without. Between streams there is an event; where more than 20 us pass between two kernels, the
    host waits for the first and launches the second 3 us before it starts.
    """
    folder = profile / "ASCEND_PROFILER_OUTPUT"
    with (folder / "kernel_details.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Stream ID"] != "N/A"]
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
        for pid, name in ((HARDWARE, "Ascend Hardware"), (CANN, "CANN"))
    ]
    events += [_kernel(row, 1_000_000 + at) for at, row in enumerate(rows)]
    in_order = [(at, row) for at, row in enumerate(rows) if row["Stream ID"] != TILING]
    ends: dict[str, Decimal] = {}
    for (_, before), (at, row) in pairwise(in_order):
        ends[before["Stream ID"]] = _end(before)
        events += _between(before, row, at, ends)
    following = {at: [each["Type"] for each in rows[at + 1 : at + 3]] for at in range(len(rows))}
    if prefetch_us is not None:
        events += [
            task("CMO", "CMO_TASK", SIDE, 3_000_000 + at, _end(row) + 1, Decimal(prefetch_us))
            for at, row in enumerate(rows)
            if row["Type"] == "GroupedMatmul" and "MoeDistributeCombineV2" in following[at]
        ]
    (folder / "trace_view.json").write_text(json.dumps(events), encoding="utf-8")


def _kernel(row: dict[str, str], number: int) -> dict[str, Any]:
    kind, stream = TYPES[row["Accelerator Core"]], int(row["Stream ID"])
    made = task(row["Name"], kind, stream, int(row["Task ID"]), _start(row), _end(row) - _start(row))
    made["args"]["connection_id"] = number
    return made


def _between(
    before: dict[str, str], row: dict[str, str], at: int, ends: dict[str, Decimal]
) -> list[dict[str, Any]]:
    """What makes a kernel start after the one before it."""
    done, start = _end(before), _start(row)
    if start - done > GAP_US:
        return [
            call("AscendCL@aclrtSynchronizeStreamWithTimeout", done - 1, Decimal(3), NONE),
            call("AscendCL@aclnnLaunch", start - 3, Decimal(1), 1_000_000 + at),
        ]
    if row["Stream ID"] == before["Stream ID"]:
        return []
    since = ends.get(row["Stream ID"], done - 5)
    wait = ("EVENT_WAIT", "EVENT_WAIT_SQE", int(row["Stream ID"]), 2_500_000 + at)
    return [
        task("EVENT_RECORD", "EVENT_RECORD_SQE", int(before["Stream ID"]), 2_000_000 + at, done, EVENT_US),
        task(*wait, since + EVENT_US, done + LATENCY_US - since),
    ]


def _start(row: dict[str, str]) -> Decimal:
    return Decimal(row["Start Time(us)"].strip())


def _end(row: dict[str, str]) -> Decimal:
    return _start(row) + Decimal(row["Duration(us)"])
