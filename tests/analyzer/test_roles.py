"""Role rules: expressions over a config, matrices for parallel sizes, configs that are read or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from npu_roofline.analyzer.model_config import model_config, read_model_config
from npu_roofline.analyzer.roles import Expression, ParallelSizes, rules, symbols_of
from npu_roofline.errors import InputMissing, WrongUsage
from npu_roofline.ingest.shapes import dtype_info


def _matrix(name: str, config: dict[str, int], **sizes: int):
    numbers = {**symbols_of(model_config(config, "x")), **ParallelSizes.of(**sizes).complete()}
    found = [role.matrix(numbers) for role in rules().roles if role.name == name]
    return next((each for each in found if each), None)


def test_expressions_are_sums_of_products():
    """2 x 8 / 4 x 128 + 64 = 576; of 8 heads each of 16 ranks has one; 3 do not divide over 2."""
    numbers = {"heads": 8, "tp": 4, "dim": 128, "rope": 64}
    assert Expression.parse("2*heads/tp*dim + rope").value(numbers) == 576
    assert Expression.parse("heads/tp").value({"heads": 8, "tp": 16}) == 1
    assert Expression.parse("heads/tp").value({"heads": 3, "tp": 2}) is None
    assert Expression.parse("missing*2").value(numbers) is None


def test_what_is_no_expression_is_refused():
    """Nothing is evaluated: a call or a subtraction is an error of the rules file."""
    for text in ("__import__('os')", "a-b", "a**2", ""):
        with pytest.raises(ValueError, match="sum of products"):
            Expression.parse(text)


def test_every_rule_names_known_symbols_sizes_and_dtypes():
    """A misspelt symbol would rule a role out silently, so each must be declared."""
    known = rules().symbols.keys() | rules().sizes.keys()
    for role in rules().roles:
        used = role.k.names() | role.n.names() | (role.batch.names() if role.batch else set())
        assert used <= known, role.name
        assert all(dtype_info(each) for each in role.dtypes.values()), role.name
        assert role.source


def test_grouped_query_attention_replicates_heads():
    """Qwen3-32B, 64 heads and 8 KV heads of 128: over 4 ranks (16 + 2 x 2) x 128, over 16 (4 + 2) x 128."""
    qwen = {"hidden_size": 5120, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128}
    assert _matrix("qkv_proj", qwen, tp=4) == (None, 5120, 2560)
    assert _matrix("qkv_proj", qwen, tp=16) == (None, 5120, 768)
    assert _matrix("o_proj", qwen, tp=4) == (None, 2048, 5120)
    assert _matrix("kv_b_proj", qwen, tp=4) is None


def test_latent_attention_has_no_qkv_proj():
    """A model with kv_lora_rank has the low-rank projections instead; the router keeps zero experts."""
    mla = {
        "hidden_size": 3072,
        "num_attention_heads": 64,
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
        "n_routed_experts": 256,
        "zero_expert_num": 128,
    }
    assert _matrix("qkv_proj", mla, tp=8) is None
    assert _matrix("q_b_proj", mla, tp=8) == (None, 1536, 8 * 192)
    assert _matrix("kv_b_absorb_v", mla, tp=8) == (8, 512, 128)
    assert _matrix("router.classifier", mla) == (None, 3072, 384)


def test_one_tensor_parallel_size_serves_unless_said():
    """--tp holds for the dense layers and lm_head too; --dense-tp and --lm-head-tp override it."""
    assert ParallelSizes.of(tp=8).given == {"attn_tp": 8, "dense_tp": 8, "head_tp": 8}
    assert ParallelSizes.of(tp=1, dense_tp=8).complete()["dense_tp"] == 8


def test_a_config_is_read_from_its_folder_and_its_language_model(tmp_path: Path):
    """Multimodal configs keep the sizes in text_config; quantisation is taken from where it is said."""
    text = {"text_config": {"hidden_size": 5120}, "quantization_config": {"quant_method": "w8a8_dynamic"}}
    (tmp_path / "config.json").write_text(json.dumps(text), encoding="utf-8")
    config = read_model_config(tmp_path)
    assert (config.numbers["hidden_size"], config.quant_mode) == (5120, "w8a8")


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"num_layers": 3}', '{"hidden_size": true}', "[" * 10_000])
def test_what_is_no_config_is_refused(tmp_path: Path, text: str):
    """Broken JSON, a list, a config without a hidden size: a usage error that says so."""
    file = tmp_path / "config.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(WrongUsage):
        read_model_config(file)
    with pytest.raises(InputMissing):
        read_model_config(tmp_path / "absent.json")
