"""TASK_PMU_INFO, one row per task and counter -> one row per task, in the units of the text exports."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from .columns import Column, kernel_columns
from .options import IngestOptions
from .profiler_schema import schema_data

if TYPE_CHECKING:
    import duckdb

_UNIT = re.compile(r"\(\s*([^)]*?)\s*\)\s*$")
_TIME = "us"


@dataclass
class Pmu:
    """How counters of a kernel are read: column -> SQL over `p`, the join that brings `p`, and remarks."""

    expressions: dict[str, str] = field(default_factory=dict)
    join: str = ""
    unknown: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Counter:
    """One counter name of the file: its ids in STRING_IDS, its column (None = not known), its own unit."""

    name: str
    ids: tuple[int, ...]
    column: Column | None
    unit: str | None


def pivot_pmu(con: duckdb.DuckDBPyConnection, has_times: bool, options: IngestOptions) -> Pmu:
    """Pivot db_task_pmu_info into db_pmu (grain: task, or task and time) and say how a kernel reads it.

    Times are ns and bandwidths B/s where the name has no unit; writers of 2024 wrote us under the same
    names, which the number of cycles per unit of core time tells.
    """
    counters = _counters(con)
    known: dict[str, list[_Counter]] = defaultdict(list)
    for counter in counters:
        if counter.column is not None:
            known[counter.column.name].append(counter)
    pmu = Pmu()
    pmu.unknown, pmu.notes = _unknown(con, [counter for counter in counters if counter.column is None])
    if not known:
        return pmu
    _pivot(con, known, has_times)
    ambiguous = _drop_ambiguous(con, list(known))
    if ambiguous:
        pmu.notes.append(f"{ambiguous:,} kernels have a counter twice, so theirs are unknown")
    divisors = dict(schema_data()["pmu"]["divisors"])
    if _times_in_us(con, known, options):
        divisors[_TIME] = 1.0
        pmu.notes.append("the core times of this writer are in us, by its own cycles; read as such")
    for name, spelled in known.items():
        column = spelled[0].column
        divisor = 1.0 if column is None or spelled[0].unit else divisors.get(column.unit, 1.0)
        pmu.expressions[name] = f"p.{name}" if divisor == 1.0 else f"p.{name} / {divisor!r}"
    if any(column.endswith("_bw_gb_s") for column in known):
        pmu.notes.append(
            "PMU bandwidths are read as B/s with 1024^3 B/s to the exporter's GB/s (from its source)"
        )
    pmu.join = _join(con, pmu, has_times)
    return pmu


def _counters(con: duckdb.DuckDBPyConnection) -> list[_Counter]:
    """The counter names of the file; those without a text cannot be told."""
    rows = con.execute(
        "SELECT t.value, list(t.id ORDER BY t.id) FROM db_texts AS t "
        "SEMI JOIN (SELECT DISTINCT counter FROM db_task_pmu_info) AS c ON c.counter = t.id "
        "WHERE t.value IS NOT NULL GROUP BY t.value ORDER BY t.value"
    ).fetchall()
    return [_counter(name, ids) for name, ids in rows]


def _counter(name: str, ids: list[int]) -> _Counter:
    unit = match[1] if (match := _UNIT.search(name)) else None
    bare = _UNIT.sub("", name).strip()
    for ending in schema_data()["pmu"]["endings"]:
        bare = bare.removesuffix(ending)
    column = _columns().get(schema_data()["pmu"]["names"].get(bare, bare).lower())
    return _Counter(name, tuple(ids), column, unit)


@lru_cache(maxsize=1)
def _columns() -> dict[str, Column]:
    """Counters by canonical name, and by the name of the text export without its unit; lower case."""
    found = {}
    for column in kernel_columns():
        if column.mode is not None:
            names = (column.name, *(_UNIT.sub("", spelling).strip() for spelling in column.spellings))
            found.update({name.lower(): column for name in names})
    return found


def _pivot(con: duckdb.DuckDBPyConnection, known: dict[str, list[_Counter]], has_times: bool) -> None:
    ids_of = {
        name: ", ".join(str(number) for counter in spelled for number in counter.ids)
        for name, spelled in known.items()
    }
    cells = [f"max(value) FILTER (counter IN ({ids})) AS {name}" for name, ids in ids_of.items()]
    key = "task, at_ns" if has_times else "task"
    con.execute(
        f"CREATE OR REPLACE TABLE db_pmu AS SELECT {key}, count(*) AS cells, {', '.join(cells)} "
        f"FROM db_task_pmu_info WHERE counter IN ({', '.join(ids_of.values())}) "
        f"AND isfinite(value) AND task IS NOT NULL GROUP BY {key}"
    )


def _drop_ambiguous(con: duckdb.DuckDBPyConnection, names: list[str]) -> int:
    """A task with more values than counters has one twice, and nothing says which is right."""
    filled = " + ".join(f"({name} IS NOT NULL)::INTEGER" for name in names)
    return con.execute(f"DELETE FROM db_pmu WHERE cells <> {filled}").fetchall()[0][0]


def _times_in_us(
    con: duckdb.DuckDBPyConnection, known: dict[str, list[_Counter]], options: IngestOptions
) -> bool:
    """Cycles per core and unit of time: about 1.8 in ns, 1800 in us."""
    pairs = [
        f"SELECT p.{cycles} / (p.{time} * c.block) AS rate FROM db_pmu AS p JOIN db_compute_task_info AS c "
        f"USING (task) WHERE p.{time} > 0 AND p.{cycles} > 0 AND c.block > 0"
        for time, cycles in (("aicore_time_us", "aic_total_cycles"), ("aiv_time_us", "aiv_total_cycles"))
        if time in known and cycles in known and not known[time][0].unit
    ]
    if not pairs:
        return False
    ((rate,),) = con.execute(f"SELECT median(rate) FROM ({' UNION ALL '.join(pairs)})").fetchall()
    return rate is not None and rate > options.cycles_per_ns_limit


def _join(con: duckdb.DuckDBPyConnection, pmu: Pmu, has_times: bool) -> str:
    """By time within the task where the table has times; else only for tasks that ran once."""
    if has_times:
        # A time belongs to the run of the task that it lies in.
        return (
            "ASOF LEFT JOIN db_pmu AS p0 ON r.task = p0.task AND r.end_ns >= p0.at_ns "
            "LEFT JOIN db_pmu AS p ON p.task = p0.task AND p.at_ns = p0.at_ns AND p0.at_ns >= r.start_ns "
            "AND r.source <> 'COMMUNICATION_OP'"
        )
    ((shared,),) = con.execute(
        "SELECT count(*) FROM db_rows WHERE uses > 1 AND task IN (SELECT task FROM db_pmu)"
    ).fetchall()
    if shared:
        pmu.notes.append(
            f"{shared:,} kernels share a globalTaskId with another, so their counters are unknown"
        )
    return "LEFT JOIN db_pmu AS p ON p.task = r.task AND r.uses = 1"


def _unknown(con: duckdb.DuckDBPyConnection, counters: list[_Counter]) -> tuple[list[str], list[str]]:
    """(names that hold something and are not known, remarks about those that hold only zeros)."""
    if not counters:
        return [], []
    rows = con.execute(
        "SELECT t.value, max(abs(p.value)) FROM db_task_pmu_info AS p JOIN db_texts AS t ON t.id = p.counter "
        "WHERE t.value IN (SELECT unnest(?)) GROUP BY t.value ORDER BY t.value",
        [[counter.name for counter in counters]],
    ).fetchall()
    zeros = [name for name, largest in rows if not largest]
    notes = [f"counters without a column and always 0, not kept: {', '.join(zeros)}"] if zeros else []
    return [f"TASK_PMU_INFO: {name}" for name, largest in rows if largest], notes
