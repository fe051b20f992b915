"""MlaProlog: four projections of the token, fused. Its weights are certain, the KV pool is not traffic.

Slots: `x`, `weights` (input slots), `caches` (output slots that show the whole KV pools).
"""

from __future__ import annotations

from ..ingest.shapes import Tensor
from .family_matmul import weight_of
from .model import Signature, Work, unresolved
from .operands import count_bytes, operand
from .registry import OperatorRow


def mla_prolog_work(signature: Signature, row: OperatorRow) -> Work:
    """2 * tokens * elements of each weight; bytes of weights, token, small inputs and results, once each.

    M, K, N stay None: there are four products. bytes_hi adds the cache rows that the new tokens write.
    """
    x = operand(signature.inputs, row.slots["x"])
    found = [(slot, operand(signature.inputs, slot)) for slot in row.slots["weights"]]
    present = [(slot, tensor) for slot, tensor in found if tensor is not None]
    if x is None or len(present) != len(found) or not x.dims or signature.outputs is None:
        return unresolved(row, "shapes of the token, the weights or the results not recorded")
    tokens = x.elements // x.dims[-1] if x.dims[-1] else 0
    caches = [
        tensor for slot in row.slots["caches"] if (tensor := operand(signature.outputs, slot)) is not None
    ]
    moved = count_bytes(signature.inputs, "input", _pool_slots(signature, caches)) + count_bytes(
        signature.outputs, "output", row.slots["caches"]
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
        missing=("M, N, K of one product: four are fused", "KV cache rows that are written or read back"),
        notes=("the KV pools in the operand list are not counted: only the rows of new tokens move",),
    )


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
