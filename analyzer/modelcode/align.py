"""The weights of a captured layer and those of the code, in order: which kernel is which call.

Both are sequences of roles that repeat from layer to layer. Where one turn of the code's sequence gives that
of the kernels, and no other turn does, every kernel has its call; where none or several do, only a role that
occurs once on both sides has one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from ..candidates import Survey
from .codebase import Weight
from .ops import Op, Trace
from .values import weight_rules

_MOST_WAYS = 512  # ways through undecided branches that are tried


@dataclass(frozen=True)
class Use:
    """One weight read by one operation of the code: its index among the operations, and the role."""

    at: int
    weight: Weight
    role: str


@dataclass(frozen=True)
class Kernel:
    """One weight of one weight-carrying kernel of the layer."""

    place: int
    position: int
    role: str


@dataclass(frozen=True)
class Way:
    """One way through the undecided branches, with the call of each kernel as far as it is told."""

    trace: Trace
    ops: tuple[Op, ...]
    uses: tuple[Use, ...]
    by_kernel: Mapping[tuple[int, str], Use]  # (place, role)
    whole: bool  # the sequences agree
    kernels: tuple[Kernel, ...]


@cache
def _attributes() -> dict[str, list[str]]:
    """Attribute -> roles that are called so."""
    found: dict[str, list[str]] = {}
    for role, names in weight_rules()["roles"].items():
        for name in names if isinstance(names, list) else ():
            found.setdefault(name, []).append(role)
    return found


def role_of(weight: Weight) -> str | None:
    """The role that a weight has by its name and path; None for a name that no role has."""
    roles = _attributes().get(weight.attribute, [])
    shared = weight_rules()["roles"]["inside_shared"] in weight.path
    fits = [role for role in roles if role.startswith("shared_experts.") == shared]
    return (fits or roles or [None])[0]


def kernels_of(found: Survey) -> tuple[Kernel, ...]:
    """The weights of the layer's kernels by position; a fused kernel has several."""
    made = {}
    for place, name in found.names.by_place.items():
        group = found.places[place]
        if group.part == "layer" and group.position is not None:
            for number, role in enumerate(name.weights or (name.name,)):
                made.setdefault((group.position, number), Kernel(place, group.position, role))
    return tuple(made[key] for key in sorted(made))


def ways(traces: Iterable[Trace], kernels: Sequence[Kernel]) -> list[Way]:
    """Every way through the code that fits the kernels; where none does, all of them."""
    found = [way for trace in traces for way in _ways(trace, kernels)]
    return [way for way in found if way.whole] or found


def _ways(trace: Trace, kernels: Sequence[Kernel]) -> Iterator[Way]:
    branches: dict[int, set[int]] = {}
    for op in trace.ops:
        if op.uses:
            for branch, arm in op.arms:
                branches.setdefault(branch, {0, 1}).add(arm)
    many = 1
    for arms in branches.values():
        many *= len(arms)
    if many > _MOST_WAYS:
        trace.notes.append(
            f"{len(branches)} branches with weights are not decided by config.json: none is followed"
        )
        return
    for choice in product(*(sorted(arms) for arms in branches.values())):
        chosen = dict(zip(branches, choice, strict=True))
        ops = tuple(op for op in trace.ops if all(chosen.get(branch, arm) == arm for branch, arm in op.arms))
        yield _aligned(trace, ops, kernels)


def _aligned(trace: Trace, ops: tuple[Op, ...], kernels: Sequence[Kernel]) -> Way:
    uses = tuple(
        Use(at, weight, role)
        for at, op in enumerate(ops)
        for weight in op.uses
        if (role := role_of(weight)) and "[*]" not in weight.path
    )
    common = {use.role for use in uses} & {kernel.role for kernel in kernels}
    code = [use for use in uses if use.role in common]
    seen = [kernel for kernel in kernels if kernel.role in common]
    whole = _turned(code, seen)
    if whole is not None:
        pairs = {(kernel.place, kernel.role): use for kernel, use in zip(seen, whole, strict=True)}
        return Way(trace, ops, uses, pairs, True, tuple(kernels))
    once = {role for role, count in Counter(use.role for use in code).items() if count == 1}
    once &= {role for role, count in Counter(kernel.role for kernel in seen).items() if count == 1}
    pairs = {
        (kernel.place, kernel.role): use
        for kernel in seen
        for use in code
        if use.role == kernel.role and use.role in once
    }
    return Way(trace, ops, uses, pairs, False, tuple(kernels))


def _turned(code: Sequence[Use], kernels: Sequence[Kernel]) -> list[Use] | None:
    """The use of each kernel when exactly one turn of the code's sequence gives the kernels' roles."""
    if not code or not kernels or len(kernels) % len(code):
        return None
    repeats = len(kernels) // len(code)
    wanted = [kernel.role for kernel in kernels]
    found: list[list[Use]] = []
    for turn in range(len(code)):
        turned = [*code[turn:], *code[:turn]] * repeats
        if [use.role for use in turned] == wanted:
            found.append(turned)
    return found[0] if len(found) == 1 else None
