"""Optimizer steps: states are read and written, the gradient is read, also where the export shows no
outputs.

Slots: `states` = how many state tensors there are (Adam: var, m, v).
"""

from __future__ import annotations

from .family_stream import vector_dtype
from .model import Signature, Work, unresolved
from .operands import slots_where
from .registry import OperatorRow


def optimizer_work(signature: Signature, row: OperatorRow) -> Work:
    """Adam: 7 x numel x bytes. The tensors with the elements of the first operand are states, then the
    gradient.
    """
    first = next((t for t in signature.inputs or () if t is not None), None)
    if first is None:
        return unresolved(row, "input shapes not recorded")
    slots = slots_where(signature.inputs, lambda t: t.elements == first.elements)
    sizes = [size for slot in slots if (size := _size(signature, slot)) is not None]
    states: int = row.slots["states"]
    if len(sizes) != len(slots) or len(sizes) <= states:
        return unresolved(row, f"{states} states and a gradient of equal size are not among the operands")
    # More than states + gradient: a further state (AMSGrad's maximum), read and written too.
    extra = sum(sizes[states + 1 :])
    total = 2 * sum(sizes[:states]) + sizes[states] + 2 * extra
    flops = row.ops * first.elements
    return Work(
        family=row.family,
        outcome="resolved",
        unit=row.unit,
        compute_dtype=vector_dtype(signature),
        flops=flops,
        flops_lo=flops,
        flops_hi=flops,
        padded_flops=flops,
        bytes_lo=total,
        bytes_hi=total,
        working_set_bytes=sum(sizes),
        flags=row.flags,
    )


def _size(signature: Signature, slot: int) -> int | None:
    tensor = signature.inputs[slot] if signature.inputs is not None else None
    return None if tensor is None else tensor.storage_bytes
