"""Opening DuckDB files: ours or somebody else's, free or locked, and the schema inside."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .. import __version__
from ..errors import DatabaseBusy, InputMissing, UnsupportedExport
from .options import DEFAULTS, IngestOptions

if TYPE_CHECKING:
    import duckdb

SCHEMA_VERSION = 3
SCHEMA_FILES = (
    "schema.sql",
    "schema_kernels.sql",
    "schema_experiments.sql",
    "schema_statistics.sql",
    "schema_trace.sql",
    "schema_host.sql",
)
# A full disk, a quota, and the limit of a process or a file system on one file.
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_OTHER_DATABASE = "choose another file with --db; this one is left as it is"
# Nothing is ever fetched: the tool works without a network.
CONNECTION_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    # A name that is no table is an error, never a variable of this program that happens to be called so.
    "python_enable_replacements": "false",
}

Opened = TypeVar("Opened")


def read_sql(name: str) -> str:
    """The text of one file of ingest/sql."""
    return (Path(__file__).parent / "sql" / name).read_text(encoding="utf-8")


def create_schema(con: duckdb.DuckDBPyConnection) -> None:
    """Create every table, with its comments, in the current catalog of the connection."""
    create_tables(con)
    comment_columns(con)


def create_tables(con: duckdb.DuckDBPyConnection) -> None:
    """Create every table without comments, which would take ten times as long: enough for staging."""
    _run_schema(con, comments=False)
    con.execute("INSERT INTO _schema VALUES (?, ?)", [SCHEMA_VERSION, __version__])


def comment_columns(con: duckdb.DuckDBPyConnection) -> None:
    """Say of every column what it holds, in the current catalog of the connection."""
    _run_schema(con, comments=True)


def _run_schema(con: duckdb.DuckDBPyConnection, comments: bool) -> None:
    for name in SCHEMA_FILES:
        for statement in con.extract_statements(read_sql(name)):
            if statement.query.lstrip().startswith("COMMENT ON") == comments:
                con.execute(statement)


def check_file(path: Path) -> bool:
    """Whether a DuckDB file is there; False when nothing is, or an empty file.

    Raises UnsupportedExport when something else is there, InputMissing when it cannot be read.
    """
    try:
        if path.is_dir():
            raise UnsupportedExport(f"{path} is a folder, not a database", "give a file name with --db")
        if not path.exists():
            return False
        if not path.is_file():  # /dev/null looks like an empty file, and would be replaced by a database
            raise UnsupportedExport(f"{path} is a device or a pipe, not a database", _OTHER_DATABASE)
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise InputMissing(
            f"the database {path} cannot be read: {error.strerror}", _OTHER_DATABASE
        ) from error
    if not head:
        return False
    if head[8:12] == b"DUCK":
        return True
    what = "an SQLite database" if head.startswith(b"SQLite format 3") else "not a DuckDB database"
    raise UnsupportedExport(f"{path} is {what}", _OTHER_DATABASE)


def check_schema(con: duckdb.DuckDBPyConnection, catalog: str, path: Path) -> bool:
    """Whether the catalog is ours; False when it is empty. UnsupportedExport when it is another tool's."""
    rows = con.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = ? AND NOT internal",
        [catalog],
    ).fetchall()
    columns = set(rows)
    if not columns:
        return False
    if not {("_schema", "version"), ("runs", "run_id"), ("kernels", "run_id")} <= columns:
        raise UnsupportedExport(f"{path} is a database of another tool", _OTHER_DATABASE)
    row = con.execute(f'SELECT max(version) FROM "{catalog}"._schema').fetchone()
    version = None if row is None else row[0]
    if version != SCHEMA_VERSION:
        raise UnsupportedExport(
            f"{path} has schema version {version}; this version of the tool reads {SCHEMA_VERSION}",
            "ingest the exports again into a new database with --db",
        )
    return True


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """One commit for many statements: each commit of its own waits for the disk."""
    con.begin()
    try:
        yield
    except BaseException:
        con.rollback()
        raise
    con.commit()


def insert_rows(con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[Any]]) -> None:
    """Insert whole rows of a table, or a temporary one, as column lists: one statement, however many rows."""
    if not rows:
        return
    types = con.execute(
        "SELECT data_type FROM duckdb_columns() WHERE table_name = ? "
        "AND database_name IN (current_database(), 'temp') ORDER BY column_index",
        [table],
    ).fetchall()
    lists = ", ".join(f"unnest(CAST(? AS {type_}[]))" for (type_,) in types)
    con.execute(f"INSERT INTO {table} SELECT {lists}", [list(column) for column in zip(*rows, strict=True)])


def patiently(path: Path, open_it: Callable[[], Opened], options: IngestOptions = DEFAULTS) -> Opened:
    """Open a database that another process may hold for a moment; DatabaseBusy when it stays locked."""
    import duckdb

    deadline = time.monotonic() + options.lock_wait_s
    while True:
        try:
            return open_it()
        except duckdb.Error as error:
            if not _is_lock(error):
                raise _named(path, error) from error
            if time.monotonic() > deadline:
                raise DatabaseBusy(
                    f"the database {path} is in use by another process",
                    f"waited {options.lock_wait_s:.0f} s; try again when it is done, or give another --db",
                ) from error
        time.sleep(options.lock_poll_s)


def no_space(error: Exception) -> bool:
    """Whether a disk or a quota is full, which says nothing against the file that was read."""
    said = str(error)  # DuckDB passes the system's words on, and no number
    return getattr(error, "errno", None) in _NO_SPACE or any(os.strerror(each) in said for each in _NO_SPACE)


def _is_lock(error: Exception) -> bool:
    """Whether the file is held: by another process (a lock) or by this one (another configuration)."""
    text = str(error).lower()
    return "set lock" in text or "different configuration" in text or "unique file handle" in text


def _named(path: Path, error: Exception) -> Exception:
    """What a failure to open means to the user."""
    import duckdb

    first_line = str(error).splitlines()[0]
    if isinstance(error, duckdb.IOException):
        return InputMissing(f"the database {path} cannot be opened: {first_line}", _OTHER_DATABASE)
    return UnsupportedExport(f"{path} is no database that can be read here: {first_line}", _OTHER_DATABASE)
