"""The rows of the tables ranks and files for one rank, and what its small files say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NpuRooflineError
from .assemble import Assembled, Evidence
from .communication import COMMUNICATION_KINDS, add_communication, read_communication
from .database import insert_rows
from .device_info import add_device_info, read_device_info
from .discover import Discovery
from .grouping import FoundFile, FoundRank
from .host_csv import HostFile
from .kernel_table import KernelFile
from .l2_cache import match_l2_cache
from .operator_tables import operator_notes, write_operators
from .opprof import BLOCKS_FILE, OPERATOR_FILE, Operator
from .opprof_summary import read_hardware
from .options import IngestOptions
from .probe import fingerprint
from .profiler_about import read_step_trace
from .profiler_db import CounterFile
from .reconcile import reconcile_statistics
from .run_info import RunInfoFile, read_distributed
from .small_tables import SmallTable, add_op_statistics, add_step_trace, read_small_table
from .trace_events import TraceFile

if TYPE_CHECKING:
    import duckdb

_NOT_READ = "recognised; not read by this version"


@dataclass
class StagedRank:
    """A rank on its way into the tables: its kernel files and what they gave, or why they gave nothing."""

    found: FoundRank
    kernels: list[KernelFile] = field(default_factory=list)
    counters: list[CounterFile] = field(default_factory=list)
    host: list[HostFile] = field(default_factory=list)
    traces: list[TraceFile] = field(default_factory=list)
    assembled: Assembled | None = None
    failure: NpuRooflineError | None = None


@dataclass
class _FileRow:
    """One row of the table files."""

    file: FoundFile
    status: str
    sha256: str | None = None
    rows: tuple[int | None, int | None, int | None] = (None, None, None)
    note: str | None = None


def write_rank(con: duckdb.DuckDBPyConnection, staged: StagedRank, options: IngestOptions) -> None:
    """Write one rank: its files, its small tables, its row in ranks."""
    found = staged.found
    notes = [*found.notes, *(staged.assembled.notes if staged.assembled else [])]
    rows = [_kernel_file_row(file, staged) for file in found.kernel_files]
    device_id = staged.assembled.device_id if staged.assembled else None
    rows += [_counter_file_row(file, staged) for file in found.counter_files]
    rows += [_trace_file_row(file, staged) for file in found.trace_files]
    readers = {
        "step_trace_time": (read_small_table, add_step_trace),
        "analysis_database": (read_step_trace, add_step_trace),
        "op_statistic": (read_small_table, add_op_statistics),
    }
    for kind, (read, add) in readers.items():
        for file in found.of(kind):
            table = read(file.path, kind, options)
            add(con, found.rank_id, table.rows)
            rows.append(_small_file_row(file, table))
            devices = {row["device_id"] for row in table.rows if row.get("device_id") is not None}
            if device_id is None and len(devices) == 1:
                device_id = devices.pop()
    distributed = None
    for file in found.of("profiler_metadata"):
        distributed, problem = read_distributed(file.path)
        rows.append(_info_file_row(file, problem))
    rows += [
        _info_file_row(file, found.info.problem if found.info else None) for file in found.of("profiler_info")
    ]
    rows += _device_info_rows(con, found, options)
    rows += [_host_file_row(file) for file in staged.host]
    rows += _communication_rows(con, found, options)
    notes += _reconciled(con, found.rank_id, rows, options)
    notes += match_l2_cache(con, found.rank_id) if found.of("l2_cache") else []
    rows += [_FileRow(file, "ignored", note=file.ignored) for file in found.files if file.ignored]
    rows += [_FileRow(file, "not_read_yet", note=_NOT_READ) for file in found.files if file.role == "later"]
    notes += [f"{file.path.name}: {note}" for file in staged.kernels for note in file.notes]
    beside = {file.path for file in found.trace_files}
    notes += [
        f"{trace.path.name}: {note}"
        for trace in staged.traces
        if trace.path in beside
        for note in _said(trace)
    ]
    notes += _trace_notes(con, found.rank_id, options) if staged.assembled else []
    if staged.failure:
        notes.append(f"its kernel table could not be read: {staged.failure.message}")
    _insert_files(con, found.rank_id, rows)
    _insert_rank(con, staged, device_id, distributed, notes)


def write_others(con: duckdb.DuckDBPyConnection, found: Discovery, options: IngestOptions) -> None:
    """Write operators measured alone, which need the kernels of every rank, and the files of no rank."""
    for rank in found.ranks:
        alone = [file for file in rank.files if file.kind in (OPERATOR_FILE, BLOCKS_FILE)]
        rows = _operator_rows(write_operators(con, alone, rank.rank_id, options))
        _insert_files(con, rank.rank_id, [row for row in rows if row.file.role != "kernels"])
    rows = _operator_rows(write_operators(con, found.others, None, options))
    rows += [_FileRow(file, "ignored", note=file.ignored) for file in found.others if file.ignored]
    beside = "the run beside it says its chip itself"
    rows += [_FileRow(file, "ignored", note=beside) for file in found.others if file.kind == "hardware_info"]
    rows += [_FileRow(file, "not_read_yet", note=_NOT_READ) for file in found.others if file.role == "later"]
    _insert_files(con, None, rows)
    found.notes += operator_notes(con)


def _operator_rows(operators: Sequence[Operator]) -> list[_FileRow]:
    """The files of msprof op; damage in one costs only what it holds."""
    rows = []
    for operator in operators:
        if operator.basic is not None:
            rows.append(_small_file_row(operator.basic, operator.table))
        for block in operator.files:
            if block.problem:
                rows.append(_FileRow(block.file, "failed", note=block.problem))
                continue
            counts = (len(block.rows) + block.skipped, len(block.rows), block.skipped)
            note = f"{block.skipped} damaged rows were left out" if block.skipped else None
            rows.append(_FileRow(block.file, "read", block.sha256, counts, note))
    return rows


def _kernel_file_row(file: FoundFile, staged: StagedRank) -> _FileRow:
    if staged.failure:
        return _FileRow(file, "failed", note=staged.failure.message)
    read = next(each for each in staged.kernels if each.path == file.path)
    counts = (read.rows_read, read.rows_kept, read.rows_rejected)
    return _FileRow(file, "read", read.print.sha256, counts, "; ".join(read.notes) or None)


def _counter_file_row(file: FoundFile, staged: StagedRank) -> _FileRow:
    """A database beside a text export; damage in it costs only its counters."""
    read = next((each for each in staged.counters if each.path == file.path), None)
    if read is None or read.problem:
        return _FileRow(file, "failed", note=read.problem if read else "its rank could not be read")
    said = (
        f"{staged.kernels[0].path.name} has the kernels of this rank; of the database the counters are read"
    )
    return _FileRow(file, "read", read.sha256, note="; ".join([said, *read.notes]))


def _trace_file_row(file: FoundFile, staged: StagedRank) -> _FileRow:
    """A trace beside a kernel table; damage in it costs only what it would have said."""
    read = next((each for each in staged.traces if each.path == file.path), None)
    if read is None or read.problem:
        return _FileRow(file, "failed", note=read.problem if read else "its rank could not be read")
    counts = (read.events + read.rejected, read.events, read.rejected)
    return _FileRow(file, "read", read.sha256, counts, "; ".join(read.notes) or None)


def _said(trace: TraceFile) -> list[str]:
    return trace.notes if trace.problem is None else [f"the trace was not read: {trace.problem}"]


def _small_file_row(file: FoundFile, table: SmallTable) -> _FileRow:
    if table.problem:
        return _FileRow(file, "failed", note=table.problem)
    counts = (len(table.rows) + table.skipped, len(table.rows), table.skipped)
    note = f"{table.skipped} damaged rows were left out" if table.skipped else None
    return _FileRow(file, "read", table.print.sha256 if table.print else None, counts, note)


def _device_info_rows(
    con: duckdb.DuckDBPyConnection, found: FoundRank, options: IngestOptions
) -> list[_FileRow]:
    rows = []
    for kind, read, source in (
        ("device_info", read_device_info, "info.json"),
        ("hardware_info", read_hardware, "HardwareInfo.jsonl"),
    ):
        for file in found.of(kind):
            info = read(file.path, options)
            add_device_info(con, found.rank_id, info, source)
            rows.append(_info_file_row(file, info.problem))
    return rows


def _communication_rows(
    con: duckdb.DuckDBPyConnection, found: FoundRank, options: IngestOptions
) -> list[_FileRow]:
    """Read what the profiler says about collectives; a database says it where no JSON file does."""
    files = [file for kind in COMMUNICATION_KINDS for file in found.of(kind)]
    if not files:
        for file in found.of("analysis_database"):  # its row in files is that of its steps
            add_communication(con, found.rank_id, read_communication(file, options))
        return []
    rows = []
    for file in files:
        read = read_communication(file, options)
        add_communication(con, found.rank_id, read)
        if read.problem:
            rows.append(_FileRow(file, "failed", note=read.problem))
            continue
        counts = (len(read.rows) + read.skipped, len(read.rows), read.skipped)
        note = f"{read.skipped} damaged entries were left out" if read.skipped else None
        rows.append(_FileRow(file, "read", read.sha256, counts, note))
    return rows


def _reconciled(
    con: duckdb.DuckDBPyConnection, rank_id: int, rows: Sequence[_FileRow], options: IngestOptions
) -> list[str]:
    """Say at the file of the exporter's own sums whether the kernels have them; notes where they have not."""
    listed = [row for row in rows if row.file.kind == "op_statistic" and row.status == "read"]
    if not listed:
        return []
    said, notes = reconcile_statistics(con, rank_id, options)
    for row in listed:
        row.note = "; ".join(filter(None, (row.note, said))) or None
    return notes


