"""GroupedMatmul: one product per expert, of which only the experts that are hit read their weights.

The rows may be padded capacity and the group list's values are not exported, so FLOPs as the shapes say
are an upper bound, bytes run from one expert (its weight and scales) to min(experts, rows). Slots: `x`, `w`;
`output_columns_times` = a fused SwiGLU halves the columns; `rows_from_a` = the output has other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from ..ingest.shapes import Tensor
from .family_matmul import contradictory, padded_flops, weight_of
from .gemm import Gemm, Matrix, Side, explain_failure, matrix_of, solve
from .model import Signature, Weight, Work, unresolved
from .operands import count_bytes, expert_slots, operand
from .registry import OperatorRow


def grouped_matmul_work(signature: Signature, row: OperatorRow) -> Work:
    """Work of one grouped product: m, k, n per the shapes, bytes_lo with one expert, bytes_hi with all."""
    x, out = operand(signature.inputs, row.slots["x"]), operand(signature.outputs, 0)
    slots = _weight_slots(signature, row.slots["w"])
    if x is None or out is None or not slots or signature.inputs is None:
        return unresolved(row, "shapes of x, the weights or the output not recorded")
    stored = [tensor for slot in slots if (tensor := signature.inputs[slot]) is not None]
    solved = _solved(x, stored[0], out, row)
    if isinstance(solved, str):
        return contradictory(row, (x, stored[0]), out, solved)
    moved = count_bytes(signature.inputs, "input") + count_bytes(signature.outputs, "output")
    if moved.unknown:
        return unresolved(row, *moved.missing)
    gemm, per_tensor = solved
    if per_tensor is None:
        return _weight_gradient(gemm, x, moved.total, row)
    experts = per_tensor * len(stored)
    scales = count_bytes(_beside(signature, slots, experts, row), "input").total
    return _grouped(gemm, x, _weights(slots, stored, per_tensor), experts, (moved.total, scales), row)


def _grouped(
    gemm: Gemm,
    x: Tensor,
    weights: tuple[Weight, ...],
    experts: int,
    moved: tuple[int, int],
    row: OperatorRow,
) -> Work:
    """`moved` = bytes of all operands and the output, and of the scales of all experts."""
    everything, scales = moved
    weight_bytes = sum(weight.bytes for weight in weights)
    per_expert = weight_bytes // experts
    without = everything - weight_bytes
    most_hit = min(experts, gemm.m)
    bytes_hi = without + most_hit * per_expert
    return Work(
        family=row.family,
        outcome="upper_bound",
        unit=row.unit,
        compute_dtype=x.dtype,
        flops=gemm.flops,
        flops_lo=2.0 * gemm.k * gemm.n,  # one token row is certain
        flops_hi=gemm.flops,
        padded_flops=padded_flops(gemm, x),
        bytes_lo=without - scales + min(1, most_hit) * (per_expert + scales // experts),
        bytes_hi=bytes_hi,
        weights=weights,
        weight_bytes=weight_bytes,
        working_set_bytes=bytes_hi,
        batch=gemm.batch,
        m=gemm.m,
        k=gemm.k,
        n=gemm.n,
        orientation=gemm.orientation,
        experts=experts,
        flags=row.flags,
        missing=(
            "experts that are hit: values of the group list are not exported",
            "token rows in use: the rows may be padded capacity, so FLOPs are an upper bound",
        ),
    )


def _weight_gradient(gemm: Gemm, x: Tensor, moved: int, row: OperatorRow) -> Work:
    """x^T x dy per expert: the rows of all experts together are K, every byte is needed."""
    return Work(
        family=row.family,
        outcome="resolved",
        unit=row.unit,
        compute_dtype=x.dtype,
        flops=gemm.flops,
        flops_lo=0.0,
        flops_hi=gemm.flops,
        padded_flops=gemm.flops,
        bytes_lo=moved,
        bytes_hi=moved,
        working_set_bytes=moved,
        batch=1,
        m=gemm.m,
        k=gemm.k,
        n=gemm.n,
        orientation=gemm.orientation,
        flags=row.flags,
        notes=("output with one matrix per expert: a weight gradient, no parameter is read",),
    )


def _solved(x: Tensor, w: Tensor, out: Tensor, row: OperatorRow) -> tuple[Gemm, int | None] | str:
    """The product over all rows, and the experts in one weight tensor (None: a weight gradient)."""
    left, right, result = matrix_of(x), matrix_of(w), matrix_of(out)
    if left is None or right is None or result is None:
        return "x, weight and output must have two dimensions"
    left = left.flattened()
    if result.count > 1 and right.count == 1:
        gradient = solve(left, right, replace(result, batch=()))
        if gradient is not None:
            return gradient, None
    result = _product_of(result.flattened(), left, row)
    gemm = solve(left, replace(right, batch=()), result)
    return (gemm, right.count) if gemm is not None else explain_failure(left, right, result)


def _product_of(result: Matrix, left: Matrix, row: OperatorRow) -> Matrix:
    """The product behind a fused epilogue: SwiGLU halves the columns, a combine changes the rows."""
    times = int(row.slots.get("output_columns_times", 1))
    columns = Side(result.columns.size * times, result.columns.block)
    rows = left.rows if row.slots.get("rows_from_a") else result.rows
    return Matrix((), rows, columns)


def _weight_slots(signature: Signature, first: int) -> list[int]:
    """The weight operand, or the run of equal matrices that a list of per-expert weights is exported as."""
    inputs = signature.inputs or ()
    weight = operand(inputs, first)
    if weight is None:
        return []
    slots = [first]
    if len(weight.logical) == 2:
        for slot in range(first + 1, len(inputs)):
            if inputs[slot] != weight:
                break
            slots.append(slot)
    return slots


def _beside(
    signature: Signature, slots: Sequence[int], experts: int, row: OperatorRow
) -> tuple[Tensor | None, ...]:
    """Scales, offsets and biases: a row per expert, or a tensor per expert where weights are a list."""
    inputs = signature.inputs or ()
    found = [inputs[slot] for slot in expert_slots(inputs, experts, (row.slots["x"], *slots))]
    if len(slots) > 1:
        runs = [list(run) for _, run in groupby(inputs[slots[-1] + 1 :])]
        found += [each for run in runs if len(run) == experts and run[0] is not None for each in run]
    return tuple(found)


def _weights(slots: Sequence[int], stored: Sequence[Tensor], per_tensor: int) -> tuple[Weight, ...]:
    pairs = zip(slots, stored, strict=True)
    return tuple(weight for slot, each in pairs if (weight := weight_of(slot, each, per_tensor)) is not None)
