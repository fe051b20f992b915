"""Export files -> a temporary database with one run in it; the target database is not touched or locked."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputMissing, NpuRooflineError, UnsupportedExport
from .assemble import RankKernels, add_rank
from .database import CONNECTION_CONFIG, create_tables, no_space, transaction
from .discover import Discovery, discover
from .grouping import FoundRank, is_database
from .host_csv import host_files, read_host_rank
from .kernel_table import KernelFile, read_kernel_files
from .naming_runs import default_name
from .opprof import OPERATOR_FILE
from .opprof_kernels import read_operator_kernels
from .options import DEFAULTS, IngestOptions
from .probe import refuse_hollow, unchanged
from .profiler_db import CounterFile, read_counters, read_profiler_database
from .scratch import scratch_folder
from .signatures import SignatureRow
from .staged_rank import StagedRank, write_others, write_rank
from .trace_events import TRACE_KINDS, TraceFile
from .trace_kernels import read_trace_kernels
from .trace_views import add_counters, read_traces

if TYPE_CHECKING:
    import duckdb

# Told as the work goes on: the stage, how much of it is done, and of how much (None = not known).
Progress = Callable[[str, int, int | None], None]
_CATALOG = "staging"


@dataclass
class Staging:
    """One run in a temporary database: `con` sees it in the tables of the schema, as run 1."""

    con: duckdb.DuckDBPyConnection
    path: Path
    name_given: bool
    catalog: str = _CATALOG


@contextmanager
def stage(
    paths: Sequence[Path | str],
    name: str | None = None,
    device_argument: str | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    options: IngestOptions = DEFAULTS,
) -> Iterator[Staging]:
    """Read export files into a temporary database and remove it at the end.

    `jobs` ranks are read at a time (default: as many as there are processors). A rank that cannot be read is
    reported and the others are kept; raises InputMissing or UnsupportedExport when nothing can be read.
    """
    import duckdb

    tell = progress or _silent
    found = discover(paths)
    _refuse_unanswerable(found, paths)
    with _scratch() as folder:
        path = folder / f"{_CATALOG}.duckdb"
        con = _connect(path, options)
        try:
            with transaction(con):  # committed one by one, they cost a second of disk writes
                create_tables(con)
            _fill(con, found, folder, jobs, tell, options)
            _write_run(con, paths, name, device_argument, found)
            yield Staging(con, path, name is not None)
        except (duckdb.Error, OSError) as error:  # of what is done with the staged run too: it may grow
            storage = isinstance(error, duckdb.IOException | duckdb.OutOfMemoryException)
            if not storage and not no_space(error):
                raise
            raise InputMissing(
                f"the run cannot be staged in {folder}: {str(error).splitlines()[0]}",
                "free some space there, or set TMPDIR to a folder that has it",
            ) from error
        finally:
            con.close()


@contextmanager
def _scratch() -> Iterator[Path]:
    """The folder to work in; InputMissing where there is none to be had."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(scratch_folder("npu-roofline-"))
        except OSError as error:
            raise InputMissing(
                f"there is no temporary folder to work in: {error.strerror or error}",
                "set TMPDIR to a folder that you may write to",
            ) from error
        yield folder


