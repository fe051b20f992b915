"""Every rule finds its sequence, and does not find the near misses of it."""

from __future__ import annotations

import re

import pytest
from npu_roofline.analyzer.fusion.rules import parse_rules, rule_book
from npu_roofline.analyzer.fusion.types import normalised
from npu_roofline.analyzer.session import Session

from tests.analyzer.fusion.sequences import found_in, kernels, rules_on, session_with
from tests.analyzer.tiny_run import Kernel

# Rule -> its sequence, as a profile would show it. Shapes stand where a condition of the pattern looks at
# them.
CASES = {
    "rms_norm": "Cast Pow ReduceMeanD(4,8,64 bf16 -> 4,8,1 bf16) Adds(4,8,1 bf16 -> 4,8,1 bf16) "
    "Rsqrt(4,8,1 bf16 -> 4,8,1 bf16) Mul(4,8,64 bf16; 4,8,1 bf16 -> 4,8,64 bf16) Mul",
    "add_rms_norm": "Add RmsNorm",
    "add_rms_norm_cast": "InplaceAddRmsNorm Cast(4,8,64 bf16 -> 4,8,64 fp32)",
    "add_rms_norm_quant": "AddRmsNorm AscendQuantV2(4,8,64 bf16 -> 4,8,64 int8)",
    "add_rms_norm_dynamic_quant": "AddRmsNormBias DynamicQuant(4,8,64 bf16 -> 4,8,64 int8)",
    "rms_norm_quant": "RmsNorm AscendQuant(4,8,64 bf16 -> 4,8,64 int8)",
    "add_layer_norm": "Add LayerNormV3",
    "swiglu": "Slice(4,8,128 bf16 -> 4,8,64 bf16) Slice(4,8,128 bf16 -> 4,8,64 bf16) Swish Mul",
    "swiglu_quant": "SwiGlu DynamicQuant(4,8,64 bf16 -> 4,8,64 int8)",
    "dequant_swiglu_quant": "QuantBatchMatmulV3(4,64 int8; 64,128 int8 -> 4,128 int32) "
    "SwiGlu(4,128 int32 -> 4,64 bf16) DynamicQuant(4,64 bf16 -> 4,64 int8)",
    "clipped_swiglu": "Slice(4,8,128 bf16 -> 4,8,64 bf16) ClipByValueV2 Muls Sigmoid Mul Adds Mul",
    "geglu": "Slice(4,8,128 bf16 -> 4,8,64 bf16) Gelu Mul",
    "rotary_mul": "Mul Slice(4,8,64 bf16 -> 4,8,32 bf16) Neg(4,8,32 bf16 -> 4,8,32 bf16) "
    "Slice(4,8,64 bf16 -> 4,8,32 bf16) ConcatD(4,8,32 bf16; 4,8,32 bf16 -> 4,8,64 bf16) Mul Add",
    "apply_rotary_pos_emb": "RotaryPositionEmbedding RotaryPositionEmbedding",
    "interleave_rope": "Transpose InterleaveRope",
    "mrope": "GatherV2(9,64 bf16 -> 4,8,64 bf16) RotaryPositionEmbedding",
    "kv_rmsnorm_rope_cache": "SplitVD(4,576 bf16 -> 4,512 bf16; 4,64 bf16) RmsNorm(4,512 bf16 -> 4,512 bf16) "
    "InterleaveRope(4,64 bf16 -> 4,64 bf16) ScatterNdUpdate(99,512 bf16; 4,512 bf16 -> 99,512 bf16) "
    "ScatterNdUpdate(99,64 bf16; 4,64 bf16 -> 99,64 bf16)",
    "qkv_rms_norm_rope_cache": "SplitVD RmsNorm RmsNorm RotaryPositionEmbedding RotaryMul ScatterUpdate",
    "mla_prolog": "MatMulV3(4,6144 bf16; 6144,512 bf16 -> 4,8,64 bf16) RmsNorm "
    "MatMulV3(4,8,64 bf16; 64,64 bf16 -> 4,8,64 bf16) TransposeBatchMatMul InterleaveRope "
    "MatMulV3(4,6144 bf16; 6144,512 bf16 -> 4,8,64 bf16) RmsNorm "
    "InterleaveRope ScatterNdUpdate ScatterNdUpdate",
    "fused_infer_attention_score": "BatchMatMulV2 Mul MaskedFill SoftmaxV2 BatchMatMulV2",
    "sparse_flash_attention": "BatchMatMulV2 Relu Mul ReduceSum TopKV2 GatherV2 FusedInferAttentionScore",
    "moe_gating_top_k": "SoftmaxV2(4,64 fp32 -> 4,64 fp32) "
    "TopKV2(4,64 fp32 -> 4,8 fp32; 4,8 int32) GatherElements(4,64 fp32; 4,8 int32 -> 4,8 fp32)",
    "moe_init_routing": "Sort Sort GatherV2 Bincount",
    "moe_token_permute": "GatherV2 Mul ReduceSumD",
    "moe_finalize_routing": "GatherV2 Mul ReduceSumD Add",
    "grouped_matmul": " ".join(["MatMulV2(5,64 bf16; 64,32 bf16 -> 5,32 bf16)"] * 4),
    "grouped_matmul_swiglu_quant": "GroupedMatmul(4,64 int8; 2,4,4,16,32 int8 NZ -> 4,128 int32) "
    "DequantSwigluQuant(4,128 int32 -> 4,64 int8)",
    "grouped_matmul_finalize_routing": "GroupedMatmul MoeFinalizeRoutingV2",
    "moe_distribute_combine_add_rms_norm": "MoeDistributeCombineV2 Add RmsNorm",
    "dispatch_with_quantisation": "MoeDistributeDispatchV2 DynamicQuant(4,8,64 bf16 -> 4,8,64 int8)",
    "dynamic_quant": "Abs ReduceMaxD(4,8,64 bf16 -> 4,8,1 bf16) "
    "RealDiv(4,8,64 bf16; 4,8,1 bf16 -> 4,8,64 bf16) "
    "Round Cast(4,8,64 bf16 -> 4,8,64 int8)",
    "quant_matmul": "MatMulV2(4,64 int8; 64,32 int8 -> 4,32 int32) AscendDequant(4,32 int32 -> 4,32 bf16)",
    "transpose_batchmatmul": "Transpose BatchMatMulV2 Transpose",
    "scatter_pa_kv_cache": "ScatterNdUpdate ScatterNdUpdate",
    "scaled_masked_softmax": "Muls MaskedFill SoftmaxV2",
    "ffn": "MatMulV2 Swish MatMulV2 Mul MatMulV2",
    "group_norm_silu": "GroupNorm Swish",
    "muls_add_graph_pass": "Muls Add",
    "scale_into_mla_prolog": "MlaPrologV3 Muls",
    "add_before_add_rms_norm": "Add InplaceAddRmsNorm",
}
# Collectives run on a stream of their own; these are looked for beside the main stream.
WITH_COLLECTIVES = {
    "mm_all_reduce": ("MatMulV2", "HcomAllReduce", ""),
    "mm_reduce_scatter": ("MatMulV2", "hcom_reduceScatter__071_3_1", ""),
    "all_gather_mm": ("", "HcomAllGather", "MatMulV2"),
    "alltoallv_gmm": ("", "HcomAllToAllV", "GroupedMatmul"),
    "moe_distribute": ("MoeInitRoutingV2", "hcom_alltoallv__012_1_1", "MoeReRouting"),
    "moe_re_routing": ("", "hcom_alltoall__012_1_1", "SliceD Slice ConcatD"),
}
# What a rule with `only_with` needs to be looked for at all, on a stream of its own.
MOE = kernels("GroupedMatmul MoeGatingTopK", stream=99)
PLAIN, BESIDE, BROKEN, SHORT, UNRELATED = 2, 3, 10, 20, 30
# Each case has streams of its own in one capture, this far apart.
APART = 100


