"""trace_events of a scratch database -> the views that every source of a trace has: operators, API calls,
ranges, tasks, arrows, counters. Which event is what stands in trace.toml.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import IngestOptions
from .profiler_counters import create_counters
from .trace_events import TraceFile, create_events, matches, quoted, trace_data, try_trace

if TYPE_CHECKING:
    import duckdb

# The number that stands for "none" in ids of tasks and connections.
_NONE = 4294967295


def create_views(con: duckdb.DuckDBPyConnection) -> None:
    """CREATE VIEW t_ops, t_apis, t_ranges, t_tasks, t_flows and t_counters over trace_events.

    They take the place of what a database beside the kernel table said of the same capture.
    """
    for name in ("t_ops", "t_apis", "t_ranges", "t_tasks", "t_flows"):
        con.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in (_OPS, _APIS, _ranges(), _PARTS, _tasks(), _FLOWS, _counters()):
        con.execute(statement)


def read_traces(con: duckdb.DuckDBPyConnection, paths: list[Path], options: IngestOptions) -> list[TraceFile]:
    """Read the traces beside a kernel table into a scratch database; one that cannot be read says why."""
    if not paths:
        return []
    create_events(con)
    files = [try_trace(con, number, path, options) for number, path in enumerate(paths)]
    if any(file.problem is None for file in files):
        create_views(con)
    return files


def add_counters(con: duckdb.DuckDBPyConnection) -> None:
    """The samples of the trace, where no database gave them."""
    there = {
        name
        for (name,) in con.execute(
            "SELECT view_name FROM duckdb_views() WHERE NOT internal "
            "UNION ALL SELECT table_name FROM duckdb_tables()"
        ).fetchall()
    }
    if "t_counters" not in there or "raw_counters" in there:
        return
    create_counters(con)
    con.execute("INSERT INTO raw_counters BY NAME FROM t_counters")


def task_kind(name: str, task_type: str) -> str:
    """SQL for the kind of a task; both arguments are SQL."""
    cases = []
    for rule in trace_data()["task_kind"]:
        cells = {"task_type": (task_type,), "either": (task_type, name)}[rule["field"]]
        test = " OR ".join(matches(rule["pattern"], cell) for cell in cells)
        cases.append(f"WHEN {test} THEN {quoted(rule['kind'])}")
    return f"CASE {' '.join(cases)} ELSE 'other' END"


def engine(task_type: str, context: str) -> str:
    """SQL for the engine of a kernel; both arguments are SQL. A part of a task of type KERNEL_AICORE is of a
    mixed kernel, but which is not said.
    """
    cases = " ".join(
        f"WHEN {task_type} = {quoted(word)} THEN {quoted(core)}"
        for word, core in trace_data()["engine"].items()
    )
    return f"CASE {cases} WHEN {task_type} = 'KERNEL_AICORE' AND {context} IS NULL THEN 'AI_CORE' END"


def _processes(which: str) -> str:
    return (
        "(SELECT pid FROM trace_events WHERE ph = 'M' AND name = 'process_name' AND pid IS NOT NULL AND "
        f"{matches(trace_data()['process'][which], 'label')})"
    )


_OPS = """
CREATE VIEW t_ops AS
SELECT rowid AS op_id, name, tid AS thread_id, start_ns, end_ns, replace(dims, e'\\r\\n', '') AS input_dims,
    replace(types, e'\\r\\n', '') AS input_types, replace(stack, e';\\r\\n', e'\\n') AS call_stack,
    CASE WHEN sequence >= 0 THEN sequence END AS sequence_number,
    nullif(forward_thread, 0) AS forward_thread_id
FROM trace_events WHERE ph = 'X' AND cat = 'cpu_op'
"""

_APIS = f"""
CREATE VIEW t_apis AS
SELECT level, name, tid AS thread_id, start_ns, end_ns, nullif(connection, {_NONE}) AS connection_id
FROM trace_events WHERE ph = 'X' AND level IS NOT NULL AND task_type IS NULL
"""


def _ranges() -> str:
    cases = [
        f"WHEN cat = {quoted(rule['category'])} AND starts_with(name, {quoted(rule['begins'])}) "
        f"THEN {quoted(rule['kind'])}"
        for rule in trace_data()["range"]
    ]
    cases.append(f"WHEN pid IN {_processes('mstx')} THEN 'mstx'")
    return (
        "CREATE VIEW t_ranges AS SELECT * FROM ("
        f"SELECT CASE {' '.join(cases)} END AS kind, name, tid AS thread_id, start_ns, end_ns "
        "FROM trace_events WHERE ph = 'X' AND task_type IS NULL AND level IS NULL) WHERE kind IS NOT NULL"
    )


# Parts of collectives say how much they move; the tasks that they are stand among those of the hardware too.
_PARTS = """
CREATE VIEW t_parts AS
SELECT stream AS stream_id, start_ns, max(size) AS bytes, any_value(name) AS name,
    any_value(part_task_type) AS task_type, any_value(task) AS task_id, max(end_ns) AS end_ns,
    any_value(pid) AS pid, any_value(tid) AS tid, min(rowid) AS number
