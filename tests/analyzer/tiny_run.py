"""A run of a few kernels, written by hand into the real tables, and a session over it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import duckdb
from npu_roofline.analyzer.answer import RunInfo
from npu_roofline.analyzer.options import AnalysisOptions
from npu_roofline.analyzer.selection import select
from npu_roofline.analyzer.session import Session
from npu_roofline.analyzer.statistics import fill_group_statistics
from npu_roofline.ingest.database import SCHEMA_FILES
from npu_roofline.roofline.options import RooflineOptions
from npu_roofline.roofline.resolve import DeviceEvidence, resolve_device

# Real captures start at such a time: float64 microseconds would lose the nanoseconds of it.
START_NS = 1_779_440_805_781_809_542
CLASSES = {"COMMUNICATION": "communication", "AI_CPU": "ai_cpu", "DSA_SQE": "dsa"}


@dataclass(frozen=True)
class Kernel:
    """One row: start and duration in us from the start of the capture; the rest as the tables name it."""

    start: float
    duration: float
    type: str = "Add"
    core: str | None = "AI_VECTOR_CORE"
    step: int | None = 1
    stream: int | None = 2
    rank: int = 0
    duplicate: bool = False
    # Inputs, dtype of all (or one each, with ;), output[, its dtype[, formats of the inputs]]; else ND.
    shapes: tuple[str, ...] | None = None
    extra: dict[str, Any] = field(default_factory=dict)  # any other column of kernels


def session_of(
    kernels: Iterable[Kernel],
    steps: tuple[int, ...] | None = None,
    device: str | None = "910B2",
    options: AnalysisOptions | None = None,
    rank: int = 0,
    trace: dict[int, tuple[float, float, float]] | None = None,
) -> Session:
    """A session over the kernels; `trace` is computing, communication and free time of a step, us."""
    con = _tables()
    _insert(con, list(kernels))
    for step, parts in (trace or {}).items():
        con.execute(
            "UPDATE steps SET trace_computing_us = ?, trace_communication_not_overlapped_us = ?, "
            "trace_free_us = ? WHERE step_id = ?",
            [*parts, step],
        )
    fill_group_statistics(con)
    existing = tuple(
        step
        for (step,) in con.execute(
            "SELECT step_id FROM steps WHERE rank_id = ? ORDER BY step_id", [rank]
        ).fetchall()
    )
    chosen = existing if steps is None else steps
    select(con, 1, rank, chosen, chosen == existing)
    ranks = tuple(each for (each,) in con.execute("SELECT rank_id FROM ranks ORDER BY 1").fetchall())
    return Session(
        con=con,
        run=RunInfo("tiny", 1, rank, ranks, chosen, "2026-01-02T03:04:05", (), None, None, "none", None),
        rank_id=rank,
        ranks=ranks,
        step_ids=chosen,
        all_steps=chosen == existing,
        device=resolve_device(DeviceEvidence(device_argument=device)),
        options=options or AnalysisOptions(),
        roofline_options=RooflineOptions(),
    )


def _tables() -> duckdb.DuckDBPyConnection:
    """The tables without their comments, which take ten times as long and answer no question."""
    con = duckdb.connect()
    folder = resources.files("npu_roofline.ingest") / "sql"
    for name in SCHEMA_FILES:
        for statement in con.extract_statements((folder / name).read_text(encoding="utf-8")):
            if not statement.query.lstrip().startswith("COMMENT ON"):
                con.execute(statement)
    return con


def _insert(con: duckdb.DuckDBPyConnection, kernels: list[Kernel]) -> None:
    signatures: dict[tuple[Any, ...], int] = {}
    ordered = sorted(kernels, key=lambda each: each.start)
    for kernel_id, each in enumerate(ordered):
        key = (each.type, each.core, each.shapes)
        known = key in signatures
        signature_id = signatures.setdefault(key, (len(signatures) + 1) << 52 | len(signatures) + 1)
        if not known:
            _insert_signature(con, signature_id, each)
        start_ns = START_NS + round(each.start * 1000)
        row = {
            "run_id": 1,
            "rank_id": each.rank,
            "kernel_id": kernel_id,
            "step_id": each.step,
            "stream_id": each.stream,
            "name": f"{each.type}_{kernel_id}",
            "signature_id": signature_id,
            "kernel_class": CLASSES.get(each.core or "", "aicore"),
            "start_ns": start_ns,
            "end_ns": start_ns + round(each.duration * 1000),
            "duration_us": each.duration,
            "duplicate_of": 0 if each.duplicate else None,
            **each.extra,
        }
        _insert_row(con, "kernels", row)
    con.execute("""
        INSERT INTO steps BY NAME SELECT 1 AS run_id, rank_id, step_id, min(start_ns) AS start_ns,
            max(end_ns) AS end_ns, (max(end_ns) - min(start_ns)) / 1e3 AS wall_us, count(*) AS kernels,
            'step column' AS source
        FROM kernels WHERE step_id IS NOT NULL AND duplicate_of IS NULL GROUP BY rank_id, step_id
    """)
    con.execute("""
        INSERT INTO ranks BY NAME SELECT DISTINCT 1 AS run_id, rank_id, true AS has_kernels,
            ['kernel_details'] AS holds, 'none' AS metric_mode FROM kernels
    """)
    kept = len(kernels)
    _insert_row(
        con, "runs", {"run_id": 1, "name": "tiny", "rows_read": kept, "rows_kept": kept, "rows_rejected": 0}
    )


def _insert_signature(con: duckdb.DuckDBPyConnection, signature_id: int, kernel: Kernel) -> None:
    row = {
        "run_id": 1,
        "signature_id": signature_id,
        "type": kernel.type,
        "type_source": "column",
        "core": kernel.core,
        "kernel_class": CLASSES.get(kernel.core or "", "aicore"),
    }
    if kernel.shapes is not None:
        inputs, dtype, output, *more = kernel.shapes
        slots = inputs.count(";") + 1
        row |= {
            "input_shapes": inputs,
            "input_dtypes": dtype if ";" in dtype else ";".join([dtype] * slots),
            "input_formats": more[1] if len(more) > 1 else ";".join(["ND"] * slots),
            "output_shapes": output,
            "output_dtypes": more[0] if more else dtype,
            "output_formats": ";".join(["ND"] * (output.count(";") + 1)),
        }
    _insert_row(con, "signatures", row)


def _insert_row(con: duckdb.DuckDBPyConnection, table: str, row: dict[str, Any]) -> None:
    names = ", ".join(row)
    marks = ", ".join("?" * len(row))
    con.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))
