"""M, K, N of a matrix product from the dims of A, B and the output: consistent, or not told at all.

K is common to A and B, M and N come from the output; block padding of FRACTAL_NZ operands is allowed
for. FLOPs do not depend on orientation, which square operands hide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..ingest.shapes import Tensor

_NZ_ROWS = 16


@dataclass(frozen=True)
class Gemm:
    """One product, `batch` times [M,K] x [K,N]; orientation is two letters for A and B: N, T, or ? when
    hidden.
    """

    batch: int
    m: int
    k: int
    n: int
    orientation: str

    @property
    def flops(self) -> float:
        """2 * batch * M * N * K."""
        return 2.0 * self.batch * self.m * self.n * self.k


@dataclass(frozen=True)
class Side:
    """One dimension of a stored matrix and the padding block it may include (1 = none)."""

    size: int
    block: int


@dataclass(frozen=True)
class Matrix:
    """Batch dims, rows and columns of one operand."""

    batch: tuple[int, ...]
    rows: Side
    columns: Side

    @property
    def count(self) -> int:
        """Matrices in the batch."""
        return math.prod(self.batch)

    def flattened(self) -> Matrix:
        """The batch folded into the rows: what a linear layer on [batch, tokens, K] computes."""
        return Matrix((), Side(self.rows.size * self.count, self.rows.block), self.columns)


def matrix_of(tensor: Tensor) -> Matrix | None:
    """The matrix of an operand; None below rank 2."""
    logical = tensor.logical
    if len(logical) < 2:
        return None
    *batch, rows, columns = logical
    if not tensor.is_folded or len(tensor.dims) < 4:
        return Matrix(tuple(batch), Side(rows, 1), Side(columns, 1))
    row_block = _NZ_ROWS if tensor.dims[-2] == _NZ_ROWS else 1
    return Matrix(tuple(batch), Side(rows, row_block), Side(columns, tensor.dims[-1]))


def solve(a: Matrix, b: Matrix, out: Matrix) -> Gemm | None:
    """The product that fits the three matrices; None when there is none."""
    if b.count == 1:
        # One weight for all batches: the batch is only more rows.
        found = _solve_flat(a.flattened(), replace(b, batch=()), out.flattened())
        if found is not None:
            return found
    if out.count > 1 and a.count in (1, out.count) and b.count in (1, out.count):
        found = _solve_flat(replace(a, batch=()), replace(b, batch=()), replace(out, batch=()))
        return None if found is None else replace(found, batch=out.count)
    return None


def solve_moved_batch(a: Matrix, b: Matrix, out: Matrix) -> Gemm | None:
    """As `solve`, where the batch of A or of the output may stand between rows and columns.

    `8,4,512 x 8,512,128 -> 4,8,128`: batch 8, M 4. An output `4,1024` holds batch and N in its columns.
    """
    for each_a in (a, _moved(a)):
        for each_out in (out, _moved(out), _split(out, b.count)):
            if each_a is None or each_out is None:
                continue
            found = solve(each_a, b, each_out)
            if found is not None and found.batch == b.count:
                return found
    return None


def explain_failure(a: Matrix, b: Matrix, out: Matrix) -> str:
    """Which dimension contradicts, for the reason of an unresolved product."""
    m, n = out.rows.size, out.columns.size
    fits_a = [k for fixed, k in _orientations(a) if match(fixed, out.rows) is not None]
    fits_b = [k for k, fixed in _orientations(b) if match(fixed, out.columns) is not None]
    if not fits_a:
        return f"M = {m} of the output is in neither dimension of A"
    if not fits_b:
        return f"N = {n} of the output is in neither dimension of B"
    return f"K would be {fits_a[0].size} in A and {fits_b[0].size} in B"


def match(first: Side, second: Side) -> int | None:
    """The common size of two dimensions, one of which may be padded up to its block; None when they
    differ.
    """
    if first.size == second.size:
        return first.size
    if 0 < first.size - second.size < first.block:
        return second.size
    if 0 < second.size - first.size < second.block:
        return first.size
    return None


def _solve_flat(a: Matrix, b: Matrix, out: Matrix) -> Gemm | None:
    solutions: list[tuple[tuple[int, int, int], str]] = []
    for letter_a, (a_m, a_k) in zip("NT", _orientations(a), strict=True):
        for letter_b, (b_k, b_n) in zip("NT", _orientations(b), strict=True):
            m, n, k = match(a_m, out.rows), match(b_n, out.columns), match(a_k, b_k)
            if m is not None and n is not None and k is not None:
                solutions.append(((m, n, k), letter_a + letter_b))
    if not solutions:
        return None
    # Several fit only for square operands, where they are equal, or within padding: then the tightest K
    # is the logical one.
    (m, n, k), _ = min(solutions)
    letters = [{orientation[side] for _, orientation in solutions} for side in (0, 1)]
    orientation = "".join(each.pop() if len(each) == 1 else "?" for each in letters)
    return Gemm(1, m, k, n, orientation)


def _orientations(matrix: Matrix) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
    """(rows, columns) as stored and transposed."""
    return (matrix.rows, matrix.columns), (matrix.columns, matrix.rows)


def _moved(matrix: Matrix) -> Matrix | None:
    """[x, y, z] read as y matrices of x by z."""
    if len(matrix.batch) != 1:
        return None
    return Matrix((matrix.rows.size,), Side(matrix.batch[0], 1), matrix.columns)


def _split(matrix: Matrix, count: int) -> Matrix | None:
    """[rows, count * N] read as `count` matrices of rows by N."""
    if matrix.batch or count < 1 or matrix.columns.size % count:
        return None
    return Matrix((count,), matrix.rows, Side(matrix.columns.size // count, 1))
