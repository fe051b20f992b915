"""Whether the kernels of a match hand their results on: by size and dtype, which is all that an export
tells.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ingest.shapes import Tensor
from .constraints import FAILS, HOLDS, UNKNOWN, Member
from .rules import Rule

# What two operands must share to be the same tensor seen from both sides; a view may change the dimensions.
Trace = tuple[int, str]


def flow_status(rule: Rule, members: Sequence[Member]) -> str:
    """`holds` when every kernel takes part in the flow of the sequence, `fails` when one cannot, else
    `unknown`.

    chain: each kernel reads what an earlier one wrote. branches: or what an earlier one read, and the last
    reads what an earlier one wrote. parallel: no kernel reads what another wrote.
    """
    if rule.flow == "any":
        return HOLDS
    known = [member for member in members if member.type != "memset"]
    if any(each.group.signature.inputs is None or each.group.signature.outputs is None for each in known):
        return UNKNOWN
    read, written = traces(known[0], "inputs"), traces(known[0], "outputs")
    for number, member in enumerate(known[1:], start=1):
        takes = traces(member, "inputs")
        fed = bool(takes & written)
        if rule.flow == "parallel":
            if fed:
                return FAILS
        elif not fed and (rule.flow == "chain" or number == len(known) - 1 or not takes & read):
            return FAILS
        read |= takes
        written |= traces(member, "outputs")
    return HOLDS


def traces(member: Member, side: str) -> set[Trace]:
    """Elements and dtype of every operand of more than one element on a side."""
    operands: tuple[Tensor | None, ...] = getattr(member.group.signature, side) or ()
    return {(each.elements, each.dtype) for each in operands if each is not None and each.elements > 1}


def saved_bytes(rule: Rule, members: Sequence[Member]) -> tuple[int, ...]:
    """Bytes that each kernel need not move once they are one: results that only the sequence reads.

    The writer saves its writing, the first reader its reading. A result that the call still returns (`keeps`)
    is written all the same, and a kernel that stays (`context`) saves nothing.
    """
    saved = [0] * len(members)
    for number, member in enumerate(members[:-1]):
        for tensor in member.group.signature.outputs or ():
            if tensor is None or tensor.storage_bytes is None or tensor.elements <= 1:
                continue
            trace = (tensor.elements, tensor.dtype)
            later = range(number + 1, len(members))
            reader = next((at for at in later if trace in traces(members[at], "inputs")), None)
            if reader is None:
                continue
            saved[reader] += tensor.storage_bytes
            if member.place not in rule.keeps and member.place not in rule.context:
                saved[number] += tensor.storage_bytes
    return tuple(saved)
