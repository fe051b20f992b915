"""A profiler database (SQLite) opened so that nothing of it changes, its tables as streams of Arrow batches.

DuckDB's own SQLite reader is a download, so rows come through Python's sqlite3, a batch of columns at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputMissing, NpuRooflineError, UnsupportedExport
from .options import DEFAULTS, IngestOptions

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_MAGIC = b"SQLite format 3\0"
_LFS_POINTER = b"version https://git-lfs"
_EXPORT_AGAIN = "export the profile again, as a database or as text"
# What SQLite keeps beside a database: changes that are not in it yet, or what a half-written change replaced.
_JOURNALS = {
    "-wal": "changes that are not in the database yet; they are not read",
    "-journal": "an unfinished change; the database is read as it stands",
}
# SQLite stores any type in any column: a value of another type than the column's is no value.
_CELLS = {
    "integer": "CASE WHEN typeof({0}) = 'integer' THEN {0} END",
    "number": "CASE WHEN typeof({0}) IN ('integer', 'real') THEN CAST({0} AS REAL) END",
    "text": "CASE WHEN typeof({0}) = 'text' THEN {0} END",
}


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """One column to read: the name it gets, the name it has in the file (None = absent) and its kind."""

    name: str
    spelling: str | None
    kind: str


@dataclass
class SqliteSource:
    """An open database: `tables` maps upper-case table names to (name in the file, columns in the file)."""

    path: Path
    con: sqlite3.Connection
    batch_rows: int
    tables: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _failure: Exception | None = None

    def copy_into(
        self, con: duckdb.DuckDBPyConnection, target: str, table: str, columns: Sequence[SourceColumn]
    ) -> None:
        """CREATE TABLE `target` in DuckDB from a table of the database; without it, an empty table.

        Raises UnsupportedExport when the database is damaged inside.
        """
        import duckdb

        reader = self._reader(table, columns)
        con.register("sqlite_rows", reader)
        self._failure = None
        try:
            con.execute(f"CREATE OR REPLACE TABLE {target} AS SELECT * FROM sqlite_rows")
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            raise _named(self.path, self._failure or error) from error
        finally:
            con.unregister("sqlite_rows")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """A small result; `query` must be written in this package, not come from a file."""
        try:
            return self.con.execute(query).fetchall()
        except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
            raise _named(self.path, error) from error

    def _reader(self, table: str, columns: Sequence[SourceColumn]) -> pa.RecordBatchReader:
        import pyarrow as pa

        types = {"integer": pa.int64(), "number": pa.float64(), "text": pa.string()}
        schema = pa.schema([(column.name, types[column.kind]) for column in columns])
        if table not in self.tables:
            return pa.RecordBatchReader.from_batches(schema, [])
        return pa.RecordBatchReader.from_batches(
            schema, self._batches(self.tables[table][0], columns, schema)
        )

    def _batches(
        self, table: str, columns: Sequence[SourceColumn], schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        try:
            with closing(self.con.execute(_select(table, columns))) as cursor:
                while rows := cursor.fetchmany(self.batch_rows):
                    arrays = [
                        pa.array(cells, field.type)
                        for cells, field in zip(zip(*rows, strict=True), schema, strict=True)
                    ]
                    yield pa.record_batch(arrays, schema)
        except Exception as error:
            self._failure = error  # DuckDB wraps what the stream raises in a text of its own
            raise


@contextmanager
def open_sqlite(path: Path, options: IngestOptions = DEFAULTS) -> Iterator[SqliteSource]:
    """Open a database read-only and immutable: no lock, no file beside it, whatever state it was left in.

    Raises InputMissing when it cannot be read, UnsupportedExport when it is no SQLite database.
    """
    _check_head(path)
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    except sqlite3.Error as error:
        raise _named(path, error) from error
    with closing(connection):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, options.cell_limit_bytes)
        connection.text_factory = _decoded
        source = SqliteSource(path, connection, options.arrow_batch_rows)
        source.tables = _tables(source)
        source.notes += _journal_notes(path)
        yield source


def is_sqlite(path: Path) -> bool:
    """Whether a file begins as every SQLite database does; False when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _check_head(path: Path) -> None:
    try:
        with path.open("rb") as file:
            head = file.read(len(_LFS_POINTER))
    except IsADirectoryError as error:
        raise UnsupportedExport(f"{path} is a folder, not a database", "give the folder above it") from error
    except OSError as error:
        raise InputMissing(
            f"{path} cannot be read: {error.strerror or error}", "check the file and its rights"
        ) from error
    if not head:
        raise UnsupportedExport(f"{path} is empty", "the profiler did not finish writing it; record again")
    if head.startswith(_LFS_POINTER):
        raise UnsupportedExport(
            f"{path} is a Git LFS pointer, not the file itself", "fetch it with git lfs pull"
        )
    if not head.startswith(_MAGIC):
        raise UnsupportedExport(f"{path} is not an SQLite database", _EXPORT_AGAIN)


def _tables(source: SqliteSource) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Real tables only: a view under a table's name could compute without end."""
    names = source.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    )
    found = {}
    for (name,) in names:
        columns = source.rows(f"PRAGMA table_info({_quoted(name)})")
        found[name.upper()] = (name, tuple(column[1] for column in columns))
    return found


def _journal_notes(path: Path) -> list[str]:
    notes = []
    for ending, what in _JOURNALS.items():
        beside = path.with_name(path.name + ending)
        try:
            size = beside.stat().st_size
        except OSError:
            continue
        if size:
            notes.append(f"{beside.name} beside it holds {what}")
    return notes


def _select(table: str, columns: Sequence[SourceColumn]) -> str:
    cells = ", ".join(
        "NULL" if column.spelling is None else _CELLS[column.kind].format(_quoted(column.spelling))
        for column in columns
    )
    return f"SELECT {cells} FROM {_quoted(table)}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _decoded(text: bytes) -> str:
    """Text as UTF-8; what is none is shown as such, because a name is no reason to lose a kernel."""
    return text.decode("utf-8", errors="replace").replace("\0", "\ufffd")


def _named(path: Path, error: Exception) -> NpuRooflineError:
    """What a failure of SQLite means to the user."""
    if isinstance(error, NpuRooflineError):
        return error
    if isinstance(error, OSError):
        return InputMissing(f"{path} cannot be read: {error.strerror or error}", "check the file")
    if isinstance(error, UnicodeDecodeError):  # of SQLite's own message, which quotes the damaged schema
        return UnsupportedExport(f"{path} is damaged: its schema is not UTF-8 text", _EXPORT_AGAIN)
    first_line = (str(error).splitlines() or ["no reason given"])[0]
    return UnsupportedExport(f"{path} is damaged: {first_line}", _EXPORT_AGAIN)
