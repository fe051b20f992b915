"""Small model files in the three styles that model code comes in; written for these tests, never run."""

from __future__ import annotations

from pathlib import Path

PLAIN = """import torch
from torch import nn
import torch.nn.functional as F


class TinyRMSNorm(nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        kind = x.dtype
        x = x.float()
        variance = x.pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + self.eps)).to(kind)


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin):
    q_out = (q * cos) + (rotate_half(q) * sin)
    k_out = (k * cos) + (rotate_half(k) * sin)
    return q_out, k_out


class TinyAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, config.kv_size, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, config.kv_size, bias=False)
        self.o_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.rotary_emb = TinyRotaryEmbedding(config)

    def forward(self, hidden_states, mask, past_key_values=None, cache_position=None):
        q = self.q_proj(hidden_states).transpose(1, 2)
        k = self.k_proj(hidden_states).transpose(1, 2)
        v = self.v_proj(hidden_states).transpose(1, 2)
        cos, sin = self.rotary_emb(v, cache_position)
        q, k = apply_rotary_pos_emb(q, k, cos, sin)
        if past_key_values is not None:
            k, v = past_key_values.update(k, v, self.layer_idx)
        weights = torch.matmul(q, k.transpose(2, 3)) * self.scaling
        weights = weights + mask
        weights = F.softmax(weights, dim=-1, dtype=torch.float32).to(q.dtype)
        out = torch.matmul(weights, v)
        return self.o_proj(out)


class TinyMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size)
        self.act_fn = ACT2FN[config.hidden_act]

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class TinySparseMoeBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate = nn.Linear(config.hidden_size, config.num_experts, bias=False)
        self.experts = nn.ModuleList([TinyMLP(config) for _ in range(config.num_experts)])

    def forward(self, hidden_states):
        logits = self.gate(hidden_states)
        weights = F.softmax(logits, dim=1, dtype=torch.float)
        weights, chosen = torch.topk(weights, self.top_k, dim=-1)
        out = torch.zeros_like(hidden_states)
        for expert in self.experts:
            out.index_add_(0, chosen, expert(hidden_states) * weights)
        return out


class TinyDecoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self_attn = TinyAttention(config)
        self.mlp = TinySparseMoeBlock(config)
        self.input_layernorm = TinyRMSNorm(config.hidden_size)
        self.post_attention_layernorm = TinyRMSNorm(config.hidden_size)

    def forward(self, hidden_states):
        residual = hidden_states
        hidden_states = self.input_layernorm(hidden_states)
        hidden_states = self.self_attn(hidden_states)
        hidden_states = residual + hidden_states
        residual = hidden_states
        hidden_states = self.post_attention_layernorm(hidden_states)
        hidden_states = self.mlp(hidden_states)
        return residual + hidden_states


class TinyForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([TinyDecoderLayer(config) for _ in range(config.num_hidden_layers)])
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, ids):
        return self.lm_head(self.embed_tokens(ids))
"""

VLLM = """from torch import nn
from vllm.attention import Attention
from vllm.model_executor.layers.activation import SiluAndMul
from vllm.model_executor.layers.fused_moe import FusedMoE
from vllm.model_executor.layers.layernorm import RMSNorm
from vllm.model_executor.layers.linear import QKVParallelLinear, ReplicatedLinear, RowParallelLinear


class SmallAttention(nn.Module):
    def __init__(self, hidden_size, quant_config=None, cache_config=None):
        super().__init__()
        tp_size = get_tensor_model_parallel_world_size()
        self.qkv_proj = QKVParallelLinear(hidden_size, 128, 32 // tp_size, quant_config=quant_config)
        self.o_proj = RowParallelLinear(hidden_size, hidden_size, quant_config=quant_config)
        self.rotary_emb = get_rope(128)
        self.attn = Attention(32, 128, cache_config=cache_config)

    def forward(self, positions, hidden_states):
        qkv, _ = self.qkv_proj(hidden_states)
        q, k, v = qkv.split([128, 128, 128], dim=-1)
        q, k = self.rotary_emb(positions, q, k)
        out = self.attn(q, k, v)
        out, _ = self.o_proj(out)
        return out


class SmallMoE(nn.Module):
    def __init__(self, config, quant_config=None):
        super().__init__()
        self.gate = ReplicatedLinear(config.hidden_size, config.num_experts, bias=False)
        self.experts = FusedMoE(num_experts=config.num_experts, top_k=8, renormalize=True)

    def forward(self, hidden_states):
        logits, _ = self.gate(hidden_states)
        return self.experts(hidden_states=hidden_states, router_logits=logits)


class SmallDecoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self_attn = SmallAttention(config.hidden_size)
        self.input_layernorm = RMSNorm(config.hidden_size)

    def forward(self, positions, hidden_states, residual):
        hidden_states, residual = self.input_layernorm(hidden_states, residual)
        return self.self_attn(positions=positions, hidden_states=hidden_states), residual
"""

