"""Signatures are told apart by their texts alone, and their ids never change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from npu_roofline.ingest.naming import name_kernel, type_of_name
from npu_roofline.ingest.signatures import SignatureRow

from .kernel_csv import row, starts, table, write

TEXTS = ("1024,4096;4096,512", "DT_BF16;DT_BF16", "ND;ND", "1024,512", "DT_BF16", "ND")
MATMUL = SignatureRow("MatMulV2", "column", "AI_CORE", "aicore", False, *TEXTS)


def test_the_id_is_64_bits_of_the_md5_of_the_texts() -> None:
    """The id is a plain function of the texts: databases of different versions can be compared by it."""
    text = "\x1f".join(["MatMulV2", "AI_CORE", "aicore", "False", *TEXTS])
    assert MATMUL.signature_id == int(hashlib.md5(text.encode()).hexdigest()[:16], 16)
    assert MATMUL.signature_id == 0xF797F073E44A3BBF


def test_unknown_and_empty_texts_are_different() -> None:
    """A scalar ('') is not an unknown shape (None)."""
    scalar = SignatureRow("Cast", "column", "AI_CORE", "aicore", None, "", None, None, None, None, None)
    unknown = SignatureRow("Cast", "column", "AI_CORE", "aicore", None, None, None, None, None, None, None)
    assert scalar.signature_id != unknown.signature_id


def test_where_the_type_is_from_makes_no_other_signature() -> None:
    """A type read from the name is the same type."""
    named = SignatureRow("MatMulV2", "name", *(MATMUL.core, MATMUL.kernel_class, MATMUL.hf32), *TEXTS)
    assert named.signature_id == MATMUL.signature_id


def test_equal_texts_have_equal_ids_in_different_files(tmp_path: Path, rows: Callable) -> None:
    """Quoting, header and order of the rows do not change an id; it is the id of the texts."""
    cells = [row(start=start) for start in starts(2)]
    first = write(tmp_path / "a", table(cells))
    second = write(tmp_path / "b", table([cells[1] | {"input_shapes": "1024,4096;4096,512"}], "A"))
    expected = [(MATMUL.signature_id,)]
    assert rows(first, "SELECT DISTINCT signature_id FROM kernels") == expected
    assert rows(second, "SELECT signature_id FROM signatures") == expected


def test_operands_are_listed_slot_by_slot(tmp_path: Path, rows: Callable) -> None:
    """Each operand has its place; an empty slot has no dims. bf16 has 2 bytes: 4*3072*2 = 24,576."""
    cells = row(input_shapes='"4,3072;;16"', input_dtypes="DT_BF16;INT32;INT64", input_formats="ND;ND;ND")
    profile = write(tmp_path, table([cells]))
    query = "SELECT slot, dims, dtype, storage_bytes FROM tensors WHERE side = 'input' ORDER BY slot"
    assert rows(profile, query) == [
        (0, [4, 3072], "bf16", 24576),
        (1, None, None, None),
        (2, [16], "int64", 128),
    ]


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("aclnnAddmm_MatMulCommon_MatMulV2", "MatMulV2"),
        ("aclnnTopk_TopkV2_TopKV2", "TopKV2"),
        ("MatMul_5", "MatMul"),
        ("MatMul", "MatMul"),
        ("trans_TransData_0", "TransData"),
        ("Conv2D1", "Conv2D"),
        ("Conv2DBackpropFilter10_MemSet", "MemSet"),
        ("NonZero_MemSet", "MemSet"),
        ("atomic_memset-1_68_1413001_1_0", "MemSet"),
        ("Reshape_111/ConfusionTranspose/Transpose", "Transpose"),
        ("Sub_1ClipByValueV2_1", "AutomaticBufferFusionOp"),
        ("Swish_1Mul_4", "AutomaticBufferFusionOp"),
        ("hcom_allReduce__586_0_1", "hcom_allReduce_"),
        ("HcomAllReduce_612_0_1", "HcomAllReduce"),
        ("StridedSliceV2_10", "StridedSliceV2"),
        ("???", "???"),
    ],
)
def test_a_type_is_found_in_a_name(name: str, type_: str) -> None:
    """At level 0 the name is all there is; names of captured graphs and of aclnn calls both tell the type."""
    assert type_of_name(name) == type_


@pytest.mark.parametrize("text", ["N/A", "0", ""])
def test_a_type_that_is_none_comes_from_the_name(tmp_path: Path, rows: Callable, text: str) -> None:
    """N/A, 0 (which NonZero_MemSet has) and nothing fall back to the name, and say so."""
    profile = write(tmp_path, table([row(type=text, name="NonZero_MemSet")]))
    assert rows(profile, "SELECT type, type_source FROM signatures") == [("MemSet", "name")]


@pytest.mark.parametrize(
    ("type_", "name", "core", "expected"),
    [
        ("MatMulV2", "x", "AI_CORE", ("AI_CORE", "aicore")),
        ("Add", "x", "MIX_AIV", ("MIX_AIV", "aicore")),
        ("hcom_broadcast_", "x", "HCCL", ("COMMUNICATION", "communication")),
        ("HcomAllReduce", "x", "COMMUNICATION", ("COMMUNICATION", "communication")),
        ("Cumsum", "x", "AI_CPU", ("AI_CPU", "ai_cpu")),
        ("DSAGenBitMask", "x", "DSA_SQE", ("DSA_SQE", "dsa")),
        ("Memcpy", "x", "SDMA", ("SDMA", "other")),
        (None, "MatMul_5", None, (None, "aicore")),
        (None, "hcom_allReduce__586_0_1", None, (None, "communication")),
        (None, "aclnnDropoutGenMaskV2_DSAGenBitMask_DSAGenBitMask", None, (None, "dsa")),
        (None, "aclnnCumsum_CumsumAiCpu_Cumsum", None, (None, "ai_cpu")),
    ],
)
def test_the_class_follows_the_engine(
    type_: str | None, name: str, core: str | None, expected: tuple[str | None, str]
) -> None:
    """The engine says what a row is; at level 0, where there is none, type and name say what it is not."""
    naming = name_kernel(type_, name, core)
    assert (naming.core, naming.kernel_class) == expected
