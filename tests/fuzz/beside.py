"""What stands beside a kernel table: a trace of the same kernels, and the tables of the host."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from npu_roofline.sample_profiles.exporter import OUTPUT

# What the raw folder says about the card.
DEVICE_FILE = "PROF_000001_20260101120000000_ABC/device_0/info.json.0"
DEVICE_INFO = {
    "platform_version": "5",
    "DeviceInfo": [
        {"id": 0, "ai_core_num": 24, "aiv_num": 48, "aic_frequency": "1800", "aiv_frequency": "1800"}
    ],
}
HOST, DEVICE, CLOCK = 3178231, 3254508960, 3254508992
# Cells of operator_details hold line ends, those of others are the numbers that real ones have.
TABLES = {
    "operator_details.csv": (
        "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),"
        "Device Self Duration(us),Device Total Duration(us)\r\n"
        'aten::mm,"4,3072;\r\n3072,1024","model.py(12): forward;\r\nmain.py(3): run",5.5,9.0,30.1,30.1\r\n'
        "aten::add,,,1.0,1.5,0.0,0.0\r\n"
    ),
    "api_statistic.csv": (
        "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
        "host,acl,aclnnMatmul,120.5,10,12.05,9.1,20.2,4.5\nhost,node,launch,80.0,20,4.0,1.0,9.0,0.5\n"
    ),
    "l2_cache.csv": (
        "Device_id,Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\n"
        "0,166,11,0.45,0.01,MatMul_1\n0,166,12,N/A,N/A,x\n"
    ),
    "memory_record.csv": (
        "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,"
        "Device Type\n"
        "PTA,1779440805781809.542,20.5,64.0,20.5,187,NPU:0\nAPP,1779440805781909.542,,4096.0,,,NPU:0\n"
    ),
    "operator_memory.csv": (
        "Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Device Type\n"
        "aten::empty,512.0,1779440805781809.542,1779440805781909.542,100.0,NPU:0\n"
    ),
    "task_time.csv": (
        "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n"
        "0,MatMul_1,KERNEL_AICORE,166,11,30.5,1779440805781809.542,1779440805781840.042\n"
    ),
    "communication.json": json.dumps(
        {
            "step3": {
                "p2p": {},
                "collective": {
                    "hcom_allReduce__1@77": {
                        "Communication Time Info": {
                            "Start Timestamp(us)": 1779440805781809.5,
                            "Elapse Time(ms)": 0.1,
                        },
                        "Communication Bandwidth Info": {
                            "HCCS": {
                                "Transit Size(MB)": 1.5,
                                "Transit Time(ms)": 0.1,
                                "Bandwidth(GB/s)": 15.0,
                            }
                        },
                    }
                },
            }
        }
    ),
    "communication_matrix.json": json.dumps(
        {
            "step3": {
                "collective": {
                    "hcom_allReduce__1@77": {
                        "0-1": {
                            "Transport Type": "HCCS",
                            "Transit Size(MB)": 1.5,
                            "Transit Time(ms)": 0.1,
                            "Bandwidth(GB/s)": 15.0,
                        }
                    }
                }
            }
        }
    ),
}


def export(name: str, text: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """The text export with a trace beside it, the trace without it, or the text with the host's tables."""
    events = list(_events(text[f"{OUTPUT}/kernel_details.csv"].decode()))
    if name == "trace":
        return {**text, f"{OUTPUT}/trace_view.json": json.dumps(events).encode()}
    if name == "trace_alone":
        return {
            f"{OUTPUT}/trace_view.json": json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}).encode()
        }
    beside = {f"{OUTPUT}/{file}": cells.encode() for file, cells in TABLES.items()}
    return {**text, **beside, DEVICE_FILE: json.dumps(DEVICE_INFO).encode()}


def _events(table: str) -> Iterator[dict[str, Any]]:
    """Processes, a clock, and for each kernel the operator that launched it, an arrow, and its task."""
    for pid, name in ((HOST, "Python"), (DEVICE, "Ascend Hardware"), (CLOCK, "AI Core Freq")):
        yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
    for number, row in enumerate(csv.DictReader(io.StringIO(table, newline=""))):
        start = row["Start Time(us)"].strip()
        if number == 0:
            yield {
                "ph": "C",
                "name": "AI Core Freq",
                "pid": CLOCK,
                "tid": 0,
                "ts": start,
                "args": {"MHz": 1800},
            }
        yield {
            "ph": "X", "name": f"aten::{row['Type'].lower()}", "pid": HOST, "tid": HOST, "ts": start,
            "dur": 5.0, "cat": "cpu_op",
            "args": {"Input Dims": "4,3072;\r\n3072,1024", "Input type": "c10::BFloat16;\r\nc10::BFloat16",
                     "Call stack": "model.py(12): forward;\r\nmain.py(3): run"},
        }  # fmt: skip
        arrow = {"name": "async_npu", "cat": "async_npu", "id": number, "ts": start}
        yield {**arrow, "ph": "s", "pid": HOST, "tid": HOST}
        yield {**arrow, "ph": "f", "bp": "e", "pid": DEVICE, "tid": row["Stream ID"]}
        yield {
            "ph": "X", "name": row["Name"], "pid": DEVICE, "tid": row["Stream ID"], "ts": start,
            "dur": float(row["Duration(us)"]),
            "args": {"Model Id": 4, "Task Type": "KERNEL_AICORE", "Physic Stream Id": row["Stream ID"],
                     "Task Id": row["Task ID"], "Subtask Id": 4294967295, "connection_id": number},
        }  # fmt: skip
