"""Work of attention, convolutions, moves, streams, optimizers and communication, worked by hand."""

from __future__ import annotations

import pytest
from npu_roofline.ingest.shapes import parse_operands
from npu_roofline.roofline.work import Signature, work_of

from tests.roofline.operands import signature, work


def test_elementwise_counts_inputs_and_outputs() -> None:
    """Add of two 4096 x 1024 bf16 operands: 3 x 8,388,608 bytes; a scalar operand counts nothing."""
    assert work("Add", "4096,1024;4096,1024", "4096,1024").bytes_lo == 3 * 8_388_608
    assert work("Mul", "4096,1024;", "4096,1024").bytes_lo == 2 * 8_388_608


def test_fills_write_and_do_not_read() -> None:
    """ZerosLike of 375,815,680 floats writes 1,503,262,720 bytes."""
    found = work("ZerosLike", "375815680", "375815680", dtypes="FLOAT", out_dtypes="FLOAT")
    assert found.bytes_lo == 1_503_262_720
    assert "fill" in found.flags


def test_views_move_only_their_part() -> None:
    """A slice of 4096 x 8 x 128 from 4096 x 8 x 512 reads and writes 8,388,608 bytes each."""
    found = work("Slice", "4096,8,512;3;3", "4096,8,128", dtypes="DT_BF16;INT64;INT64")
    assert found.bytes_lo == 2 * 8_388_608


def test_a_gather_never_counts_its_table() -> None:
    """4 rows of 256 from a table of 1,277,953: 32 + 8 bytes of indices and 2,048 of rows, not 654 MB."""
    found = work("GatherV2", "1277953,256;4,1;1", "4,1,256", dtypes="DT_BF16;INT64;INT64")
    assert found.bytes_lo == 40 + 2048
    assert found.bytes_hi == 40 + 2 * 2048


def test_a_cache_write_never_counts_the_cache() -> None:
    """ReshapeAndCache: keys, values and slots are read, as many rows are written; the caches are
    untouched.
    """
    found = work(
        "ReshapeAndCache",
        "4,8,128;4,8,128;161,128,8,128;161,128,8,128;4",
        "161,128,8,128;161,128,8,128",
        dtypes="DT_BF16;DT_BF16;DT_BF16;DT_BF16;INT32",
    )
    updates = 2 * 4 * 8 * 128 * 2
    assert (found.bytes_lo, found.bytes_hi) == (updates + 16, 2 * updates + 16)


def test_an_embedding_gradient_is_not_its_table() -> None:
    """The 622 MB table counts in bytes_hi only: 4096 x 1024 floats and indices are what certainly moves."""
    found = work(
        "EmbeddingDenseGradV2",
        "1,4096,1024;4096;4096",
        "151936,1024",
        dtypes="FLOAT;INT32;INT32",
        out_dtypes="FLOAT",
    )
    assert found.bytes_lo == 4096 * 1024 * 4 + 2 * 4096 * 4
    assert found.bytes_hi is not None
    assert found.bytes_hi > 622_000_000
    assert "gradient" in found.flags


def test_adam_moves_seven_times_its_parameters() -> None:
    """77,791,232 floats: var, m, v read and written, grad read = 7 x 4 x numel, although no output is
    exported.
    """
    found = work_of(
        signature(
            "ApplyAdamWV2",
            "77791232;77791232;77791232;77791232;1",
            "N/A",
            dtypes="FLOAT;FLOAT;FLOAT;FLOAT;INT64",
            core="AI_VECTOR_CORE",
        )
    )
    assert found.bytes_lo == 7 * 4 * 77_791_232
    assert found.working_set_bytes == 4 * 4 * 77_791_232
    assert "optimizer" in found.flags


def test_masks_with_wrong_dims_are_only_an_upper_bound() -> None:
    """MaxPoolWithArgmax exports doubly expanded masks: they are left out of bytes_lo."""
    found = work(
        "MaxPoolGradWithArgmaxV1",
        "32,4,55,55,16;32,4,27,27,16;32,64,9,9,47,16",
        "32,4,55,55,16",
        dtypes="FLOAT;FLOAT;UINT16",
        out_dtypes="FLOAT",
    )
    data = (2 * 32 * 4 * 55 * 55 * 16 + 32 * 4 * 27 * 27 * 16) * 4
    assert found.bytes_lo == data
    assert found.bytes_hi == data + 32 * 64 * 9 * 9 * 47 * 16 * 2
    assert found.outcome == "upper_bound"


def test_a_group_list_makes_rows_capacity() -> None:
    """DequantSwigluQuant behind dispatch: rows are capacity, scales of experts that are not hit are not read.

    Certain are the group list, 32 x 8 = 256 bytes, and one expert's scales, (2048 + 1024) x 4 = 12,288.
    """
    found = work(
        "DequantSwigluQuant",
        "384,2048;32,2048;384;32,1024;32",
        "384,1024;384",
        dtypes="INT32;FLOAT;FLOAT;FLOAT;INT64",
        out_dtypes="INT8;FLOAT",
    )
    assert found.bytes_lo == 256 + 12_288
    assert found.bytes_hi == 384 * (2048 * 4 + 4 + 1024 + 4) + 32 * (2048 + 1024) * 4 + 256
    assert found.outcome == "upper_bound"
    dense = work("DequantSwigluQuant", "4,12288;12288,1;4;6144", "4,6144;4", dtypes="INT32;FLOAT;FLOAT;FLOAT")
    assert dense.outcome == "resolved"


