"""The rows of one rank, as read, -> the tables of the staging database."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InternalError
from .database import read_sql, transaction
from .kernel_table import KernelFile
from .options import IngestOptions
from .profiler_db import CounterFile
from .signatures import SignatureRow, add_signatures
from .trace_events import TraceFile
from .trace_join import add_trace, trace_source

if TYPE_CHECKING:
    import duckdb


@dataclass
class RankKernels:
    """What reading the kernel tables of a rank gave: the files, and the scratch database with their rows."""

    files: list[KernelFile]
    scratch: Path
    counters: list[CounterFile] = field(default_factory=list)
    traces: list[TraceFile] = field(default_factory=list)


@dataclass(frozen=True)
class Evidence:
    """What the rows say about the chip; None where no row says it (formats.md 11)."""

    cube_cores_mhz: float | None
    cube_cores_mhz_spread: float | None
    aic_mhz: float | None
    aiv_mhz: float | None
    cube_cores: float | None
    evidence_rows: int
    cube_cores_min: int | None = None
    cube_cores_max: int | None = None
    vector_cores_min: int | None = None
    vector_cores_max: int | None = None
    clock_min_mhz: float | None = None
    clock_max_mhz: float | None = None
    hbm_peak_gb_s: float | None = None


@dataclass
class Assembled:
    """A rank as it stands in the staging tables."""

    device_id: int | None
    evidence: Evidence
    notes: list[str] = field(default_factory=list)


def add_rank(
    con: duckdb.DuckDBPyConnection,
    rank_id: int,
    kernels: RankKernels,
    signatures: dict[int, SignatureRow],
    options: IngestOptions,
) -> Assembled:
    """Number the rows, join their signatures, fill kernels, steps, streams and rejects of one rank.

    Raises InternalError when a row was lost or doubled on the way.
    """
    con.execute("ATTACH ? AS scratch (READ_ONLY)", [str(kernels.scratch)])
    try:
        _add_kernels(con, rank_id, kernels, signatures)
        whole = _whole_capture(con)
        source = "whole capture" if whole else "step column"
        device_id = _value(con, "SELECT any_value(device_id) FROM scratch.raw")
        notes = _add_counters(con, rank_id, device_id)
        traced = trace_source(con)
        notes += [] if traced is None else add_trace(con, rank_id, traced)
    finally:
        con.execute("DETACH scratch")
    with transaction(con):
        con.execute(read_sql("steps.sql"), {"rank": rank_id, "source": source})
        con.execute(read_sql("streams.sql"), {"rank": rank_id})
    notes += ["the export has no steps: the whole capture is step 0"] if whole else []
    return Assembled(device_id, _evidence(con, rank_id, options), notes)


def _add_kernels(
    con: duckdb.DuckDBPyConnection, rank_id: int, kernels: RankKernels, signatures: dict[int, SignatureRow]
) -> None:
    with transaction(con):
        add_signatures(con, signatures)
    con.execute("CREATE OR REPLACE TEMP TABLE raw_files (file INTEGER, path VARCHAR, first_row BIGINT)")
    for number, file in enumerate(kernels.files):
        con.execute(
            "INSERT INTO raw_files SELECT ?, ?, min(rowid) FROM scratch.raw WHERE file = ?",
            [number, str(file.path), number],
        )
    con.execute(read_sql("order.sql"))
    # In any order, and so with every thread: kernel_id says the order.
    con.execute("SET preserve_insertion_order = false")
    try:
        con.execute(read_sql("kernels.sql"), {"rank": rank_id, "whole_capture": _whole_capture(con)})
    finally:
        con.execute("SET preserve_insertion_order = true")
    con.execute(
        "INSERT INTO rejects SELECT 1, ?, path, line, reason, text "
        "FROM scratch.raw_rejects JOIN raw_files USING (file)",
        [rank_id],
    )
    for table in ("raw_order", "raw_keys", "raw_files"):
        con.execute(f"DROP TABLE {table}")
    _check_conservation(con, rank_id, kernels)


def _add_counters(con: duckdb.DuckDBPyConnection, rank_id: int, device_id: int | None) -> list[str]:
    """The sampled counters of the rank's own device; those of others are said to be left out."""
    there = _value(
        con,
        "SELECT count(*) FROM duckdb_tables() "
        "WHERE database_name = 'scratch' AND table_name = 'raw_counters'",
    )
    if not there:
        return []
    mine = "($device IS NULL OR device_id IS NULL OR device_id = $device)"
    con.execute(
        "INSERT INTO counters SELECT 1, $rank, timestamp_ns, counter, value, unit, detail "
        f"FROM scratch.raw_counters WHERE {mine} ORDER BY ALL",
        {"rank": rank_id, "device": device_id},
    )
    others = _value(con, f"SELECT count(*) FROM scratch.raw_counters WHERE NOT {mine}", {"device": device_id})
    return [f"{others:,} counter samples of other devices were left out"] if others else []


def _check_conservation(con: duckdb.DuckDBPyConnection, rank_id: int, kernels: RankKernels) -> None:
    """rows in = rows kept + rows rejected, counted in the tables themselves."""
    read = sum(file.rows_read for file in kernels.files)
    kept = _value(con, "SELECT count(*) FROM kernels WHERE rank_id = ?", [rank_id])
    rejected = _value(con, "SELECT count(*) FROM rejects WHERE rank_id = ?", [rank_id])
    numbers = _value(con, "SELECT count(DISTINCT kernel_id) FROM kernels WHERE rank_id = ?", [rank_id])
    if read != kept + rejected or numbers != kept:
        raise InternalError(
            f"rank {rank_id}: {read} rows read, {kept} kept under {numbers} numbers, {rejected} rejected",
            "nothing was written; report this",
        )


def _whole_capture(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether no row of the rank has a step."""
    return _value(con, "SELECT count(step_id) FROM scratch.raw") == 0


def _evidence(con: duckdb.DuckDBPyConnection, rank_id: int, options: IngestOptions) -> Evidence:
    parameters = {
        "rank": rank_id,
        "min_utilization": options.evidence_min_utilization_pct,
        "min_mhz": options.clock_min_mhz,
        "max_mhz": options.clock_max_mhz,
    }
    row = con.execute(read_sql("evidence.sql"), parameters).fetchone()
    found = Evidence(*row) if row is not None else Evidence(None, None, None, None, None, 0)
    rounds = {
        "rank": rank_id,
        "aic_mhz": found.aic_mhz,
        "aiv_mhz": found.aiv_mhz,
        "tolerance": options.rounds_tolerance,
    }
    bounds = con.execute(read_sql("core_bounds.sql"), rounds).fetchone() or ()
    seen = con.execute(read_sql("counter_evidence.sql"), {"rank": rank_id}).fetchone() or ()
    names = ("cube_cores_min", "cube_cores_max", "vector_cores_min", "vector_cores_max")
    names += ("clock_min_mhz", "clock_max_mhz", "hbm_peak_gb_s")
    return replace(found, **dict(zip(names, (*bounds, *seen), strict=True)))


def _value(con: duckdb.DuckDBPyConnection, query: str, parameters: list | dict | None = None) -> Any:
    row = con.execute(query, parameters).fetchone()
    return None if row is None else row[0]
