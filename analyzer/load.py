"""From export files to a run in the database: parse, find layers, work out statistics, land."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclass_replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..ingest.stage import stage
from ..ingest.store import RunRecord, find_run, land
from ..roofline.resolve import DeviceEvidence, ResolvedDevice, resolve_device
from .answer import Answer, RankRow, RejectRow
from .device_choice import device_info, read_device_argument
from .layers import assign_layers
from .ranks import rank_notes
from .runs import device_of_run, file_rows, question_rows, rank_rows
from .sqlfiles import rows_of
from .statistics import fill_group_statistics

if TYPE_CHECKING:
    import duckdb

# Told as the work goes on: the stage, how much of it is done, and of how much (None = not known).
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class IngestAnswer(Answer):
    """What an ingest read: one row per file; extras `run`, `ranks`, `questions`, and the first `rejects`."""

    rejected: int = 0  # rows set aside; with any, the run is only partly ingested


_REJECTS_SHOWN = 20


def ingest_run(
    paths: Sequence[Path],
    db: Path | str,
    name: str | None = None,
    device: str | None = None,
    replace: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> IngestAnswer:
    """Read export files into the database as one run; it lands whole or not at all.

    The database is locked only for the landing. Raises InputMissing, UnsupportedExport, AlreadyIngested,
    UnknownDevice (before anything is read) or DatabaseBusy.
    """
    tell = progress or _silent
    argument, toml = _checked_device(device)
    with stage(paths, name, argument, jobs, progress=tell) as staging:
        staging.con.execute("UPDATE runs SET device_toml = ?", [toml])
        tell("finding layers", 0, None)
        assign_layers(staging.con)
        tell("working out statistics", 0, None)
        fill_group_statistics(staging.con)
        # Told from the staged run: the database may be locked again as soon as the run is in it.
        answer = ingest_answer(staging.con, find_run(staging.con))
        tell("writing the database", 0, None)
        landed = land(staging, Path(db), replace)
    return dataclass_replace(answer, extras={"name": landed.name, **answer.extras})


def ingest_answer(con: duckdb.DuckDBPyConnection, record: RunRecord) -> IngestAnswer:
    """What was read and what became of it, but for the name, which landing decides."""
    rejects = rows_of(
        con,
        "SELECT rank_id AS rank, file, line, reason, text FROM rejects WHERE run_id = ? "
        "ORDER BY rank_id, file, line LIMIT ?",
        [record.run_id, _REJECTS_SHOWN],
    )
    ranks = rank_rows(con, record.run_id)
    device = device_of_run(con, record)
    return IngestAnswer(
        command="ingest",
        run=None,
        device=None if device is None else device_info(device),
        coverage=None,
        rows=file_rows(con, record.run_id),
        notes=tuple(_notes(con, record, ranks, device)),
        extras={
            "rows_read": record.rows_read,
            "rows_kept": record.rows_kept,
            "rows_rejected": record.rows_rejected,
            "duplicate_rows": _duplicates(con, record.run_id),
            "ranks": ranks,
            "questions": question_rows(con, record.run_id),
            "rejects": tuple(RejectRow(**row) for row in rejects),
        },
        rejected=record.rows_rejected,
    )


def _silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody looks at."""


def _checked_device(device: str | None) -> tuple[str | None, str | None]:
    """The --device value split into name and file text; a name or text that is wrong fails before any
    reading.
    """
    argument, toml = read_device_argument(device)
    if argument is not None:
        resolve_device(DeviceEvidence(device_argument=argument, device_toml=toml))
    return argument, toml


def _duplicates(con: duckdb.DuckDBPyConnection, run_id: int) -> int:
    row = con.execute(
        "SELECT count(*) FROM kernels WHERE run_id = ? AND duplicate_of IS NOT NULL", [run_id]
    ).fetchone()
    return 0 if row is None else row[0]


def _notes(
    con: duckdb.DuckDBPyConnection,
    record: RunRecord,
    ranks: tuple[RankRow, ...],
    device: ResolvedDevice | None,
) -> list[str]:
    """What the reader must know before asking anything of the run."""
    kept, read = f"{record.rows_kept:,}", f"{record.rows_read:,}"
    notes = [f"{kept} of {read} rows kept, {record.rows_rejected:,} rejected"]
    duplicates = _duplicates(con, record.run_id)
    if duplicates:
        notes.append(
            f"{duplicates:,} rows are listed twice by the profiler; each is counted once, both are kept"
        )
    notes += [*(record.notes or ()), *rank_notes(con, record.run_id)]
    if record.rows_rejected > _REJECTS_SHOWN:
        notes.append(f"the first {_REJECTS_SHOWN} rejected rows are shown; the rest is in the table rejects")
    if device is not None and device.device is None:
        notes.append(f"device not known: {device.source}; {device.hint}")
    if not any(rank.has_kernels for rank in ranks):
        notes.append("no rank holds kernels, so only `runs show` can answer anything about this run")
    return notes
