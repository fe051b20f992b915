"""Data movement that touches only part of an operand: views, fills, gathers, scatters and cache writes.

Counting these naively gives impossible rates (a gather from a table of a million rows, 4.7 TB/s for an
embedding gradient), so a table or a cache never counts as traffic, only the rows that move. Slots:
`table` = gathered from.
"""

from __future__ import annotations

from ..ingest.shapes import Tensor
from .model import Signature, Work, unresolved
from .operands import ByteCount, count_bytes
from .registry import OperatorRow

_INDEX_DTYPES = frozenset({"int32", "int64", "uint32", "uint64"})


def view_work(signature: Signature, row: OperatorRow) -> Work:
    """Slice, split and the like: only the part that becomes the output is read, and it is written."""
    if signature.outputs is None:
        return unresolved(row, "output shapes not recorded")
    part = count_bytes(signature.outputs, "output")
    return _moved(row, part + part, part + part)


def fill_work(signature: Signature, row: OperatorRow) -> Work:
    """Fills and ranges: the output is written, an input of the same shape is not read."""
    if signature.outputs is None:
        return unresolved(row, "output shapes not recorded")
    written = count_bytes(signature.outputs, "output")
    return _moved(row, written, written)


def gather_work(signature: Signature, row: OperatorRow) -> Work:
    """Indices are read and rows written; as many rows are read, fewer when indices repeat (bytes_hi has
    all).
    """
    if signature.inputs is None or signature.outputs is None:
        return unresolved(row, "shapes not recorded")
    table = row.slots["table"]
    indices = count_bytes(signature.inputs, "input", (table,))
    rows = count_bytes(signature.outputs, "output")
    return _moved(row, indices + rows, indices + rows + rows)


def cache_write_work(signature: Signature, row: OperatorRow) -> Work:
    """Scatters, cache and gradient-table writes: updates and indices are read, as many rows are written.

    An output that equals an input is that input, updated in place; an output larger than all updates is
    a table of which only rows are written (it counts in bytes_hi).
    """
    if signature.inputs is None:
        return unresolved(row, "input shapes not recorded")
    targets, in_place_outputs = _in_place(signature)
    read = count_bytes(signature.inputs, "input", targets)
    values = [
        tensor
        for slot, tensor in enumerate(signature.inputs)
        if tensor is not None and slot not in targets and tensor.dtype not in _INDEX_DTYPES
    ]
    written = count_bytes(tuple(values), "update")
    others = count_bytes(signature.outputs, "output", in_place_outputs)
    if others.total <= read.total:
        return _moved(row, read + others, read + others + (written if in_place_outputs else ByteCount()))
    return _moved(row, read, read + written + others)


def _in_place(signature: Signature) -> tuple[list[int], list[int]]:
    """Input slots that are updated in place and the output slots that show them again."""
    targets: list[int] = []
    shown: list[int] = []
    inputs = signature.inputs or ()
    for slot, output in enumerate(signature.outputs or ()):
        match = next((i for i, each in enumerate(inputs) if i not in targets and _same(each, output)), None)
        if match is not None:
            targets.append(match)
            shown.append(slot)
    return targets, shown


def _same(first: Tensor | None, second: Tensor | None) -> bool:
    return (
        first is not None and second is not None and (first.dims, first.dtype) == (second.dims, second.dtype)
    )


def _moved(row: OperatorRow, lo: ByteCount, hi: ByteCount) -> Work:
    if hi.unknown:
        return unresolved(row, *hi.missing)
    return Work(
        family=row.family,
        outcome="resolved",
        unit=row.unit,
        bytes_lo=lo.total,
        bytes_hi=hi.total,
        working_set_bytes=hi.total,
        flags=row.flags,
    )