def test_decode_attention_is_certain_about_q_and_o_only() -> None:
    """FusedInferAttentionScore: Q and output are 2 x 32,768 bytes, the pools are in bytes_hi, FLOPs are
    unknown.
    """
    found = work(
        "FusedInferAttentionScore",
        "4,8,512;161,1,32,128,16;161,1,32,128,16;4;4;4,40;4,8,64;161,1,4,128,16",
        "4,8,512;",
        dtypes="DT_BF16;DT_BF16;DT_BF16;INT64;INT64;INT32;DT_BF16;DT_BF16",
        out_dtypes="DT_BF16;FLOAT",
    )
    assert found.bytes_lo == 2 * 4 * 8 * 512 * 2
    assert found.flops is None
    assert "attention_decode" in found.flags
    assert any("sequence lengths" in each for each in found.missing)


@pytest.mark.parametrize(
    ("q", "decode"),
    [
        ("4,8,512", True),
        ("1,4096,8192", False),
        ("4096,32,128", False),
        ("8,1,32,128", True),
        ("512,8,128", True),
    ],
)
def test_decode_is_told_by_the_query_tokens(q: str, decode: bool) -> None:
    """Up to 512 query tokens is a decode step, in TND, BSND and BSH layouts."""
    found = work("FusedInferAttentionScore", f"{q};161,1,32,128,16", q)
    assert ("attention_decode" in found.flags) is decode


def test_training_attention_with_a_mask_is_half_certain() -> None:
    """4*1*16*4096*4096*128 = 137,438,953,472 FLOPs; a causal mask may halve them. Gradients take 2.5
    times.
    """
    forward = work(
        "FlashAttentionScore",
        "4096,1,2048;4096,1,1024;4096,1,1024;;;;2048,2048",
        "1,16,4096,8;1,16,4096,8;;4096,1,2048",
        dtypes="DT_BF16;DT_BF16;DT_BF16;DT_BF16;UINT8;DT_BF16;BOOL",
        out_dtypes="FLOAT;FLOAT;DT_BF16;DT_BF16",
    )
    assert (forward.flops_lo, forward.flops_hi) == (68_719_476_736, 137_438_953_472)
    backward = work(
        "FlashAttentionScoreGrad",
        "4096,1,2048;4096,1,1024;4096,1,1024;4096,1,2048;1,16,4096,8;1,16,4096,8",
        "4096,1,2048;4096,1,1024;4096,1,1024",
        dtypes="DT_BF16;DT_BF16;DT_BF16;DT_BF16;FLOAT;FLOAT",
    )
    assert backward.flops == 2.5 * 137_438_953_472  # no mask: all of it is certain
    assert backward.flags == {"gradient"}


def test_convolution_flops_and_channel_padding() -> None:
    """conv1 of AlexNet: 32*55*55 positions, 64 filters, 121 taps x 8 stored channels of which one is
    certain.
    """
    real = Signature(
        "Conv2D",
        "AI_CORE",
        "aicore",
        True,
        parse_operands("32,1,224,224,8;121,4,16,8;64", "FLOAT;FLOAT;FLOAT", "NC1HWC0;FRACTAL_Z;NCHW"),
        parse_operands("32,8,55,55,8", "FLOAT", "NC1HWC0"),
    )
    counted = work_of(real)
    assert counted.flops == 2 * (32 * 55 * 55) * 64 * (121 * 8)
    assert counted.flops_lo == counted.flops / 8
    assert counted.compute_dtype == "hf32"


def test_expert_dispatch_is_an_estimate() -> None:
    """Dispatch traffic lies between its token side and its padded side; it has no roof."""
    found = work("MoeDistributeDispatchV2", "4,3072;4,12", "384,3072;384", dtypes="DT_BF16;INT32")
    assert (found.family, found.unit, found.outcome) == ("moe_comm", "none", "upper_bound")
    assert found.bytes_lo == 2 * (4 * 3072 * 2 + 4 * 12 * 4)
    assert "moe_dispatch" in found.flags


@pytest.mark.parametrize("kind", ["hcom_allReduce_", "HcomAllGather", "HcomAllReduce", "hcom_batchSendRecv_"])
def test_collectives_have_no_bytes(kind: str) -> None:
    """A collective's message size is not in the kernel table."""
    found = work_of(Signature(kind, "COMMUNICATION", "communication"))
    assert (found.family, found.unit, found.bytes_lo) == ("communication", "none", None)
    assert "collective" in found.flags


@pytest.mark.parametrize(("kernel_class", "flag"), [("ai_cpu", "engine:ai_cpu"), ("dsa", "engine:dsa")])
def test_other_engines_have_no_roofline(kernel_class: str, flag: str) -> None:
    """AI_CPU and DSA rows are unresolved whatever their shapes."""
    found = work_of(Signature("Cumsum", "AI_CPU", kernel_class))
    assert (found.outcome, found.unit) == ("unresolved", "none")
    assert flag in found.flags


def test_unknown_types_get_the_stated_generic_model() -> None:
    """A type without a row is counted as inputs plus outputs, said so, and is of family generic."""
    found = work("SomethingNew", "4,8;4,8", "4,8", core="AI_VECTOR_CORE")
    assert (found.family, found.bytes_lo, found.flops) == ("generic", 3 * 64, None)
    assert "generic model" in found.notes[0]
    assert work("SomethingNew", "4,8", "4,8", core="MIX_AIC").unit == "cube"


def test_unknown_shapes_and_dtypes_are_unresolved() -> None:
    """Without shapes, or with an unknown dtype, nothing is counted and the reason is given."""
    assert work_of(Signature("MatMul", "AI_CORE", "aicore")).outcome == "unresolved"
    found = work("Add", "4,8;4,8", "4,8", dtypes="DT_BF16;DT_UNDEFINED")
    assert found.outcome == "unresolved"
    assert "input 1" in found.missing[0]
