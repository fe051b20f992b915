"""Convolutions and their gradients: the same products, with the filter and the feature map in other slots.

Slots: `filter_input` or `filter_output`, `y_input` or `y_output` (the map with the spatial size of the
result).
"""

from __future__ import annotations

import math

from ..ingest.shapes import Tensor
from .model import Signature, Work, unresolved
from .operands import count_bytes, cube_dtype, operand
from .registry import OperatorRow


def convolution_work(signature: Signature, row: OperatorRow) -> Work:
    """2 * positions * Cout * (Cin*kh*kw) with channels as stored: padded where the format pads them."""
    weight, x, y = (_operand(signature, row, name) for name in ("filter", "x", "y"))
    if weight is None or x is None or y is None:
        return unresolved(row, "shapes of the filter or the feature map not recorded")
    moved = count_bytes(signature.inputs, "input") + count_bytes(signature.outputs, "output")
    if moved.unknown:
        return unresolved(row, *moved.missing)
    size = _filter_size(weight, x)
    positions = _positions(y)
    if size is None or positions is None:
        return unresolved(row, f"format {weight.format or '?'} or {y.format or '?'} is not understood")
    dtype, dtype_flags = cube_dtype(weight, signature.hf32)
    taps, channels_out, fewest_taps = size
    flops = 2.0 * positions * channels_out * taps
    return Work(
        family=row.family,
        outcome="resolved" if fewest_taps == taps else "upper_bound",
        unit=row.unit,
        compute_dtype=dtype,
        flops=flops,
        flops_lo=flops * fewest_taps / taps if taps else 0.0,
        flops_hi=flops,
        padded_flops=flops,
        bytes_lo=moved.total,
        bytes_hi=moved.total,
        working_set_bytes=moved.total,
        flags=row.flags | dtype_flags,
        missing=("unpadded channel counts",) if fewest_taps != taps else (),
    )


def _operand(signature: Signature, row: OperatorRow, name: str) -> Tensor | None:
    if f"{name}_input" in row.slots:
        return operand(signature.inputs, row.slots[f"{name}_input"])
    return operand(signature.outputs, row.slots[f"{name}_output"])


def _filter_size(weight: Tensor, x: Tensor) -> tuple[int, int, int] | None:
    """(Cin*kh*kw, Cout, the fewest Cin*kh*kw before padding): FRACTAL_Z is [C1*kh*kw, N1, 16, C0]."""
    if weight.format.startswith("FRACTAL_Z") and len(weight.dims) == 4:
        outer, blocks, rows, columns = weight.dims
        channel_blocks = x.dims[1] if x.format.startswith("NC1HWC0") and len(x.dims) == 5 else outer
        if not channel_blocks or outer % channel_blocks:
            channel_blocks = outer
        # All channel blocks but the last are full, and the last holds one channel at least.
        fewest = outer // channel_blocks * ((channel_blocks - 1) * columns + 1)
        return outer * columns, blocks * rows, fewest
    if weight.format in ("NCHW", "NCDHW", "ND") and len(weight.dims) >= 3:
        taps = math.prod(weight.dims[1:])
        return taps, weight.dims[0], taps
    return None


def _positions(y: Tensor) -> int | None:
    """Batch times spatial positions of a feature map."""
    if y.format.startswith("NC1HWC0") and len(y.dims) == 5:
        return y.dims[0] * y.dims[2] * y.dims[3]
    if y.format in ("NCHW", "NCDHW", "ND", "NCL") and len(y.dims) >= 3:
        return y.dims[0] * math.prod(y.dims[2:])
    return None
