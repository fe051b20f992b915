"""Profiler databases -> the same rows, rejects and headers as the text exports give, and sampled counters.

Tables are copied into the scratch database as they stand; joins, the pivot of the counters and every
judgement of a row are SQL there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InternalError, NpuRooflineError, UnsupportedExport
from .columns import NOT_RECORDED, Column, Header, header_of, kernel_columns
from .database import read_sql
from .grouping import OneDevice
from .kernel_sql import KEY_COLUMNS, SIGNATURE_TEXTS, counters_of, create_raw, raw_columns
from .kernel_table import KernelFile
from .mend_rows import drop_non_finite, impossible_counters, set_far_rows_apart
from .options import IngestOptions
from .probe import Fingerprint, fingerprint
from .profiler_about import chip_names
from .profiler_counters import copy_counters
from .profiler_pmu import Pmu, pivot_pmu
from .profiler_schema import FoundTable, find_table, schema_data
from .sqlite_source import SqliteSource, open_sqlite
from .trace_database import add_database_trace

if TYPE_CHECKING:
    import duckdb

# Canonical columns of a kernel that a row of a database always has or leaves NULL.
_DERIVED = ("name", "start", "duration_us")
_PLAIN = (
    *SIGNATURE_TEXTS,
    *("op_state", "block", "mix_block", "stream_id", "task_id", "model_id", "context_id", "device_id"),
)


@dataclass
class _Tables:
    """The tables of one database, copied, by their names in profiler_db.toml."""

    found: dict[str, FoundTable] = field(default_factory=dict)

    def has(self, table: str, column: str | None = None) -> bool:
        """Whether the file has the table (and the column)."""
        found = self.found[table]
        return found.present if column is None else column in found.names


def read_profiler_database(
    con: duckdb.DuckDBPyConnection,
    path: Path,
    options: IngestOptions,
    only: OneDevice | None = None,
) -> KernelFile:
    """Read one database into `raw`, `raw_rejects` and `raw_counters` of a scratch database.

    `only` keeps the kernels of one of several devices.
    Raises InputMissing or UnsupportedExport when it is no profiler database, is damaged, or has no kernels.
    """
    before = fingerprint(path)
    with open_sqlite(path, options) as source:
        tables = _copy_tables(con, source)
        if only is not None:
            con.execute("SET VARIABLE own_device = ?", [only.device])
            con.execute("SET VARIABLE first_device = ?", [only.first])
            con.execute(read_sql("database_device.sql"))
        header, notes = _read_kernels(con, tables, options)
        _refuse_two_devices(con, path)
        counters = counters_of([header])
        notes += [*drop_non_finite(con, counters), *impossible_counters(con, counters, options)]
        set_far_rows_apart(con, options.far_start_days)
        notes += [*source.notes, *_chip_notes(source), *copy_counters(con, source)]
        notes += add_database_trace(con, source)
    _refuse_change(path, before)
    rows, kept, rejected = _counts(con, path)
    _forget_tables(con)
    if not kept:
        raise UnsupportedExport(*_nothing_kept(con, path, rows))
    return KernelFile(path, header, before, rows, kept, rejected, notes)


@dataclass(frozen=True)
class CounterFile:
    """A database of which only the sampled counters were read, or why they were not."""

    path: Path
    sha256: str | None = None
    notes: tuple[str, ...] = ()
    problem: str | None = None


def read_counters(con: duckdb.DuckDBPyConnection, path: Path, options: IngestOptions) -> CounterFile:
    """Read what a text export does not have: sampled counters, and the calls of the host."""
    try:
        before = fingerprint(path)
        with open_sqlite(path, options) as source:
            found = find_table(source, "STRING_IDS")
            source.copy_into(con, "db_string_ids", found.name, found.columns)
            _clean_texts(con)
            notes = (*source.notes, *copy_counters(con, source), *add_database_trace(con, source))
        _refuse_change(path, before)
    except NpuRooflineError as error:
        con.execute("DROP TABLE IF EXISTS raw_counters")  # half of them would be taken for all
        return CounterFile(path, problem=error.message)
    finally:
        _forget_tables(con)
    return CounterFile(path, before.sha256, notes)


def _refuse_change(path: Path, before: Fingerprint) -> None:
    """Without a lock, a writer at work would give half of one state and half of another."""
    if path.stat().st_size != before.bytes or fingerprint(path).sha256 != before.sha256:
        raise UnsupportedExport(f"{path} changed while it was read", "wait until the profiler has written it")


def _chip_notes(source: SqliteSource) -> list[str]:
    names = ", ".join(chip_names(source))
    return [f"NPU_INFO says {names}: a family of chips, not which one"] if names else []


def _copy_tables(con: duckdb.DuckDBPyConnection, source: SqliteSource) -> _Tables:
    """Every table that kernels are made of, as db_<name>."""
    tables = _Tables()
    for name in schema_data()["table"]:
        found = find_table(source, name)
        tables.found[name] = found
        source.copy_into(con, f"db_{name.lower()}", name, found.columns)
    _clean_texts(con)
    return tables


def _clean_texts(con: duckdb.DuckDBPyConnection) -> None:
    """One text per id; a text that says "not recorded" is NULL, as in the text exports."""
    words = ", ".join(f"'{word}'" for word in NOT_RECORDED)
    con.execute(
        "CREATE OR REPLACE TABLE db_texts AS SELECT id, CASE WHEN min(value) NOT IN "
        f"({words}) THEN min(value) END AS value FROM db_string_ids WHERE id IS NOT NULL GROUP BY id"
    )


def _read_kernels(
    con: duckdb.DuckDBPyConnection, tables: _Tables, options: IngestOptions
) -> tuple[Header, list[str]]:
    kinds = schema_data()["task_kind"]
    con.execute("CREATE OR REPLACE TABLE db_task_kinds (kind VARCHAR, context BOOLEAN, core VARCHAR)")
    con.executemany(
        "INSERT INTO db_task_kinds VALUES (?, ?, ?)",
        [(row["kind"], row.get("context"), row["core"]) for row in kinds],
    )
    con.execute(
        read_sql("database_rows.sql"),
        {
            "missing": schema_data()["missing"]["id"],
            "start_limit_ns": options.start_limit_us * 1000,
            "duration_limit_ns": int(options.duration_limit_us * 1000),
        },
    )
    pmu = pivot_pmu(con, tables.has("TASK_PMU_INFO", "at_ns"), options)
    header = header_of(_columns(tables, pmu), _unknown(tables, pmu))
    con.execute(create_raw(raw_columns([header])))
    con.execute("CREATE TABLE raw_rejects (file INTEGER, line BIGINT, reason VARCHAR, text VARCHAR)")
    con.execute(_insert_rows(pmu))
    con.execute(
        "INSERT INTO raw_rejects SELECT 0, task, reason, concat(source, ': ', coalesce(name, 'no name'), "
        "', start ', start_ns, ', end ', end_ns) FROM db_rows WHERE reason IS NOT NULL"
    )
    return header, [*_notes(con, tables), *pmu.notes]


def _insert_rows(pmu: Pmu) -> str:
    """INSERT INTO raw: the step by start, the counters by task (and by time where the table has times)."""
    counters = "".join(f", {expression} AS {name}" for name, expression in pmu.expressions.items())
    plain = ", ".join(_sized(name) for name in _PLAIN)
    return (
        f"INSERT INTO raw BY NAME SELECT *, {KEY_COLUMNS} FROM ("
        "SELECT 0 AS file, r.task AS line, r.start_ns, r.name, "
        "(r.end_ns - r.start_ns) / 1000.0 AS duration_us, r.wait_ns / 1000.0 AS wait_us, "
        "CASE WHEN r.start_ns <= s.end_ns THEN TRY_CAST(s.step_id AS INTEGER) END AS step_id, "
        f"{plain}{counters} FROM db_rows AS r "
        "ASOF LEFT JOIN (SELECT * FROM db_step_time WHERE start_ns IS NOT NULL) AS s "
        f"ON r.start_ns >= s.start_ns {pmu.join} WHERE r.reason IS NULL)"
    )


def _sized(name: str) -> str:
    """A cell as the type of its column; a number that does not fit is no such number."""
    column = _by_name()[name]
    return f"r.{name}" if column.type == "VARCHAR" else f"TRY_CAST(r.{name} AS {column.type}) AS {name}"


def _columns(tables: _Tables, pmu: Pmu) -> list[Column]:
    """The columns that the database has, as the header of a text export would have them."""
    present = {name for name in _PLAIN if tables.has("COMPUTE_TASK_INFO", name) or tables.has("TASK", name)}
    present |= {*_DERIVED, *pmu.expressions}
    if tables.has("COMPUTE_TASK_INFO", "wait_ns"):
        present.add("wait_us")
    if tables.has("STEP_TIME"):
        present.add("step_id")
    return [column for column in kernel_columns() if column.name in present]


def _unknown(tables: _Tables, pmu: Pmu) -> list[str]:
    return [*(name for found in tables.found.values() for name in found.unknown), *pmu.unknown]


def _notes(con: duckdb.DuckDBPyConnection, tables: _Tables) -> list[str]:
    """What a reader of the numbers should know about this database."""
    notes = []
    lost = _value(con, "SELECT count(*) FROM db_rows WHERE texts_lost > 0 AND reason IS NULL")
    if lost:
        notes.append(f"{lost:,} kernels have texts that are not in STRING_IDS; those are unknown")
    if not tables.has("COMPUTE_TASK_INFO", "wait_ns"):
        notes.append("wait times are not recorded in this database")
    if not tables.has("TASK_PMU_INFO"):
        notes.append("no TASK_PMU_INFO: the PMU was not recorded (profiler level 0 or aic_metrics off)")
    untyped = _value(con, "SELECT count(*) FROM db_rows WHERE type IS NULL AND source = 'COMPUTE_TASK_INFO'")
    if untyped:
        notes.append(
            f"{untyped:,} kernels have no type of their own: it is from the name, the engine from the task"
        )
    return notes


def _counts(con: duckdb.DuckDBPyConnection, path: Path) -> tuple[int, int, int]:
    """(read, kept, rejected), each counted by itself: rows in = rows kept + rows rejected."""
    read = _value(con, read_sql("database_count.sql"))
    kept = _value(con, "SELECT count(*) FROM raw")
    rejected = _value(con, "SELECT count(*) FROM raw_rejects")
    if read != kept + rejected:
        raise InternalError(
            f"{path}: {read} kernels read, {kept} kept, {rejected} rejected",
            "nothing was written; report this",
        )
    return read, kept, rejected


def _refuse_two_devices(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Kernels of two devices overlap in time: as one rank they would be read as one device doing both."""
    rows = con.execute("SELECT DISTINCT device_id FROM raw WHERE device_id IS NOT NULL ORDER BY 1").fetchall()
    if len(rows) > 1:
        devices = ", ".join(str(device) for (device,) in rows)
        raise UnsupportedExport(
            f"{path}: the kernels are of several devices (deviceId {devices})",
            "export each device apart (msprof --export=on on its PROF_* folder, or export_type text)",
        )


def _forget_tables(con: duckdb.DuckDBPyConnection) -> None:
    """The copies are of no more use, and the scratch database need not hold them."""
    rows = con.execute(
        "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, 'db_')"
    ).fetchall()
    for (name,) in rows:
        con.execute(f'DROP TABLE "{name}"')


def _nothing_kept(con: duckdb.DuckDBPyConnection, path: Path, rows: int) -> tuple[str, str]:
    if not rows:
        return f"{path} holds no kernels", "no kernel ran while the profiler recorded"
    reason = _value(con, "SELECT any_value(reason) FROM raw_rejects")
    return f"{path}: none of the {rows:,} kernels can be read: {reason}", "export the profile again"


def _by_name() -> dict[str, Column]:
    return {column.name: column for column in kernel_columns()}


def _value(con: duckdb.DuckDBPyConnection, query: str) -> Any:
    return con.execute(query).fetchall()[0][0]
