"""Where each kernel stands: which layer of the model, and which place in that layer.

A decode step runs the same kernels once per layer. The period is found by comparing the sequence of
signatures with itself (`repeats`), once per distinct sequence of steps, and written back beside each kernel.
Layers with a kernel more or less, and layers of other kinds, are found by their likeness (`other_layers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..roofline.registry import registry
from .options import AnalysisOptions
from .placement import PARTS, Placement, StepSequence, place_steps
from .repeats import KIND_MATMUL, KIND_OTHER, KIND_UNKNOWN, Codes

if TYPE_CHECKING:
    import duckdb

# Families of operators.toml of which every layer of a model has one.
_LAYER_FAMILIES = frozenset({"matmul", "grouped_matmul", "moe_fused", "mla_prolog", "attention"})

_COUNTED = """
WITH codes AS (
    SELECT signature_id,
           (row_number() OVER (ORDER BY signature_id))::INTEGER AS code,
           (dense_rank() OVER (ORDER BY type, core))::INTEGER AS type_code
    FROM signatures
)
SELECT k.rowid AS row, k.kernel_id, k.step_id, c.code, c.type_code, coalesce(t.is_main, false) AS main,
       coalesce(k.stream_id, -1) AS stream, k.kernel_class = 'communication' AS collective
FROM kernels k
JOIN codes c USING (signature_id)
LEFT JOIN streams t ON t.rank_id = k.rank_id AND t.stream_id = k.stream_id
WHERE k.rank_id = ? AND k.duplicate_of IS NULL AND k.step_id IS NOT NULL
  AND k.kernel_class IN ('aicore', 'communication')
"""

# The placements are numpy arrays, in which UNPLACED (-1) stands for NULL.
_WRITE = """
UPDATE kernels
SET part = list_extract(?, p.part + 1),
    layer = nullif(p.layer, -1),
    position = nullif(p.position, -1),
    sequence_index = p.sequence_index
FROM _placements AS p
WHERE kernels.rowid = p.row
"""


def assign_layers(con: duckdb.DuckDBPyConnection, options: AnalysisOptions | None = None) -> None:
    """Fill part, layer, position and sequence_index of the kernels of a staging database.

    All ranks and steps; counted kernels only: AI-core and communication rows that are no duplicates and lie
    in a step. Where nothing repeats, only sequence_index is filled. Linear in kernels; one rank is in memory
    at a time.
    """
    for (rank_id,) in con.execute("SELECT DISTINCT rank_id FROM kernels ORDER BY rank_id").fetchall():
        _assign_rank(con, rank_id, options or AnalysisOptions())


def _assign_rank(con: duckdb.DuckDBPyConnection, rank_id: int, options: AnalysisOptions) -> None:
    fetched = con.execute(_COUNTED, [rank_id]).fetchnumpy()
    columns = {name: np.asarray(values) for name, values in fetched.items()}
    del fetched
    if len(columns["row"]) == 0:
        return
    if np.any(np.diff(columns["step_id"]) < 0) or np.any(np.diff(columns["kernel_id"]) < 0):
        order = np.lexsort((columns["kernel_id"], columns["step_id"]))
        columns = {name: values[order] for name, values in columns.items()}
    bounds = np.flatnonzero(np.diff(columns["step_id"], prepend=columns["step_id"][0] - 1)).tolist()
    bounds.append(len(columns["row"]))
    slices = [slice(start, end) for start, end in pairwise(bounds)]
    placements = place_steps(_steps(columns, slices, _kinds(con)), options)
    rows = columns["row"]
    del columns  # ten million kernels take 300 MB here, which the update needs
    _write(con, rows, slices, placements)


def _steps(
    columns: dict[str, NDArray[Any]], slices: Sequence[slice], kinds: NDArray[np.int8]
) -> list[StepSequence]:
    """The kernels of each step, as views of the columns."""
    kinds_of_kernels = kinds[columns["code"]]
    return [
        StepSequence(
            columns["code"][each],
            columns["type_code"][each],
            columns["main"][each],
            columns["collective"][each],
            kinds_of_kernels[each],
            columns["stream"][each],
        )
        for each in slices
    ]


def _kinds(con: duckdb.DuckDBPyConnection) -> NDArray[np.int8]:
    """What the kernels of each signature are to a layer, by the code of the signature (from 1)."""
    types = con.execute("SELECT type FROM signatures ORDER BY signature_id").fetchall()
    rows = [None if name is None else registry().row_of(name) for (name,) in types]
    kinds = [
        KIND_UNKNOWN
        if row is None or not row.known
        else KIND_MATMUL
        if row.family in _LAYER_FAMILIES
        else KIND_OTHER
        for row in rows
    ]
    return np.array([KIND_UNKNOWN, *kinds], dtype=np.int8)


def _write(
    con: duckdb.DuckDBPyConnection, rows: Codes, slices: Sequence[slice], placements: Sequence[Placement]
) -> None:
    # a dict of arrays: going through pyarrow would load pandas, which takes longer than the update
    arrays = {
        "row": rows,
        "part": np.concatenate([each.part for each in placements]),
        "layer": np.concatenate([each.layer for each in placements]),
        "position": np.concatenate([each.position for each in placements]),
        "sequence_index": np.concatenate(
            [np.arange(each.stop - each.start, dtype=np.int32) for each in slices]
        ),
    }
    con.register("_placements", arrays)
    try:
        con.execute(_WRITE, [list(PARTS)])
    finally:
        con.unregister("_placements")