FROM trace_events WHERE ph = 'X' AND part_task_type IS NOT NULL GROUP BY stream, start_ns
"""


def _tasks() -> str:
    """Tasks of the hardware, collectives (which are of no one stream), and parts that stand nowhere else."""
    kind = task_kind("name", "task_type")
    return f"""
CREATE VIEW t_tasks AS
WITH hardware AS (
    SELECT rowid AS number, {kind} AS kind, name, task_type, pid, tid, start_ns, end_ns,
        coalesce(stream, tid) AS stream_id, task AS task_id,
        nullif(subtask, {_NONE}) AS context_id, model AS model_id,
        nullif(connection, {_NONE}) AS connection_id, size AS bytes, direction
    FROM trace_events WHERE ph = 'X' AND task_type IS NOT NULL
),
collectives AS (
    SELECT rowid AS number, 'collective' AS kind, name, NULL AS task_type, pid, tid, start_ns, end_ns,
        nullif(connection, {_NONE}) AS connection_id
    FROM trace_events
    WHERE ph = 'X' AND task_type IS NULL AND part_task_type IS NULL AND pid IN {_processes("communication")}
),
parts AS (
    SELECT number, {kind} AS kind, name, task_type, pid, tid, start_ns, end_ns, stream_id, task_id, bytes
    FROM t_parts AS p
    WHERE NOT EXISTS (FROM hardware AS h WHERE h.stream_id = p.stream_id AND h.start_ns = p.start_ns)
),
listed AS (
    SELECT h.* REPLACE (coalesce(h.bytes, p.bytes) AS bytes)
    FROM hardware AS h LEFT JOIN t_parts AS p ON p.stream_id = h.stream_id AND p.start_ns = h.start_ns
    UNION ALL BY NAME FROM collectives
    UNION ALL BY NAME FROM parts
)
SELECT *, CASE WHEN kind = 'collective' THEN 'COMMUNICATION'
    WHEN kind = 'kernel' THEN {engine("task_type", "context_id")} END AS core
FROM listed
"""


# One tail per arrow: a file in which all arrows have one number must not be multiplied.
_FLOWS = """
CREATE VIEW t_flows AS
WITH tails AS (
    SELECT file, cat, id, min(start_ns) AS from_ns, arg_min(tid, start_ns) AS from_thread_id
    FROM trace_events WHERE ph = 's' GROUP BY file, cat, id
)
SELECT f.cat AS category, f.id AS flow_id, s.from_thread_id, s.from_ns, f.pid AS to_process_id,
    f.tid AS to_thread_id, f.start_ns AS to_ns
FROM trace_events AS f JOIN tails AS s USING (file, cat, id) WHERE f.ph = 'f'
"""


def _counters() -> str:
    selects = " UNION ALL ".join(_counter(rule) for rule in trace_data()["counter"])
    return f"CREATE VIEW t_counters AS {selects}"


def _counter(rule: dict[str, Any]) -> str:
    """One kind of sample. A share that the file calls per cent is one when no sample is above 1."""
    detail = (
        f"'{rule['label']} ' || regexp_extract(name, {quoted(rule['name'])}, 1)"
        if "label" in rule
        else "NULL"
    )
    value = f"value * {rule['factor']!r}"
    if rule.get("may_be_share"):
        value = f"{value} * CASE WHEN max(value) OVER () <= 1 THEN 100.0 ELSE 1.0 END"
    return (
        f"SELECT start_ns AS timestamp_ns, {quoted(rule['counter'])} AS counter, {value} AS value, "
        f"{quoted(rule['unit'])} AS unit, CAST({detail} AS VARCHAR) AS detail FROM trace_events "
        f"WHERE ph = 'C' AND isfinite(value) AND {matches(rule['name'], 'name')}"
    )
