"""M, K, N from dims: the real examples, and what must not change them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.roofline.gemm import Matrix, Side, explain_failure, solve, solve_moved_batch


def matrix(*dims: int, blocks: tuple[int, int] = (1, 1)) -> Matrix:
    """A matrix of these dims."""
    *batch, rows, columns = dims
    return Matrix(tuple(batch), Side(rows, blocks[0]), Side(columns, blocks[1]))


@pytest.mark.parametrize(
    ("a", "b", "out", "expected"),
    [
        ((32, 9216), (4096, 9216), (32, 4096), (1, 32, 9216, 4096, "NT")),
        ((32, 1000), (32, 4096), (1000, 4096), (1, 1000, 32, 4096, "TN")),
        ((4096, 4096), (4096, 1024), (4096, 1024), (1, 4096, 4096, 1024, "?N")),  # square A hides it
        ((16, 2048, 80), (16, 2048, 80), (16, 2048, 2048), (16, 2048, 80, 2048, "NT")),  # Q x K^T
        ((16, 2048, 2048), (16, 2048, 80), (16, 2048, 80), (16, 2048, 2048, 80, "?N")),  # P x V
        ((2, 128, 3072), (3072, 512), (2, 128, 512), (1, 256, 3072, 512, "NN")),  # batch folds into rows
        ((1, 1024), (2560, 1024), (1, 2560), (1, 1, 1024, 2560, "NT")),
    ],
)
def test_products_seen_in_exports(a: tuple, b: tuple, out: tuple, expected: tuple) -> None:
    """Plain, transposed, batched and folded products give batch, M, K, N and orientation."""
    found = solve(matrix(*a), matrix(*b), matrix(*out))
    assert found is not None
    assert (found.batch, found.m, found.k, found.n, found.orientation) == expected


def test_block_padding_is_seen_through() -> None:
    """An NZ weight padded from 4304 to 4352 columns fits an ND output of 4304: N is 4304."""
    found = solve(matrix(2048, 1152), matrix(4352, 1152, blocks=(64, 16)), matrix(2048, 4304))
    assert found is not None
    assert (found.n, found.k) == (4304, 1152)
    assert solve(matrix(2048, 1152), matrix(4352, 1152, blocks=(16, 16)), matrix(2048, 4304)) is None


def test_contradictions_have_no_product() -> None:
    """Edited shapes have no (M, N, K), and the sentence names the dimension that contradicts."""
    a, b, out = matrix(81920, 4096), matrix(8192, 512), matrix(4096, 512)
    assert solve(a, b, out) is None
    assert explain_failure(a, b, out) == "K would be 81920 in A and 8192 in B"
    a, b, out = matrix(8192, 15365), matrix(8192, 4096), matrix(1536, 4096)
    assert explain_failure(a, b, out) == "M = 1536 of the output is in neither dimension of A"


def test_a_batch_may_stand_in_the_middle() -> None:
    """`8,4,512 x 8,512,128 -> 4,8,128`: batch 8, M 4; also when batch and N share the columns."""
    a, b = matrix(8, 4, 512), matrix(8, 512, 128)
    for out in (matrix(4, 8, 128), matrix(8, 4, 128), matrix(4, 1024)):
        found = solve_moved_batch(a, b, out)
        assert found is not None
        assert (found.batch, found.m, found.k, found.n) == (8, 4, 512, 128)


sizes = st.integers(1, 5000)


@given(m=sizes, k=sizes, n=sizes, transposed_a=st.booleans(), transposed_b=st.booleans())
def test_flops_do_not_depend_on_orientation(
    m: int, k: int, n: int, transposed_a: bool, transposed_b: bool
) -> None:
    """Whichever way A and B are stored, the product is found and its FLOPs are 2*M*N*K."""
    a = matrix(k, m) if transposed_a else matrix(m, k)
    b = matrix(n, k) if transposed_b else matrix(k, n)
    found = solve(a, b, matrix(m, n))
    assert found is not None
    assert found.flops == 2 * m * n * k


@given(m=sizes, k=sizes, n=sizes, off=st.integers(1, 40))
def test_a_wrong_k_is_never_resolved(m: int, k: int, n: int, off: int) -> None:
    """When K differs and no other reading fits, there is no product."""
    wrong = k + off
    if {m, k} & {wrong, n} or m == k or n == wrong:
        return  # another reading may fit
    assert solve(matrix(m, k), matrix(wrong, n), matrix(m, n)) is None
