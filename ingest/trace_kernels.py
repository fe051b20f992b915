"""A trace alone -> kernels: names, streams and times; a trace has no shapes and no counters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UnsupportedExport
from .columns import Header, header_of, kernel_columns
from .database import read_sql
from .kernel_sql import create_raw, raw_columns
from .kernel_table import KernelFile
from .mend_rows import set_far_rows_apart
from .options import IngestOptions
from .probe import Fingerprint
from .trace_events import TraceFile, create_events, read_trace
from .trace_views import create_views

if TYPE_CHECKING:
    import duckdb

_COLUMNS = (
    *("name", "core", "start", "duration_us", "step_id", "stream_id", "task_id", "model_id", "context_id"),
)


def read_trace_kernels(
    con: duckdb.DuckDBPyConnection, paths: list[Path], options: IngestOptions
) -> tuple[list[KernelFile], list[TraceFile]]:
    """Read the traces of one rank, and their kernels into `raw` and `raw_rejects` of a scratch database.

    Raises InputMissing or UnsupportedExport when a file is no trace or holds no kernels, or those of
    two devices.
    """
    create_events(con)
    traces = [read_trace(con, number, path, options) for number, path in enumerate(paths)]
    create_views(con)
    header = _header()
    con.execute(create_raw(raw_columns([header])))
    con.execute("CREATE TABLE raw_rejects AS FROM trace_rejects")
    _refuse_two_devices(con, paths)
    con.execute(read_sql("trace_kernels.sql"))
    set_far_rows_apart(con, options.far_start_days)
    kernels = _value(con, "SELECT count(*) FROM raw")
    if not kernels:
        raise UnsupportedExport(
            f"{paths[0]}: the trace holds {sum(trace.events for trace in traces):,} events and no kernels",
            "record with ProfilerActivity.NPU, or give the kernel table of the same capture",
        )
    return [_file(con, number, trace, header) for number, trace in enumerate(traces)], traces


def _file(con: duckdb.DuckDBPyConnection, number: int, trace: TraceFile, header: Header) -> KernelFile:
    """One trace as a kernel table. Damage in it may have been a kernel, so it counts as rejected rows."""
    kept = _value(con, f"SELECT count(*) FROM raw WHERE file = {number:d}")
    rejected = _value(con, f"SELECT count(*) FROM raw_rejects WHERE file = {number:d}")
    notes = [
        "a trace has no shapes and no hardware counters: kernels have names, streams and times only",
        *trace.notes,
    ]
    print_ = Fingerprint(trace.sha256, trace.path.stat().st_size, 0, False)
    return KernelFile(trace.path, header, print_, kept + rejected, kept, rejected, notes)


def _header() -> Header:
    """The columns that a trace gives a kernel, as the header of a kernel table would have them."""
    return header_of([column for column in kernel_columns() if column.name in _COLUMNS], [])


def _refuse_two_devices(con: duckdb.DuckDBPyConnection, paths: list[Path]) -> None:
    """Kernels of two devices overlap in time: as one rank they would be read as one device doing both."""
    devices = _value(con, "SELECT count(DISTINCT pid) FROM t_tasks WHERE kind = 'kernel'")
    if devices > 1:
        raise UnsupportedExport(
            f"{paths[0]}: the kernels are of {devices} devices",
            "export each device apart (msprof --export=on on its PROF_* folder), or give the kernel table",
        )


def _value(con: duckdb.DuckDBPyConnection, query: str) -> Any:
    return con.execute(query).fetchall()[0][0]
