"""A documented limit decides the status of a sequence: at the limit it stays, one step beyond it does not."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.fusion.rules import parse_rules, rule_book

from tests.analyzer.fusion.sequences import found_in, kernels, rules_on, session_with

ROTATION = (
    "Mul({0} bf16; 1,1,{1} bf16 -> {0} bf16) Slice({0} bf16 -> {2} bf16) Neg({2} bf16 -> {2} bf16) "
    "ConcatD({2} bf16; {2} bf16 -> {0} bf16) Mul({0} bf16; 1,1,{1} bf16 -> {0} bf16) "
    "Add({0} bf16 -> {0} bf16)"
)


def norm_of(dims: str) -> str:
    """Eager RmsNorm over a tensor of these dimensions."""
    row = dims.rsplit(",", 1)[0] + ",1"
    return (
        f"Pow({dims} fp32 -> {dims} fp32) ReduceMeanD({dims} fp32 -> {row} fp32) "
        f"Adds({row} fp32 -> {row} fp32) Rsqrt({row} fp32 -> {row} fp32) "
        f"Mul({dims} fp32; {row} fp32 -> {dims} fp32) Mul({dims} fp32; 64 fp32 -> {dims} fp32)"
    )


def rotation(leading: str, size: int) -> str:
    """Eager rotary embedding of [leading, size]."""
    return ROTATION.format(f"{leading},{size}", size, f"{leading},{size // 2}")


def swiglu_of(width: int) -> str:
    """A quantised matmul, SwiGLU and quantisation of rows of `width` = 2H."""
    half = width // 2
    return (
        f"QuantBatchMatmulV3(4,64 int8; 64,{width} int8 -> 4,{width} int32) "
        f"SwiGlu(4,{width} int32 -> 4,{half} bf16) DynamicQuant(4,{half} bf16 -> 4,{half} int8)"
    )


def softmax_of(rows: int, columns: int) -> str:
    """Scale, mask and softmax of a [2, 4, rows, columns] tensor."""
    same = f"(2,4,{rows},{columns} bf16 -> 2,4,{rows},{columns} bf16)"
    return f"Muls{same} MaskedFill{same} SoftmaxV2{same}"


@pytest.mark.parametrize(
    ("rule", "text", "device", "status"),
    [
        ("rms_norm", norm_of("2,2,2,2,2,2,2,64"), "910_9382", "fits"),  # 8 dimensions
        ("rms_norm", norm_of("2,2,2,2,2,2,2,2,64"), "910_9382", "excluded"),  # 9
        ("add_rms_norm", "Add RmsNorm", "910B2", "fits"),
        ("add_rms_norm", "Add RmsNorm", "910A", "excluded"),  # A2, A3, 310P and 950 have it
        ("dequant_swiglu_quant", swiglu_of(20992), "910_9382", "check"),  # H = 10496
        ("dequant_swiglu_quant", swiglu_of(21120), "910_9382", "excluded"),  # H = 10560 = 165 x 64
        ("dequant_swiglu_quant", swiglu_of(20928), "910_9382", "excluded"),  # H = 10464, no multiple of 64
        ("rotary_mul", rotation("999,32,4", 64), "910_9382", "fits"),
        ("rotary_mul", rotation("1000,32,4", 64), "910_9382", "check"),  # B, or S where it comes first
        ("scaled_masked_softmax", softmax_of(32, 4096), "910_9382", "fits"),
        ("scaled_masked_softmax", softmax_of(33, 4096), "910_9382", "excluded"),  # H is no multiple of 32
        ("scaled_masked_softmax", softmax_of(32, 4128), "910_9382", "excluded"),  # W = 129 x 32
    ],
)
def test_a_limit_holds_at_its_value_and_fails_beyond(rule: str, text: str, device: str, status: str) -> None:
    """The status of the only sequence; the reason of a refused one quotes the limit with its source."""
    (found,) = [each for each in found_in(session_with(kernels(text), device)) if each.match.rule.id == rule]
    assert found.judged.status == status
    if status == "excluded":
        assert "the call" in (found.judged.failing or "")


@pytest.mark.parametrize(("size", "rules"), [(64, ["apply_rotary_pos_emb"]), (96, ["rotary_mul"] * 2)])
def test_query_and_key_are_one_call_where_the_head_fits(size: int, rules: list[str]) -> None:
    """Two eager rotations are one npu_apply_rotary_pos_emb for D = 64, and two npu_rotary_mul for D = 96."""
    pair = f"{rotation('2,8,4', size)} {rotation('2,8,4', size)}"
    assert rules_on(session_with(kernels(pair)), 2) == rules


def test_sorting_without_a_count_is_a_permutation() -> None:
    """Two sorts and a gather with the count of tokens per expert are the routing, without it a permute."""
    moe = kernels("GroupedMatmul MoeGatingTopK", stream=99)
    rows = [*moe, *kernels("Sort Sort GatherV2 Cumsum", 2), *kernels("Sort Sort GatherV2 Exp", 3, start=500)]
    session = session_with(rows)
    assert rules_on(session, 2) == ["moe_init_routing"]
    assert rules_on(session, 3) == ["moe_token_permute"]


@pytest.mark.parametrize(
    ("fused", "call"),
    [
        ("FlashAttentionScore", "npu_fusion_attention"),
        ("FusedInferAttentionScore", "npu_fused_infer_attention_score"),
        ("MoeDistributeCombineV2", "npu_moe_distribute_combine_v2"),
        ("GroupedMatMulAlltoAllv", "npu_gmm_alltoallv"),
        ("InplaceAddRmsNorm", "npu_add_rms_norm"),
    ],
)
def test_the_call_behind_a_fused_kernel(fused: str, call: str) -> None:
    """By the letters of the name, by the table where they do not tell, else the call of the rule."""
    assert rule_book().call_of(fused) == call


def test_a_call_for_no_type_is_an_error() -> None:
    """[calls] may only name types that a rule has."""
    with pytest.raises(ValueError, match="names a type of no rule: nothing"):
        parse_rules('rule = []\n[calls]\nNothing = "npu_x"\n')
