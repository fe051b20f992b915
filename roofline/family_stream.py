"""Vector kernels that read their inputs and write their outputs once: norms, activations, quantise, ...

Slots: `doubtful_inputs`, `doubtful_outputs` = operands whose exported dims are known to be wrong, which
count in bytes_hi only; `group_dtype` = an operand of this dtype is a group list, so rows are padded
capacity,
and operands with a row per group (scales of experts) are read for the groups that are hit.
"""

from __future__ import annotations

from dataclasses import replace

from ..ingest.shapes import Tensor
from .model import Signature, Work, unresolved
from .operands import ByteCount, count_bytes, expert_slots, largest_elements, operand, slots_where
from .registry import OperatorRow

_FLOAT_ORDER = ("fp32", "bf16", "fp16")


def stream_work(signature: Signature, row: OperatorRow) -> Work:
    """Inputs and outputs once; `ops` vector operations for each element of the largest operand."""
    if signature.inputs is None or signature.outputs is None:
        side = "input" if signature.inputs is None else "output"
        return unresolved(row, f"{side} shapes not recorded")
    everything = count_bytes(signature.inputs, "input") + count_bytes(signature.outputs, "output")
    if everything.unknown:
        return unresolved(row, *everything.missing)
    padded = _padded_slots(signature, row)
    scales, groups = _group_scales(signature, row, padded[0])
    certain = (
        count_bytes(signature.inputs, "input", (*row.slots.get("doubtful_inputs", ()), *padded[0], *scales))
        + ByteCount(sum(_bytes(signature, slot) for slot in scales) // groups)
        + count_bytes(signature.outputs, "output", (*row.slots.get("doubtful_outputs", ()), *padded[1]))
    )
    missing = ("rows in use: the operands are padded capacity, the counts are values of the group list",)
    flops = row.ops * largest_elements(signature.inputs, signature.outputs) or None
    return Work(
        family=row.family,
        outcome="resolved" if certain.total == everything.total else "upper_bound",
        unit=row.unit,
        compute_dtype=vector_dtype(signature),
        flops=flops,
        flops_lo=None if any(padded) else flops,
        flops_hi=flops,
        padded_flops=flops,
        bytes_lo=certain.total,
        bytes_hi=everything.total,
        working_set_bytes=everything.total,
        flags=row.flags,
        missing=missing if any(padded) else (),
    )


def generic_work(signature: Signature, row: OperatorRow) -> Work:
    """A type without a model: inputs and outputs once, said so; no FLOPs, and no floor is claimed from
    it.
    """
    cube = row.unit == "cube" or (not row.known and signature.core in ("AI_CORE", "MIX_AIC"))
    row = replace(row, unit="cube" if cube else "vector")
    work = stream_work(signature, row)
    if work.outcome == "unresolved":
        return work
    what = "is not in the table of operators" if not row.known else "has no model of its own"
    note = f"type {signature.type or '(none)'} {what}: generic model, inputs and outputs once"
    return replace(work, notes=(note,))


def vector_dtype(signature: Signature) -> str | None:
    """The widest floating dtype among the operands: the slowest rate that some of the work runs at."""
    present = {t.dtype for side in (signature.inputs, signature.outputs) for t in side or () if t is not None}
    return next((name for name in _FLOAT_ORDER if name in present), None)


def _padded_slots(signature: Signature, row: OperatorRow) -> tuple[list[int], list[int]]:
    """Input and output slots whose rows may be unused capacity, when there is a group list."""
    wanted = row.slots.get("group_dtype")
    first = operand(signature.inputs, 0)
    if wanted is None or first is None or not first.dims:
        return [], []
    if not slots_where(signature.inputs, lambda t: t.dtype == wanted):
        return [], []

    def has_rows(tensor: Tensor) -> bool:
        return tensor.dims[:1] == first.dims[:1]

    return slots_where(signature.inputs, has_rows), slots_where(signature.outputs, has_rows)


def _group_scales(signature: Signature, row: OperatorRow, padded: list[int]) -> tuple[list[int], int]:
    """Slots with one row per group, of which only one is certain to be read, and the number of groups."""
    lists = slots_where(signature.inputs, lambda t: t.dtype == row.slots.get("group_dtype"))
    groups = operand(signature.inputs, lists[0]) if lists and padded else None
    if groups is None or not groups.dims:
        return [], 1
    return expert_slots(signature.inputs, groups.dims[0], padded), max(1, groups.dims[0])


def _bytes(signature: Signature, slot: int) -> int:
    tensor = operand(signature.inputs, slot)
    return 0 if tensor is None else tensor.storage_bytes or 0
