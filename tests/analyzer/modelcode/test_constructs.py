"""`fuse model` on constructs of public model code, each in a few lines written for the test; lines are worked
out by hand beside it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from npu_roofline.analyzer.answer_fusion import FactRow
from npu_roofline.analyzer.modelcode.candidates import operator_name
from npu_roofline.analyzer.modelcode.events import read_model
from npu_roofline.analyzer.modelcode.steps import phase_of

from tests.analyzer.modelcode.questions import asked, candidate, fact, step
from tests.analyzer.modelcode.samples import write

PHASES = """class Attention:
    def forward(self, x, is_prefill, tp):
        if is_prefill and tp > 1:
            a(x)
        else:
            b(x)
        if not is_prefill:
            c(x)
        if self.prefill_meta is None:
            d(x)
        if is_prefill:
            return e(x)
        return f(x)

    def forward_decoder(self, x):
        g(x)
"""


def test_the_phase_of_a_branch(tmp_path: Path) -> None:
    """`prefill and tp > 1` may fail in prefill too, so its else is both (b); `not prefill` and
    `prefill_meta is None` are decode (c, d); after a branch that returns, the rest is the other phase (f); a
    decoder is no decode (g).
    """
    (attention,) = read_model([write(tmp_path, "m.py", PHASES)]).classes
    phases = {event.token: event.phase for function in attention.functions for event in function.events}
    assert phases == {
        "a": "prefill", "b": "both", "c": "decode", "d": "decode", "e": "prefill", "f": "decode", "g": "both",
    }  # fmt: skip
    assert phase_of("decode_step") == "decode"


PLACEHOLDER = """class Model:
    def __init__(self, config):
        self.norm = None
        if first:
            self.embed_tokens = VocabParallelEmbedding(config.vocab_size, 64)
            self.norms: nn.ModuleList = nn.ModuleList([RMSNorm(64), RMSNorm(64)])
        else:
            self.embed_tokens = PPMissingLayer()
        self.norm = RMSNorm(64)

    def forward(self, x):
        return self.norms[0](x + x)
"""


def test_a_placeholder_does_not_hide_a_layer(tmp_path: Path) -> None:
    """The embedding of line 5 stays although line 8 sets a placeholder; line 9 counts and not the
    None of line 3; a norm in a list is one, and line 12 adds before it.
    """
    answer = asked(tmp_path, PLACEHOLDER)
    rows = {row.module: row.code for row in answer.extras["modules"] if row.kind == "embedding"}
    assert rows == {"Model.embed_tokens": "m.py:5"}
    attributes = read_model([tmp_path / "m.py"]).classes[0].attributes
    assert (attributes["norm"].kind, attributes["norm"].line) == ("norm", 9)
    assert candidate(answer, "add_rms_norm").code == ("m.py:12",)


@pytest.mark.parametrize(
    ("call", "operator"),
    [
        ("torch_npu.npu_swiglu", "npu_swiglu"),
        ("torch_npu.npu_fused_infer_attention_score.out", "npu_fused_infer_attention_score"),
        ("torch.ops.npu.npu_mla_prolog_v3.default", "npu_mla_prolog_v3"),
        ("torch_npu.npu.current_stream", ""),
        ("torch_npu._npu_paged_attention_get_workspace", ""),
        ("tng.ops.npu_tagged_event_record", ""),
        ("torch_npu.npu_prefetch", ""),
        ("torch.matmul", ""),
    ],
)
def test_what_is_a_fused_operator(call: str, operator: str) -> None:
    """Overloads are the operator; streams, events, workspaces and prefetches compute nothing."""
    assert operator_name(call) == operator


EXPERTS = """from torch import nn
class SmallExperts(nn.Module):
    def __init__(self, config):
        self.gate_up_proj = nn.Parameter(torch.empty(config.num_experts, 8, 8))
        self.act_fn = ACT2FN[config.hidden_act]

    def forward(self, x, chosen, weights):
        mask = one_hot(chosen, 8)
        hit = mask.sum(-1).nonzero()
        for expert in hit:
            rows = x[expert]
            gate, up = linear(rows, self.gate_up_proj[expert]).chunk(2, dim=-1)
            part = self.act_fn(gate) * up
            part = part * weights[expert]
            out.index_add_(0, rows, part)
        return out


