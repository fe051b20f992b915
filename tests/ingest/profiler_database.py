"""Writes a kernel table as the profiler database of the same capture, in the words of old and new writers.

No real pair of both forms exists, so this is the other half of every comparison. What a database cannot hold
(cube_utilization, wait times, and with old writers OP State and HF32) is left out, as writers leave it out.
"""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

MISSING = 4294967295
NOT_THERE = ("N/A", "")
# What only a text export holds.
TEXT_ONLY = ("cube_utilization(%)",)
# Engines that old writers fill with zeros although nothing of the kind exists.
ZEROS = ("aiv_mac_time", "aiv_mac_ratio", "aiv_mte1_time", "aiv_mte1_ratio")
TOTALS = {"aicore_time(us)": "aic_total_time", "aiv_time(us)": "aiv_total_time"}
KINDS = {
    "AI_CORE": "KERNEL_AICORE",
    "AI_VECTOR_CORE": "KERNEL_AIVEC",
    "AI_CPU": "KERNEL_AICPU",
    "DSA_SQE": "STARS_COMMON",
}


@dataclass(frozen=True)
class Generation:
    """The words of one writer."""

    block: str
    mix_block: str
    more: Mapping[str, str] = field(default_factory=dict)
    schedule: bool = False
    pmu_times: bool = False


OLD = Generation("blockDim", "mixBlockDim", {"attrInfo": ""})
NEW = Generation(
    "blockNum",
    "mixBlockNum",
    {"opState": "OP State", "hf32Eligible": "HF32 Eligible"},
    schedule=True,
    pmu_times=True,
)
ANCIENT = Generation("block_dim", "mix_block_dim")

_SHAPES = {
    "inputFormats": "Input Formats",
    "inputDataTypes": "Input Data Types",
    "inputShapes": "Input Shapes",
    "outputFormats": "Output Formats",
    "outputDataTypes": "Output Data Types",
    "outputShapes": "Output Shapes",
}


class _Strings(dict[str, int]):
    """STRING_IDS: every text once."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]


def write_database(path: Path, table: str, generation: Generation = OLD, family: str = "Ascend910B") -> Path:
    """Write the text of a kernel_details.csv as a profiler database; returns the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    rows = [
        {key: (cell or "").strip() for key, cell in row.items()}
        for row in csv.DictReader(io.StringIO(table, newline=""))
    ]
    strings = _Strings()
    con = sqlite3.connect(path)
    _tasks(con, rows, strings, generation)
    _steps(con, rows)
    _fill(con, "NPU_INFO", ["id INTEGER", "name TEXT"], [(0, family)])
    _fill(
        con,
        "STRING_IDS",
        ["id INTEGER PRIMARY KEY", "value TEXT"],
        [(id_, text) for text, id_ in strings.items()],
    )
    con.commit()
    con.close()
    return path


def start_ns(row: Mapping[str, str]) -> int:
    """Start Time(us) as whole ns."""
    return int(Decimal(row["Start Time(us)"]) * 1000)


def _fill(con: sqlite3.Connection, table: str, columns: Sequence[str], rows: Iterable[tuple]) -> None:
    con.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
    con.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' for _ in columns)})", rows)


def _tasks(con: sqlite3.Connection, rows: list[dict[str, str]], strings: _Strings, words: Generation) -> None:
    """TASK, COMPUTE_TASK_INFO, the collectives and TASK_PMU_INFO."""
    tasks, compute, schedule, collectives, pmu = [], [], [], [], []
    for number, row in enumerate(rows):
        begin = start_ns(row)
        end = begin + int(Decimal(row["Duration(us)"]) * 1000)
        core = row["Accelerator Core"]
        collective = core in ("HCCL", "COMMUNICATION") and row.get("Stream ID", "N/A") == "N/A"
        kind = strings["Notify Wait" if collective else KINDS.get(core, core)]
        ids = [_number(row.get(name)) for name in ("Context ID", "Stream ID", "Task ID", "Model ID")]
        tasks.append((begin, end, _device(row), 10_000 + number, number, 1, kind, *ids))
        name, type_ = strings[row["Name"]], strings[row["Type"]]
        if collective:
            collectives.append((name, begin, end, 10_000 + number, number, type_))
            continue
        if words.schedule and core in ("HCCL", "COMMUNICATION"):
            schedule.append((name, number, strings["AI_VECTOR_CORE"], type_))
        else:
            cells = [
                strings[row.get(text, "N/A") or "N/A"] for text in (*_SHAPES.values(), *words.more.values())
            ]
            blocks = [
                _number(row.get(f"{which} Dim", row.get(f"{which} Num"))) for which in ("Block", "Mix Block")
            ]
            compute.append(
                (name, number, *(0 if b == MISSING else b for b in blocks), strings[core], type_, *cells)
            )
        pmu += [(number, strings[key], value, begin + 1) for key, value in _pmu(row)]
    _fill(con, "TASK", [f"{name} INTEGER" for name in _TASK], tasks)
    keys = ["name", "globalTaskId", words.block, words.mix_block, "taskType", "opType", *_SHAPES, *words.more]
    _fill(con, "COMPUTE_TASK_INFO", [f"{key} INTEGER" for key in keys], compute)
    keys = ["opName", "startNs", "endNs", "connectionId", "opId", "opType"]
    _fill(con, "COMMUNICATION_OP", [f"{key} INTEGER" for key in keys], collectives)
    if words.schedule:
        keys = ["name", "globalTaskId", "taskType", "opType"]
        _fill(con, "COMMUNICATION_SCHEDULE_TASK_INFO", [f"{key} INTEGER" for key in keys], schedule)
    if pmu:
        keys = [
            "globalTaskId INTEGER",
            "name INTEGER",
            "value NUMERIC",
            *(["timestampNs INTEGER"] if words.pmu_times else []),
        ]
        pmu.sort(key=lambda each: each[1])  # writers go counter by counter
        _fill(con, "TASK_PMU_INFO", keys, [each[: len(keys)] for each in pmu])


_TASK = (
    *("startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "globalPid", "taskType"),
    *("contextId", "streamId", "taskId", "modelId"),
)


def _pmu(row: Mapping[str, str]) -> list[tuple[str, float]]:
    """(counter, value): us become ns, names lose their unit."""
    first = list(row).index("Context ID") + 1 if "Context ID" in row else len(row)
    found = []
    for key in list(row)[first:]:
        if row[key] in NOT_THERE or key in TEXT_ONLY:
            continue
        value = Decimal(row[key]) * (1000 if key.endswith("(us)") else 1)
        found.append(
            (TOTALS.get(key, key.removesuffix("(us)")), int(value) if value == int(value) else float(value))
        )
    return [*found, *((name, 0) for name in ZEROS)] if found else []


def _steps(con: sqlite3.Connection, rows: list[dict[str, str]]) -> None:
    """STEP_TIME: each step from its first kernel to just before the next."""
    spans: dict[int, tuple[int, int]] = {}
    for row in rows:
        if row.get("Step Id"):
            low, high = spans.get(int(row["Step Id"]), (2**63, 0))
            spans[int(row["Step Id"])] = (min(low, start_ns(row)), max(high, start_ns(row)))
    if spans:
        lines = [(step, low, high) for step, (low, high) in spans.items()]
        _fill(con, "STEP_TIME", ["id INTEGER", "startNs INTEGER", "endNs INTEGER"], lines)


def _number(text: str | None) -> int:
    return MISSING if text is None or text in NOT_THERE else int(text)


def _device(row: Mapping[str, str]) -> int | None:
    text = row.get("Device_id", row.get("Device ID"))
    return None if text is None or text in NOT_THERE else int(text)
