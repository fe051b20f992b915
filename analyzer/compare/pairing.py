"""Which kernels of the run after are the kernels of the run before.

A place is a position in the layer (or in what stands before, between and after the layers) with the kernels
that stand there in all steps. Places are paired in passes, each only over what the last one left:

1. the same work at the same place of the sequence, by alignment of the two runs' sequences;
2. in the stretches between: the same operator with other shapes, or under another CANN release's name;
3. the same work anywhere else: moved, or found in a layer by one run and outside the layers by the other;
4. where only one run shows layers: the same operator in the order of the whole step;
5. the same work more often: added to the pair that lost as many calls.

What is left is new or gone. Swapping the runs swaps every pair.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from .alignment import align, gaps
from .operator_types import operator_of

PARTS = ("before", "layer", "between", "after", None, "side", "odd")


@dataclass(frozen=True)
class Place:
    """One place of one run; `number` is its index in the list of its side."""

    number: int
    graph: int  # 0, or the number of the capture where a side joins several
    part: str | None
    position: int | None
    type: str
    signature: int  # the one that most calls have
    calls: float  # per step
    busy: bool = True  # False: AI_CPU and other engines, which are compared apart
    name: str = ""  # of one of its kernels


@dataclass(frozen=True)
class Pair:
    """Places of the two runs that do the same; one side is empty for what is new or gone."""

    before: tuple[Place, ...]
    after: tuple[Place, ...]
    how: str  # same | shapes | renamed | moved | new | gone

    @property
    def places(self) -> tuple[Place, ...]:
        """The side that names the pair: before, or after where the kernel is new."""
        return self.before or self.after


def pair_places(before: Sequence[Place], after: Sequence[Place]) -> list[Pair]:
    """Pair every place of both sides exactly once; in the order of the step, new ones at their own place."""
    # Where several pairings are equally good, the same one is found whichever run is named first.
    if _content(before) > _content(after):
        return sorted((_swapped(pair) for pair in _paired(after, before)), key=_order)
    return sorted(_paired(before, after), key=_order)


def _content(places: Sequence[Place]) -> list[tuple[tuple[int, int, int, str, int], bool, float]]:
    return sorted((_place_order(place), place.busy, place.calls) for place in places)


def _swapped(pair: Pair) -> Pair:
    return Pair(pair.after, pair.before, {"new": "gone", "gone": "new"}.get(pair.how, pair.how))


def _paired(before: Sequence[Place], after: Sequence[Place]) -> list[Pair]:
    """The passes one after the other."""
    left, right = _Side(before), _Side(after)
    pairs: list[Pair] = []
    for busy in (True, False):
        for part in PARTS:
            pairs += _aligned(left.section(part, busy), right.section(part, busy))
            left.take(pairs, "before")
            right.take(pairs, "after")
    pairs += _same_work(left.free(), right.free())
    left.take(pairs, "before")
    right.take(pairs, "after")
    if left.has_layers != right.has_layers:
        pairs += _aligned(left.in_order(), right.in_order())
        left.take(pairs, "before")
        right.take(pairs, "after")
    return _absorb(pairs, left.free(), right.free(), left.has_layers != right.has_layers)


class _Side:
    """The places of one run that are still to be paired."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._free = {place.number: place for place in places}
        self.has_layers = any(place.part == "layer" for place in places)

    def section(self, part: str | None, busy: bool) -> list[Place]:
        """Unpaired places of one part that have a position, in the order of the step."""
        return [p for p in self.in_order() if p.part == part and p.busy == busy]

    def in_order(self) -> list[Place]:
        """Unpaired places with a position, device kernels first, captures and parts in the order they run."""
        inside = [place for place in self.free() if place.position is not None]
        return sorted(inside, key=lambda place: (not place.busy, place.graph, *_place_order(place)[1:]))

    def take(self, pairs: Iterable[Pair], side: str) -> None:
        for pair in pairs:
            for place in getattr(pair, side):
                self._free.pop(place.number, None)

    def free(self) -> list[Place]:
        return list(self._free.values())