class SmallRouter(nn.Module):
    def __init__(self, config):
        self.e_score_correction_bias = nn.Buffer(torch.zeros(8))

    def forward(self, x):
        scores = x.softmax(dim=-1)
        return self.choose(scores)

    def choose(self, scores):
        return torch.topk(scores + self.e_score_correction_bias, 2)
"""


def test_experts_in_a_class_of_their_own(tmp_path: Path) -> None:
    """Expert weights in one parameter need no stacking; the loop of line 10, the choice of lines 8 and 9
    and the weighted sum of lines 14 and 15 are the three calls of the routing chain.
    """
    answer = asked(tmp_path, EXPERTS, {"hidden_act": "silu", "num_experts": 8})
    assert candidate(answer, "grouped_matmul").code == ("m.py:10",)
    assert candidate(answer, "grouped_matmul").prepare == (
        "sort the tokens by expert (npu_moe_init_routing_v2)",
    )
    assert candidate(answer, "moe_init_routing").code == ("m.py:8-9",)
    assert candidate(answer, "moe_finalize_routing").code == ("m.py:14-15",)


def test_a_gate_that_chooses_in_another_method(tmp_path: Path) -> None:
    """softmax at line 24, the bias and the choice in the method of line 28: one gate."""
    answer = asked(tmp_path, EXPERTS, {"hidden_act": "silu", "num_experts": 8})
    assert candidate(answer, "moe_gating_top_k").code == ("m.py:24-28",)
    gate = step(answer, "moe", "gate")
    assert gate.answer.startswith("softmax with a bias on the choice: npu_moe_gating_top_k")
    assert gate.evidence[0] == "m.py:24 softmax"


@pytest.mark.parametrize(
    ("activation", "rules"),
    [("silu", {"swiglu"}), ("gelu_pytorch_tanh", {"geglu"}), ("relu2", set()), (None, {"swiglu"})],
)
def test_the_activation_decides_the_call(tmp_path: Path, activation: str | None, rules: set[str]) -> None:
    """SiLU is SwiGLU, GELU is GeGLU, another is neither; without a configuration it is to check."""
    answer = asked(tmp_path, EXPERTS, {"hidden_act": activation} if activation else {})
    assert {row.rule for row in answer.rows} & {"swiglu", "geglu"} == rules
    if activation is None:
        assert candidate(answer, "swiglu").prepare == (
            "check that hidden_act is silu: no configuration says so",
        )


def test_a_function_that_one_class_uses_is_the_same_candidate(tmp_path: Path) -> None:
    """The eager attention of lines 1 to 3 is what the class of line 6 calls: one row."""
    text = (
        "def eager(q, k, v):\n    w = torch.matmul(q, k)\n    return torch.matmul(softmax(w), v)\n\n"
        "class TinyAttention:\n    def forward(self, q, k, v): return attention_interface(eager, q, k, v)\n"
    )
    row = candidate(asked(tmp_path, text), "fused_infer_attention_score")
    assert row.module == "TinyAttention"
    assert row.code == ("m.py:6", "m.py:2-3")


def test_two_ways_for_one_place_name_each_other(tmp_path: Path) -> None:
    """The rotation inside the function and the call of the function are one gain, and each row says so."""
    text = (
        "def apply_rotary_pos_emb(q, k, cos, sin):\n"
        "    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin\n\n"
        "class TinyAttention:\n    def forward(self, q, k): return apply_rotary_pos_emb(q, k, self.c)\n"
    )
    answer = asked(tmp_path, text)
    inner, outer = candidate(answer, "rotary_mul"), candidate(answer, "apply_rotary_pos_emb")
    assert any(outer.id in each for each in inner.instead)
    assert any(inner.id in each for each in outer.instead)


LATENT = """from vllm.attention import MLAAttention
class SmallMLAAttention:
    def __init__(self, config, block_size):
        self.fused_qkv_a_proj = MergedColumnParallelLinear(7168, [1536, 576])
        self.q_b_proj = ColumnParallelLinear(1536, 128 * 192)
        self.kv_b_proj = ColumnParallelLinear(512, 128 * 256)
        if hasattr(config, "index_topk"):
            self.indexer = Indexer(config, block_size=128)
        self.mla_attn = MLAAttention(128)
