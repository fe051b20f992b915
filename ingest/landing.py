"""Landing: one staged run into the target database, whole or not at all, locked only for that.

A database that is not there yet becomes a copy of the staging database, named in one step; into one that
is there the run is copied in one transaction.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import AlreadyIngested, InputMissing
from .database import (
    check_file,
    check_schema,
    comment_columns,
    create_schema,
    no_space,
    patiently,
    transaction,
)
from .options import DEFAULTS, IngestOptions
from .records import RunRecord, find_run, runs
from .scratch import remove_abandoned, scratch_folder
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
    remove_abandoned(path.resolve().parent, _landing_prefix(path))
    try:
        if not check_file(path) and _become(staging, path):
            return find_run(staging.con)
        return _copy_into(staging, path, replace, options)
    except (duckdb.Error, OSError) as error:
        storage = isinstance(error, duckdb.IOException | duckdb.OutOfMemoryException | OSError)
        if not storage and not no_space(error):
            raise
        if _is_of_staging(error, staging):
            raise  # staging says where it works and what to do
        raise InputMissing(
            f"the database {path} cannot be written: {_reason(error)}",
            f"{'free some space, or give' if no_space(error) else 'give'} a --db that you may write to; "
            "nothing of the run was written",
        ) from error


def _reason(error: Exception) -> str:
    """What stood in the way; a failed copy names two files, of which only the database is the user's."""
    said = error.strerror if isinstance(error, OSError) else None
    return said or str(error).splitlines()[0]


def _is_of_staging(error: Exception, staging: Staging) -> bool:
    """Whether it was the staging folder that could not be written: DuckDB spills there while it lands.

    A copy that fails names both its ends; what is full then is the one it was written to.
    """
    return not isinstance(error, OSError) and str(staging.path.parent) in str(error)


def _become(staging: Staging, path: Path) -> bool:
    """Put a copy of the staging database in place of the missing one; False when another process was faster.

    The copy is complete on disk before it gets the name, so a kill leaves no database or a whole one.
    """
    con = staging.con
    with transaction(con):
        con.execute("UPDATE runs SET ingested_at = ?", [_now()])
        comment_columns(con)
    con.execute("CHECKPOINT")
    with scratch_folder(_landing_prefix(path), path.resolve().parent) as folder:
        copy = folder / path.name
        shutil.copyfile(staging.path, copy)
        with copy.open("rb+") as file:
            os.fsync(file.fileno())
        if path.is_file() and not path.stat().st_size:
            path.unlink()  # an empty file holds nothing
        try:
            _give_name(copy, path)
        except FileExistsError:
            return False
    return True


def _landing_prefix(path: Path) -> str:
    """What the folders beside a database are called in which copies of it are made."""
    return f".{path.name}.landing-"


def _give_name(partial: Path, path: Path) -> None:
    """Name the file without overwriting one that appeared meanwhile; FileExistsError when one did."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError(path) from None
        partial.rename(path)


def _copy_into(staging: Staging, path: Path, replace: bool, options: IngestOptions) -> RunRecord:
    """Copy the staged run into a database that is there, in one transaction."""
    import duckdb

    con = staging.con
    staged = find_run(con)
    _refuse_foreign(con, path, options)
    with _attached(con, path, staging.catalog, options):
        con.execute("BEGIN")
        try:
            record = _write(con, staging, staged, path, replace)
            con.execute("COMMIT")
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
    con.execute(
        "UPDATE runs SET name = ?, ingested_at = ? WHERE run_id = ?", [place.name, _now(), place.run_id]
    )
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


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def _refuse_foreign(con: duckdb.DuckDBPyConnection, path: Path, options: IngestOptions) -> None:
    """Look at an existing database read-only first: another tool's must not even be checkpointed."""
    patiently(path, lambda: con.execute(f"ATTACH ? AS {_TARGET} (READ_ONLY)", [str(path)]), options)
    try:
        check_schema(con, _TARGET, path)
    finally:
        con.execute(f"DETACH {_TARGET}")


@contextmanager
def _attached(
    con: duckdb.DuckDBPyConnection, path: Path, staging_catalog: str, options: IngestOptions
) -> Iterator[None]:
    """The target attached for writing; rows are written in any order, because kernel_id says the order."""
    import duckdb

    attach = f"ATTACH ? AS {_TARGET} (ROW_GROUP_SIZE {options.row_group_rows})"
    patiently(path, lambda: con.execute(attach, [str(path)]), options)
    try:
        con.execute("SET preserve_insertion_order = false")
        yield
    finally:
        con.execute("SET preserve_insertion_order = true")
        con.execute(f'USE "{staging_catalog}"')
        with suppress(duckdb.Error):  # after a full disk the catalog is invalid already
            con.execute(f"DETACH {_TARGET}")