def _silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody looks at."""


def _connect(
    path: Path, options: IngestOptions, columns: int = 0, threads: int = 0
) -> duckdb.DuckDBPyConnection:
    """A scratch database of its own, with memory for reading that many columns with that many threads."""
    import duckdb

    need = options.memory_per_column_mib * columns * max(0, threads - 1)
    config: dict[str, str | bool | int | float | list[str]] = {
        **CONNECTION_CONFIG,
        "memory_limit": f"{max(options.memory_limit_mib, need)}MiB",
        "temp_directory": str(path.with_suffix(".tmp")),
        "threads": str(threads or _processors(options)),
    }
    con = duckdb.connect(config=config)
    catalog = path.stem
    con.execute(f"ATTACH ? AS {catalog} (ROW_GROUP_SIZE {options.row_group_rows})", [str(path)])
    con.execute(f"USE {catalog}")
    return con


def _processors(options: IngestOptions) -> int:
    return max(1, min(os.cpu_count() or 1, options.threads_limit))


def _refuse_unanswerable(found: Discovery, paths: Sequence[Path | str]) -> None:
    """Stop when there is nothing in the paths that this version reads."""
    if any(
        file.role in ("kernels", "counters", "statistics", "host", "trace")
        for rank in found.ranks
        for file in rank.files
    ):
        return
    kinds = sorted(
        {file.kind for rank in found.ranks for file in rank.files} | {file.kind for file in found.others}
    )
    where = ", ".join(str(path) for path in paths)
    raise UnsupportedExport(
        f"{where}: no kernel table; found {', '.join(kinds)}, which this version does not read",
        "export as text too (torch_npu.profiler: export_type=ExportType.Text; msprof: --export=on)",
    )


def _fill(
    con: duckdb.DuckDBPyConnection,
    found: Discovery,
    folder: Path,
    jobs: int | None,
    tell: Progress,
    options: IngestOptions,
) -> None:
    """Read every rank, several at a time, and put one after the other into the tables."""
    with_kernels = [rank for rank in found.ranks if rank.kernel_files]
    workers = max(1, min(jobs or _processors(options), len(with_kernels) or 1))
    threads = max(1, _processors(options) // workers)
    signatures: dict[int, SignatureRow] = {}
    failures: list[NpuRooflineError] = []
    done = 0
    tell("reading ranks", 0, len(with_kernels))
    with ThreadPoolExecutor(max_workers=workers) as pool:
        reading = {
            rank.rank_id: pool.submit(_read_rank, rank, folder / f"rank_{rank.rank_id}", threads, options)
            for rank in with_kernels
        }
        hosts = {
            rank.rank_id: pool.submit(read_host_rank, con.cursor(), _CATALOG, rank, options)
            for rank in found.ranks
            if host_files(rank)
        }
        for rank in found.ranks:
            staged = StagedRank(rank)
            if rank.rank_id in hosts:
                staged.host = hosts[rank.rank_id].result()
            if rank.rank_id in reading:
                try:
                    kernels = reading[rank.rank_id].result()
                    staged.kernels, staged.counters = kernels.files, kernels.counters
                    staged.traces = kernels.traces
                    staged.assembled = add_rank(con, rank.rank_id, kernels, signatures, options)
                    kernels.scratch.unlink()
                except NpuRooflineError as error:
                    if error.exit_code == 5 or len(with_kernels) == 1:
                        raise
                    staged.failure = error
                    failures.append(error)
                done += 1
                tell("reading ranks", done, len(with_kernels))
            with transaction(con):
                write_rank(con, staged, options)
    if failures and len(failures) == len(with_kernels):
        raise failures[0]
    write_others(con, found, options)
    found.notes += [f"a rank could not be read: {failure.message}" for failure in failures]


def _read_rank(rank: FoundRank, folder: Path, threads: int, options: IngestOptions) -> RankKernels:
    """Read the kernel tables of one rank into a database of its own; runs in a thread."""
    folder.mkdir()
    scratch = folder / "scratch.duckdb"
    con = _connect(scratch, options, options.columns_to_read, threads)
    try:
        large = [file.path for file in rank.large_files]
        refuse_hollow(large, options)
        with unchanged(large):
            read = _read_files(con, rank, folder, options)
        con.execute("CHECKPOINT")
    except OSError as error:
        if no_space(error):  # that is no fault of the rank: without it the run would land in part
            raise
        where = error.filename or rank.root
        raise InputMissing(f"{where} cannot be read: {error.strerror or error}", "check the file") from error
    finally:
        con.close()
    files, counters, traces = read
    return RankKernels(files, scratch, counters, traces)


def _read_files(
    con: duckdb.DuckDBPyConnection, rank: FoundRank, folder: Path, options: IngestOptions
) -> tuple[list[KernelFile], list[CounterFile], list[TraceFile]]:
    """What each of the large files of a rank gave: kernel tables, databases for their counters, traces."""
    traces: list[TraceFile] = []
    paths = [file.path for file in rank.kernel_files]
    kind = rank.kernel_files[0].kind
    if kind in TRACE_KINDS:
        files, traces = read_trace_kernels(con, paths, options)
    elif kind == OPERATOR_FILE:
        files = read_operator_kernels(con, rank, options)
    elif is_database(rank.kernel_files[0]):
        files = [read_profiler_database(con, paths[0], options, rank.only)]
    else:
        files = read_kernel_files(con, paths, folder, options)
    counters = [read_counters(con, file.path, options) for file in rank.counter_files]
    traces += read_traces(con, [file.path for file in rank.trace_files], options)
    add_counters(con)
    return files, counters, traces


def _write_run(
    con: duckdb.DuckDBPyConnection,
    paths: Sequence[Path | str],
    name: str | None,
    device_argument: str | None,
    found: Discovery,
) -> None:
    """The row of the table runs: what was read, and a hash of it that does not depend on where it lay."""
    rows = con.execute(
        "SELECT rank_id, kind, sha256 FROM files WHERE status = 'read' AND sha256 IS NOT NULL ORDER BY ALL"
    ).fetchall()
    digest = hashlib.sha256("\n".join("\t".join(map(str, row)) for row in rows).encode()).hexdigest()
    con.execute(
        "INSERT INTO runs BY NAME SELECT 1 AS run_id, ? AS name, ? AS content_hash, ? AS source_paths, "
        "? AS device_argument, coalesce(sum(rows_read), 0) AS rows_read, "
        "coalesce(sum(rows_kept), 0) AS rows_kept, coalesce(sum(rows_rejected), 0) AS rows_rejected, "
        "CAST(? AS VARCHAR[]) AS notes "
        "FROM (SELECT *, kind IN ('trace_view', 'msprof_trace') AND NOT bool_or(kind IN ('kernel_details', "
        "'op_summary')) OVER (PARTITION BY rank_id) AS kernels_of_trace FROM files WHERE status = 'read') "
        "WHERE (kind IN "
        "('kernel_details', 'op_summary', 'profiler_database', 'msprof_database') "
        "OR (kind = 'opprof_operator' AND rank_id IS NOT NULL) OR kernels_of_trace)",
        [name or default_name(paths), digest, [str(path) for path in paths], device_argument, found.notes],
    )