"""
SIZES = {"hidden_size": 7168, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
         "qk_nope_head_dim": 128, "num_attention_heads": 128}  # fmt: skip


def test_one_file_for_models_with_and_without_indexer(tmp_path: Path) -> None:
    """The key that the code asks for decides; without a configuration the code alone does."""
    absent = step(asked(tmp_path, LATENT, SIZES), "attention", "indexer")
    assert absent.answer == "no: the code has one, but config.json has no index_topk"
    assert "m.py:8 indexer" in absent.evidence
    there = asked(tmp_path, LATENT, {**SIZES, "index_topk": 2048})
    assert step(there, "attention", "indexer").answer == "yes"
    assert step(asked(tmp_path, LATENT), "attention", "indexer").answer == "yes"


def test_what_a_layer_of_the_framework_does_is_not_denied(tmp_path: Path) -> None:
    """The attention layer of line 9 holds the cache and may absorb: block_size of the indexer tells nothing;
    a joined projection is still the chain of the prolog.
    """
    answer = asked(tmp_path, LATENT, SIZES)
    layer = ("m.py:9 mla_attn = MLAAttention",)
    assert fact(answer, "KV cache") == FactRow(
        "KV cache", "paged, in the attention layer of the framework", layer
    )
    absorb = step(answer, "attention", "absorb in the code")
    assert (absorb.answer.split(":")[0], absorb.evidence) == ("not told", layer)
    assert candidate(answer, "mla_prolog").prepare[0].startswith("split the joined q_a and kv_a weight")
    assert fact(answer, "layers supplied").value.startswith("of vLLM")


def test_layers_are_of_the_package_they_come_from(tmp_path: Path) -> None:
    """SGLang's layers are not vLLM's, and a class of the file itself is supplied by nobody."""
    text = (
        "from sglang.srt.layers.layernorm import RMSNorm\n"
        "class Block:\n    def __init__(self):\n        self.n = RMSNorm(8)\n"
    )
    assert fact(asked(tmp_path, text), "layers supplied").value.startswith("of SGLang")
    own = "class RMSNorm:\n    pass\nclass Block:\n    def __init__(self):\n        self.n = RMSNorm(8)\n"
    assert all(row.fact != "layers supplied" for row in asked(tmp_path, own).extras["facts"])


def test_words_are_whole_parts_of_names(tmp_path: Path) -> None:
    """step_size is no ep_size and weight_block_size no page of a cache; moe_ep_size is one."""
    text = "class SmallMoE:\n    def forward(self, x, step_size, weight_block_size): return self.experts(x)\n"
    answer = asked(tmp_path, text)
    assert all(row.fact != "parallelism: ep" for row in answer.extras["facts"])
    assert fact(answer, "KV cache").value == "not told by this code"
    assert fact(asked(tmp_path, text.replace("step", "moe_ep")), "parallelism: ep").evidence == (
        "m.py:2 ep_size",
    )


def test_a_store_into_columns_is_no_cache_write(tmp_path: Path) -> None:
    """`latent_cache[..., :n] = x` fills a tensor; a store at a slot (lines 3, 4) writes a cache."""
    text = (
        "class TinyAttention:\n    def forward(self, k, v, at):\n"
        "        self.k_cache[at] = k\n        self.v_cache[at] = v\n"
    )
    assert candidate(asked(tmp_path, text), "scatter_pa_kv_cache").code == ("m.py:3-4",)
    assert asked(tmp_path, text.replace("[at]", "[..., :at]")).rows == ()


def test_experts_known_only_from_the_configuration(tmp_path: Path) -> None:
    """Attention alone with the configuration of a model with experts: nothing on their chain."""
    text = "class TinyAttention:\n    def forward(self, q): return q\n"
    steps = [row for row in asked(tmp_path, text, {"num_experts": 8}).extras["trees"] if row.tree == "moe"]
    assert [row.answer for row in steps] == ["yes, by the configuration; not in this code"]
    assert fact(asked(tmp_path, text), "quantisation").value == "not told by this code"


def test_a_layer_that_a_variable_names(tmp_path: Path) -> None:
    """Line 4 chooses between two layers by a variable: the attention of line 5 is vLLM's."""
    text = (
        "from vllm.attention import Attention, EncoderOnlyAttention\nclass TinyAttention:\n"
        "    def __init__(self, encoder):\n        kind = EncoderOnlyAttention if encoder else Attention\n"
        "        self.attn = kind(8)\n    def forward(self, q): return self.attn(q)\n"
    )
    assert fact(asked(tmp_path, text), "KV cache").evidence == ("m.py:5 attn = Attention",)


