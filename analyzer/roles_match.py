"""Which weight a kernel multiplies with: K, N, batch and neighbours against the role rules.

With a config.json the matrices decide, and parallel sizes that were not given are inferred: the value with
which most kernel time gets a name. Where several values or roles fit, all of them are named. Without a
config only the neighbours speak, and the name says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from .labels import LabelledGroup
from .model_config import ModelConfig
from .roles import ParallelSizes, Role, rules, symbols_of
from .roles_user import UserRole
from .sequence import KernelSequence
from .targets import is_weighted

BY_USER, BY_SHAPE, BY_NEIGHBOURS, BY_SLOTS = "roles.toml", "shape", "neighbours", "operand slots"
SHAPE_ALONE = "shape, not neighbours"
_REACH = 4  # neighbours looked at on each side; no rule reaches further, held by a test
_MOST_RANKS = 1024


@dataclass(frozen=True)
class RoleRequest:
    """What the user knows of the model; everything may be missing."""

    config: ModelConfig | None = None
    parallel: ParallelSizes = field(default_factory=ParallelSizes)
    user: tuple[UserRole, ...] = ()


@dataclass(frozen=True)
class RoleName:
    """The role of one kernel's weight; `weights` names those of a fused kernel, in slot order."""

    name: str
    source: str  # BY_USER | BY_SHAPE | BY_NEIGHBOURS | BY_SLOTS, with what agreed or did not
    alternatives: tuple[str, ...] = ()  # other roles that fit as well
    weights: tuple[str, ...] = ()
    expression: str | None = None  # how the model's code names the weight, when the user said so

    def weights_of(self, count: int) -> tuple[str | None, ...]:
        """The roles of `count` weights: those of a fused kernel, or the one role of the only weight."""
        if len(self.weights) == count:
            return self.weights
        return (self.name,) if count == 1 else (None,) * count


@dataclass(frozen=True)
class RoleNames:
    """Roles by place of a sequence, the sizes that were given or inferred, and what is ambiguous."""

    by_place: Mapping[int, RoleName]
    sizes: Mapping[str, int]
    notes: tuple[str, ...] = ()

    def of(self, place: int) -> RoleName | None:
        """The role at one place; None where none is known."""
        return self.by_place.get(place)


@dataclass(frozen=True)
class _Kernel:
    """A weight-carrying kernel as the rules see it."""

    place: int
    group: LabelledGroup
    previous: tuple[str, ...]  # types before it, nearest first
    following: tuple[str, ...]
    us: float  # summed over the selection

    @property
    def matrix(self) -> tuple[int, int, int] | None:
        """(batch or 1, K, N) of its weight; None when the shapes do not tell one product."""
        work = self.group.work
        if work.k is None or work.n is None:
            return None
        experts = work.experts if work.family == "grouped_matmul" else work.batch
        return (experts or 1), work.k, work.n


def name_roles(sequence: KernelSequence, request: RoleRequest) -> RoleNames:
    """Name the weights of every weight-carrying kernel of a sequence.

    request: the config, the parallel sizes that are known, the user's own names, which win. Nothing is
    named that neither matrix nor neighbours support.
    """
    kernels = list(_kernels(sequence))
    found: dict[int, RoleName] = {}
    sizes, notes = dict(request.parallel.given), []
    if request.config is not None:
        symbols = symbols_of(request.config)
        sizes, notes = _infer(kernels, symbols, request.parallel)
        found |= {
            each.place: name
            for each in kernels
            if (name := _by_shape(each, {**symbols, **sizes})) is not None
        }
    for each in kernels:
        named = _by_slots(each) or _agreed(found.get(each.place), _by_neighbours(each))
        for user in request.user:
            if user.matches(each.group):
                named = RoleName(
                    user.role, BY_USER, weights=named.weights if named else (), expression=user.weight
                )
        if named is not None:
            found[each.place] = named
    return RoleNames(found, sizes, (*notes, *_ambiguous(kernels, found), *_unused(kernels, request.user)))


def _kernels(sequence: KernelSequence) -> Iterator[_Kernel]:
    places, first = np.unique(sequence.place, return_index=True)
    for place, index in zip(places.tolist(), first.tolist(), strict=True):
        group = sequence.places[place]
        if is_weighted(group):
            yield _Kernel(
                place,
                group,
                _types(sequence, index, range(-1, -_REACH - 1, -1)),
                _types(sequence, index, range(1, _REACH + 1)),
                group.statistics.total_us or 0.0,
            )


def _types(sequence: KernelSequence, index: int, offsets: Iterable[int]) -> tuple[str, ...]:
    found = []
    for offset in offsets:
        other = index + offset
        if not 0 <= other < len(sequence.place) or sequence.step[other] != sequence.step[index]:
            break
        found.append(sequence.places[int(sequence.place[other])].row.type or "")
    return tuple(found)


