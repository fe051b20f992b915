"""Work of matmul families, worked by hand from shapes of real captures."""

from __future__ import annotations

import pytest
from npu_roofline.roofline.work import work_of

from tests.roofline.operands import signature, work


def test_quantised_gate_up_of_longcat() -> None:
    """4 x 3072 x 12288 int8: 301,989,888 FLOPs, weight 37,748,736 bytes, 38,006,784 bytes in all.

    12,288 (x) + 37,748,736 (w) + 49,152 (scale, 4 B) + 196,608 (int32 output) = 38,006,784.
    """
    found = work(
        "QuantBatchMatmulV3",
        "4,3072;384,192,16,32;12288",
        "4,12288",
        dtypes="INT8;INT8;FLOAT",
        formats="ND;FRACTAL_NZ;ND",
        out_dtypes="INT32",
    )
    assert (found.m, found.k, found.n) == (4, 3072, 12288)
    assert found.flops == 301_989_888
    assert found.bytes_lo == found.bytes_hi == 38_006_784
    assert found.weight_bytes == 37_748_736
    assert found.weights[0].logical == (3072, 12288)
    assert (found.compute_dtype, found.outcome) == ("int8", "resolved")
    # M 4 -> 16; N and K are multiples of 16 and 32 already
    assert found.padded_flops == 4 * 301_989_888


def test_a_short_product_uses_a_sixteenth_of_the_cube() -> None:
    """M = 1 is padded to 16 rows: padded FLOPs are 16 times the useful ones."""
    found = work("MatMulV2", "1,1024;64,160,16,16", "1,2560", dtypes="FLOAT16", formats="ND;FRACTAL_NZ")
    assert found.flops == 2 * 1024 * 2560
    assert found.padded_flops == 16 * found.flops


def test_k_is_padded_to_32_bytes() -> None:
    """K = 20 is 32 for fp16 (16 per block) and 32 for int8, 24 for fp32 (8 per block)."""
    for dtype, k in (("FLOAT16", 32), ("INT8", 32), ("FLOAT", 24)):
        found = work("MatMul", "16,20;20,16", "16,16", dtypes=dtype, out_dtypes=dtype)
        assert found.padded_flops == 2 * 16 * 16 * k


def test_the_fp32_rate_is_part_of_the_dtype() -> None:
    """HF32 YES computes at hf32, NO at fp32; where the export does not say, the flag remembers."""
    for hf32, dtype, flags in (
        (True, "hf32", set()),
        (False, "fp32", set()),
        (None, "fp32", {"hf32_unknown"}),
    ):
        found = work_of(
            signature("MatMul", "4,8;8,16", "4,16", dtypes="FLOAT", out_dtypes="FLOAT", hf32=hf32)
        )
        assert (found.compute_dtype, found.flags) == (dtype, flags)


def test_bias_scales_and_padding_count_as_bytes() -> None:
    """addmm: 32*9216*4 + 4096*9216*4 + 4096*4 + 32*4096*4 = 152,715,264 bytes."""
    found = work("MatMulV2", "32,9216;4096,9216;4096", "32,4096", dtypes="FLOAT", out_dtypes="FLOAT")
    assert found.bytes_lo == 152_715_264
    assert found.orientation == "NT"


def test_a_transposed_a_has_no_weight() -> None:
    """C = A^T x B is a gradient: B has the tokens as rows and is no parameter."""
    found = work("MatMulV3", "4096,1024;4096,3072", "1024,3072")
    assert found.orientation == "TN"
    assert found.weights == ()
    assert found.weight_bytes is None


def test_a_batched_second_operand_is_an_activation() -> None:
    """BatchMatMul of attention scores has no weight; with an NZ operand it has."""
    assert work("BatchMatMulV2", "16,64,80;16,80,64", "16,64,64").weights == ()
    nz = work("BatchMatMul", "16,64,80;16,5,5,16,16", "16,64,80", formats="ND;FRACTAL_NZ")
    assert nz.weights[0].bytes == 16 * 80 * 80 * 2


