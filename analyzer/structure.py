"""The repeating layer as the answers tell of it: its length, its places, and what does not fit into it.

Read back from the kernels that `layers` placed when the run was ingested.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .session import Session

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
    more = _more(len(said) - _SHOWN, "place")
    return [f"Layers that lack a kernel which the others have: {', '.join(said[:_SHOWN])}{more}."]


def _more(count: int, noun: str) -> str:
    """', and 2 more types'; nothing where none is left out."""
    return f", and {count} more {noun}{'s' if count > 1 else ''}" if count > 0 else ""


def _odd(session: Session, counts: _Counts) -> list[str]:
    """What is said of kernels inside layers that the other layers do not have, with their places."""
    rows = [(name, count) for part, _, name, count in counts if part == "odd"]
    if not rows:
        return []
    total = sum(count for _, count in rows)
    names = [f"{name} ({count}{_where(session, name)})" for name, count in rows[:_SHOWN]]
    more = _more(len(rows) - _SHOWN, "type")
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