def _near(kernel: _Kernel, role: Role) -> bool | None:
    """Whether the neighbours agree with a role; None when it has no rule for them."""
    if role.near is None:
        return None
    return role.near.holds(kernel.group.part, kernel.previous, kernel.following)


def _infer(
    kernels: Sequence[_Kernel], symbols: Mapping[str, int], parallel: ParallelSizes
) -> tuple[dict[str, int], list[str]]:
    """Parallel sizes: those given, and for each other the value that names most kernel time."""
    sizes, notes = dict(parallel.given), []
    votes: dict[str, dict[int, float]] = {}
    for role, kernel in product(rules().roles, kernels):
        free = sorted(role.sizes - sizes.keys())
        if not free or kernel.group.work.family not in role.families or _near(kernel, role) is False:
            continue
        for values in product(*(_rank_counts(symbols, name) for name in free)):
            chosen = dict(zip(free, values, strict=True))
            if _fits(role, kernel, {**symbols, **sizes, **chosen}):
                for name, value in chosen.items():
                    counted = votes.setdefault(name, {})
                    counted[value] = counted.get(value, 0.0) + kernel.us
    for name, counted in votes.items():
        most = max(counted.values())
        best = sorted(value for value, us in counted.items() if math.isclose(us, most))
        sizes[name] = best[0]
        flag = rules().sizes[name]["flag"]
        others = f"; {', '.join(map(str, best[1:]))} would fit as well" if best[1:] else ""
        notes.append(f"{flag} {best[0]} is inferred from the shapes{others}.")
    return {**{name: entry["default"] for name, entry in rules().sizes.items()}, **sizes}, notes


def _rank_counts(symbols: Mapping[str, int], size: str) -> list[int]:
    """Numbers of ranks worth trying: divisors of what the size splits, up to a large machine."""
    whole = {
        atom.name
        for role in rules().roles
        for expression in (role.k, role.n, role.batch)
        if expression
        for term in expression.terms
        for atom in term
        if atom.divisor == size
    }
    numbers = [symbols[name] for name in whole if symbols.get(name)]
    return [count for count in range(1, _MOST_RANKS + 1) if any(number % count == 0 for number in numbers)]


def _fits(role: Role, kernel: _Kernel, numbers: Mapping[str, int]) -> bool:
    if kernel.group.work.family not in role.families:
        return False
    wanted = role.matrix(numbers)
    return wanted is not None and (wanted[0] or 1, wanted[1], wanted[2]) == kernel.matrix


def _by_shape(kernel: _Kernel, numbers: Mapping[str, int]) -> RoleName | None:
    """Roles with this matrix; those whose neighbours agree go before those that have no rule."""
    fitting = [(role, _near(kernel, role)) for role in rules().roles if _fits(role, kernel, numbers)]
    for wanted, said in ((True, "shape and neighbours"), (None, BY_SHAPE), (False, SHAPE_ALONE)):
        names = list(dict.fromkeys(role.name for role, near in fitting if near is wanted))
        if names:
            return RoleName(names[0], said, tuple(names[1:]))
    return None


def _agreed(shape: RoleName | None, near: RoleName | None) -> RoleName | None:
    """The role by shape, unless its neighbours speak for another: then that one, with both named."""
    if shape is None or near is None or shape.source != SHAPE_ALONE or near.name == shape.name:
        return shape or near
    return RoleName(near.name, near.source, (shape.name, *shape.alternatives))


def _by_slots(kernel: _Kernel) -> RoleName | None:
    fused = rules().fused.get(kernel.group.work.family)
    if fused is None or len(kernel.group.work.weights) != len(fused[1]):
        return None
    return RoleName(fused[0], BY_SLOTS, weights=fused[1])


def _by_neighbours(kernel: _Kernel) -> RoleName | None:
    family, batched = kernel.group.work.family, (kernel.group.work.batch or 1) > 1
    for rule in rules().neighbours:
        fits = family in rule.families and (rule.batched is None or rule.batched == batched)
        if fits and rule.near.holds(kernel.group.part, kernel.previous, kernel.following):
            return RoleName(rule.name, BY_NEIGHBOURS)
    return None


def _ambiguous(kernels: Sequence[_Kernel], found: Mapping[int, RoleName]) -> list[str]:
    texts = [
        f"{each.group.row.type} {each.group.row.input_shapes}: {name.name} by {name.source}, "
        f"or {', '.join(name.alternatives)}."
        for each in kernels
        if (name := found.get(each.place)) and name.alternatives
    ]
    return list(dict.fromkeys(texts))


def _unused(kernels: Sequence[_Kernel], user: Sequence[UserRole]) -> list[str]:
    return [
        f"{each.source}: the rule for {each.role} matches no weight-carrying kernel."
        for each in user
        if not any(each.matches(kernel.group) for kernel in kernels)
    ]
