"""A decoder written for these tests in the style of graph-mode recipes: two attentions, two MLPs, experts."""

# ruff: noqa: ARG002, RET504

import torch
import torch.distributed as dist
import torch_npu
from module.linear import (
    ColumnParallelLinear,
    MergedColumnParallelLinear,
    ReplicatedLinear,
    RowParallelLinear,
)
from torch import nn


class SketchRMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.eps = eps

    def forward(self, hidden_states, residual=None):
        if residual is None:
            return torch_npu.npu_rms_norm(hidden_states, self.weight, self.eps)[0]
        out, _, summed = torch_npu.npu_add_rms_norm(residual, hidden_states, self.weight, self.eps)
        return out, summed


class SketchMLP(nn.Module):
    def __init__(self, config, infer_config, prefix=""):
        super().__init__()
        self.hidden_size = config.hidden_size
        self.inner = config.ffn_hidden_size
        dense_tp_size = infer_config.parallel_config.dense_tp_size
        self.gate_up_proj = MergedColumnParallelLinear(
            self.hidden_size,
            [self.inner] * 2,
            bias=False,
            tp_size=dense_tp_size,
            prefix=f"{prefix}.gate_up_proj",
        )
        self.down_proj = RowParallelLinear(
            self.inner, self.hidden_size, bias=False, tp_size=dense_tp_size, prefix=f"{prefix}.down_proj"
        )

    def forward(self, x, is_prefill=False):
        merged_x, pertoken_scale = self.gate_up_proj(x, out_dtype=torch.int32)
        x, pertoken_scale = torch_npu.npu_dequant_swiglu_quant(
            merged_x, weight_scale=self.gate_up_proj.weight_scale, activation_scale=pertoken_scale
        )
        down_out = self.down_proj(x, pertoken_scale)
        return down_out


