"""A trace file -> the table trace_events of a scratch database: one row per event, parsed inside DuckDB."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import NpuRooflineError, UnsupportedExport
from .database import insert_rows, no_space
from .options import IngestOptions
from .trace_mend import mend
from .trace_stream import Piece, TraceText, with_text_stamps

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

# Members of every event beside args; ids and time stamps are read as the text that they are.
_MEMBERS = {
    "ph": "VARCHAR", "name": "VARCHAR", "cat": "VARCHAR", "pid": "BIGINT", "tid": "BIGINT", "ts": "VARCHAR",
    "dur": "DOUBLE", "id": "VARCHAR",
}  # fmt: skip
TRACE_KINDS = ("trace_view", "msprof_trace")
_DAMAGED = "damaged"
_NO_EVENT, _NO_TIME, _NO_DURATION = "not an event", "no start time", "no duration"
_WORDS = {
    _DAMAGED: "damaged events",
    _NO_EVENT: "entries that are no event",
    _NO_TIME: "events without a start time that can be believed",
    _NO_DURATION: "events without a duration that can be believed",
}
_PLACES_SHOWN = 3
# Mended events are single texts; DuckDB works on so many rows at a time.
_EVENTS_AT_ONCE = 2048


@dataclass
class TraceFile:
    """One trace as it was read: the events kept, what was rejected, and what a reader should know."""

    path: Path
    sha256: str = ""
    events: int = 0
    rejected: int = 0
    notes: list[str] = field(default_factory=list)
    problem: str | None = None


@lru_cache(maxsize=1)
def trace_data() -> dict[str, Any]:
    """trace.toml."""
    return tomllib.loads(Path(__file__).with_name("trace.toml").read_text(encoding="utf-8"))


def create_events(con: duckdb.DuckDBPyConnection) -> None:
    """CREATE TABLE trace_events and trace_rejects, empty."""
    args = ", ".join(f"{name} {row['type']}" for name, row in trace_data()["args"].items())
    con.execute(
        "CREATE OR REPLACE TABLE trace_events (file INTEGER, piece INTEGER, reason VARCHAR, ph VARCHAR, "
        "name VARCHAR, cat VARCHAR, pid BIGINT, tid BIGINT, start_ns BIGINT, end_ns BIGINT, id VARCHAR, "
        f"{args})"
    )
    con.execute(
        "CREATE OR REPLACE TABLE trace_rejects (file INTEGER, line BIGINT, reason VARCHAR, text VARCHAR)"
    )


def read_trace(con: duckdb.DuckDBPyConnection, number: int, path: Path, options: IngestOptions) -> TraceFile:
    """Add the events of one file to trace_events, and what cannot be read to trace_rejects.

    Raises InputMissing or UnsupportedExport when it is no trace; a trace that breaks off gives what it has.
    """
    text = TraceText(path, options)
    size = path.stat().st_size
    _insert(con, number, text.pieces(), options)
    file = TraceFile(path, text.sha256, notes=list(text.problems))
    _reject(con, number, [(None, problem) for problem in text.problems])
    damaged = _damaged(con, number)
    if damaged:
        _mend(con, number, damaged, file, options)
    if path.stat().st_size != size:
        raise UnsupportedExport(f"{path} changed while it was read", "wait until the profiler has written it")
    _count(con, number, file)
    return file


def _insert(
    con: duckdb.DuckDBPyConnection, number: int, pieces: Iterable[Piece], options: IngestOptions
) -> None:
    """Parse pieces; one that cannot be parsed, and one that may hold the end of the list, becomes a mark."""
    texts = ((piece.number, None if piece.tail else _list(piece.text)) for piece in pieces)
    _insert_texts(con, number, texts, options, 1)


def _list(text: bytes) -> bytes:
    """The JSON list that DuckDB is given: time stamps as texts, and no two names that it takes for one."""
    renamed = trace_data()["renamed"]
    if f'"{next(iter(renamed))}"'.encode() in text:
        for spelling, name in renamed.items():
            text = text.replace(f'"{spelling}"'.encode(), f'"{name}"'.encode())
    return b"[" + with_text_stamps(text) + b"]"


def _insert_texts(
    con: duckdb.DuckDBPyConnection,
    number: int,
    texts: Iterable[tuple[int, bytes | None]],
    options: IngestOptions,
    rows: int,
) -> None:
    """INSERT INTO trace_events from (piece, JSON list of events), `rows` of them in a batch."""
    import duckdb
    import pyarrow as pa

    failure: list[Exception] = []
    schema = pa.schema([("piece", pa.int32()), ("text", pa.string())])
    reader = pa.RecordBatchReader.from_batches(schema, _batches(texts, schema, rows, failure))
    con.register("trace_texts", reader)
    try:
        con.execute(
            _insert_sql(),
            {
                "file": number,
                "structure": _structure(),
                "start_limit": options.start_limit_us * 1000,
                "duration_limit": options.duration_limit_us,
            },
        )
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        if failure:
            raise failure[0] from error
        raise
    finally:
        con.unregister("trace_texts")


def _batches(
    texts: Iterable[tuple[int, bytes | None]], schema: pa.Schema, rows: int, failure: list[Exception]
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    def batch(cells: list[tuple[int, bytes | None]]) -> pa.RecordBatch:
        numbers = pa.array([number for number, _ in cells], pa.int32())
        try:
            return pa.record_batch([numbers, pa.array([text for _, text in cells], pa.string())], schema)
        except pa.ArrowInvalid:  # not UTF-8; one of many is found when it is mended
            return pa.record_batch([numbers, pa.array([None] * len(cells), pa.string())], schema)

    try:
        waiting: list[tuple[int, bytes | None]] = []
        for cell in texts:
            waiting.append(cell)
            if len(waiting) == rows:
                yield batch(waiting)
                waiting = []
        if waiting:
            yield batch(waiting)
    except Exception as error:
        failure.append(error)  # DuckDB wraps what the stream raises in a text of its own
        raise


def _structure() -> str:
    """The members that are read, as from_json wants them."""
    args = ", ".join(
        f'"{spelling}": "{row["type"]}"'
        for row in trace_data()["args"].values()
        for spelling in row["spellings"]
    )
    members = ", ".join(f'"{name}": "{type_}"' for name, type_ in _MEMBERS.items())
    return f'[{{{members}, "args": {{{args}}}}}]'


@lru_cache(maxsize=1)
def _insert_sql() -> str:
    """A piece that is no JSON gives one row that says so. Time stamps: see kernel_sql, exact integer ns."""
    args = ", ".join(f"{_first(row['spellings'])} AS {name}" for name, row in trace_data()["args"].items())
    return (
        "INSERT INTO trace_events BY NAME SELECT $file AS file, piece, CASE "
        f"WHEN e.ph = '{_DAMAGED}' THEN '{_DAMAGED}' "
        f"WHEN e.ph IS NULL THEN '{_NO_EVENT}' "
        "WHEN e.ph IN ('X', 's', 'f', 'C') AND NOT coalesce(stamp BETWEEN 0 AND $start_limit, false) "
        f"THEN '{_NO_TIME}' "
        "WHEN e.ph = 'X' AND NOT coalesce(e.dur BETWEEN 0 AND $duration_limit, false) "
        f"THEN '{_NO_DURATION}' END AS reason, "
        "e.ph, e.name, e.cat, e.pid, e.tid, "
        "CASE WHEN stamp BETWEEN 0 AND $start_limit THEN stamp END AS start_ns, "
        "CASE WHEN stamp BETWEEN 0 AND $start_limit AND e.dur BETWEEN 0 AND $duration_limit "
        "THEN stamp + CAST(round(e.dur * 1000) AS BIGINT) END AS end_ns, "
        f"e.id, {args} FROM (SELECT piece, e, "
        "CASE WHEN NOT contains(e.ts, 'e') AND NOT contains(e.ts, 'E') "
        # The form that torch_npu and msprof write; a decimal of 19 digits is computed with 128 bits.
        "THEN CASE WHEN e.ts[-4] = '.' THEN TRY_CAST(replace(e.ts, '.', '') AS BIGINT) "
        "ELSE TRY_CAST(TRY_CAST(e.ts AS DECIMAL(19, 3)) * 1000 AS BIGINT) END END AS stamp FROM ("
        "SELECT piece, unnest(coalesce(TRY(from_json(text, $structure)), "
        f'from_json(\'[{{"ph": "{_DAMAGED}"}}]\', $structure))) AS e FROM trace_texts))'
    )


def _first(spellings: Sequence[str]) -> str:
    cells = [f'e.args."{spelling}"' for spelling in spellings]
    return cells[0] if len(cells) == 1 else f"coalesce({', '.join(cells)})"


def _damaged(con: duckdb.DuckDBPyConnection, number: int) -> set[int]:
    rows = con.execute(
        "SELECT piece FROM trace_events WHERE file = ? AND reason = ?", [number, _DAMAGED]
    ).fetchall()
    con.execute("DELETE FROM trace_events WHERE file = ? AND reason = ?", [number, _DAMAGED])
    return {piece for (piece,) in rows}


def _mend(
    con: duckdb.DuckDBPyConnection, number: int, damaged: set[int], file: TraceFile, options: IngestOptions
) -> None:
    """Read the damaged pieces again, event by event; the events get the piece -1 - n instead of n."""
    places: list[tuple[int | None, str]] = []
    again: list[int] = []
    end: list[int] = []

    def events() -> Iterator[tuple[int, bytes | None]]:
        pieces = TraceText(file.path, options).pieces()
        for mended in mend(pieces, damaged, options.trace_event_limit_bytes):
            places.extend(mended.places)
            again.extend([mended.piece] if mended.again else [])
            end.extend([mended.piece] if mended.end else [])
            for text in mended.events:
                yield -1 - mended.piece, _list(text.encode("utf-8", errors="replace"))

    _insert_texts(con, number, events(), options, _EVENTS_AT_ONCE)
    con.execute("DELETE FROM trace_events WHERE file = ? AND list_contains(?, piece)", [number, again])
    if end:  # what follows the list of events is something else, whatever it looks like
        con.execute("DELETE FROM trace_events WHERE file = ? AND piece > ?", [number, end[0]])
    _reject(con, number, places)
    shown = ", ".join(f"byte {offset:,} ({reason})" for offset, reason in places[:_PLACES_SHOWN])
    if places:
        more = "" if len(places) <= _PLACES_SHOWN else ", ..."
        file.notes.append(f"{len(places):,} damaged places were left out: {shown}{more}")


def _reject(con: duckdb.DuckDBPyConnection, number: int, places: Sequence[tuple[int | None, str]]) -> None:
    """Note places (byte, reason) of a file that cannot be read."""
    texts = ["" if byte is None else f"at byte {byte:,}" for byte, _ in places]
    insert_rows(
        con,
        "trace_rejects",
        [(number, None, reason, text) for (_, reason), text in zip(places, texts, strict=True)],
    )


def _count(con: duckdb.DuckDBPyConnection, number: int, file: TraceFile) -> None:
    """Events kept and rejected, counted in the tables, and a note for each reason."""
    con.execute(
        "INSERT INTO trace_rejects SELECT file, rowid, reason, left(concat(name, ' ', id), 400) "
        "FROM trace_events WHERE file = ? AND reason IS NOT NULL",
        [number],
    )
    rows = con.execute(
        "DELETE FROM trace_events WHERE file = ? AND reason IS NOT NULL RETURNING reason", [number]
    ).fetchall()
    for reason, count in sorted(Counter(reason for (reason,) in rows).items()):
        file.notes.append(f"{count:,} {_WORDS[reason]} were left out")
    file.events = _value(con, "SELECT count(*) FROM trace_events WHERE file = ?", number)
    file.rejected = _value(con, "SELECT count(*) FROM trace_rejects WHERE file = ?", number)
    if not file.events:
        raise UnsupportedExport(f"{file.path} holds no events", "record again, or leave this file out")


def _value(con: duckdb.DuckDBPyConnection, query: str, number: int) -> Any:
    return con.execute(query, [number]).fetchall()[0][0]


def try_trace(con: duckdb.DuckDBPyConnection, number: int, path: Path, options: IngestOptions) -> TraceFile:
    """As read_trace, for a trace beside a kernel table: what is wrong with it costs only its own events."""
    try:
        return read_trace(con, number, path, options)
    except NpuRooflineError as error:
        problem = error.message
    except OSError as error:
        if no_space(error):
            raise
        problem = f"cannot be read: {error.strerror or error}"
    con.execute("DELETE FROM trace_events WHERE file = ?", [number])
    return TraceFile(path, problem=problem)


def matches(pattern: str, cell: str) -> str:
    """SQL that is true where a cell matches a pattern of trace.toml whole."""
    return f"regexp_full_match({cell}, {quoted(pattern)})"


def quoted(text: str) -> str:
    """A text of our own data as an SQL literal."""
    return "'" + re.sub("'", "''", text) + "'"