def test_transpose_batch_matmul() -> None:
    """`8,4,512;8,512,128 -> 4,8,128`: 2*8*4*512*128 = 4,194,304 FLOPs, 1,089,536 bytes."""
    found = work("TransposeBatchMatMul", "8,4,512;8,512,128", "4,8,128")
    assert (found.batch, found.m, found.k, found.n) == (8, 4, 512, 128)
    assert (found.flops, found.bytes_lo) == (4_194_304, 1_089_536)
    assert found.weight_bytes == 8 * 512 * 128 * 2


def test_packed_int4_weights_are_unpacked() -> None:
    """A [512, 128] int32 operand holds 512 x 1024 int4 weights; its bytes stay those that are stored."""
    found = work("WeightQuantBatchMatmulV2", "8,512;512,128;1024", "8,1024", dtypes="FLOAT16;INT32;FLOAT16")
    assert (found.k, found.n) == (512, 1024)
    assert found.weight_bytes == 512 * 128 * 4


def test_edited_shapes_are_unresolved_with_the_reason() -> None:
    """No (M, N, K) means no FLOPs, no bytes, and the contradiction in words."""
    found = work("MatMulV3", "8192,15365;8192,4096", "1536,4096")
    assert found.outcome == "unresolved"
    assert found.flops is None
    assert found.bytes_lo is None
    assert "M = 1536" in found.missing[0]


@pytest.mark.parametrize(
    ("kind", "inputs", "outputs", "flops"),
    [
        # the output has the rows of 4 ranks: 2 * 64 * 512 * 256
        ("AllGatherMatmul", "16,512;512,256", "64,256;64,512", 2 * 64 * 512 * 256),
        # every rank multiplies all rows and keeps a quarter
        ("MatmulReduceScatter", "64,512;512,256", "16,256", 2 * 64 * 512 * 256),
        ("MatMulAllReduce", "64,512;512,256", "64,256", 2 * 64 * 512 * 256),
    ],
)
def test_matmuls_fused_with_collectives(kind: str, inputs: str, outputs: str, flops: int) -> None:
    """The product on this rank is counted, and that the collective's bytes are not."""
    found = work(kind, inputs, outputs)
    assert found.flops == flops
    assert "fused_collective" in found.flags
    assert found.missing == ("bytes of the collective",)


W13 = ("384,3072;32,64,192,16,32;;;;;;32", "INT8;INT8;INT32;UINT64;FLOAT;FLOAT16;FLOAT16;INT64")


def test_grouped_matmul_is_a_range() -> None:
    """w13 of longcat: one expert 10,617,088 bytes, all 32 205,652,224; FLOPs of the padded rows are an
    upper bound.

    384*3072 + 384*2048*4 + 32*8 = 4,325,632 without weights; an expert is 3072*2048 = 6,291,456.
    """
    found = work(
        "GroupedMatmul",
        W13[0],
        "384,2048",
        dtypes=W13[1],
        formats="ND;FRACTAL_NZ;ND;ND;ND;ND;ND;ND",
        out_dtypes="INT32",
    )
    assert found.outcome == "upper_bound"
    assert (found.bytes_lo, found.bytes_hi) == (4_325_632 + 6_291_456, 4_325_632 + 32 * 6_291_456)
    assert (found.experts, found.m, found.k, found.n) == (32, 384, 3072, 2048)
    assert found.flops == 2 * 384 * 3072 * 2048
    assert found.flops_lo == 2 * 3072 * 2048
    assert found.weight_bytes == 201_326_592
    assert len(found.missing) == 2


def test_scales_of_experts_that_are_not_hit_are_not_certain() -> None:
    """w2 of longcat: x 393,216 + expert 3,145,728 + its scales 3072 x 2 + list 256 + token scales 1,536 +
    output 2,359,296 = 5,906,176 bytes; with all 32 experts 103,614,208.
    """
    found = work(
        "GroupedMatmul",
        "384,1024;32,96,64,16,32;;32,3072;;;;32;384",
        "384,3072",
        dtypes="INT8;INT8;INT32;DT_BF16;FLOAT;FLOAT16;FLOAT16;INT64;FLOAT",
        formats="ND;FRACTAL_NZ;ND;ND;ND;ND;ND;ND;ND",
    )
    assert (found.bytes_lo, found.bytes_hi) == (5_906_176, 103_614_208)


