"""Writes small kernel tables the way the exporters of each generation do, for the tests of this folder."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

# Columns before the PMU block, by generation (formats.md 3.2); keys are canonical names.
CORE = ["name", "type", "core", "start", "duration", "wait", "block"]
OPERANDS = [
    "input_shapes",
    "input_dtypes",
    "input_formats",
    "output_shapes",
    "output_dtypes",
    "output_formats",
]
GENERATIONS: dict[str, list[str]] = {
    "A": ["step", "model", "task", "stream", *CORE, "mix_block", "hf32", *OPERANDS, "context"],
    "B": [
        "step",
        "model",
        "task",
        "stream",
        "name",
        "type",
        "state",
        *CORE[2:],
        "mix_block",
        "hf32",
        *OPERANDS,
        "context",
    ],
    "C": [
        "step",
        "device",
        "model",
        "task",
        "stream",
        "name",
        "type",
        "state",
        *CORE[2:],
        "mix_block",
        "hf32",
        *OPERANDS,
        "context",
    ],
    "level0": ["step", *CORE],
    "summary": [
        "device",
        "model",
        "task",
        "stream",
        "name",
        "type",
        "state",
        *CORE[2:],
        "mix_block",
        "hf32",
        *OPERANDS,
        "context",
    ],
}
KERNEL_DETAILS = {
    "step": "Step Id",
    "device": "Device_id",
    "model": "Model ID",
    "task": "Task ID",
    "stream": "Stream ID",
    "name": "Name",
    "type": "Type",
    "state": "OP State",
    "core": "Accelerator Core",
    "start": "Start Time(us)",
    "duration": "Duration(us)",
    "wait": "Wait Time(us)",
    "block": "Block Dim",
    "mix_block": "Mix Block Dim",
    "hf32": "HF32 Eligible",
    "input_shapes": "Input Shapes",
    "input_dtypes": "Input Data Types",
    "input_formats": "Input Formats",
    "output_shapes": "Output Shapes",
    "output_dtypes": "Output Data Types",
    "output_formats": "Output Formats",
    "context": "Context ID",
}
OP_SUMMARY = KERNEL_DETAILS | {
    "name": "Op Name",
    "type": "OP Type",
    "core": "Task Type",
    "start": "Task Start Time(us)",
    "duration": "Task Duration(us)",
    "wait": "Task Wait Time(us)",
}
BLOCK_NUM = KERNEL_DETAILS | {"block": "Block Num", "mix_block": "Mix Block Num"}

# A MatMul of 1,024 x 4,096 by 4,096 x 512 in bf16 on 24 cores at 1,800 MHz; every test changes what it needs.
MATMUL: dict[str, str] = {
    "step": "3",
    "device": "0",
    "model": "4294967295",
    "task": "11",
    "stream": "2",
    "name": "aclnnMatmul_MatMulCommon_MatMulV2",
    "type": "MatMulV2",
    "state": "dynamic",
    "core": "AI_CORE",
    "start": "1779440805781809.542\t",
    "duration": "40.000",
    "wait": "0.110000",
    "block": "24",
    "mix_block": "0",
    "hf32": "NO",
    "input_shapes": '"1024,4096;4096,512"',
    "input_dtypes": "DT_BF16;DT_BF16",
    "input_formats": "ND;ND",
    "output_shapes": '"1024,512"',
    "output_dtypes": "DT_BF16",
    "output_formats": "ND",
    "context": "N/A",
}


def row(**changes: str) -> dict[str, str]:
    """The MatMul row with some cells changed; PMU cells by their header name, in `pmu_`-free spelling."""
    return MATMUL | changes


def table(
    rows: Iterable[Mapping[str, str]],
    generation: str = "C",
    names: Mapping[str, str] = KERNEL_DETAILS,
    pmu: Sequence[str] = (),
    line_end: str = "\n",
) -> str:
    """CSV text: the columns of a generation, then the PMU columns (their cells are under the header name)."""
    columns = [*GENERATIONS[generation], *pmu]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=line_end)
    writer.writerow([names.get(column, column) for column in columns])
    writer.writerows([[cells.get(column, "N/A") for column in columns] for cells in rows])
    return text.getvalue()


def write(folder: Path, text: str, name: str = "kernel_details.csv") -> Path:
    """Write a file into <folder>/ASCEND_PROFILER_OUTPUT and return the folder of the profile."""
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True, exist_ok=True)
    (output / name).write_bytes(text.encode("utf-8"))
    return folder


def starts(count: int, first_ns: int = 1_779_440_805_781_809_542, apart_ns: int = 50_000) -> list[str]:
    """Start cells, 50 us apart, with the exporter's TAB behind them."""
    times = [first_ns + index * apart_ns for index in range(count)]
    return [f"{time // 1000}.{time % 1000:03d}\t" for time in times]
