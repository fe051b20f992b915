"""The runs of a database as plain records."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from ..errors import InputMissing

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class RunRecord:
    """One row of the table runs."""

    run_id: int
    name: str
    content_hash: str
    ingested_at: datetime
    source_paths: tuple[str, ...]
    device_argument: str | None
    device_toml: str | None
    rows_read: int
    rows_kept: int
    rows_rejected: int
    notes: tuple[str, ...]


_SELECT = """
SELECT run_id, name, content_hash, ingested_at, source_paths, device_argument, device_toml,
    rows_read, rows_kept, rows_rejected, notes
FROM runs ORDER BY run_id
"""


def runs(con: duckdb.DuckDBPyConnection) -> list[RunRecord]:
    """Every run of the database, in the order they were ingested."""
    return [_record(row) for row in con.execute(_SELECT).fetchall()]


def find_run(con: duckdb.DuckDBPyConnection, name: str | None = None) -> RunRecord:
    """The run of that name, or the latest; InputMissing names the runs that exist."""
    found = runs(con)
    if not found:
        raise InputMissing("the database holds no runs", "ingest a profile first: npu-roofline ingest PATH")
    if name is None:
        return found[-1]
    for record in found:
        if record.name == name:
            return record
    names = ", ".join(record.name for record in found)
    raise InputMissing(f"no run is named {name!r}", f"runs in this database: {names}")


def _record(row: tuple) -> RunRecord:
    run_id, name, content_hash, ingested_at, paths, device, toml, read, kept, rejected, notes = row
    return RunRecord(
        run_id=run_id,
        name=name,
        content_hash=content_hash,
        ingested_at=ingested_at,
        source_paths=tuple(paths or ()),
        device_argument=device,
        device_toml=toml,
        rows_read=read,
        rows_kept=kept,
        rows_rejected=rejected,
        notes=tuple(notes or ()),
    )
