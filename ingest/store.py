"""The DuckDB file that keeps runs: opening, listing, removing, and landing a run whole or not at all."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from ..errors import InputMissing
from .database import (
    CONNECTION_CONFIG,
    check_file,
    check_schema,
    create_schema,
    patiently,
)
from .landing import land
from .options import DEFAULTS, IngestOptions
from .records import RunRecord, find_run, runs
from .tables import delete_run

if TYPE_CHECKING:
    import duckdb

__all__ = ["RunRecord", "Store", "find_run", "land", "remove_run", "runs"]


class Store:
    """An open database; a context manager that closes it. `con` is the DuckDB connection."""

    def __init__(self, con: duckdb.DuckDBPyConnection, path: Path) -> None:
        self.con = con
        self.path = path

    @classmethod
    def open(cls, path: Path | str, read_only: bool = True, options: IngestOptions = DEFAULTS) -> Store:
        """Open a database; one opened for writing is created when it is not there.

        Raises InputMissing (no database), UnsupportedExport (another tool's, another schema version) or
        DatabaseBusy (locked for longer than some seconds).
        """
        import duckdb

        path = Path(path)
        if not check_file(path) and read_only:
            raise InputMissing(
                f"no database at {path}", "ingest a profile first (npu-roofline ingest PATH), or give --db"
            )
        con = patiently(
            path, lambda: duckdb.connect(str(path), read_only=read_only, config=CONNECTION_CONFIG), options
        )
        try:
            _accept(con, path, read_only)
        except BaseException:
            con.close()
            raise
        return cls(con, path)

    def close(self) -> None:
        """Close the connection and give the lock back."""
        self.con.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def remove_run(path: Path | str, name: str, options: IngestOptions = DEFAULTS) -> None:
    """Remove one run from a database, in one transaction; InputMissing names the runs that exist."""
    path = Path(path)
    if not check_file(path):
        raise InputMissing(f"no database at {path}", "give the database with --db")
    with Store.open(path, read_only=False, options=options) as store:
        record = find_run(store.con, name)
        store.con.execute("BEGIN")
        delete_run(store.con, "", record.run_id)
        store.con.execute("COMMIT")


def _accept(con: duckdb.DuckDBPyConnection, path: Path, read_only: bool) -> None:
    """Check that the database is ours; an empty one gets the schema, or holds nothing to read."""
    row = con.execute("SELECT current_database()").fetchone()
    if check_schema(con, "" if row is None else row[0], path):
        return
    if read_only:
        raise InputMissing(
            f"the database {path} is empty", "ingest a profile first: npu-roofline ingest PATH"
        )
    create_schema(con)