def _host_file_row(read: HostFile) -> _FileRow:
    if read.problem:
        return _FileRow(read.file, "failed", note=read.problem)
    counts = (read.rows_read, read.rows_kept, read.rows_read - read.rows_kept)
    return _FileRow(read.file, "read", read.sha256, counts, "; ".join(read.notes) or None)


def _info_file_row(file: FoundFile, problem: str | None) -> _FileRow:
    if problem:
        return _FileRow(file, "failed", note=problem)
    try:
        return _FileRow(file, "read", fingerprint(file.path).sha256)
    except NpuRooflineError as error:  # it was there a moment ago; the kernels do not hang on it
        return _FileRow(file, "failed", note=error.message)


def _trace_notes(con: duckdb.DuckDBPyConnection, rank_id: int, options: IngestOptions) -> list[str]:
    """The profiler's own computing time must be in the kernels; where it is not, they are an excerpt.

    Kernels of several streams overlap, so more kernel time than computing is normal; less is not.
    """
    rows = con.execute(
        "SELECT s.step_id, s.trace_computing_us, sum(k.duration_us) FROM steps s "
        "JOIN kernels k ON k.rank_id = s.rank_id AND k.step_id = s.step_id "
        "WHERE s.rank_id = ? AND s.trace_computing_us > 0 AND k.duplicate_of IS NULL "
        "AND k.kernel_class <> 'communication' GROUP BY ALL "
        "HAVING sum(k.duration_us) < s.trace_computing_us * ? ORDER BY s.step_id",
        [rank_id, 1 - options.trace_difference_share],
    ).fetchall()
    return [
        f"step {step}: the exporter's step times say {said:,.0f} us of computing, the kernel table holds "
        f"{held:,.0f} us: the two are not of the same capture, or the table is an excerpt"
        for step, said, held in rows
    ]


