"""Rows to the files of one profile directory, named and laid out as torch_npu's profiler leaves them."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from .cells import cells
from .run_info import profiler_info, profiler_metadata
from .scenario import Capture, Scenario
from .timeline import Row, rows_of

OUTPUT = "ASCEND_PROFILER_OUTPUT"

# Host time from the start of a step's range to its first kernel; no part of Stage, as real exports show.
_PREPARING_NS = 206_250


def export(scenario: Scenario) -> dict[str, str]:
    """Path inside the profile directory -> text of the file."""
    rows = rows_of(scenario)
    capture = scenario.capture
    texts = {
        f"{OUTPUT}/kernel_details.csv": kernel_details(rows, capture),
        f"{OUTPUT}/step_trace_time.csv": step_trace_time(rows, capture),
        "profiler_info_0.json": json.dumps(profiler_info(capture, rows), indent=4),
        "profiler_metadata.json": json.dumps(profiler_metadata(capture)),
    }
    if capture.generation != "level0":
        texts[f"{OUTPUT}/op_statistic.csv"] = op_statistic(rows, capture)
    return texts


@cache
def _tables() -> dict:
    return tomllib.loads(Path(__file__).with_name("headers.toml").read_text(encoding="utf-8"))


def headers(generation: str) -> list[str]:
    """The header line of kernel_details.csv in that generation of the exporter."""
    pmu = [] if generation == "level0" else _tables()["pmu"]["pipe_utilization"]
    return _tables()["prefix"][generation] + pmu


def kernel_details(rows: Sequence[Row], capture: Capture) -> str:
    """kernel_details.csv; the very first wait time is a bare 0."""
    names = headers(capture.generation)
    texts = (cells(row, capture) for row in rows)
    lines = [[text[name] for name in names] for text in texts]
    if lines:
        lines[0][names.index("Wait Time(us)")] = "0"
    return _csv([names, *lines], capture)


def op_statistic(rows: Sequence[Row], capture: Capture) -> str:
    """op_statistic.csv: one line per type and core, collectives left out, largest total first."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in rows:
        if row.kernel.core != "COMMUNICATION":
            groups[row.kernel.type, row.kernel.core].append(row.duration_ns)
    total = sum(sum(group) for group in groups.values())
    lines: list[list] = []
    for key, ns in sorted(groups.items(), key=lambda item: (-sum(item[1]), item[0])):
        times = map(_us, (sum(ns), min(ns), sum(ns) / len(ns), max(ns)))
        lines.append([*key, len(ns), *times, _short(100 * sum(ns) / total)])
    return _table("op_statistic", lines, capture)


def step_trace_time(rows: Sequence[Row], capture: Capture) -> str:
    """step_trace_time.csv: interval unions; collectives apart, host-engine rows are not computing."""
    lines: list[list] = []
    for step in sorted({row.step for row in rows}):
        part = [row for row in rows if row.step == step]
        computing = _union(row for row in part if row.kernel.core not in ("COMMUNICATION", "AI_CPU"))
        communication = _union(row for row in part if row.kernel.core == "COMMUNICATION")
        both = _union(row for row in part if row.kernel.core != "AI_CPU")
        alone = both - computing
        stage = max(row.end_ns for row in part) - part[0].start_ns
        times = (computing, alone, communication - alone, communication, stage - both, stage)
        lines.append([step, *map(_us, (*times, 0, alone, _PREPARING_NS))])
    return _table("step_trace_time", lines, capture)


def _union(rows: Iterable[Row]) -> int:
    busy, reached = 0, 0
    for row in rows:
        begin = max(row.start_ns, reached)
        busy += max(0, row.end_ns - begin)
        reached = max(reached, row.end_ns)
    return busy


def _table(name: str, lines: list[list], capture: Capture) -> str:
    """A small table; exporters that know the device put it first here too."""
    header = _tables()["tables"][name]
    if "Device_id" not in headers(capture.generation):
        return _csv([header, *lines], capture)
    return _csv([["Device_id", *header], *([capture.device_id, *line] for line in lines)], capture)


def _csv(lines: Iterable[Sequence[object]], capture: Capture) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator=capture.line_end).writerows(lines)
    return buffer.getvalue()


def _us(ns: float) -> str:
    return _short(ns / 1000)


def _short(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
