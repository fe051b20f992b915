"""Landing: one staged run into the target database, in one transaction, locked only for that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import AlreadyIngested, InputMissing
from .database import check_file, check_schema, create_schema, patiently
from .options import DEFAULTS, IngestOptions
from .records import RunRecord, find_run, runs
from .tables import copy_run, delete_run

if TYPE_CHECKING:
    import duckdb

    from .stage import Staging

_TARGET = "target"


@dataclass(frozen=True)
class _Place:
    """Where the staged run goes: its name, its number, and the runs that make room for it."""

    name: str
    run_id: int
    replaced: tuple[int, ...]


def land(
    staging: Staging, db_path: Path | str, replace: bool = False, options: IngestOptions = DEFAULTS
) -> RunRecord:
    """Write the staged run into the database; the run is there whole afterwards, or not at all.

    Raises AlreadyIngested (same content, or the name is taken and `replace` is not set), UnsupportedExport
    (the database is another tool's, and stays untouched), DatabaseBusy or InputMissing.
    """
    import duckdb

    path = Path(db_path)
    if not path.resolve().parent.is_dir():
        raise InputMissing(
            f"the folder of the database {path} does not exist", "create it, or give another --db"
        )
    existed = check_file(path)
    con = staging.con
    staged = find_run(con)
    if existed:
        _refuse_foreign(con, path, options)
    with _attached(con, path, staging.catalog, existed, options):
        con.execute("BEGIN")
        try:
            record = _write(con, staging, staged, path, replace)
            con.execute("COMMIT")
        except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
            raise InputMissing(
                f"the database {path} cannot be written: {str(error).splitlines()[0]}",
                "free some space; nothing of the run was written",
            ) from error
        finally:
            with suppress(duckdb.Error):  # no transaction is open after the commit
                con.execute("ROLLBACK")
    return record


def _write(
    con: duckdb.DuckDBPyConnection, staging: Staging, staged: RunRecord, path: Path, replace: bool
) -> RunRecord:
    """Everything that happens inside the transaction, with the target as current catalog."""
    con.execute(f"USE {_TARGET}")
    if not check_schema(con, _TARGET, path):
        create_schema(con)
    place = _place(runs(con), staged, staging.name_given, replace)
    for run_id in place.replaced:
        delete_run(con, _TARGET, run_id)
    copy_run(con, staging.catalog, _TARGET, place.run_id)
    now = datetime.now(UTC).replace(tzinfo=None)
    con.execute("UPDATE runs SET name = ?, ingested_at = ? WHERE run_id = ?", [place.name, now, place.run_id])
    return find_run(con, place.name)


def _place(existing: list[RunRecord], staged: RunRecord, name_given: bool, replace: bool) -> _Place:
    """Decide name and number; AlreadyIngested when the content or the name is there already."""
    number = max((record.run_id for record in existing), default=0) + 1
    same_content = [record for record in existing if record.content_hash == staged.content_hash]
    same_name = [record for record in existing if record.name == staged.name]
    if replace:
        name = same_content[0].name if same_content and not name_given else staged.name
        gone = {record.run_id for record in existing if record.name == name}
        return _Place(name, number, tuple(sorted(gone | {record.run_id for record in same_content})))
    if same_content:
        raise AlreadyIngested(
            f"the same content is in the database already, as run {same_content[0].name!r}",
            "use that run, or read it again with --replace",
        )
    if same_name and name_given:
        raise AlreadyIngested(
            f"a run named {staged.name!r} with other content is in the database already",
            "give another name with --run, or replace it with --replace",
        )
    return _Place(_unused(staged.name, {record.name for record in existing}), number, ())


def _unused(name: str, taken: set[str]) -> str:
    """The name, or the name with the first free number behind it."""
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name}-{number}"
    return candidate


def _refuse_foreign(con: duckdb.DuckDBPyConnection, path: Path, options: IngestOptions) -> None:
    """Look at an existing database read-only first: another tool's must not even be checkpointed."""
    patiently(path, lambda: con.execute(f"ATTACH ? AS {_TARGET} (READ_ONLY)", [str(path)]), options)
    try:
        check_schema(con, _TARGET, path)
    finally:
        con.execute(f"DETACH {_TARGET}")


@contextmanager
def _attached(
    con: duckdb.DuckDBPyConnection, path: Path, staging_catalog: str, existed: bool, options: IngestOptions
) -> Iterator[None]:
    """The target attached, rows written in any order (kernel_id says the order), a file of ours removed again
    when the landing that created it failed.
    """
    import duckdb

    attach = f"ATTACH ? AS {_TARGET} (ROW_GROUP_SIZE {options.row_group_rows})"
    patiently(path, lambda: con.execute(attach, [str(path)]), options)
    landed = False
    try:
        con.execute("SET preserve_insertion_order = false")
        yield
        landed = True
    finally:
        con.execute("SET preserve_insertion_order = true")
        con.execute(f'USE "{staging_catalog}"')
        with suppress(duckdb.Error):  # after a full disk the catalog is invalid already
            con.execute(f"DETACH {_TARGET}")
        if not landed and not existed:
            for left in (path, path.with_name(path.name + ".wal")):
                left.unlink(missing_ok=True)
