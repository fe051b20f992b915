"""Which weight a kernel multiplies with: K, N, batch and neighbours against the role rules.

What the trace calls a weight goes first. With a config.json the matrices decide, and parallel sizes that were
not given are inferred: the value with which most kernel time gets a name. Where several values or roles fit,
all of them are named. Without a config only the neighbours speak, and the name says so. Where the trace and
the matrix contradict each other, both are said and no role is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from .labels import LabelledGroup
from .model_config import ModelConfig
from .role_names import NO_NAMES, TraceName, TraceNames, narrowed, same_role
from .roles import ParallelSizes, Role, rules, symbols_of
from .roles_user import UserRole
from .sequence import KernelSequence
from .targets import is_weighted

BY_USER, BY_SHAPE, BY_NEIGHBOURS, BY_SLOTS = "roles.toml", "shape", "neighbours", "operand slots"
SHAPE_ALONE = "shape, not neighbours"
_CONTRADICT = "they contradict each other, and neither is taken; --roles can name it."
_REACH = 4  # neighbours looked at on each side; no rule reaches further, held by a test
_MOST_RANKS = 1024
_CLOSE = 0.5  # of the kernel time that the best parallel size names: another value is said from there on


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
    source: str  # BY_USER | range or call stack | BY_SHAPE | BY_NEIGHBOURS | BY_SLOTS, and what agreed or not
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


def name_roles(sequence: KernelSequence, request: RoleRequest, traced: TraceNames = NO_NAMES) -> RoleNames:
    """Name the weights of every weight-carrying kernel of a sequence.

    request: the config, the parallel sizes that are known, the user's own names, which win. traced: what the
    trace calls them. Nothing is named that neither trace nor matrix nor neighbours support.
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
    notes += traced.notes
    numbers = {**symbols_of(request.config), **sizes} if request.config is not None else None
    for each in kernels:
        named = _by_slots(each)
        if named is None:
            named = _agreed(found.pop(each.place, None), _by_neighbours(each))
            told = traced.of(each.group)
            if told is not None:
                named, contradiction = _with_trace(each, named, told, numbers)
                notes += [] if any(user.matches(each.group) for user in request.user) else contradiction
        for user in request.user:
            if user.matches(each.group):
                named = RoleName(
                    user.role, BY_USER, weights=named.weights if named else (), expression=user.weight
                )
        if named is not None:
            found[each.place] = named
    return RoleNames(found, sizes, (*notes, *_ambiguous(kernels, found), *_unused(kernels, request.user)))


def _kernels(sequence: KernelSequence) -> Iterator[_Kernel]:
    for place, group in enumerate(sequence.places):
        if is_weighted(group) and len(kernels := sequence.kernels_at(place)):
            index = int(kernels[0])
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
    """Parallel sizes: those given, and for each other the value that names most kernel time.

    A kernel counts once for a value, however many roles it then fits. Values that name as much, or more than
    half of that, are said.
    """
    sizes, notes = dict(parallel.given), []
    votes: dict[str, dict[int, float]] = {}
    for kernel in kernels:
        fitting: set[tuple[str, int]] = set()
        for role in rules().roles:
            free = sorted(role.sizes - sizes.keys())
            if not free or kernel.group.work.family not in role.families or _near(kernel, role) is False:
                continue
            for values in product(*(_rank_counts(symbols, name) for name in free)):
                chosen = dict(zip(free, values, strict=True))
                if _fits(role, kernel, {**symbols, **sizes, **chosen}):
                    fitting |= chosen.items()
        for name, value in sorted(fitting):
            counted = votes.setdefault(name, {})
            counted[value] = counted.get(value, 0.0) + kernel.us
    for name, counted in votes.items():
        sizes[name], note = _most(rules().sizes[name]["flag"], counted)
        notes.append(note)
    return {**{name: entry["default"] for name, entry in rules().sizes.items()}, **sizes}, notes


def _most(flag: str, counted: Mapping[int, float]) -> tuple[int, str]:
    """The value that names most kernel time, ties to the smallest, and what is said of it and of others."""
    most = max(counted.values())
    best = sorted(value for value, us in counted.items() if math.isclose(us, most))
    close = sorted(value for value, us in counted.items() if value not in best and us > _CLOSE * most)
    others = f"; {', '.join(map(str, best[1:]))} would fit as well" if best[1:] else ""
    if close:
        shares = ", ".join(f"{value} for {counted[value] / most:.0%}" for value in close)
        others += f"; others fit part of the kernel time that it names: {shares}"
    if others:
        others += f". Give {flag} to settle it"
    return best[0], f"{flag} {best[0]} is inferred from the shapes{others}."


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


def _with_trace(
    kernel: _Kernel, other: RoleName | None, told: TraceName, numbers: Mapping[str, int] | None
) -> tuple[RoleName | None, list[str]]:
    """The trace's name with what agrees; no name, and both in a note, where the matrix contradicts it.

    other: the role by matrix or neighbours. numbers: of the config, with the parallel sizes; None without.
    """
    by_shape = other is not None and other.source != BY_NEIGHBOURS
    agreeing = narrowed(told.roles, other.name, other.alternatives) if other is not None else ()
    if other is not None and agreeing:
        # of k_proj or v_proj and k_proj the trace's is the narrower
        named = next((each for each in told.roles if len(told.roles) == 1), agreeing[0])
        how = "confirmed" if same_role(named, other.name) else "one of several"
        return RoleName(named, f"{told.source}, {how} by {other.source}", agreeing[1:]), []
    wanted = [] if numbers is None else _matrices(told.roles, numbers)
    if by_shape or (wanted and kernel.matrix is not None and kernel.matrix not in wanted):
        return None, [_contradiction(kernel, other if by_shape else None, told, wanted)]
    alternatives = told.roles[1:]
    if other is not None:
        return RoleName(told.roles[0], f"{told.source}, not {other.source}", (*alternatives, other.name)), []
    return RoleName(told.roles[0], told.source, alternatives), []


def _matrices(names: Sequence[str], numbers: Mapping[str, int]) -> list[tuple[int, int, int]]:
    """(batch or 1, K, N) of the roles with these names, as the config gives them."""
    found = [
        role.matrix(numbers) for role in rules().roles if any(same_role(role.name, each) for each in names)
    ]
    return [(each[0] or 1, each[1], each[2]) for each in found if each is not None]


def _contradiction(
    kernel: _Kernel, other: RoleName | None, told: TraceName, wanted: Sequence[tuple[int, int, int]]
) -> str:
    group = kernel.group
    at = f" at position {group.position}" if group.position is not None else ""
    text = f"{group.row.type} {group.row.input_shapes}{at}: {told.source} says {' or '.join(told.roles)}"
    if other is not None:
        return f"{text}, its {other.source} {other.name}: {_CONTRADICT}"
    sizes = " or ".join(f"{k} x {n}" if batch == 1 else f"{batch} x {k} x {n}" for batch, k, n in wanted)
    return f"{text}, which the config.json makes {sizes}: {_CONTRADICT}"


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
