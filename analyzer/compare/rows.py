"""Pairs and their statistics -> the rows that people read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..answer_compare import CompareRow
from ..options import AnalysisOptions
from .judgement import Judgement, judge, known
from .operator_types import group_of, operator_of
from .pairing import Pair, Place
from .table import SideTable


@dataclass(frozen=True)
class SignatureText:
    """What a signature looks like, and the bound that its label gives it on either side."""

    core: str | None
    input_shapes: str | None


@dataclass(frozen=True)
class Compared:
    """All pairs of a comparison with their statistics; index = number of the pair."""

    pairs: Sequence[Pair]
    before: SideTable
    after: SideTable
    texts: dict[int, SignatureText]
    graphs: tuple[int, int]  # captures joined on either side

    @property
    def both(self) -> NDArray[np.bool_]:
        """Pairs that occur on both sides."""
        return np.array([bool(pair.before and pair.after) for pair in self.pairs], dtype=bool)

    @property
    def busy(self) -> NDArray[np.bool_]:
        """Pairs that count as the device being busy."""
        return np.array([pair.places[0].busy for pair in self.pairs], dtype=bool)


def compare_rows(
    compared: Compared,
    step_us: float,
    options: AnalysisOptions,
    bounds: tuple[dict[int, str], dict[int, str]],
) -> list[CompareRow]:
    """One row per pair, in the pairs' order; `bounds` maps signature -> bound/limiter on either side."""
    both = compared.both
    judged = judge(
        compared.before.samples(both), compared.after.samples(both), _kinds(compared)[both], step_us, options
    )
    place_of = {int(pair): at for at, pair in enumerate(np.flatnonzero(both))}
    keys = pair_keys(compared)
    return [
        _row(compared, number, keys[number], judged, place_of.get(number), bounds)
        for number in range(len(compared.pairs))
    ]


def pair_keys(compared: Compared) -> list[str]:
    """A name per pair, unique in the comparison, that stays the same when the sides are swapped.

    What is new may stand where something else is gone: such names are told apart by the signature.
    """
    several = max(compared.graphs) > 1
    names = [
        " | ".join(
            sorted({_place_key(side[0], several) + _more(side) for side in (p.before, p.after) if side})
        )
        for p in compared.pairs
    ]
    times = Counter(names)
    return [
        f"{name} {pair.places[0].signature:016x}" if times[name] > 1 else name
        for name, pair in zip(names, compared.pairs, strict=True)
    ]


def _place_key(place: Place, several_graphs: bool) -> str:
    where = place.part or "step"
    if several_graphs:
        where = f"{where}@{place.graph + 1}"
    if not place.busy:
        where = f"{where}, other engine"
    at = f" {place.position}" if place.position is not None else f" {place.signature:016x}"[:9]
    return f"{where}{at} {place.type}"


def _more(places: tuple[Place, ...]) -> str:
    return f" +{len(places) - 1}" if len(places) > 1 else ""


def _kinds(compared: Compared) -> NDArray[np.int64]:
    """A number per kind of work (operator and engine): rows of one kind show their noise together."""
    numbers: dict[tuple[str, frozenset[str | None]], int] = {}
    found = []
    for pair in compared.pairs:
        texts = [compared.texts.get(side[0].signature) for side in (pair.before, pair.after) if side]
        kind = (operator_of(pair.places[0].type), frozenset(text.core for text in texts if text))
        found.append(numbers.setdefault(kind, len(numbers)))
    return np.array(found, dtype=np.int64)


def _row(
    compared: Compared,
    number: int,
    key: str,
    judged: Judgement,
    at: int | None,
    bounds: tuple[dict[int, str], dict[int, str]],
) -> CompareRow:
    pair, before, after = compared.pairs[number], compared.before, compared.after
    place = pair.places[0]
    layers = int(max(before.layers[number], after.layers[number]))
    text = compared.texts.get(place.signature)
    steps = [side.step_us[number] if there else None for side, there in _sides(compared, number)]
    change, measured = ("new" if pair.after else "gone"), {}
    if at is not None:
        before_us = float(before.median_us[number])
        delta = float(judged.delta_us[at])
        change = judged.change[at]
        measured = {
            "delta_us": delta,
            "delta_pct": delta / before_us * 100 if before_us > 0 else None,
            "ci_low_us": known(judged.ci_low_us[at]),
            "ci_high_us": known(judged.ci_high_us[at]),
            "noise_us": known(judged.noise_us[at]),
            "min_effect_us": known(judged.min_effect_us[at]),
        }
    return CompareRow(
        key=key,
        layer=_only_layer(compared, number),
        position=place.position,
        type=place.type,
        before_us=known(before.median_us[number]),
        after_us=known(after.median_us[number]),
        before_step_us=None if steps[0] is None else float(steps[0]),
        after_step_us=None if steps[1] is None else float(steps[1]),
        n_before=int(before.count[number]),
        n_after=int(after.count[number]),
        change=change,
        delta_step_us=float((steps[1] or 0.0) - (steps[0] or 0.0)),
        input_shapes=text.input_shapes if text else None,
        part=place.part,
        bound_before=bounds[0].get(pair.before[0].signature) if pair.before else None,
        bound_after=bounds[1].get(pair.after[0].signature) if pair.after else None,
        note=_note(compared, pair, judged.why[at] if at is not None else ""),
        group=group_of(place.type, place.name),
        name=place.name or None,
        layers=layers or None,
        paired_by=pair.how if at is not None else "",
        signature_before=f"{pair.before[0].signature:016x}" if pair.before else None,
        signature_after=f"{pair.after[0].signature:016x}" if pair.after else None,
        stream_before=before.stream[number],
        stream_after=after.stream[number],
        **({"delta_us": None, "delta_pct": None, "ci_low_us": None, "ci_high_us": None} | measured),
    )


def _sides(compared: Compared, number: int) -> tuple[tuple[SideTable, bool], tuple[SideTable, bool]]:
    pair = compared.pairs[number]
    return (compared.before, bool(pair.before)), (compared.after, bool(pair.after))


def _only_layer(compared: Compared, number: int) -> int | None:
    """The layer of a place that occurs in one alone."""
    found = {
        table.first_layer[number] if table.layers[number] == 1 else None
        for table, there in _sides(compared, number)
        if there
    }
    return found.pop() if len(found) == 1 else None


def _note(compared: Compared, pair: Pair, why: str) -> str:
    """How the two sides were found to belong together, where that is not plain; then why nothing is said."""
    parts = []
    if pair.how == "renamed":
        parts.append(f"{pair.before[0].type} became {pair.after[0].type}")
    if pair.how in ("shapes", "renamed"):
        shapes = [_shapes(compared, places) for places in (pair.before, pair.after)]
        if shapes[0] != shapes[1]:
            parts.append(f"shapes {shapes[0]} became {shapes[1]}")
        elif pair.how == "shapes":
            parts.append("the same shapes with other data types, formats or engine")
    if pair.how == "moved":
        parts.append(f"moved: {_places(pair.before)} became {_places(pair.after)}")
    if why:
        parts.append(why)
    return "; ".join(parts)


def _shapes(compared: Compared, places: tuple[Place, ...]) -> str:
    text = compared.texts.get(places[0].signature)
    return "not recorded" if text is None or text.input_shapes is None else text.input_shapes or "scalar"


def _places(places: tuple[Place, ...]) -> str:
    place = places[0]
    at = f" {place.position}" if place.position is not None else ""
    return f"{place.part or 'place'}{at}" + (f" and {len(places) - 1} more" if len(places) > 1 else "")
