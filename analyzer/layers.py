"""Where each kernel stands: which layer of the model, and which place in that layer.

A decode step runs the same kernels once per layer. The period is found by comparing the sequence of
signatures with itself (`repeats`), once per distinct sequence of steps, and written back beside each kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..roofline.registry import registry
from .options import AnalysisOptions
from .placement import PARTS, Placement, StepSequence, place_steps
from .repeats import KIND_MATMUL, KIND_OTHER, KIND_UNKNOWN, Codes

if TYPE_CHECKING:
    import duckdb

    from .session import Session

# Families of operators.toml of which every layer of a model has one.
_LAYER_FAMILIES = frozenset({"matmul", "grouped_matmul", "moe_fused", "mla_prolog", "attention"})

_COUNTED = """
WITH codes AS (
    SELECT signature_id,
           row_number() OVER (ORDER BY signature_id) AS code,
           dense_rank() OVER (ORDER BY type, core) AS type_code
    FROM signatures
)
SELECT k.rowid AS row, k.kernel_id, k.step_id, c.code, c.type_code, coalesce(t.is_main, false) AS main,
       k.kernel_class = 'communication' AS collective
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
    if len(columns["row"]) == 0:
        return
    if np.any(np.diff(columns["step_id"]) < 0) or np.any(np.diff(columns["kernel_id"]) < 0):
        order = np.lexsort((columns["kernel_id"], columns["step_id"]))
        columns = {name: values[order] for name, values in columns.items()}
    bounds = np.flatnonzero(np.diff(columns["step_id"], prepend=columns["step_id"][0] - 1)).tolist()
    bounds.append(len(columns["row"]))
    slices = [slice(start, end) for start, end in pairwise(bounds)]
    codes, types = columns["code"].astype(np.int64), columns["type_code"].astype(np.int64)
    kinds = _kinds(con)[codes]
    steps = [
        StepSequence(
            codes[each], types[each], columns["main"][each], columns["collective"][each], kinds[each]
        )
        for each in slices
    ]
    _write(con, columns["row"], slices, place_steps(steps, options))


def _kinds(con: duckdb.DuckDBPyConnection) -> Codes:
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
    return np.array([KIND_UNKNOWN, *kinds], dtype=np.int64)


def _write(
    con: duckdb.DuckDBPyConnection, rows: Codes, slices: Sequence[slice], placements: Sequence[Placement]
) -> None:
    # a dict of arrays: going through pyarrow would load pandas, which takes longer than the update
    arrays = {
        "row": rows,
        "part": np.concatenate([each.part for each in placements]),
        "layer": np.concatenate([each.layer for each in placements]),
        "position": np.concatenate([each.position for each in placements]),
        "sequence_index": np.concatenate([np.arange(each.stop - each.start) for each in slices]),
    }
    con.register("_placements", arrays)
    try:
        con.execute(_WRITE, [list(PARTS)])
    finally:
        con.unregister("_placements")


@dataclass(frozen=True)
class PositionInfo:
    """One place in the layer."""

    position: int
    signature_id: int
    type: str | None
    stream_id: int | None


@dataclass(frozen=True)
class LayerStructure:
    """The repeating layer of the selected steps, or why there is none."""

    period: int | None  # kernels per layer; None = nothing repeats
    layers: int | None  # in the first selected step that has any
    positions: tuple[PositionInfo, ...]
    coverage_share: float  # of the counted kernels, inside layers, 0..1
    notes: tuple[str, ...]


# From the statistics, which are a thousand times smaller than the kernels.
_SHARE = """
SELECT coalesce(sum(count) FILTER (part IS NULL AND position IS NULL), 0),
       coalesce(sum(count) FILTER (part = 'layer'), 0),
       coalesce(sum(count) FILTER (part = 'side'), 0),
       coalesce(sum(count) FILTER (part IS NOT NULL), 0),
       max(position) FILTER (part = 'layer') + 1
FROM selected_statistics JOIN selected_signatures USING (signature_id)
WHERE kernel_class IN ('aicore', 'communication')
"""

# Kinds of layers in one step: where their positions begin and end, and how many there are.
_KINDS = """
SELECT low, high, count(*) AS layers
FROM (
    SELECT layer, min(position) AS low, max(position) AS high FROM selected_kernels
    WHERE part = 'layer' AND step_id = ? GROUP BY layer
)
GROUP BY low, high ORDER BY layers DESC, low
"""

_POSITIONS = """
SELECT k.position, mode(k.signature_id ORDER BY k.signature_id), mode(s.type ORDER BY s.type),
       mode(k.stream_id ORDER BY k.stream_id), max(k.layer) + 1
FROM selected_kernels AS k JOIN selected_signatures AS s USING (signature_id)
WHERE k.part = 'layer' AND k.step_id = ?
GROUP BY k.position ORDER BY k.position
"""


def layer_structure(session: Session) -> LayerStructure:
    """Describe the repeating layer in the selected steps: period, layers, what stands at each position.

    Positions and layers are those of the first selected step that has layers.
    """
    row = session.con.execute(_SHARE).fetchone() or (0, 0, 0, 0, None)
    kernels, inside, side, placed, period = row
    notes = []
    if not inside:
        notes.append("No layers: no sequence of kernels repeats exactly in the selected steps.")
    elif placed < kernels:
        notes.append(
            f"{kernels - placed} kernels are in steps in which no sequence of kernels repeats exactly."
        )
    if side:
        notes.append(
            f"{side} kernels run beside the main stream in varying order; layers were found without them."
        )
    found: list[tuple[PositionInfo, int]] = []
    for step_id in session.step_ids if inside else ():
        rows = session.con.execute(_POSITIONS, [step_id]).fetchall()
        found = [(PositionInfo(*each[:4]), each[4]) for each in rows]
        if found:
            kinds = session.con.execute(_KINDS, [step_id]).fetchall()
            period = kinds[0][1] - kinds[0][0] + 1
            notes += [_other_kind(*each) for each in kinds[1:]]
            break
    return LayerStructure(
        period,
        max((layers for _, layers in found), default=None),
        tuple(info for info, _ in found),
        inside / kernels if kernels else 0.0,
        tuple(notes),
    )


def _other_kind(low: int, high: int, layers: int) -> str:
    """What is said of layers that are not of the most common kind."""
    many = f"{layers} layers are" if layers > 1 else "1 layer is"
    return (
        f"{many} of another kind, {high - low + 1} kernels long, at positions {low} to {high}: "
        "as leading dense layers of a mixture of experts."
    )
