"""Operators of `msprof op` -> their two tables, each operator matched to a kind of kernel of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .database import insert_rows, read_sql
from .grouping import FoundFile
from .opprof import BlockRow, Operator, counters, operator_type, read_operators
from .options import IngestOptions

if TYPE_CHECKING:
    import duckdb

# What the run holds by name, type and core: rows of operator_match.sql.
_Kinds = dict[tuple[str, str, str | None], list[tuple[Any, ...]]]
_SIDES = ("aic", "aiv")
_PORTS = ("r0_read", "r1_read")


def write_operators(
    con: duckdb.DuckDBPyConnection,
    files: Sequence[FoundFile],
    rank_id: int | None,
    options: IngestOptions,
) -> list[Operator]:
    """Write what msprof op measured and find its kernels; the run's kernels must be in the tables already.

    `rank_id` is the rank whose kernels the operators are, None where they stand beside a run.
    """
    operators = read_operators(files, options)
    row = con.execute("SELECT count(*) FROM operator_measurements").fetchone()
    first = 0 if row is None else row[0]
    kinds: _Kinds = {}
    for number, operator in enumerate(operators, first):
        blocks = operator.block_rows()
        cells = _cells(operator, blocks, options)
        names = ("duration_us", "block", "mix_block", "device_id", "clock_mhz", "rated_mhz")
        said = operator.cells or {}
        signature_id, matched = _match(con, operator, kinds, options)
        values = (rank_id, number, str(operator.folder), said.get("name"), cells["type"], operator.core)
        values += tuple(said.get(name) for name in names)
        values += (len(blocks), *(cells[name] for name in _SUMS), signature_id, matched)
        con.execute(
            f"INSERT INTO operator_measurements VALUES (1, {', '.join('?' for _ in values)})", list(values)
        )
        insert_rows(
            con,
            "operator_metrics",
            [
                (1, number, block.block, block.core, metric, value)
                for block in blocks
                for metric, value in block.cells.items()
            ],
        )
    return operators


_SUMS = ("read_bytes", "write_bytes", "read_hits", "read_misses", "write_hits", "write_misses")


def _cells(operator: Operator, blocks: list[BlockRow], options: IngestOptions) -> dict[str, Any]:
    """Sums over all blocks, cube and vector cores together; None where no block has them."""
    duration = (operator.cells or {}).get("duration_us") or 0.0
    found = counters(blocks, duration, options)

    def total(*names: str, scale: float = 1.0) -> float | None:
        values = [found[f"{side}_{name}"] for side in _SIDES for name in names if f"{side}_{name}" in found]
        return sum(values) * scale if values else None

    name = (operator.cells or {}).get("name")
    return {
        "type": None if name is None else operator_type(name),
        "read_bytes": total("read_main_memory_datas_kb", scale=1024),
        "write_bytes": total("write_main_memory_datas_kb", scale=1024),
        "read_hits": total(*(f"{port}_cache_hit" for port in _PORTS)),
        "read_misses": total(*(f"{port}_cache_miss_allocate" for port in _PORTS)),
        "write_hits": total("write_cache_hit"),
        "write_misses": total("write_cache_miss_allocate"),
    }


def _match(
    con: duckdb.DuckDBPyConnection, operator: Operator, kinds: _Kinds, options: IngestOptions
) -> tuple[int | None, str]:
    """(the one signature that it can be, by what), or (None, why there is none)."""
    said = operator.cells
    if said is None or said.get("duration_us") is None:
        return None, operator.table.problem or "its name or duration is not known"
    name, type_ = said["name"], operator_type(said["name"])
    duration, block = said["duration_us"], said.get("block")
    key = (name, type_, operator.core)
    if key not in kinds:  # several launches of one kernel ask the same
        parameters = dict(zip(("name", "type", "core"), key, strict=True))
        kinds[key] = con.execute(read_sql("operator_match.sql"), parameters).fetchall()
    rows, ratio = kinds[key], options.operator_duration_ratio
    same_block = [row for row in rows if block is None or row[3] is None or row[3] == block]
    fitting = [row for row in same_block if row[2] / ratio <= duration <= row[2] * ratio]
    by_name = [row for row in fitting if row[1]]
    chosen = by_name or fitting
    if len(chosen) == 1:
        how, median = "name" if by_name else f"type {type_}", chosen[0][2]
        near = f"a duration near the run's median of {median:,.2f} us"
        return chosen[0][0], f"by {how}, {block} blocks and {near}"
    if chosen:
        return None, f"{len(chosen)} kinds of {type_} with {block} blocks fit; not used"
    if not rows:
        return None, f"no kernel of the run is called {name} or has the type {type_}"
    nearest = min(rows, key=lambda row: abs(row[2] - duration))
    why = "durations too far off" if same_block else "other numbers of blocks"
    return None, (
        f"{len(rows)} kinds of {type_} are in the run, with {why} (nearest median {nearest[2]:,.2f} us "
        f"against {duration:,.2f} us)"
    )


def operator_notes(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Which operators measured beside a run are no evidence for any kernel of it, and why."""
    rows = con.execute(
        "SELECT coalesce(name, folder), matched FROM operator_measurements "
        "WHERE rank_id IS NULL AND signature_id IS NULL ORDER BY operator_id"
    ).fetchall()
    return [f"msprof op measured {name}, which is no evidence here: {why}" for name, why in rows]