def variants(rule: str, sequence: str, base: int) -> list[Kernel]:
    """The sequence as it is, another stream's kernels between, and three near misses on other streams."""
    words = re.findall(r"\w+(?:\([^)]*\))?", sequence)
    start = 10_000.0 * base
    rows = kernels(sequence, base + PLAIN, start)
    rows += kernels("Exp " * len(words), base + BESIDE, start + 2.5)
    for number, word in enumerate(words):  # every second kernel on another stream
        rows += kernels(word, base + BROKEN + number % 2, start + 1000 + 5.0 * number)
    rows += kernels(" ".join(words[: fewest_kernels(rule) - 1]), base + SHORT, start + 2000)
    unrelated = [
        re.sub(r"\(.*\)", "", word) + f"(7,{100 + number} fp32 -> 7,{200 + number} fp32)"
        for number, word in enumerate(words)
    ]
    return rows + kernels(" ".join(unrelated), base + UNRELATED, start + 3000)


@pytest.fixture(scope="module")
def capture() -> Session:
    """Every case with its near misses, each on streams of its own."""
    rows = list(MOE)
    for number, (rule, sequence) in enumerate(CASES.items(), start=1):
        rows += variants(rule, sequence, number * APART)
    return session_with(rows)


def fewest_kernels(rule: str) -> int:
    """Kernels of the shortest sequence that the rule takes, optional ones left out."""
    sequences = rule_book().rule(rule).sequences
    return min(sum(item.least for item in items if not item.optional) for items in sequences)


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_finds_its_sequence_and_no_near_miss(rule: str, capture: Session) -> None:
    """The sequence is found on its stream though another stream runs between; split over two streams, one
    kernel short, or with kernels that do not read what the others wrote, this rule is not found."""
    base = (list(CASES).index(rule) + 1) * APART
    assert rules_on(capture, base + PLAIN) == [rule]
    assert rule not in rules_on(capture, base + BROKEN) + rules_on(capture, base + BROKEN + 1)
    assert rule not in rules_on(capture, base + SHORT)
    if rule_book().rule(rule).flow not in ("any", "parallel"):
        assert rule not in rules_on(capture, base + UNRELATED)


