"""MlaProlog, MlaPreprocess: projections of the token, fused. Weights are certain, the KV pool is no traffic.

Slots: `x`, `weights` (input slots), `caches` (output slots that show the whole KV pools). Without `weights`
they are found by shape, and caches are the outputs that show an input again.
"""

from __future__ import annotations

from ..ingest.shapes import Tensor
from .family_matmul import weight_of
from .model import Signature, Work, unresolved
from .operands import count_bytes, operand
from .registry import OperatorRow

_NARROWEST = 64  # rows or columns of a projection; scales and positions are narrower or have a row per token
_COUNT = {2: "two", 3: "three", 4: "four"}


def mla_prolog_work(signature: Signature, row: OperatorRow) -> Work:
    """2 * tokens * elements of each weight; bytes of weights, token, small inputs and results, once each.

    M, K, N stay None: there are four products. bytes_hi adds the cache rows that the new tokens write.
    """
    x = operand(signature.inputs, row.slots["x"])
    caches_shown = row.slots.get("caches") or _shown_again(signature)
    weight_slots = row.slots.get("weights") or _weights_by_shape(signature, x, row.slots["x"])
    if x is not None and not weight_slots:
        width = x.dims[-1] if x.dims else 0
        return unresolved(row, f"no operand is a matrix with the hidden size {width} of the token")
    found = [(slot, operand(signature.inputs, slot)) for slot in weight_slots]
    present = [(slot, tensor) for slot, tensor in found if tensor is not None]
    if x is None or len(present) != len(found) or not x.dims or signature.outputs is None:
        return unresolved(row, "shapes of the token, the weights or the results not recorded")
    tokens = x.elements // x.dims[-1] if x.dims[-1] else 0
    caches = [tensor for slot in caches_shown if (tensor := operand(signature.outputs, slot)) is not None]
    moved = count_bytes(signature.inputs, "input", _pool_slots(signature, caches)) + count_bytes(
        signature.outputs, "output", caches_shown
    )
    weights = tuple(weight for slot, each in present if (weight := weight_of(slot, each)) is not None)
    if moved.unknown or len(weights) != len(present):
        return unresolved(row, *(moved.missing or ("dtype of a weight not recorded",)))
    flops = 2.0 * tokens * sum(tensor.elements for _, tensor in present)
    return Work(
        family=row.family,
        outcome="upper_bound",
        unit=row.unit,
        compute_dtype=present[0][1].dtype,
        flops=flops,
        flops_lo=flops,
        flops_hi=flops,
        padded_flops=flops / max(1, tokens) * (-(-tokens // 16) * 16),
        bytes_lo=moved.total,
        bytes_hi=moved.total + sum(_row_bytes(cache) for cache in caches) * tokens,
        weights=weights,
        weight_bytes=sum(weight.bytes for weight in weights),
        working_set_bytes=moved.total,
        flags=row.flags,
        missing=(
            f"M, N, K of one product: {_COUNT.get(len(weights), len(weights))} are fused",
            "KV cache rows that are written or read back",
        ),
        notes=("the KV pools in the operand list are not counted: only the rows of new tokens move",),
    )


def _shown_again(signature: Signature) -> list[int]:
    """Output slots with the dims and dtype of an input: caches that are written in place."""
    inputs = {(tensor.dims, tensor.dtype) for tensor in signature.inputs or () if tensor is not None}
    return [
        slot
        for slot, tensor in enumerate(signature.outputs or ())
        if tensor is not None and (tensor.dims, tensor.dtype) in inputs
    ]


def _weights_by_shape(signature: Signature, x: Tensor | None, x_slot: int) -> list[int]:
    """Slots of the projections: matrices that are neither the token, a cache nor a row per token.

    The first projection has the hidden size of the token; without it none of the others is believed.
    """
    outputs = {(tensor.dims, tensor.dtype) for tensor in signature.outputs or () if tensor is not None}
    tokens = set(x.dims[:-1]) if x is not None else set()
    slots = [
        slot
        for slot, tensor in enumerate(signature.inputs or ())
        if tensor is not None
        and slot != x_slot
        and len(tensor.logical) >= 2
        and min(tensor.logical[-2:]) >= _NARROWEST
        and (tensor.dims, tensor.dtype) not in outputs
        and not (len(tensor.logical) == 2 and tensor.logical[0] in tokens)
    ]
    inputs = signature.inputs or ()
    hidden = x.dims[-1] if x is not None and x.dims else None
    first = [slot for slot in slots if hidden in getattr(inputs[slot], "logical", ())[-2:]]
    return slots if first else []


def _pool_slots(signature: Signature, caches: list[Tensor]) -> list[int]:
    """Input slots that hold a pool which an output shows again."""
    pools = {(cache.dims, cache.dtype) for cache in caches}
    return [
        slot
        for slot, tensor in enumerate(signature.inputs or ())
        if tensor is not None and (tensor.dims, tensor.dtype) in pools
    ]


def _row_bytes(cache: Tensor) -> int:
    """Bytes that one token writes into a cache: its last dimension."""
    return round((cache.dims[-1] if cache.dims else 0) * (cache.element_bytes or 0))
