"""Small whole exports to damage: each header generation, level 0, and msprof's own spelling."""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Mapping
from dataclasses import replace

from npu_roofline.sample_profiles.exporter import OUTPUT, export
from npu_roofline.sample_profiles.scenario import load_scenario

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
BASES = (*SCENARIOS, "op_summary")


@functools.cache
def base(name: str) -> Mapping[str, bytes]:
    """Path -> bytes of the export called `name`, two steps of two layers (30 to 160 rows)."""
    if name == "op_summary":
        return _op_summary()
    scenario = load_scenario(*SCENARIOS[name])
    small = replace(scenario, capture=replace(scenario.capture, steps=2, layers=2))
    return {path: text.encode() for path, text in export(small).items()}


def _op_summary() -> Mapping[str, bytes]:
    text = base("moe")[f"{OUTPUT}/kernel_details.csv"].decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    names = ["Device_id", *(name for name in rows[0] if name not in ("Step Id", "Device_id"))]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(OP_SUMMARY_NAMES.get(name, name) for name in names)
    writer.writerows([row[name] for name in names] for row in rows)
    return {"mindstudio_profiler_output/op_summary_20260101120000.csv": buffer.getvalue().encode()}
