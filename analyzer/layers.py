"""Where each kernel stands: which layer of the model, and which place in that layer.

A decode step runs the same kernels once per layer. The period is found by comparing the sequence of
signatures with itself (`repeats`), once per distinct sequence of steps, and written back beside each kernel.
Layers with a kernel more or less, and layers of other kinds, are found by their likeness (`other_layers`).
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
    if len(columns["row"]) == 0:
        return
    if np.any(np.diff(columns["step_id"]) < 0) or np.any(np.diff(columns["kernel_id"]) < 0):
        order = np.lexsort((columns["kernel_id"], columns["step_id"]))
        columns = {name: values[order] for name, values in columns.items()}
    bounds = np.flatnonzero(np.diff(columns["step_id"], prepend=columns["step_id"][0] - 1)).tolist()
    bounds.append(len(columns["row"]))
    slices = [slice(start, end) for start, end in pairwise(bounds)]
    codes, types, streams = (columns[name].astype(np.int64) for name in ("code", "type_code", "stream"))
    kinds = _kinds(con)[codes]
    steps = [
        StepSequence(
            codes[each],
            types[each],
            columns["main"][each],
            columns["collective"][each],
            kinds[each],
            streams[each],
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


_SHOWN = 4  # places named in a note; all are in the table kernels


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


# Kernels by place and type, some hundred rows; from the statistics, which are a thousand times smaller than
# the kernels. Without a place they are those of all places together.
_COUNTS = """
SELECT part, position, coalesce(type, 'no type') AS type, sum(count)::BIGINT AS kernels
FROM selected_statistics JOIN selected_signatures USING (signature_id)
WHERE kernel_class IN ('aicore', 'communication') GROUP BY ALL ORDER BY kernels DESC, type, position
"""
_Counts = list[tuple[str | None, int | None, str, int]]

# Where each odd kernel stands in one step: its layer, and the kernel of that layer that it follows.
_ODD_PLACES = """
SELECT o.layer, (
    SELECT max_by(k.position, k.sequence_index) FROM selected_kernels AS k
    WHERE k.step_id = o.step_id AND k.part = 'layer' AND k.layer = o.layer
        AND k.sequence_index < o.sequence_index
) AS position
FROM selected_kernels AS o JOIN selected_signatures AS s USING (signature_id)
WHERE o.part = 'odd' AND o.step_id = ? AND coalesce(s.type, 'no type') = ?
ORDER BY o.sequence_index LIMIT 3
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
    counts = session.con.execute(_COUNTS).fetchall()
    kernels = sum(count for part, position, _, count in counts if part is None and position is None)
    placed = sum(count for part, _, _, count in counts if part is not None)
    inside = sum(count for part, _, _, count in counts if part == "layer")
    notes = []
    if not inside:
        notes.append("No layers: no sequence of kernels repeats exactly in the selected steps.")
    elif placed < kernels:
        notes.append(
            f"{kernels - placed} kernels are in steps in which no sequence of kernels repeats exactly."
        )
    notes += _beside(counts)
    found: list[tuple[PositionInfo, int]] = []
    period = None
    for step_id in session.step_ids if inside else ():
        rows = session.con.execute(_POSITIONS, [step_id]).fetchall()
        found = [(PositionInfo(*each[:4]), each[4]) for each in rows]
        if found:
            kinds = _kinds_of_layers(session, step_id)
            period = kinds[0][1] - kinds[0][0] + 1
            notes += [_other_kind(*each) for each in kinds[1:]]
            notes += _lacking(counts, kinds)
            break
    notes += _odd(session, counts)
    return LayerStructure(
        period,
        max((layers for _, layers in found), default=None),
        tuple(info for info, _ in found),
        inside / kernels if kernels else 0.0,
        tuple(notes),
    )


def _beside(counts: _Counts) -> list[str]:
    """What is said of kernels on streams beside the one whose kernels repeat."""
    side = [(position, count) for part, position, _, count in counts if part == "side"]
    joined = sum(count for position, count in side if position is not None)
    other = sum(count for position, count in side if position is None)
    notes = []
    if joined:
        notes.append(
            f"{_many(joined)} on another stream beside the main one, which repeats as often as it has "
            f"layers: {'its layer is' if joined == 1 else 'their layers are'} joined by time."
        )
    if other:
        notes.append(
            f"{_many(other)} beside the main stream in varying order; layers were found without "
            f"{'it' if other == 1 else 'them'}."
        )
    return notes


def _many(kernels: int) -> str:
    return "1 kernel runs" if kernels == 1 else f"{kernels} kernels run"


def _kinds_of_layers(session: Session, step_id: int) -> list[tuple[int, int, int]]:
    """(first position, last position, layers) per kind, most layers first; a layer may lack its ends."""
    found: list[tuple[int, int, int]] = []
    for low, high, layers in session.con.execute(_KINDS, [step_id]).fetchall():
        at = next((n for n, each in enumerate(found) if low <= each[1] and high >= each[0]), None)
        if at is None:
            found.append((low, high, layers))
        else:
            same = found[at]
            found[at] = (min(low, same[0]), max(high, same[1]), layers + same[2])
    return found


def _lacking(counts: _Counts, kinds: list[tuple[int, int, int]]) -> list[str]:
    """What is said of places at which some layers have no kernel."""
    places: dict[int, tuple[str, int]] = {}  # position -> its commonest type, kernels of all types
    for part, position, name, count in counts:
        if part == "layer" and position is not None:
            known = places.get(position, (name, 0))
            places[position] = (known[0], known[1] + count)
    said = []
    for low, high, _ in kinds:
        inside = sorted(position for position in places if low <= position <= high)
        most = max((places[position][1] for position in inside), default=0)
        said += [
            f"{places[position][0]} at position {position} ({most - places[position][1]} of {most})"
            for position in inside
            if places[position][1] < most
        ]
    if not said:
        return []
    more = f", and {len(said) - _SHOWN} more places" if len(said) > _SHOWN else ""
    return [f"Layers that lack a kernel which the others have: {', '.join(said[:_SHOWN])}{more}."]


def _odd(session: Session, counts: _Counts) -> list[str]:
    """What is said of kernels inside layers that the other layers do not have, with their places."""
    rows = [(name, count) for part, _, name, count in counts if part == "odd"]
    if not rows:
        return []
    total = sum(count for _, count in rows)
    names = [f"{name} ({count}{_where(session, name)})" for name, count in rows[:_SHOWN]]
    more = f", and {len(rows) - _SHOWN} more types" if len(rows) > _SHOWN else ""
    are = "1 kernel stands" if total == 1 else f"{total} kernels stand"
    return [f"{are} in a layer that the others do not have: {', '.join(names)}{more}."]


def _where(session: Session, name: str) -> str:
    """Places of one type of odd kernel in the first step that has any."""
    for step_id in session.step_ids:
        places = session.con.execute(_ODD_PLACES, [step_id, name]).fetchall()
        if places:
            told = [f"layer {layer} behind position {position}" for layer, position in places]
            return f": step {step_id} {', '.join(told)}"
    return ""


def _other_kind(low: int, high: int, layers: int) -> str:
    """What is said of layers that are not of the most common kind."""
    many = f"{layers} layers are" if layers > 1 else "1 layer is"
    return (
        f"{many} of another kind, {high - low + 1} kernels long, at positions {low} to {high}: "
        "as leading dense layers of a mixture of experts."
    )
