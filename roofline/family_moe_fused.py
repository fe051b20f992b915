"""Dispatch, two expert matmuls and combine in one kernel: the expert weights are told, the routing is not.

Weights are found by shape, because exports list them as one operand or as one per expert: matrices with the
hidden size of x as rows or columns. Slots: `x`.
"""

from __future__ import annotations

import math
from collections import defaultdict

from ..ingest.shapes import Tensor
from .family_matmul import weight_of
from .model import Signature, Work, unresolved
from .operands import count_bytes, operand
from .registry import OperatorRow

_NARROWEST = 64  # rows or columns of a weight; scales and routing tables are narrower or of rank 1
_MATRICES = 2  # gate and up in one, down


def moe_fused_work(signature: Signature, row: OperatorRow) -> Work:
    """bytes_lo is x and the output, bytes_hi adds everything listed, all experts included; no FLOPs are told.

    How many tokens and experts this rank gets stands in values that are not exported.
    """
    x, out = operand(signature.inputs, row.slots["x"]), operand(signature.outputs, 0)
    if x is None or out is None or not x.dims:
        return unresolved(row, "shapes of x or the output not recorded", *_NOT_TOLD)
    groups = _weight_groups(signature, x, row.slots["x"])
    if len(groups) != _MATRICES:
        found = "none" if not groups else str(len(groups))
        return unresolved(
            row, f"two expert weights with the hidden size {x.dims[-1]} of x (found {found})", *_NOT_TOLD
        )
    everything = count_bytes(signature.inputs, "input") + count_bytes(signature.outputs, "output")
    certain = count_bytes((x,), "input") + count_bytes((out,), "output")
    if everything.unknown:
        return unresolved(row, *everything.missing)
    experts = min(sum(_experts(tensor) for _, tensor in group) for group in groups)
    weights = tuple(
        weight
        for group in groups
        for slot, tensor in group
        if (weight := weight_of(slot, tensor, _experts(tensor))) is not None
    )
    return Work(
        family=row.family,
        outcome="upper_bound",
        unit=row.unit,
        compute_dtype=groups[0][0][1].dtype,
        bytes_lo=certain.total,
        bytes_hi=everything.total,
        weights=weights,
        weight_bytes=sum(weight.bytes for weight in weights),
        working_set_bytes=everything.total,
        experts=experts,
        flags=row.flags,
        missing=_NOT_TOLD,
    )


_NOT_TOLD = (
    "token rows that reach this rank and experts that are hit: routing values are not exported",
    "bytes that go over the links, and when the other ranks arrive",
)


def _weight_groups(signature: Signature, x: Tensor, x_slot: int) -> list[list[tuple[int, Tensor]]]:
    """Operands that can be expert weights, by equal shape, in slot order."""
    groups: dict[tuple[int, ...], list[tuple[int, Tensor]]] = defaultdict(list)
    for slot, tensor in enumerate(signature.inputs or ()):
        if tensor is None or slot == x_slot or len(tensor.logical) < 2 or tensor.dtype == "fp32":
            continue
        rows, columns = tensor.logical[-2:]
        if x.dims[-1] in (rows, columns) and min(rows, columns) >= _NARROWEST:
            groups[tensor.logical].append((slot, tensor))
    return list(groups.values())


def _experts(tensor: Tensor) -> int:
    return math.prod(tensor.logical[:-2])