class SketchRouter(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_experts = (
            config.n_routed_experts
            if config.zero_expert_num is None
            else config.n_routed_experts + config.zero_expert_num
        )
        self.classifier = ReplicatedLinear(
            config.hidden_size, self.num_experts, bias=False, params_dtype=torch.float32
        )

    def forward(self, hidden_states):
        logits = self.classifier(hidden_states.type(torch.float32))
        weights, indices, _ = torch_npu.npu_moe_gating_top_k(logits, k=12)
        return indices, weights


class SketchMoE(nn.Module):
    def __init__(self, config, infer_config):
        super().__init__()
        self.moe_ep_size = infer_config.parallel_config.moe_ep_size
        self.router = SketchRouter(config)
        per_rank = config.n_routed_experts // self.moe_ep_size
        inner = config.expert_ffn_hidden_size
        self.w13 = nn.Parameter(torch.empty(per_rank, config.hidden_size, 2 * inner, dtype=torch.int8))
        self.w2 = nn.Parameter(torch.empty(per_rank, inner, config.hidden_size, dtype=torch.int8))

    def forward(self, hidden_states, is_prefill=False):
        indices, weights = self.router(hidden_states)
        if is_prefill:
            return self.forward_prefill(hidden_states, indices, weights)
        expanded, scales, counts = torch_npu.npu_moe_distribute_dispatch_v2(hidden_states, indices)[:3]
        quantised, scales = torch_npu.npu_dynamic_quant(expanded)
        (merged,) = torch_npu.npu_grouped_matmul([quantised], [self.w13], group_list=counts)
        act, act_scale = torch_npu.npu_dequant_swiglu_quant(merged, activation_scale=scales)
        routed = torch_npu.npu_grouped_matmul([act], [self.w2], scale=act_scale, group_list=counts)[0]
        out = torch_npu.npu_moe_distribute_combine_v2(routed, indices, weights)
        return out

    def forward_prefill(self, hidden_states, indices, weights):
        expanded = torch_npu.npu_moe_init_routing_v2(hidden_states, indices)[0]
        merged = torch_npu.npu_grouped_matmul([expanded], [self.w13])[0]
        return torch_npu.npu_grouped_matmul([torch_npu.npu_swiglu(merged)], [self.w2])[0]


class SketchAttention(nn.Module):
    def __init__(self, config, infer_config, layer_idx):
        super().__init__()
        self.tp_size = infer_config.parallel_config.attn_tp_size
        self.heads = config.num_attention_heads // self.tp_size
        self.q_head_dim = config.qk_nope_head_dim + config.qk_rope_head_dim
        self.q_a_proj = ReplicatedLinear(config.hidden_size, config.q_lora_rank, bias=False)
        self.q_b_proj = ColumnParallelLinear(
            config.q_lora_rank, config.num_attention_heads * self.q_head_dim, tp_size=self.tp_size
        )
        self.kv_a_proj_with_mqa = ReplicatedLinear(
            config.hidden_size, config.kv_lora_rank + config.qk_rope_head_dim, bias=False
        )
        self.kv_b_proj_w_k = nn.Parameter(
            torch.empty(self.heads, config.qk_nope_head_dim, config.kv_lora_rank)
        )
        self.kv_b_proj_w_v = nn.Parameter(torch.empty(self.heads, config.kv_lora_rank, config.v_head_dim))
        self.o_proj = RowParallelLinear(
            config.num_attention_heads * config.v_head_dim, config.hidden_size, tp_size=self.tp_size
        )

    def forward(self, hidden_states, cache, is_prefill=False):
        if is_prefill:
            return self.forward_prefill(hidden_states, cache)
        return self.forward_absorb(hidden_states, cache)

    def forward_absorb(self, hidden_states, cache):
        q_nope, q_rope = torch_npu.npu_mla_prolog_v3(
            hidden_states,
            weight_dq=self.q_a_proj.weight,
            weight_uq_qr=self.q_b_proj.weight,
            weight_uk=self.kv_b_proj_w_k,
            weight_dkv_kr=self.kv_a_proj_with_mqa.weight,
            kv_cache=cache,
        )
        q_nope = q_nope * 0.5
        attn_output, _ = torch_npu.npu_fused_infer_attention_score(q_nope, cache, cache, query_rope=q_rope)
        attn_output = torch_npu.npu_transpose_batchmatmul(attn_output, self.kv_b_proj_w_v)
        output = self.o_proj(attn_output.reshape(-1, 1024))
        dist.all_reduce(output)
        return output

    def forward_prefill(self, hidden_states, cache):
        q = self.q_b_proj(self.q_a_proj(hidden_states))
        kv = self.kv_a_proj_with_mqa(hidden_states)
        out = torch_npu.npu_fused_infer_attention_score(q, kv, kv)[0]
        return self.o_proj(out)


class SketchDecoderLayer(nn.Module):
    def __init__(self, config, infer_config, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx
        self.mlp = SketchMoE(config, infer_config)
        self_attn, mlps, before, after = [], [], [], []
        for i in range(2):
            self_attn.append(SketchAttention(config, infer_config, layer_idx * 2 + i))
            mlps.append(SketchMLP(config, infer_config, prefix=f"mlps.{i}"))
            before.append(SketchRMSNorm(config.hidden_size))
            after.append(SketchRMSNorm(config.hidden_size))
        self.self_attn = nn.ModuleList(self_attn)
        self.mlps = nn.ModuleList(mlps)
        self.input_layernorm = nn.ModuleList(before)
        self.post_attention_layernorm = nn.ModuleList(after)

    def forward(self, hidden_states, residual, cache, is_prefill=False, next_layer=None):
        hidden_states, residual = self.input_layernorm[0](hidden_states, residual)
        hidden_states = self.self_attn[0](hidden_states, cache, is_prefill)
        hidden_states, residual = self.post_attention_layernorm[0](hidden_states, residual)
        shortcut = self.mlp(hidden_states, is_prefill)
        hidden_states = self.mlps[0](hidden_states, is_prefill)
        hidden_states, residual = self.input_layernorm[1](hidden_states, residual)
        hidden_states = self.self_attn[1](hidden_states, cache, is_prefill)
        hidden_states, residual = self.post_attention_layernorm[1](hidden_states, residual)
        down_proj = self.mlps[1](hidden_states, is_prefill)
        hidden_states = down_proj + shortcut
        return hidden_states, residual


class SketchModel(nn.Module):
    def __init__(self, config, infer_config):
        super().__init__()
        self.layers = nn.ModuleList(
            [SketchDecoderLayer(config, infer_config, idx) for idx in range(config.num_layers)]
        )
        self.norm = SketchRMSNorm(config.hidden_size)
        self.lm_head = ColumnParallelLinear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, hidden_states, cache, is_prefill=False):
        residual = hidden_states
        for number, layer in enumerate(self.layers):
            following = self.layers[number + 1] if number + 1 < len(self.layers) else None
            hidden_states, residual = layer(hidden_states, residual, cache, is_prefill, following)
        hidden_states, _ = self.norm(hidden_states, residual)
        return self.lm_head(hidden_states)