def _insert_files(con: duckdb.DuckDBPyConnection, rank_id: int | None, rows: Sequence[_FileRow]) -> None:
    insert_rows(
        con,
        "files",
        [
            (
                1,
                rank_id,
                str(row.file.path),
                row.file.kind,
                row.status,
                row.sha256,
                _size(row.file.path),
                *row.rows,
                row.note,
            )
            for row in rows
        ],
    )


def _insert_rank(
    con: duckdb.DuckDBPyConnection,
    staged: StagedRank,
    device_id: int | None,
    distributed: str | None,
    notes: list[str],
) -> None:
    found, info = staged.found, staged.found.info or RunInfoFile()
    evidence = staged.assembled.evidence if staged.assembled else Evidence(None, None, None, None, None, 0)
    values = {
        "run_id": 1,
        "rank_id": found.rank_id,
        "label": found.label,
        "device_id": device_id,
        "path": str(found.root),
        "has_kernels": staged.assembled is not None,
        "holds": found.holds,
        "profiler_level": info.profiler_level,
        "aic_metrics": info.aic_metrics,
        "metric_mode": staged.kernels[0].header.metric_mode if staged.assembled else None,
        "cann_version": info.cann_version,
        "torch_npu_version": info.torch_npu_version,
        "cube_cores_mhz": evidence.cube_cores_mhz,
        "cube_cores_mhz_spread": evidence.cube_cores_mhz_spread,
        "aic_mhz": evidence.aic_mhz,
        "aiv_mhz": evidence.aiv_mhz,
        "cube_cores": evidence.cube_cores,
        "evidence_rows": evidence.evidence_rows,
        "cube_cores_min": evidence.cube_cores_min,
        "cube_cores_max": evidence.cube_cores_max,
        "vector_cores_min": evidence.vector_cores_min,
        "vector_cores_max": evidence.vector_cores_max,
        "clock_min_mhz": evidence.clock_min_mhz,
        "clock_max_mhz": evidence.clock_max_mhz,
        "hbm_peak_gb_s": evidence.hbm_peak_gb_s,
        "unknown_columns": sorted({name for file in staged.kernels for name in file.header.unknown}),
        "distributed": distributed,
        "notes": notes,
    }
    con.execute(
        f"INSERT INTO ranks ({', '.join(values)}) VALUES ({', '.join('?' for _ in values)})",
        list(values.values()),
    )


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
