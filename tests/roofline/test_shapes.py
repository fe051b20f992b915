"""Shape cells to operands: slots, dtypes, storage bytes and the FRACTAL_NZ unfolding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.ingest.shapes import Tensor, parse_operands, short_dtype

BLOCK = {"fp32": (4, 8), "bf16": (2, 16), "int8": (1, 32)}  # element bytes, c0 = 32 bytes / element


@pytest.mark.parametrize(
    ("raw", "short"),
    [
        ("DT_BF16", "bf16"),
        ("BF16", "bf16"),
        ("FLOAT", "fp32"),
        ("DT_FLOAT", "fp32"),
        ("FLOAT16", "fp16"),
        ("INT8", "int8"),
        ("DT_INT8", "int8"),
        ("BOOL", "bool"),
        ("FLOAT8_E4M3FN", "fp8_e4m3"),
        ("bf16", "bf16"),
        ("DT_UNDEFINED", "unknown"),
        ("SOMETHING_NEW", "unknown"),
    ],
)
def test_dtype_spellings(raw: str, short: str) -> None:
    """Every spelling that exports use maps to one short name; what is not in the table is unknown, not
    a guess.
    """
    assert short_dtype(raw) == short


def test_empty_slots_hold_their_position() -> None:
    """An empty slot is None and counts no bytes; the operands after it keep their slot and dtype."""
    operands = parse_operands(
        '"384,1024;32,96,64,16,32;;32,3072;;;;32;384"',
        "INT8;INT8;INT32;DT_BF16;FLOAT;FLOAT16;FLOAT16;INT64;FLOAT",
        "ND;FRACTAL_NZ;ND;ND;ND;ND;ND;ND;ND",
    )
    assert operands is not None
    assert [slot for slot, tensor in enumerate(operands) if tensor is None] == [2, 4, 5, 6]
    sizes = [tensor.storage_bytes for tensor in operands if tensor is not None]
    # 384*1024; 32*96*64*16*32; 32*3072*2; 32*8; 384*4
    assert sizes == [393_216, 100_663_296, 196_608, 256, 1_536]


@pytest.mark.parametrize("cell", ["N/A", "NULL", "NA", '"N/A"'])
def test_cells_that_are_not_recorded(cell: str) -> None:
    """N/A, NULL and NA say that the shapes are not known, which is not the same as no operands."""
    assert parse_operands(cell, "FLOAT", "ND") is None


def test_an_empty_cell_is_a_scalar_when_it_has_a_dtype() -> None:
    """A whole empty cell is one scalar (LpNorm's result); with an undefined dtype it is no operand at
    all.
    """
    assert parse_operands('""', "FLOAT", "ND") == (Tensor((), "fp32", "ND", 4.0),)
    assert parse_operands("", "UNDEFINED", "NULL") == (None,)


@pytest.mark.parametrize(
    "cell", ["4,-1", "4,x;2", "1e3,4", "٤,4", "9" * 40, "1048576,1048576,1048576,1048576"]
)
def test_damaged_cells_are_unknown(cell: str) -> None:
    """Negative, foreign, huge or non-decimal dims make the shapes unknown instead of a wrong number."""
    assert parse_operands(cell, "FLOAT;FLOAT", "ND;ND") is None


def test_missing_dtypes_leave_bytes_unknown() -> None:
    """Without a dtype the elements are known and the bytes are not."""
    operands = parse_operands("4,8", None, None)
    assert operands is not None
    assert operands[0] is not None
    assert (operands[0].elements, operands[0].storage_bytes) == (32, None)


@pytest.mark.parametrize(
    ("dims", "dtype", "logical"),
    [
        ((9496, 256, 16, 16), "bf16", (4096, 151936)),  # TransData of ND 4096,151936
        ((64, 160, 16, 16), "fp16", (2560, 1024)),
        ((384, 192, 16, 32), "int8", (3072, 12288)),
        ((32, 96, 64, 16, 32), "int8", (32, 1024, 3072)),
        ((16, 5, 128, 16, 16), "fp16", (16, 2048, 80)),
        ((1, 192, 2624, 32), "int8", (2624, 6144)),  # rank 4 without the 16-row block
        ((8, 2048, 6144), "int8", (8, 2048, 6144)),  # shown logical already
        ((16, 7168, 4096), "int8", (16, 7168, 4096)),
    ],
)
def test_nz_examples(dims: tuple[int, ...], dtype: str, logical: tuple[int, ...]) -> None:
    """The FRACTAL_NZ operands seen in real exports unfold to the matrices that their kernels multiply."""
    assert Tensor(dims, dtype, "FRACTAL_NZ", 2.0 if dtype != "int8" else 1.0).logical == logical


def test_other_formats_do_not_unfold() -> None:
    """ND dims are logical whatever they look like."""
    assert Tensor((384, 192, 16, 32), "int8", "ND", 1.0).logical == (384, 192, 16, 32)


@given(
    dtype=st.sampled_from(sorted(BLOCK)),
    batch=st.lists(st.integers(1, 5), max_size=2),
    rows=st.integers(1, 300),
    columns=st.integers(1, 300),
)
def test_nz_round_trip(dtype: str, batch: list[int], rows: int, columns: int) -> None:
    """Folding a matrix into blocks and unfolding it gives the matrix, padded to whole blocks and no
    further.
    """
    element_bytes, c0 = BLOCK[dtype]
    folded = (*batch, -(-columns // c0), -(-rows // 16), 16, c0)
    tensor = Tensor(folded, dtype, "FRACTAL_NZ", float(element_bytes))
    *back, unfolded_rows, unfolded_columns = tensor.logical
    assert back == batch
    assert 0 <= unfolded_rows - rows < 16
    assert 0 <= unfolded_columns - columns < c0
    assert tensor.elements == tensor.storage_bytes / element_bytes


def test_logical_nz_dims_are_stored_in_whole_blocks() -> None:
    """NZ dims shown logical take the space of whole blocks: 30 x 20 bf16 is stored as 32 x 32, and says
    so.
    """
    tensor = Tensor((30, 20), "bf16", "FRACTAL_NZ", 2.0)
    assert tensor.storage_bytes == 32 * 32 * 2
    assert tensor.padding_assumed
    assert not Tensor((32, 32), "bf16", "FRACTAL_NZ", 2.0).padding_assumed


def test_packed_dtypes_round_up_to_bytes() -> None:
    """Three int4 elements take two bytes."""
    assert Tensor((3,), "int4", "ND", 0.5).storage_bytes == 2