def test_scales_in_a_list_belong_to_their_experts() -> None:
    """Three weights and three scales of 128 bf16: one of each is certain, 12 x 64 x 2 + 64 x 128 x 2 + 256 +
    12 x 128 x 2 = 21,248 bytes.
    """
    found = work("GroupedMatmulV4", "12,64;64,128;64,128;64,128;128;128;128", "12,128")
    assert found.bytes_lo == 1_536 + 16_384 + 256 + 3_072


def test_fewer_rows_than_experts_bound_the_bytes() -> None:
    """Four rows can hit four of 32 experts at most."""
    found = work(
        "GroupedMatmul",
        "4,64;32,64,64;;;;;;32",
        "4,64",
        dtypes="INT8;INT8;;;;;;INT64",
        formats=";".join(["ND"] * 8),
    )
    weights = 64 * 64
    assert found.bytes_hi is not None
    assert found.bytes_lo is not None
    assert found.bytes_hi - found.bytes_lo == 3 * weights


def test_a_list_of_expert_weights_is_as_many_experts() -> None:
    """Per-expert operands `w;w;w` are three experts; the operand after them is something else."""
    found = work("GroupedMatmulV4", "12,64;64,128;64,128;64,128;128", "12,128")
    assert found.experts == 3
    assert [weight.slot for weight in found.weights] == [1, 2, 3]


def test_fused_swiglu_halves_the_columns() -> None:
    """GroupedMatmulSwigluQuant: the product has 2048 columns, the output 1024."""
    found = work(
        "GroupedMatmulSwigluQuant", "384,3072;32,3072,2048;32,2048;384;32", "384,1024;384", dtypes="INT8"
    )
    assert found.n == 2048


def test_finalize_routing_keeps_the_rows_of_x() -> None:
    """The output has the tokens, the product the expert rows."""
    found = work("GroupedMatmulFinalizeRouting", "384,1024;32,1024,3072", "32,3072", dtypes="INT8")
    assert (found.m, found.n) == (384, 3072)


def test_grouped_weight_gradient() -> None:
    """x^T x dy per expert: K is the rows of all experts, and no parameter is read."""
    found = work("GroupedMatmul", "384,64;384,128", "8,64,128")
    assert (found.m, found.k, found.n) == (64, 384, 128)
    assert found.weights == ()


def test_mla_prolog_lists_its_weights() -> None:
    """Four weights of 18,743,296 bytes; the KV pools (21 MB) are not traffic.

    9,437,184 + 4,718,592 + 1,048,576 + 3,538,944 = 18,743,296.
    """
    found = work(
        "MlaPrologV3",
        "4,3072;96,192,16,16;96,96,16,16;8,128,512;36,192,16,16;1536;512;4,64;4,64;161,128,1,512;161,128,1,64;4",
        "4,8,512;4,8,64;161,128,1,512;161,128,1,64;;;",
        dtypes=";".join(["DT_BF16"] * 11 + ["INT64"]),
        formats="ND;FRACTAL_NZ;FRACTAL_NZ;ND;FRACTAL_NZ;ND;ND;ND;ND;ND;ND;ND",
    )
    assert [weight.bytes for weight in found.weights] == [9_437_184, 4_718_592, 1_048_576, 3_538_944]
    assert found.weight_bytes == 18_743_296
    assert found.bytes_lo is not None
    assert 18_743_296 < found.bytes_lo < 18_900_000
    # 2 tokens-FLOPs per weight element: 2 * 4 * (4718592 + 2359296 + 524288 + 1769472)
    assert found.flops == 2 * 4 * 9_371_648
    assert found.m is None
    assert found.outcome == "upper_bound"


def test_a_product_without_rows_needs_no_byte() -> None:
    """0 x 4096 by 4096 x 512: nothing is written, so the 4 MB of weight need not be read and no target."""
    found = work("MatMul", "0,4096;4096,512", "0,512")
    assert (found.bytes_lo, found.flops_lo, found.outcome, found.weights) == (0, 0.0, "upper_bound", ())
    assert "no elements" in found.missing[-1]