CANN = """import torch
import torch_npu
from torch import nn
import torch.distributed as dist


class BigMoE(nn.Module):
    def __init__(self, config, runner_settings):
        super().__init__()
        self.moe_ep_size = runner_settings.get("parallel_config").get("moe_ep_size", 1)
        self.experts = FusedMoEGMM(num_experts=config.n_routed_experts, ep_size=self.moe_ep_size)
        self.e_score_correction_bias = nn.Parameter(torch.zeros(config.n_routed_experts))

    def route(self, x):
        scores = x.sigmoid()
        scores = scores + self.e_score_correction_bias
        return torch.topk(scores, 8)

    def infer_double_routing(self, x, ids):
        out, row, tokens, scale = torch_npu.npu_moe_init_routing_v2(x, expert_idx=ids)
        dist.all_to_all_single(out, x, group=self.moe_ep_group)
        out = torch_npu.npu_moe_re_routing(out, tokens)
        out = self.experts(out)
        return torch_npu.npu_moe_finalize_routing(out, scales=scale)

    def infer_dispatch_combine(self, x, ids):
        out = torch_npu.npu_moe_distribute_dispatch_v2(x=x, expert_ids=ids)
        out = self.experts(out)
        return torch_npu.npu_moe_distribute_combine_v2(expand_x=out)

    def forward(self, x, is_prefill):
        ids = self.route(x)
        if is_prefill:
            return self.infer_double_routing(x, ids)
        else:
            return self.infer_dispatch_combine(x, ids)


class BigAttention(nn.Module):
    def __init__(self, config, runner_settings):
        super().__init__()
        self.q_a_proj = ReplicatedLinear(config.hidden_size, config.q_lora_rank)
        self.q_a_layernorm = BigRMSNorm(config.q_lora_rank)
        self.q_b_proj = ColumnParallelLinear(config.q_lora_rank, 64 * 192)
        self.kv_a_proj_with_mqa = ReplicatedLinear(config.hidden_size, 576)
        self.kv_a_layernorm = BigRMSNorm(512)
        self.kv_b_proj = ColumnParallelLinear(512, 64 * 256)
        self.o_proj = RowParallelLinear(64 * 128, config.hidden_size)
        self.block_size = runner_settings.get("model_config").get("pa_block_size", 128)

    def forward_page_attention_absorb(self, x, slot_mapping, block_table):
        q = self.q_b_proj(self.q_a_layernorm(self.q_a_proj(x)))
        q_nope, q_pe = torch.split(q, [128, 64], dim=-1)
        q_nope = torch.matmul(q_nope.transpose(0, 1), self.w_uk).transpose(0, 1)
        q_pe = torch_npu.npu_interleave_rope(q_pe, self.cos, self.sin)
        latent = self.kv_a_proj_with_mqa(x)
        k_rope, k_nope, _, _ = torch_npu.npu_kv_rmsnorm_rope_cache(latent, slot_mapping)
        out, _ = torch.ops.npu.npu_fused_infer_attention_score(q_nope, k_nope, k_nope, block_table)
        return self.o_proj(out)


class BigMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_up_proj = MergedColumnParallelLinear(config.hidden_size, [config.intermediate_size] * 2)
        self.down_proj = RowParallelLinear(config.intermediate_size, config.hidden_size)

    def forward(self, x):
        return self.down_proj(torch_npu.npu_swiglu(self.gate_up_proj(x)))
"""

CONFIGS = {
    "plain": {"hidden_size": 2048, "num_attention_heads": 16, "num_key_value_heads": 4, "num_experts": 60,
              "num_experts_per_tok": 8, "num_hidden_layers": 24},
    "big": {"hidden_size": 6144, "num_attention_heads": 64, "q_lora_rank": 1536, "kv_lora_rank": 512,
            "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "n_routed_experts": 512,
            "moe_topk": 12, "scoring_func": "sigmoid", "quantization_config": {"quant_method": "w8a8"}},
}  # fmt: skip


def write(folder: Path, name: str, text: str) -> Path:
    """The text as a file of the folder."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
