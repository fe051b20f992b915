"""CSV exports beside the kernels -> their tables, by host_tables.toml, parsed and typed by DuckDB.

A row that cannot be read is counted and left out; a damaged file says why and costs only itself.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import NpuRooflineError
from .columns import NOT_RECORDED
from .database import no_space
from .grouping import FoundFile, FoundRank
from .kernel_sql import literal_path
from .options import IngestOptions
from .probe import fingerprint, read_header

if TYPE_CHECKING:
    import duckdb

_STRAY = " \t\"''"  # as a SQL text: the quote is doubled


@dataclass
class HostFile:
    """One file as it was read; rows_read is always rows_kept + rows_rejected."""

    file: FoundFile
    sha256: str | None = None
    rows_read: int = 0
    rows_kept: int = 0
    notes: tuple[str, ...] = ()
    problem: str | None = None


def host_files(rank: FoundRank) -> list[FoundFile]:
    """The files of a rank that are read here."""
    return [file for kind in _data() for file in rank.of(kind)]


def read_host_files(
    con: duckdb.DuckDBPyConnection, rank: FoundRank, options: IngestOptions
) -> list[HostFile]:
    """Read every host file of one rank into the tables of the schema, each file whole or not at all."""
    return [_read(con, rank.rank_id, file, options) for file in host_files(rank)]


def read_host_rank(
    con: duckdb.DuckDBPyConnection, catalog: str, rank: FoundRank, options: IngestOptions
) -> list[HostFile]:
    """Read the host files of one rank by a connection of its own, which is closed; runs in a thread."""
    with closing(con):
        con.execute(f"USE {catalog}")
        return read_host_files(con, rank, options)


def _read(con: duckdb.DuckDBPyConnection, rank_id: int, file: FoundFile, options: IngestOptions) -> HostFile:
    import duckdb

    try:
        before = fingerprint(file.path)
        names = read_header(file.path, options)
        read = _load(con, rank_id, file, names, options)
        if not _multiline(file.kind) and read.problem is None:
            _count_lines(read, before.lines - 1)
        if file.path.stat().st_size != before.bytes:
            read.notes += ("the file grew while it was read",)
        read.sha256 = before.sha256
    except NpuRooflineError as error:
        return HostFile(file, problem=error.message)
    except OSError as error:
        if no_space(error):
            raise
        return HostFile(file, problem=f"cannot be read: {error.strerror or error}")
    except duckdb.Error as error:
        if isinstance(error, duckdb.OutOfMemoryException) or no_space(error):
            raise
        return HostFile(file, problem=f"not readable as CSV: {str(error).splitlines()[0]}")
    finally:
        for table in ("host_cells", "host_errors", "host_scans"):
            con.execute(f"DROP TABLE IF EXISTS temp.{table}")
    return read


def _load(
    con: duckdb.DuckDBPyConnection,
    rank_id: int,
    file: FoundFile,
    names: Sequence[str],
    options: IngestOptions,
) -> HostFile:
    layout = _data()[file.kind]
    cells, unknown = _cells(names, layout)
    missing = [name for name, rule in layout["column"].items() if rule.get("required") and name not in cells]
    if missing:
        wanted = ", ".join(" or ".join(layout["column"][name]["spellings"]) for name in missing)
        return HostFile(file, problem=f"no column {wanted}")
    _scan(con, file.path, len(names), options)
    typed = {name: _typed(cell, layout["column"][name]) for name, cell in cells.items()}
    required = [
        f"{typed[name]} IS NOT NULL" for name, rule in layout["column"].items() if rule.get("required")
    ]
    complete = " AND ".join(required) or "true"
    kept, incomplete = _counts(con, complete)
    broken = _value(con, "SELECT count(DISTINCT line) FROM temp.host_errors")
    con.execute(_insert(layout, cells, typed, complete), {"rank": rank_id})
    notes = [f"columns not known here: {', '.join(unknown)}"] if unknown else []
    notes += _unreadable(con, layout, cells, typed, complete)
    if broken + incomplete:
        notes.insert(0, f"{broken + incomplete:,} damaged rows were left out")
    return HostFile(file, None, kept + incomplete + broken, kept, tuple(notes))


def _multiline(kind: str) -> bool:
    """Whether cells of such a file hold line ends, so that lines say nothing about rows."""
    return any(rule["as"] in ("slots", "stack") for rule in _data()[kind]["column"].values())


def _count_lines(read: HostFile, lines: int) -> None:
    """An open quote swallows the lines behind it: they are counted by the bytes, apart from DuckDB."""
    if read.rows_read < lines:
        read.notes += (f"{lines - read.rows_read:,} more lines are empty or lie behind an open quote",)
        read.rows_read = lines


def _cells(names: Sequence[str], layout: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """(column of the table -> cell of the scan, header names that nothing knows)."""
    known = {
        _bare(spelling): name for name, rule in layout["column"].items() for spelling in rule["spellings"]
    }
    ignored = {_bare(name) for name in layout.get("ignored", {}).get("spellings", ())} | {"device_id"}
    cells: dict[str, str] = {}
    unknown = []
    for index, name in enumerate(names):
        column = known.get(_bare(name))
        if column is not None:
            cells.setdefault(column, f"c{index}")
        elif name.strip() and _bare(name) not in ignored:
            unknown.append(name.strip())
    return cells, unknown


def _bare(name: str) -> str:
    return "".join(name.split()).lower()


def _scan(con: duckdb.DuckDBPyConnection, path: Path, fields: int, options: IngestOptions) -> None:
    """Every cell as text, by position; lines that are no rows go to host_errors."""
    con.execute(
        "CREATE OR REPLACE TEMP TABLE host_cells AS SELECT * FROM read_csv($path, columns = $columns, "
        "header = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"', "
        "null_padding = false, strict_mode = true, store_rejects = true, rejects_table = 'host_errors', "
        "rejects_scan = 'host_scans', rejects_limit = 0, max_line_size = $limit, buffer_size = $buffer)",
        {
            "path": literal_path(path),
            "columns": {f"c{index}": "VARCHAR" for index in range(fields)},
            "limit": options.line_limit_bytes,
            "buffer": 8 * options.line_limit_bytes,
        },
    )


def _typed(cell: str, rule: Mapping[str, Any]) -> str:
    """The SQL of one cell as its table has it; NULL where it says nothing or cannot be read."""
    words = ", ".join(f"'{word}'" for word in NOT_RECORDED)
    text = f"(CASE WHEN trim({cell}, '{_STRAY}') NOT IN ({words}) THEN trim({cell}, '{_STRAY}') END)"
    match rule["as"]:
        case "integer":
            return f"TRY_CAST({text} AS BIGINT)"
        case "number":
            number = f"TRY_CAST({text} AS DOUBLE)"
            return f"CASE WHEN isfinite({number}) THEN {number} * {rule.get('times', 1)} END"
        case "share":
            number = f"TRY_CAST({text} AS DOUBLE)"
            return f"CASE WHEN {number} BETWEEN 0 AND 1 THEN {number} END"
        case "time":
            exact = f"TRY_CAST(TRY_CAST({text} AS DECIMAL(19, 3)) * 1000 AS BIGINT)"
            return f"CASE WHEN NOT contains(lower({text}), 'e') THEN {exact} END"
        case "slots":
            return f"nullif(regexp_replace(trim({cell}), '\\s+', '', 'g'), '')"
        case "stack":
            return f"nullif(regexp_replace(trim({cell}), ';?\\s*[\\r\\n]+\\s*', chr(10), 'g'), '')"
    return text


def _insert(
    layout: Mapping[str, Any], cells: Mapping[str, str], typed: Mapping[str, str], complete: str
) -> str:
    """INSERT of the rows that are complete, summed up where the layout says so."""
    columns = dict(typed)
    columns |= {name: f"'{value}'" for name, value in layout.get("constant", {}).items()}
    source = f"temp.host_cells WHERE {complete}"
    if groups := layout.get("group_by"):
        # By the cells as they stand first: cleaning a call stack costs more than everything else together.
        raw = [cells[name] for name in groups if name in cells]
        sums = [f"sum({sql}) AS s_{name}" for name, sql in columns.items() if name not in groups]
        source = f"(SELECT {', '.join((*raw, *sums))}, count(*) AS n FROM {source} GROUP BY {', '.join(raw)})"
        columns = {name: sql if name in groups else f"sum(s_{name})" for name, sql in columns.items()}
        columns["calls"] = "sum(n)"
    select = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    return (
        f"INSERT INTO {layout['table']} BY NAME SELECT 1 AS run_id, $rank AS rank_id, {select} "
        f"FROM {source}" + (" GROUP BY ALL" if groups else "")
    )


def _unreadable(
    con: duckdb.DuckDBPyConnection,
    layout: Mapping[str, Any],
    cells: Mapping[str, str],
    typed: Mapping[str, str],
    complete: str,
) -> list[str]:
    """Cells that say something which is not what the column holds, by name of the column."""
    words = ", ".join(f"'{word}'" for word in NOT_RECORDED)
    checked = [name for name in cells if layout["column"][name]["as"] not in ("text", "slots", "stack")]
    if not checked:
        return []
    counts = ", ".join(
        f"count(*) FILTER (trim({cells[name]}, '{_STRAY}') NOT IN ({words}) AND ({typed[name]}) IS NULL)"
        for name in checked
    )
    row = con.execute(f"SELECT {counts} FROM temp.host_cells WHERE {complete}").fetchone() or ()
    return [
        f"{count:,} cells of {layout['column'][name]['spellings'][0]} cannot be read"
        for name, count in zip(checked, row, strict=True)
        if count
    ]


def _counts(con: duckdb.DuckDBPyConnection, complete: str) -> tuple[int, int]:
    kept = _value(con, f"SELECT count(*) FROM temp.host_cells WHERE {complete}")
    return kept, _value(con, "SELECT count(*) FROM temp.host_cells") - kept


def _value(con: duckdb.DuckDBPyConnection, query: str) -> int:
    row = con.execute(query).fetchone()
    return 0 if row is None else row[0]


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("host_tables.toml").read_text(encoding="utf-8"))
