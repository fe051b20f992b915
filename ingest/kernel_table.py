"""kernel_details.csv and op_summary_*.csv -> rows in a scratch database, and rejects with their reasons.

A file is read strictly by DuckDB. Only when that fails, or a row cannot be believed, the file is split line
by line into readable rows and rejects, and the readable rows take the same way in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InternalError, UnsupportedExport
from .columns import Header, resolve
from .database import no_space
from .kernel_sql import (
    cell_types,
    counters_of,
    create_raw,
    insert_rows,
    literal_path,
    raw_columns,
    unbelievable_rows,
)
from .mend_rows import drop_non_finite, impossible_counters, reject_far_rows
from .options import IngestOptions
from .probe import Fingerprint, fingerprint, read_header
from .split import split_rows

if TYPE_CHECKING:
    import duckdb

_HEADER_LINES = 1


@dataclass
class KernelFile:
    """One kernel table as it was read; rows_read is always rows_kept + rows_rejected."""

    path: Path
    header: Header
    print: Fingerprint
    rows_read: int
    rows_kept: int
    rows_rejected: int
    notes: list[str] = field(default_factory=list)


def read_kernel_files(
    con: duckdb.DuckDBPyConnection, paths: Sequence[Path], scratch: Path, options: IngestOptions
) -> list[KernelFile]:
    """Read the kernel tables of one rank into the tables `raw` and `raw_rejects` of a scratch database.

    Raises InputMissing or UnsupportedExport when a file is no kernel table, none of its rows can be believed,
    or it holds the kernels of two devices.
    """
    headers = [resolve(read_header(path), "kernel", str(path)) for path in paths]
    con.execute(create_raw(raw_columns(headers)))
    con.execute("CREATE TABLE raw_rejects (file INTEGER, line BIGINT, reason VARCHAR, text VARCHAR)")
    files = [
        _read_file(con, number, path, header, scratch, options)
        for number, (path, header) in enumerate(zip(paths, headers, strict=True))
    ]
    _refuse_two_devices(con, paths)
    counters = counters_of([file.header for file in files])
    files[0].notes += [*drop_non_finite(con, counters), *impossible_counters(con, counters, options)]
    reject_far_rows(con, files, options)
    return files


def _read_file(
    con: duckdb.DuckDBPyConnection,
    number: int,
    path: Path,
    header: Header,
    scratch: Path,
    options: IngestOptions,
) -> KernelFile:
    before = fingerprint(path)
    rows = None if before.has_nul else _read_strictly(con, number, path, header, before, options)
    if rows is not None:
        file = KernelFile(path, header, before, rows, rows, 0)
    else:
        file = _read_split(con, number, path, header, before, scratch, options)
    if path.stat().st_size != before.bytes:
        raise UnsupportedExport(f"{path} changed while it was read", "wait until the profiler has written it")
    if not file.rows_read:
        raise UnsupportedExport(
            f"{path} has a header and no rows", "no kernel ran while the profiler recorded"
        )
    if not file.rows_kept:
        reason = con.execute("SELECT reason FROM raw_rejects WHERE file = ? LIMIT 1", [number]).fetchone()
        why = "" if reason is None else f": {reason[0]}"
        raise UnsupportedExport(
            f"{path}: none of the {file.rows_read:,} rows can be read{why}",
            "export the profile again as text",
        )
    return file


def _read_strictly(
    con: duckdb.DuckDBPyConnection,
    number: int,
    path: Path,
    header: Header,
    before: Fingerprint,
    options: IngestOptions,
) -> int | None:
    """Rows read when the whole file is as it should be; None (and nothing kept) when anything is not.

    The line count is taken from the bytes, apart from DuckDB: rows and lines must agree.
    """
    import duckdb

    parameters = {"path": literal_path(path), "columns": cell_types(header, has_line=False), "file": number}
    try:
        con.execute(insert_rows(header, has_line=False, options=options), parameters)
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        if no_space(error):
            raise
        return None
    rows = _count(con, "SELECT count(*) FROM raw WHERE file = ?", [number])
    wrong = _count(con, unbelievable_rows(options), [number])
    if rows == before.lines - _HEADER_LINES and not wrong:
        return rows
    con.execute("DELETE FROM raw WHERE file = ?", [number])
    return None


def _read_split(
    con: duckdb.DuckDBPyConnection,
    number: int,
    path: Path,
    header: Header,
    before: Fingerprint,
    scratch: Path,
    options: IngestOptions,
) -> KernelFile:
    """Split the file, then read its readable rows by the same statement."""
    import duckdb

    kept, rejected = scratch / f"kept_{number}.csv", scratch / f"rejected_{number}.csv"
    split = split_rows(path, header, kept, rejected, options)
    parameters = {"path": literal_path(kept), "columns": cell_types(header, has_line=True), "file": number}
    if split.rows_kept:
        try:
            con.execute(insert_rows(header, has_line=True, options=options), parameters)
        except duckdb.Error as error:
            if no_space(error):
                raise
            problem = str(error).splitlines()[0]
            raise InternalError(f"{path}: checked rows cannot be read: {problem}", "report this") from error
    rows = _count(con, "SELECT count(*) FROM raw WHERE file = ?", [number])
    wrong = _count(con, unbelievable_rows(options), [number])
    _load_rejects(con, number, rejected, options)
    rejects = _count(con, "SELECT count(*) FROM raw_rejects WHERE file = ?", [number])
    kept.unlink()
    rejected.unlink()
    if wrong or rows != split.rows_kept or rows + rejects != split.rows_read:
        raise InternalError(
            f"{path}: {split.rows_read} rows read, {rows} kept ({wrong} of them wrong), {rejects} rejected",
            "nothing was written; report this",
        )
    notes = [f"{count:,} cells of {name} cannot be read" for name, count in sorted(split.unread.items())]
    return KernelFile(path, header, before, split.rows_read, rows, rejects, notes)


def _load_rejects(con: duckdb.DuckDBPyConnection, number: int, path: Path, options: IngestOptions) -> None:
    con.execute(
        "INSERT INTO raw_rejects SELECT ?, line, reason, text FROM read_csv(?, header = true, "
        "auto_detect = false, delim = ',', quote = '\"', escape = '\"', "
        "columns = {'line': 'BIGINT', 'reason': 'VARCHAR', 'text': 'VARCHAR'}, max_line_size = ?)",
        [number, literal_path(path), options.line_limit_bytes],
    )


def _refuse_two_devices(con: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> None:
    """Kernels of two devices overlap in time: as one rank they would be read as one device doing both."""
    rows = con.execute("SELECT DISTINCT device_id FROM raw WHERE device_id IS NOT NULL ORDER BY 1").fetchall()
    if len(rows) > 1:
        devices = ", ".join(str(device) for (device,) in rows)
        where = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
        raise UnsupportedExport(
            f"{where}: the rows are of several devices (Device_id {devices})",
            "split the file by Device_id, one folder per device, and ingest the folder above them",
        )


def _count(con: duckdb.DuckDBPyConnection, query: str, parameters: list) -> int:
    row = con.execute(query, parameters).fetchone()
    return 0 if row is None else row[0]
