"""MatMul, batched and quantised matmuls, and matmuls fused with a collective.

FLOPs 2*M*N*K; bytes: every operand and the output once (scales, bias and per-token factors are operands
too). Slots: `a`, `b` = factors; `weight` = B is a parameter; `weight_if_2d_or_nz` = only then;
`batch_may_move` = the batch may stand in the middle; `rows_from_output`, `rows_from_a` = a collective
changes the number of rows.
"""

from __future__ import annotations

from dataclasses import replace

from ..ingest.shapes import Tensor
from .gemm import Gemm, Matrix, Side, explain_failure, matrix_of, solve, solve_moved_batch
from .model import Signature, Weight, Work, unresolved
from .operands import count_bytes, cube_dtype, operand, shape_text
from .registry import OperatorRow

_BLOCK_ROWS = 16
_BLOCK_BYTES = 32  # K is padded to 16 fp16, 32 int8 or 64 int4 elements
_PACKED_INT4 = 8  # int4 weights stored 8 to an int32


def matmul_work(signature: Signature, row: OperatorRow) -> Work:
    """Work of one product; unresolved, with the dimension that contradicts, when no (M, N, K) fits."""
    a, b = operand(signature.inputs, row.slots["a"]), operand(signature.inputs, row.slots["b"])
    out = operand(signature.outputs, 0)
    if a is None or b is None or out is None:
        return unresolved(row, "shapes of A, B or the output not recorded")
    gemm = _solved(a, b, out, row)
    if isinstance(gemm, str):
        return contradictory(row, (a, b), out, gemm)
    moved = count_bytes(signature.inputs, "input") + count_bytes(signature.outputs, "output")
    if moved.unknown:
        return unresolved(row, *moved.missing)
    weights = _weights(b, row, gemm)
    dtype, dtype_flags = cube_dtype(a, signature.hf32)
    return Work(
        family=row.family,
        outcome="resolved",
        unit=row.unit,
        compute_dtype=dtype,
        flops=gemm.flops,
        flops_lo=gemm.flops,
        flops_hi=gemm.flops,
        padded_flops=padded_flops(gemm, a),
        bytes_lo=moved.total,
        bytes_hi=moved.total,
        weights=weights,
        weight_bytes=sum(weight.bytes for weight in weights) if weights else None,
        working_set_bytes=moved.total,
        batch=gemm.batch,
        m=gemm.m,
        k=gemm.k,
        n=gemm.n,
        orientation=gemm.orientation,
        flags=row.flags | dtype_flags,
        missing=("bytes of the collective",) if "fused_collective" in row.flags else (),
        notes=_notes(a, b, gemm),
    )


def contradictory(row: OperatorRow, factors: tuple[Tensor, Tensor], out: Tensor, why: str) -> Work:
    """Operands of which no product can be made: the flag keeps the pipes from being believed instead."""
    reason = f"no (M, N, K) fits {shape_text(factors)} -> {shape_text((out,))}: {why}"
    return unresolved(replace(row, flags=row.flags | {"contradictory_shapes"}), reason)


def padded_flops(gemm: Gemm, a: Tensor) -> float:
    """FLOPs after rounding M and N to 16 and K to 32 bytes: what the cube really multiplies (M = 1 uses
    1/16).
    """
    k_block = max(1, round(_BLOCK_BYTES / (a.element_bytes or 2)))
    m, n, k = (_round_up(v, b) for v, b in ((gemm.m, _BLOCK_ROWS), (gemm.n, _BLOCK_ROWS), (gemm.k, k_block)))
    return 2.0 * gemm.batch * m * n * k


def weight_of(slot: int, tensor: Tensor, experts: int | None = None) -> Weight | None:
    """An operand as a parameter; None when its size is not known."""
    size = tensor.storage_bytes
    if size is None:
        return None
    return Weight(slot, size, tensor.dtype, tensor.format, tensor.dims, tensor.logical, experts)


def _solved(a: Tensor, b: Tensor, out: Tensor, row: OperatorRow) -> Gemm | str:
    matrices = matrix_of(a), matrix_of(b), matrix_of(out)
    left, right, result = matrices
    if left is None or right is None or result is None:
        return "A, B and the output must have two dimensions"
    if row.slots.get("rows_from_output"):
        left = replace(left, batch=(), rows=result.flattened().rows)
        result = result.flattened()
    if row.slots.get("rows_from_a"):
        left = left.flattened()
        result = replace(result, batch=(), rows=left.rows)
    solver = solve_moved_batch if row.slots.get("batch_may_move") else solve
    for candidate in (right, _unpacked(b, right)):
        if candidate is not None and (gemm := solver(left, candidate, result)) is not None:
            return gemm
    return explain_failure(left, right, result)


def _unpacked(tensor: Tensor, matrix: Matrix) -> Matrix | None:
    """int4 weights stored 8 to an int32 have 8 times the columns that the dims show."""
    if tensor.dtype != "int32":
        return None
    return replace(matrix, columns=Side(matrix.columns.size * _PACKED_INT4, matrix.columns.block))


def _weights(b: Tensor, row: OperatorRow, gemm: Gemm) -> tuple[Weight, ...]:
    """B as a parameter. With A certainly transposed B has the rows of A: it is an activation of a
    gradient.
    """
    slots = row.slots
    parameter = slots.get("weight") or (slots.get("weight_if_2d_or_nz") and (b.is_nz or gemm.batch == 1))
    weight = weight_of(slots["b"], b) if parameter and gemm.orientation[0] != "T" else None
    return () if weight is None else (weight,)


def _notes(a: Tensor, b: Tensor, gemm: Gemm) -> tuple[str, ...]:
    notes = []
    if "?" in gemm.orientation:
        notes.append("orientation unknown: an operand is square, FLOPs and bytes are the same either way")
    if any(tensor.padding_assumed for tensor in (a, b)):
        notes.append("FRACTAL_NZ dims are shown logical; storage is taken at the block ceiling")
    return tuple(notes)


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
