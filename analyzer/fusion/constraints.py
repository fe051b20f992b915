"""Whether the kernels of a match satisfy a condition of a rule: each kind of check is one small function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...ingest.shapes import Tensor
from ..labels import LabelledGroup
from .rules import Check

HOLDS, FAILS, UNKNOWN = "holds", "fails", "unknown"


@dataclass(frozen=True)
class Member:
    """One kernel of a match: its place in the sequence (-1 = filler), its normalised type and its
    signature.
    """

    place: int
    type: str
    group: LabelledGroup


@dataclass(frozen=True)
class Situation:
    """What a check may look at besides the kernels: the phase of the capture and the family of the device."""

    phase: str  # train | decode | prefill | mixed | unknown
    family: str | None  # A2, A3, ...; None = device not known


@dataclass(frozen=True)
class Finding:
    """The outcome of one check: `holds`, `fails` or `unknown`, and what was found, in words."""

    status: str
    text: str
    source: str


def decide(check: Check, members: Sequence[Member], situation: Situation) -> Finding | None:
    """The outcome of a check; None where none of the kernels is one that it is about."""
    concerned = [each for each in members if not check.on or each.type in check.on]
    if check.check == "present":
        return Finding(HOLDS if concerned else FAILS, "", check.source)
    if not concerned:
        return None
    status, text = CHECKS[check.check](check.values, concerned, situation)
    return Finding(status, text, check.source)


Outcome = tuple[str, str]


def _operand(values: Any, member: Member) -> tuple[Tensor | None, str]:
    """The operand a check is about and what to call it."""
    side, slot = values.get("side", "input"), values.get("slot", 0)
    operands = member.group.signature.inputs if side == "input" else member.group.signature.outputs
    name = values.get("what") or f"{side} {slot} of {member.group.row.type}"
    if operands is None or slot >= len(operands):
        return None, name
    return operands[slot], name


def _about_operand(
    decide_one: Callable[[Any, Tensor, str], Outcome],
) -> Callable[[Any, Sequence[Member], Situation], Outcome]:
    """A check of one operand of the first kernel concerned; without shapes it is not known."""

    def check(values: Any, members: Sequence[Member], _: Situation) -> Outcome:
        tensor, name = _operand(values, members[0])
        if tensor is None:
            return UNKNOWN, f"{name} is not recorded"
        return decide_one(values, tensor, name)

    return check


def _dtype(values: Any, tensor: Tensor, name: str) -> Outcome:
    wanted = values["one_of"]
    if tensor.dtype == "unknown":
        return UNKNOWN, f"dtype of {name} is not recorded"
    return _outcome(tensor.dtype in wanted, f"{name} is {tensor.dtype}, the call takes {_any(wanted)}")


def _format(values: Any, tensor: Tensor, name: str) -> Outcome:
    wanted = values["one_of"]
    if not tensor.format:
        return UNKNOWN, f"format of {name} is not recorded"
    holds = any(each in tensor.format.upper() for each in wanted)
    return _outcome(holds, f"{name} is stored as {tensor.format}, the call takes {_any(wanted)}")


def _ndim(values: Any, tensor: Tensor, name: str) -> Outcome:
    dims = len(tensor.dims)
    return within_limits(values, dims, f"{name} has {dims} dimensions")


def _last_dim(values: Any, tensor: Tensor, name: str) -> Outcome:
    logical, at = tensor.logical, values.get("at", -1)
    if len(logical) < -at:
        return UNKNOWN, f"{name} is a scalar" if not logical else f"{name} has {len(logical)} dimensions"
    which = "last dimension" if at == -1 else f"dimension {at}"
    return within_limits(values, logical[at], f"{which} of {name} is {logical[at]}")


def _leading_dims(values: Any, tensor: Tensor, name: str) -> Outcome:
    """A limit on some of the dimensions before the last: which of them it is depends on the layout."""
    leading = tensor.logical[:-1]
    if max(leading, default=0) <= values["max"]:
        return HOLDS, ""
    return UNKNOWN, f"{values['text']}; {name} is {'x'.join(map(str, leading))} before its last dimension"


def _last_dim_bytes(values: Any, tensor: Tensor, name: str) -> Outcome:
    if not tensor.logical or tensor.element_bytes is None:
        return UNKNOWN, f"size of {name} is not recorded"
    size = int(tensor.logical[-1] * tensor.element_bytes)
    return within_limits(values, size, f"last dimension of {name} is {size} bytes")


def _product(values: Any, tensor: Tensor, name: str) -> Outcome:
    logical = tensor.logical
    if not logical:
        return UNKNOWN, f"{name} is a scalar"
    size = math.prod(logical[at] for at in values["dims"])
    return within_limits(values, size, f"{name} gives {size}")


def _inference(values: Any, _: Sequence[Member], situation: Situation) -> Outcome:
    text = values.get("text", "inference only")
    return _outcome(situation.phase != "train", f"this is a training capture: {text}")


def _phase(wanted: str) -> Callable[[Any, Sequence[Member], Situation], Outcome]:
    def check(values: Any, _: Sequence[Member], situation: Situation) -> Outcome:
        if situation.phase in ("unknown", "mixed"):
            return UNKNOWN, f"the phase is not known; {values['text']}"
        return _outcome(situation.phase == wanted, f"the phase is {situation.phase}; {values['text']}")

    return check


def _family(values: Any, _: Sequence[Member], situation: Situation) -> Outcome:
    wanted = values["one_of"]
    if situation.family is None:
        return UNKNOWN, f"the device is not known; the call runs on {_any(wanted)}"
    return _outcome(
        situation.family in wanted, f"the device is {situation.family}, the call runs on {_any(wanted)}"
    )


def _dtype_on_family(values: Any, members: Sequence[Member], situation: Situation) -> Outcome:
    tensor, name = _operand(values, members[0])
    if situation.family != values["family"]:
        return HOLDS, ""
    if tensor is None:
        return UNKNOWN, f"{name} is not recorded"
    return _outcome(
        tensor.dtype not in values["not_one_of"],
        f"{name} is {tensor.dtype}, which {situation.family} does not take",
    )


def _count(values: Any, members: Sequence[Member], _: Situation) -> Outcome:
    return within_limits(values, len(members), f"there are {len(members)} kernels of it in a row")


def _equal_weights(_: Any, members: Sequence[Member], __: Situation) -> Outcome:
    sizes = {(each.group.work.k, each.group.work.n) for each in members}
    if (None, None) in sizes:
        return UNKNOWN, "K and N are not recorded"
    return _outcome(len(sizes) == 1, "K and N differ")


def _vector_part(values: Any, members: Sequence[Member], _: Situation) -> Outcome:
    total = sum(each.group.statistics.median_us for each in members)
    vector = sum(each.group.statistics.median_us for each in members if each.group.work.unit != "cube")
    holds = vector > values["min_us"] and vector > values["min_share"] * total
    need = f"more than {values['min_us']} us and {values['min_share']:.0%}"
    return _outcome(holds, f"the vector part takes {vector:.1f} of {total:.1f} us, worthwhile is {need}")


def _manual(values: Any, _: Sequence[Member], __: Situation) -> Outcome:
    return UNKNOWN, values["text"]


CHECKS: dict[str, Callable[[Any, Sequence[Member], Situation], Outcome]] = {
    "dtype": _about_operand(_dtype),
    "format": _about_operand(_format),
    "ndim": _about_operand(_ndim),
    "last_dim": _about_operand(_last_dim),
    "leading_dims": _about_operand(_leading_dims),
    "last_dim_bytes": _about_operand(_last_dim_bytes),
    "product": _about_operand(_product),
    "inference": _inference,
    "prefill": _phase("prefill"),
    "decode": _phase("decode"),
    "family": _family,
    "dtype_on_family": _dtype_on_family,
    "count": _count,
    "equal_weights": _equal_weights,
    "vector_part": _vector_part,
    "manual": _manual,
}


def _outcome(holds: bool, text: str) -> Outcome:
    return (HOLDS if holds else FAILS), text


def _any(names: Sequence[Any]) -> str:
    return " or ".join(map(str, names))


def within_limits(values: Any, found: float, text: str) -> Outcome:
    """Whether a number keeps every limit that the check states: min, max, one_of, even, multiple."""
    limits = (
        ("min", lambda limit: found >= limit, "at least {}"),
        ("max", lambda limit: found <= limit, "at most {}"),
        ("one_of", lambda limit: found in limit, "one of {}"),
        ("even", lambda limit: not limit or found % 2 == 0, "even"),
        ("multiple", lambda limit: found % limit == 0, "a multiple of {}"),
    )
    broken = [
        words.format(_any(values[name]) if name == "one_of" else values[name])
        for name, keeps, words in limits
        if name in values and not keeps(values[name])
    ]
    if broken:
        return FAILS, f"{text}, the call takes {' and '.join(broken)}"
    return HOLDS, text