@pytest.mark.parametrize("rule", WITH_COLLECTIVES)
def test_a_rule_with_a_collective_looks_beside_the_main_stream(rule: str) -> None:
    """A collective on its own stream is found between the kernels of the main stream, by start."""
    before, collective, after = WITH_COLLECTIVES[rule]
    rows = [
        *MOE, *kernels("Exp Exp Exp Exp Exp Exp", PLAIN, start=-100), *kernels(before, PLAIN),
        *kernels(collective, 50, start=5), *kernels(after, PLAIN, start=10),
        # The same kernels beside a collective that comes too late.
        *kernels(f"{before} Exp {after} Exp", PLAIN, start=200), *kernels(collective, 50, start=300),
    ]  # fmt: skip
    session = session_with(rows)
    assert [each for each in rules_on(session, PLAIN) + rules_on(session, 50) if each == rule] == [rule]


def test_every_rule_has_a_case() -> None:
    """No rule of the table goes without a sequence that proves it, and all 43 of the knowledge are there."""
    ids = {rule.id for rule in rule_book().rules}
    assert ids == {*CASES, *WITH_COLLECTIVES}
    assert {rule.number for rule in rule_book().rules} >= set(range(1, 44))


@pytest.mark.parametrize(
    ("exported", "name"),
    [
        ("MatMulV3", "matmul"), ("ConcatV2D", "concat"), ("AddAiCore", "add"), ("Pad", "pad"),
        ("PadD", "pad"),
        ("hcom_allReduce__084_0_1", "hcomallreduce"), ("HcomAllReduce", "hcomallreduce"),
        ("MoeDistributeDispatchV2", "moedistributedispatch"), ("Conv2D", "conv2"), ("SwiGlu", "swiglu"),
    ],
)  # fmt: skip
def test_type_names_lose_what_drifts_between_releases(exported: str, name: str) -> None:
    """Version, target and instance endings are no part of a name; a d that belongs to it stays."""
    assert normalised(exported) == name


def test_casts_and_moves_between_kernels_are_passed() -> None:
    """Up to two of the fillers between two kernels do not part a sequence; three do."""
    rows = [*kernels("Add Cast TensorMove RmsNorm", 2), *kernels("Add Cast Cast Cast RmsNorm", 3, start=500)]
    session = session_with(rows)
    assert rules_on(session, 2) == ["add_rms_norm"]
    assert rules_on(session, 3) == []


def test_the_longest_sequence_takes_the_kernels_and_names_what_fits_inside() -> None:
    """Add RmsNorm DynamicQuant is one call of rule 5, not rule 2 and a rest; npu_add_rms_norm stays as
    fallback.
    """
    session = session_with(kernels("Add RmsNorm DynamicQuant(4,8,64 bf16 -> 4,8,64 int8)"))
    (found,) = found_in(session)
    assert found.match.rule.id == "add_rms_norm_dynamic_quant"
    assert len(found.claimed) == 3
    assert found.fallbacks == ("npu_add_rms_norm",)


def test_a_rule_that_can_be_used_comes_before_one_that_a_limit_refuses() -> None:
    """On an A2 device combine + Add + RmsNorm is A3 only, so Add + RmsNorm is proposed and not hidden by
    it.
    """
    session = session_with(kernels("MoeDistributeCombineV2 Add RmsNorm"), device="910B2")
    assert rules_on(session, 2) == ["add_rms_norm"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('sequence = ["[A]"]', "no required type"),
        ('sequence = ["@nothing"]', "no group @nothing"),
        ('sequence = ["A"]\nlimit = 3', "unknown key limit"),
        ('sequence = ["A"]\nflow = "sideways"', "level, flow or source"),
    ],
)
def test_a_wrong_rule_is_named(entry: str, message: str) -> None:
    """A rule that cannot be read says which one it is and what is wrong."""
    text = f'[[rule]]\nid = "mine"\nnumber = 1\napi = "x"\nlevel = "K"\npriority = 1\nsource = "s"\n{entry}'
    with pytest.raises(ValueError, match=f"mine.*{message}"):
        parse_rules(text)
