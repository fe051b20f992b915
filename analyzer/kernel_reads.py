"""What questions read of the kernels before anything is labelled: each can be begun ahead of its use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .sqlfiles import rows_of, run_sql, sql

if TYPE_CHECKING:
    import duckdb

EAGER_MODEL_ID = 4294967295  # what exporters write for kernels outside every graph

_PLACED = """
FROM selected_kernels AS k
JOIN _places AS p
    ON p.signature_id = k.signature_id
    AND p.part IS NOT DISTINCT FROM k.part
    AND p.position IS NOT DISTINCT FROM k.position
WHERE k.sequence_index IS NOT NULL
"""
_SEQUENCE = f"SELECT k.step_id, k.sequence_index, k.start_ns, k.end_ns, p.place {_PLACED}"
_EAGER = f"SELECT DISTINCT p.place {_PLACED} AND k.step_id = ? AND k.model_id = ?"


@dataclass(frozen=True)
class PlacedKernels:
    """Every counted kernel of the selection with its place, by step and sequence index.

    `columns` are step_id, sequence_index, start_ns, end_ns and place, one entry per kernel; place indexes
    `keys`: signature, part and position, both None where kernels of the signature have no position.
    """

    keys: tuple[tuple[int, str | None, int | None], ...]
    columns: dict[str, NDArray[Any]]
    eager: frozenset[int]  # places whose kernel the host launched one by one, not a graph


def placed_kernels(con: duckdb.DuckDBPyConnection) -> PlacedKernels:
    """One scan of five columns; a million kernels take about 30 MB."""
    run_sql(con, "places.sql")
    keys = con.execute("SELECT signature_id, part, position FROM _places ORDER BY place").fetchall()
    fetched = con.execute(_SEQUENCE).fetchnumpy()
    columns = {name: np.asarray(values) for name, values in fetched.items()}
    place_in_run = columns["step_id"].astype(np.int64) << 32 | columns["sequence_index"]
    if np.any(place_in_run[1:] < place_in_run[:-1]):  # rows that several threads wrote: long ascending runs
        order = np.argsort(place_in_run, kind="stable")
        columns = {name: values[order] for name, values in columns.items()}
    first = columns["step_id"][:1].tolist()
    eager = con.execute(_EAGER, [*first, EAGER_MODEL_ID]).fetchall() if first else []
    return PlacedKernels(tuple(keys), columns, frozenset(place for (place,) in eager))


_CPU_TYPES = (
    "SELECT signature_id, coalesce(type, 'no type') FROM selected_signatures WHERE kernel_class = 'ai_cpu'"
)
_CPU_ROWS = """
SELECT start_ns, end_ns, signature_id
FROM selected_kernels
WHERE kernel_class = 'ai_cpu'
ORDER BY start_ns
"""


@dataclass(frozen=True)
class CpuRows:
    """AI_CPU rows of the selection by start, ns; `kind` indexes `types`."""

    starts: NDArray[Any]
    ends: NDArray[Any]
    kind: NDArray[Any]
    types: tuple[str, ...]


def cpu_rows(con: duckdb.DuckDBPyConnection) -> CpuRows:
    """The AI_CPU rows, with types by name."""
    type_of = dict(con.execute(_CPU_TYPES).fetchall())
    fetched = con.execute(_CPU_ROWS).fetchnumpy()
    starts, ends, signature = (np.asarray(fetched[name]) for name in ("start_ns", "end_ns", "signature_id"))
    types = tuple(sorted(set(type_of.values())))
    signatures = np.array(sorted(type_of), dtype=np.uint64)
    kinds = np.array([types.index(type_of[each]) for each in signatures.tolist()], dtype=np.int32)
    return CpuRows(starts, ends, kinds[np.searchsorted(signatures, signature)], types)


def class_totals(con: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Rows and time of the selection by class, us."""
    return rows_of(con, sql("coverage.sql"))[0]


# What a walk over the kernels needs, in the order in which it is needed.
FOR_CANDIDATES = (placed_kernels, cpu_rows, class_totals)