def _aligned(before: list[Place], after: list[Place]) -> list[Pair]:
    """Passes 1 and 2 over places in the order of the step."""
    exact = align([place.signature for place in before], [place.signature for place in after])
    pairs = [Pair((before[i],), (after[j],), "same") for i, j in exact]
    for left, right in gaps(exact, len(before), len(after)):
        # shapes first: where only one of several equal operators was renamed, names alone could slip by one
        inner = align(
            [operator_of(before[i].type) for i in left], [operator_of(after[j].type) for j in right]
        )
        for i, j in inner:
            one, other = before[left[i]], after[right[j]]
            pairs.append(Pair((one,), (other,), "shapes" if one.type == other.type else "renamed"))
    return pairs


def _same_work(before: list[Place], after: list[Place]) -> list[Pair]:
    """Pass 3: equal signatures, wherever they stand; then, outside the sequence, equal operators."""
    pairs = _by_key(before, after, lambda place: (place.signature, place.busy), "moved")
    taken = [{p.number for pair in pairs for p in getattr(pair, side)} for side in ("before", "after")]
    left = [p for p in before if p.number not in taken[0] and p.position is None]
    right = [p for p in after if p.number not in taken[1] and p.position is None]
    pairs += _by_key(
        left, right, lambda place: (place.part or "", operator_of(place.type), place.busy), "shapes"
    )
    return pairs


def _by_key(
    before: list[Place], after: list[Place], key: Callable[[Place], Hashable], how: str
) -> list[Pair]:
    """Pair the places of each key in their order; all of them together where the numbers differ."""
    groups: dict[Hashable, tuple[list[Place], list[Place]]] = {}
    for side, places in enumerate((before, after)):
        for place in sorted(places, key=_place_order):
            groups.setdefault(key(place), ([], []))[side].append(place)
    pairs = []
    for left, right in groups.values():
        if not (left and right):
            continue
        together = [(tuple(left), tuple(right))] if len(left) != len(right) else None
        for one, other in together or [((a,), (b,)) for a, b in zip(left, right, strict=True)]:
            stays = all(_where(a) == _where(b) for a, b in zip(one, other, strict=False)) and not together
            pairs.append(Pair(one, other, "same" if stays and how == "moved" else how))
    return pairs


def _absorb(pairs: list[Pair], before: list[Place], after: list[Place], by_operator: bool) -> list[Pair]:
    """Pass 5 and the rest: add left-over calls to the pair of the same work that misses them.

    `by_operator`: a pair that was found by its operator takes calls of that operator, too.
    """
    done = list(pairs)
    for side, places in (("before", before), ("after", after)):
        for place in sorted(places, key=_place_order):
            index = _short_of(done, place, side, by_operator)
            if index is None:
                done.append(Pair((place,), (), "gone") if side == "before" else Pair((), (place,), "new"))
                continue
            pair = done[index]
            left = (*pair.before, place) if side == "before" else pair.before
            right = (*pair.after, place) if side == "after" else pair.after
            done[index] = Pair(left, right, pair.how if pair.how in _BY_OPERATOR else "moved")
    return done


_BY_OPERATOR = ("shapes", "renamed")


def _short_of(pairs: list[Pair], place: Place, side: str, by_operator: bool) -> int | None:
    """The pair of the same work whose side has the most calls too few, at least half of this place's."""
    best, most = None, place.calls / 2
    for index, pair in enumerate(pairs):
        if not (pair.before and pair.after) or pair.places[0].busy != place.busy:
            continue
        own: tuple[Place, ...] = getattr(pair, side)
        same = any(each.signature == place.signature for each in own)
        if not same and by_operator and pair.how in _BY_OPERATOR:
            same = operator_of(own[0].type) == operator_of(place.type)
        if not same:
            continue
        missing = _calls(pair.before) - _calls(pair.after)
        missing = missing if side == "after" else -missing
        if missing >= most and (best is None or missing > most):
            best, most = index, missing
    return best


def _calls(places: Iterable[Place]) -> float:
    return sum(place.calls for place in places)


def _where(place: Place) -> tuple[Hashable, ...]:
    return (place.graph, place.part, place.position)


def _place_order(place: Place) -> tuple[int, int, int, str, int]:
    position = -1 if place.position is None else place.position
    return (place.graph, PARTS.index(place.part), position, place.type, place.signature)


def _order(pair: Pair) -> tuple[bool, tuple[int, int, int, str, int], bool]:
    return (not pair.places[0].busy, _place_order(pair.places[0]), not pair.before)
