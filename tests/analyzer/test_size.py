"""The manual mode: sizes from dimensions and from the MoE formulas, against hand-worked figures."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.model_config import model_config
from npu_roofline.analyzer.roles import ParallelSizes
from npu_roofline.analyzer.size import ModelSizes, MoeSizes, SizeRequest, experts_per_rank, size
from npu_roofline.errors import WrongUsage
from npu_roofline.roofline.device import load_device

MIB = 2**20
B2 = load_device("910B2")  # L2 192 MiB, half of it 96 MiB
# The numbers that LongCat-Flash publishes: 28 layers of hidden size 6144, 512 routed and 256 zero experts.
LONGCAT_FLASH = {
    "hidden_size": 6144,
    "ffn_hidden_size": 12288,
    "expert_ffn_hidden_size": 2048,
    "num_layers": 28,
    "num_attention_heads": 64,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "n_routed_experts": 512,
    "zero_expert_num": 256,
    "vocab_size": 131072,
}


def _row(request: SizeRequest, name: str = "weight", device=B2):
    return next(row for row in size(request, device).rows if row.name == name)


@pytest.mark.parametrize(
    ("dims", "dtype", "weight_bytes", "half"),
    [
        ((6144, 1536), "bf16", 18_874_368, 9_437_184),  # q_a_proj: 6144 x 1536 x 2, 18 MiB
        ((1536, 12288), "bf16", 37_748_736, 18_874_368),  # q_b_proj: 36 MiB
        ((6144, 576), "bf16", 7_077_888, 3_538_944),  # kv_a_proj: 6.75 MiB, not 7
        ((6144, 768), "fp32", 18_874_368, 9_437_184),  # router: 4 bytes each
        ((6144, 3072), "int8", 18_874_368, 9_437_184),  # gate_up_proj over 8 ranks
    ],
)
def test_the_weights_of_the_recipe(dims, dtype, weight_bytes, half):
    """Exact bytes of five published weights, and half of them as the first size to try."""
    row = _row(SizeRequest(dims=dims, dtype=dtype))
    assert (row.weight_bytes, row.max_size, row.limited_by) == (weight_bytes, half, "coefficient")


def test_nz_padding_counts():
    """Bf16 NZ of 100 x 100 is stored in blocks of 16 x 16: 112 x 112 x 2 = 25,088 bytes, not 20,000."""
    assert _row(SizeRequest(dims=(100, 100), format="FRACTAL_NZ")).weight_bytes == 25_088
    # dims as an export shows them are counted as they stand: 96 x 192 x 16 x 16 x 2
    folded = SizeRequest(dims=(96, 192, 16, 16), format="FRACTAL_NZ")
    assert _row(folded).weight_bytes == 9_437_184


def test_a_weight_larger_than_half_of_l2_is_capped_by_it():
    """O_proj of 96 MiB at 1.0 fits 96 MiB exactly; at twice the width it does not, and the note says so."""
    assert _row(SizeRequest(dims=(8192, 6144), coefficient=1.0)).limited_by == "coefficient"
    row = _row(SizeRequest(dims=(16384, 6144), coefficient=1.0))
    assert (row.max_size, row.limited_by) == (96 * MIB, "l2")
    assert "192.0 MiB" in row.note


@pytest.mark.parametrize(
    ("ep", "experts", "gmm1", "gmm2"),
    [(128, 4, 48, 48), (64, 8, 96, 96), (32, 16, 192, 192), (16, 32, 384, 384)],
)
def test_the_moe_formulas(ep, experts, gmm1, gmm2):
    """LongCat-Flash, H 6144, I 2048, int8: gmm1 = 6144 x 2048 x 2 x E / 2 and gmm2 = 6144 x 2048 x E, in
    MiB.
    """
    per_rank = experts_per_rank(512, ep)
    assert per_rank == experts
    request = SizeRequest(moe=MoeSizes(6144, 2048, per_rank, quant_mode="w8a8"))
    assert _row(request, "gmm1 of the specification").formula_bytes == gmm1 * MIB
    assert _row(request, "gmm2 of the specification").formula_bytes == gmm2 * MIB


def test_ep16_does_not_fit_l2_and_says_so():
    """384 MiB against an L2 of 192 MiB: capped at its half, 96 MiB, and the note names both."""
    request = SizeRequest(moe=MoeSizes(6144, 2048, 32, quant_mode="w8a8int8"))
    row = _row(request, "gmm1 of the specification")
    assert (row.max_size, row.limited_by) == (96 * MIB, "l2")
    assert "384.0 MiB" in row.note
    assert "96.0 MiB" in row.note
    assert any("384.0 MiB" in note for note in size(request, B2).notes)


def test_bf16_experts_are_twice_as_large_and_tensor_parallel_divides():
    """6144 x 2048 x 2 x 2 B // 2 ranks x 8 experts = 201,326,592 B of w13: as int8 on one rank."""
    bf16 = SizeRequest(moe=MoeSizes(6144, 2048, 8, moe_tp_size=2))
    assert _row(bf16, "experts.w13").weight_bytes == 201_326_592
    assert _row(bf16, "experts.w13").dtype == "bf16"