def test_arguments_of_a_dispatch_are_no_shared_expert(tmp_path: Path) -> None:
    """shared_expert_num = 0 is an argument of every dispatch; an attribute shared_experts is one."""
    text = (
        "class SmallMoE:\n    def forward(self, x):\n"
        "        return self.experts(dispatch(x, shared_expert_num=0, shared_expert_rank_num=0))\n"
    )
    assert step(asked(tmp_path, text), "moe", "shared expert").answer == "no"
    more = text.replace("self.experts(", "self.shared_experts(")
    assert step(asked(tmp_path, more), "moe", "shared expert").answer == "yes"


@pytest.mark.parametrize(("mode", "gate"), [(0, "softmax with a bias"), (1, "sigmoid: npu_moe_gating_top_k")])
def test_the_mode_of_the_fused_gate_is_read(tmp_path: Path, mode: int, gate: str) -> None:
    """npu_moe_gating_top_k with a bias is no sigmoid by that: norm_type of line 3 says which it is."""
    text = (
        "import torch_npu\nclass SmallRouter:\n    def forward(self, x): return "
        f"torch_npu.npu_moe_gating_top_k(x, bias=self.e_score_correction_bias, norm_type={mode})\n"
    )
    found = step(asked(tmp_path, text), "moe", "gate")
    assert found.answer.startswith(gate)
    assert f"m.py:3 norm_type={mode}" in found.evidence


def test_an_operator_of_vllm_ascend_does_the_work_of_a_rule(tmp_path: Path) -> None:
    """mla_preprocess is the prolog: a class that calls it is offered no npu_mla_prolog_v3."""
    call = "        return torch.ops._C_ascend.mla_preprocess(x)\n"
    text = f"{LATENT}    def forward(self, x):\n{call}"
    answer = asked(tmp_path, text, SIZES)
    assert answer.rows == ()
    assert [(row.operator, row.rule) for row in answer.extras["used"]] == [("mla_preprocess", "mla_prolog")]


def test_a_function_that_nothing_calls_is_said_to_be_so(tmp_path: Path) -> None:
    """Eager code beside the fused call it was replaced by: the row asks whether it runs, and is not ready."""
    text = "def old_rope(q, cos, sin):\n    return q * cos + rotate_half(q) * sin\n"
    used = f"{text}class Layer:\n    def forward(self, q): return old_rope(q, 1, 2)\n"
    row = candidate(asked(tmp_path, text), "rotary_mul")
    assert row.prepare[0] == "see whether old_rope runs: no code of these files calls it"
    assert candidate(asked(tmp_path, used, {"head_dim": 64}), "rotary_mul").verdict == "ready"


def test_experts_split_by_tensor_parallelism_have_a_chain(tmp_path: Path) -> None:
    """moe_tp_size at line 3 beside moe_ep_size: the chain with AllReduce is named with its line."""
    text = (
        "class SmallMoE:\n    def __init__(self, moe_ep_size, tp):\n        self.moe_tp_size = tp\n"
        "    def forward(self, x): return self.experts(x)\n"
    )
    found = step(asked(tmp_path, text), "moe", "with TP of the experts")
    assert found.answer.endswith("npu_moe_finalize_routing -> AllReduce")
    assert found.evidence == ("m.py:3 moe_tp_size",)
