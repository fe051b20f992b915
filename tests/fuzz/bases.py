"""Small whole exports to damage: header generations, level 0, msprof, databases, traces, host tables."""

from __future__ import annotations

import csv
import functools
import io
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from npu_roofline.sample_profiles.exporter import OUTPUT, export
from npu_roofline.sample_profiles.scenario import load_scenario

from tests.fuzz import beside
from tests.ingest.profiler_database import NEW, OLD, Generation, write_database

# kernel_details is op_summary with these columns renamed; op_summary has no Step Id, Device_id comes first.
OP_SUMMARY_NAMES = {
    "Name": "Op Name",
    "Type": "OP Type",
    "Accelerator Core": "Task Type",
    "Start Time(us)": "Task Start Time(us)",
    "Duration(us)": "Task Duration(us)",
    "Wait Time(us)": "Task Wait Time(us)",
}
SCENARIOS = {
    "moe": ("moe_decode.toml", "moe_decode_before"),
    "dense": ("dense_decode.toml", "dense_decode"),
    "prefill": ("prefill.toml", "prefill"),
    "level0": ("dense_decode.toml", "dense_level0"),
}
DATABASES = {"database_old": OLD, "database_new": NEW}
BASES = (*SCENARIOS, "op_summary", *DATABASES, "trace", "trace_alone", "host")


@functools.cache
def base(name: str) -> Mapping[str, bytes]:
    """Path -> bytes of the export called `name`, two steps of two layers (30 to 160 rows)."""
    if name == "op_summary":
        return _op_summary()
    if name in DATABASES:
        return _database(DATABASES[name])
    if name in ("trace", "trace_alone", "host"):
        return beside.export(name, base("moe"))
    scenario = load_scenario(*SCENARIOS[name])
    small = replace(scenario, capture=replace(scenario.capture, steps=2, layers=2))
    return {path: text.encode() for path, text in export(small).items()}


def _database(generation: Generation) -> Mapping[str, bytes]:
    """The MoE decode as the database of one generation of writers."""
    table = base("moe")[f"{OUTPUT}/kernel_details.csv"].decode()
    with tempfile.TemporaryDirectory() as folder:
        written = write_database(Path(folder) / "made.db", table, generation)
        return {f"{OUTPUT}/ascend_pytorch_profiler.db": written.read_bytes()}


def _op_summary() -> Mapping[str, bytes]:
    text = base("moe")[f"{OUTPUT}/kernel_details.csv"].decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    names = ["Device_id", *(name for name in rows[0] if name not in ("Step Id", "Device_id"))]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(OP_SUMMARY_NAMES.get(name, name) for name in names)
    writer.writerows([row[name] for name in names] for row in rows)
    return {"mindstudio_profiler_output/op_summary_20260101120000.csv": buffer.getvalue().encode()}
