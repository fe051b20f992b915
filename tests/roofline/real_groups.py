"""Real kernel tables -> signatures with medians, read by polars alone: independent of the ingest room."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from npu_roofline.ingest.shapes import parse_operands
from npu_roofline.roofline.classify import Label, classify
from npu_roofline.roofline.measure import Measurement
from npu_roofline.roofline.options import RooflineOptions
from npu_roofline.roofline.resolve import DeviceEvidence, ResolvedDevice, resolve_device
from npu_roofline.roofline.work import Signature, Work, work_of

RENAMED = {
    "OP Type": "Type",
    "Task Type": "Accelerator Core",
    "Task Duration(us)": "Duration(us)",
    "Block Num": "Block Dim",
    "Mix Block Num": "Mix Block Dim",
}
SHAPE_COLUMNS = [
    f"{side} {what}" for side in ("Input", "Output") for what in ("Shapes", "Data Types", "Formats")
]
CLASSES = {"COMMUNICATION": "communication", "HCCL": "communication", "AI_CPU": "ai_cpu", "DSA_SQE": "dsa"}
NUMBERS = re.compile(r"Duration\(us\)|Block Dim|aic|aiv|cube_utilization")


@dataclass(frozen=True)
class Group:
    """One signature of a capture with its work, measurement and label."""

    signature: Signature
    shapes: str
    outputs: str
    work: Work
    measurement: Measurement
    label: Label


def kernel_tables(profiles: Path) -> list[Path]:
    """Every kernel table below a folder, in order."""
    return sorted([*profiles.rglob("kernel_details.csv"), *profiles.rglob("op_summary*.csv")])


def labelled(path: Path, options: RooflineOptions | None = None) -> tuple[ResolvedDevice, list[Group]]:
    """The device that the rows show, and every signature with its label."""
    rows = _rows(path)
    resolved = resolve_device(_evidence(rows))
    keys = [
        name for name in ("Type", "Accelerator Core", "HF32 Eligible", *SHAPE_COLUMNS) if name in rows.columns
    ]
    return resolved, [
        _group(row, resolved, options or RooflineOptions())
        for row in _medians(rows, keys).iter_rows(named=True)
    ]


def _rows(path: Path) -> pl.DataFrame:
    rows = pl.read_csv(path, infer_schema_length=0, truncate_ragged_lines=True)
    rows = rows.rename({old: new for old, new in RENAMED.items() if old in rows.columns})
    numbers = [name for name in rows.columns if NUMBERS.search(name)]
    return rows.with_columns(
        pl.col(name).str.strip_chars().cast(pl.Float64, strict=False) for name in numbers
    )


def _medians(rows: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    duration = pl.col("Duration(us)")
    numbers = [name for name in rows.columns if rows[name].dtype == pl.Float64]
    return rows.group_by(keys, maintain_order=True).agg(
        pl.len().alias("count"),
        duration.sum().alias("total_us"),
        duration.quantile(0.1).alias("p10_us"),
        duration.quantile(0.9).alias("p90_us"),
        *(pl.col(name).median() for name in numbers),
    )


def _evidence(rows: pl.DataFrame) -> DeviceEvidence:
    if "cube_utilization(%)" in rows.columns:
        used = rows.filter(pl.col("cube_utilization(%)") > 1)
        product = used.select(
            pl.col("aic_total_cycles") / (pl.col("cube_utilization(%)") / 100 * pl.col("Duration(us)"))
        ).to_series()
        clock = used.select(
            pl.col("aic_total_cycles") / (pl.col("aicore_time(us)") * pl.col("Block Dim"))
        ).to_series()
        if len(product):
            return DeviceEvidence(cube_cores_mhz=product.median(), aic_mhz=clock.round(0).mode().min())  # type: ignore
    if "aiv_total_cycles" in rows.columns:
        used = rows.filter((pl.col("aiv_total_cycles") > 0) & (pl.col("aiv_time(us)") > 0))
        clock = used.select(
            pl.col("aiv_total_cycles") / (pl.col("aiv_time(us)") * pl.col("Block Dim"))
        ).to_series()
        return DeviceEvidence(aiv_mhz=clock.round(0).mode().min())  # type: ignore[arg-type]
    return DeviceEvidence()


def _group(row: dict, resolved: ResolvedDevice, options: RooflineOptions) -> Group:
    texts = {name: _text(row.get(name)) for name in SHAPE_COLUMNS}
    core = row["Accelerator Core"]
    signature = Signature(
        type=row["Type"] if row["Type"] != "N/A" else "",
        core=None if core == "N/A" else core,
        kernel_class=CLASSES.get(core, "aicore"),
        hf32={"YES": True, "NO": False}.get(row.get("HF32 Eligible") or ""),
        inputs=parse_operands(*(texts[f"Input {what}"] for what in ("Shapes", "Data Types", "Formats"))),
        outputs=parse_operands(*(texts[f"Output {what}"] for what in ("Shapes", "Data Types", "Formats"))),
    )
    measurement = _measurement(row)
    work = work_of(signature)
    label = classify(work, measurement, resolved.device, options)
    return Group(
        signature, texts["Input Shapes"] or "", texts["Output Shapes"] or "", work, measurement, label
    )


def _measurement(row: dict) -> Measurement:
    ratios = {name.removesuffix("_ratio"): value for name, value in row.items() if name.endswith("_ratio")}
    return Measurement(
        count=row["count"],
        median_us=row["Duration(us)"],
        total_us=row["total_us"],
        p10_us=row["p10_us"],
        p90_us=row["p90_us"],
        block=_whole(row.get("Block Dim")),
        mix_block=_whole(row.get("Mix Block Dim")),
        aicore_time_us=row.get("aicore_time(us)"),
        aiv_time_us=row.get("aiv_time(us)"),
        cube_utilization_pct=row.get("cube_utilization(%)"),
        ratios=ratios,
        metric_mode="pipe_utilization" if ratios else "none",
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _text(cell: str | None) -> str | None:
    return None if cell is None or cell == "N/A" else cell.replace('"', "")