def test_one_coefficient_serves_both_expert_weights():
    """The specification halves gmm1 only; the proposal takes half of both, and both are shown."""
    request = SizeRequest(moe=MoeSizes(6144, 2048, 8, quant_mode="w8a8"))
    assert _row(request, "experts.w2").formula_bytes == 48 * MIB
    assert _row(request, "gmm2 of the specification").formula_bytes == 96 * MIB


def test_without_a_device_nothing_is_capped_by_l2_and_that_is_said():
    """No guess about L2: the term is null and a note tells how to get it."""
    answer = size(SizeRequest(dims=(16384, 6144), coefficient=1.0))
    assert answer.rows[0].l2_bytes is None
    assert any("--device" in note for note in answer.notes)


@pytest.mark.parametrize(
    "request_",
    [
        SizeRequest(),
        SizeRequest(dims=(0, 5)),
        SizeRequest(dims=(-6144, 5)),
        SizeRequest(dims=(6144, 5), dtype="bf17"),
        SizeRequest(dims=(6144, 5), coefficient=1.5),
        SizeRequest(dims=(6144, 5), cap_mib=0),
        SizeRequest(dims=(6144, 5), format="zz"),
        SizeRequest(moe=MoeSizes(6144, 2048, 0)),
        SizeRequest(moe=MoeSizes(6144, 2048, 8, quant_mode="w4a16")),
    ],
)
def test_what_is_no_weight_is_refused(request_):
    """Missing or impossible sizes are a usage error with a hint, never a number."""
    with pytest.raises(WrongUsage):
        size(request_, B2)


def test_experts_must_divide_over_the_ranks():
    """768 would count zero experts; 512 over 100 ranks is no deployment."""
    with pytest.raises(WrongUsage, match="do not divide"):
        experts_per_rank(512, 100)


def _of_model(ep: int, quant_mode: str | None = "w8a8int8", **more: int):
    parallel = ParallelSizes.of(tp=1, dense_tp=8, ep=ep, **more)
    model = ModelSizes(model_config(LONGCAT_FLASH, "config.json"), parallel, quant_mode)
    return size(SizeRequest(model=model, coefficient=1.0), B2)


def test_every_weight_of_a_config():
    """Published bytes of LongCat-Flash, dense TP 8, EP 64, w8a8: MiB as in the recipe's own table."""
    found = {row.name: (row.weight_bytes / MIB, row.dtype) for row in _of_model(64).rows}
    assert found["q_a_proj"] == (18, "bf16")  # 6144 x 1536 x 2
    assert found["q_b_proj"] == (36, "bf16")  # 1536 x 64 x 192 x 2
    assert found["kv_a_proj_with_mqa"] == (6.75, "bf16")  # 6144 x (512 + 64) x 2: not 7
    assert found["kv_b_proj"] == (16, "bf16")  # 512 x 64 x 256 x 2
    assert found["o_proj"] == (96, "bf16")  # 64 x 128 x 6144 x 2
    assert found["router.classifier"] == (18, "fp32")  # 6144 x 768 x 4: zero experts are routed to
    assert found["gate_up_proj"] == (18, "int8")  # 6144 x 2 x 12288 / 8
    assert found["down_proj"] == (9, "int8")
    assert found["experts.w13"] == (192, "int8")  # 8 x 6144 x 4096: zero experts hold no weights
    assert found["experts.w2"] == (96, "int8")


def test_equal_bytes_are_named_as_ambiguous():
    """18 MiB is q_a_proj, the dense gate_up_proj and the router: a size alone names no weight."""
    (note,) = [each for each in _of_model(64).notes if "18.00 MiB" in each]
    assert note.startswith("q_a_proj, gate_up_proj, router.classifier all have")


def test_the_formulas_take_their_numbers_from_the_config():
    """EP 16: 32 experts a rank, gmm1 is 384 MiB of int8; half of L2 is 96 MiB, which cuts it."""
    row = next(each for each in _of_model(16).rows if each.name.startswith("gmm1"))
    assert (row.formula_bytes, row.max_size, row.limited_by) == (384 * MIB, 96 * MIB, "l2")
    assert "384.0 MiB, capped by 50% of L2, 96.0 MiB" in row.note


def test_a_config_that_does_not_divide_is_refused():
    """512 experts over 100 ranks, and a quantisation nobody knows: an error with the role, not a number."""
    with pytest.raises(WrongUsage, match=r"experts\.w13.*--ep 100"):
        _of_model(100)
    with pytest.raises(WrongUsage, match="w4a4"):
        _of_model(64, quant_mode="w4a4")


def test_formats_by_any_of_their_names():
    """NZ, FRACTAL_NZ and 29 are one format: 100 x 100 bf16 in blocks of 16 x 16 is 25,088 bytes."""
    for name in ("NZ", "fractal_nz", "29"):
        assert _row(SizeRequest(dims=(100, 100), format=name)).weight_bytes == 25_088
    assert _row(SizeRequest(dims=(100, 100), format="nd")).weight_bytes == 20_000
