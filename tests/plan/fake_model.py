"""Enough of torch, torch_npu, vLLM and a recipe to run the model files of these tests, and note each call."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from tests.plan.fake_npu import FakeNpu, Tensor

# How many outputs the operators give that give more than one.
OUTPUTS = {
    "npu_rms_norm": 2, "npu_add_rms_norm": 3, "npu_dequant_swiglu_quant": 2, "npu_moe_gating_top_k": 3,
    "npu_moe_distribute_dispatch_v2": 4, "npu_dynamic_quant": 2, "npu_grouped_matmul": 1,
    "npu_mla_prolog_v3": 2,
    "npu_fused_infer_attention_score": 2, "npu_moe_init_routing_v2": 4,
}  # fmt: skip


class Value(Tensor):
    """A tensor of 16 tokens that every operation gives again under the operation's name."""

    shape = (16, 8)

    def _again(self, *_: Any, **__: Any) -> Value:
        return Value(self.name)

    __add__ = __mul__ = __getitem__ = type = reshape = view = _again

    def split(self, sizes: list[int], dim: int) -> list[Value]:
        """As many parts as sizes."""
        assert dim == -1
        return [Value(f"{self.name}[{number}]") for number in range(len(sizes))]


class Module:
    """nn.Module: calling it is calling forward."""

    def __init__(self) -> None:
        self.path = type(self).__name__

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.forward(*arguments, **keywords)  # type: ignore[attr-defined]


@dataclass
class FakeModel:
    """The modules, and the calls made so far: those of the NPU, and (operator,) for everything else."""

    npu: FakeNpu = field(default_factory=FakeNpu)

    @property
    def calls(self) -> list[tuple[Any, ...]]:
        """Everything that was called, in order."""
        return self.npu.calls

    def _note(self, name: str, count: int = 0) -> Any:
        def call(*_: Any, **__: Any) -> Any:
            self.calls.append((name,))
            return tuple(Value(name) for _ in range(count)) if count else Value(name)

        return call

    def _layer(self, name: str, pair: bool) -> type:
        """A layer of weights; `pair`: it returns its output and a bias, as those of vLLM do."""
        note = self._note

        class Layer(Module):
            weight_scale = smooth_scales = None

            def __init__(self, *_: Any, **keywords: Any) -> None:
                super().__init__()
                self.weight = Value(keywords.get("prefix") or name)

            def forward(self, *_: Any, **keywords: Any) -> Any:
                many = pair or "out_dtype" in keywords
                return note(name, 2 if many else 0)()

        return Layer

    def _called(self, name: str, count: int = 0) -> type:
        """A layer without weights; norms give two tensors when they are given a residual."""
        note = self._note

        class Layer(Module):
            def __init__(self, *_: Any, **__: Any) -> None:
                super().__init__()

            def forward(self, *arguments: Any, **_: Any) -> Any:
                many = count or (2 if name == "RMSNorm" and len(arguments) > 1 else 0)
                return note(name, many)()

        return Layer

    def modules(self) -> dict[str, types.ModuleType]:
        """Every module that the files import, by name."""
        torch, torch_npu = self.npu.torch, self.npu.torch_npu
        nn = types.ModuleType("torch.nn")
        vars(nn).update(Module=Module, ModuleList=list, Parameter=lambda made: made)
        dist = types.ModuleType("torch.distributed")
        vars(dist).update(all_reduce=self._note("all_reduce"))
        made = lambda *_, **__: Value("parameter")  # noqa: E731
        vars(torch).update(
            nn=nn, distributed=dist, ones=made, empty=made, int8=None, int32=None, float32=None
        )
        for name in (*OUTPUTS, "npu_moe_distribute_combine_v2", "npu_transpose_batchmatmul", "npu_swiglu"):
            vars(torch_npu)[name] = self._note(name, OUTPUTS.get(name, 0))
        linears = ("ColumnParallelLinear", "MergedColumnParallelLinear", "QKVParallelLinear",
                   "ReplicatedLinear", "RowParallelLinear")  # fmt: skip
        return {
            "torch": torch, "torch_npu": torch_npu, "torch.nn": nn, "torch.distributed": dist,
            "module": _module("module"),
            "module.linear": _module("module.linear", **{name: self._layer(name, False) for name in linears}),
            **self._vllm(linears),
        }  # fmt: skip

    def _vllm(self, linears: tuple[str, ...]) -> dict[str, types.ModuleType]:
        layers = "vllm.model_executor.layers"
        contents: dict[str, dict[str, Any]] = {
            "vllm": {}, "vllm.model_executor": {}, layers: {}, "vllm.model_executor.models": {},
            "vllm.attention": {"Attention": self._called("attention")},
            "vllm.distributed": {"get_tensor_model_parallel_world_size": lambda: 1},
            f"{layers}.activation": {"SiluAndMul": self._called("SiluAndMul")},
            f"{layers}.layernorm": {"RMSNorm": self._called("RMSNorm")},
            f"{layers}.linear": {name: self._layer(name, True) for name in linears},
            f"{layers}.rotary_embedding": {"get_rope": lambda _: self._note("rope", 2)},
            "vllm.model_executor.models.utils": {
                "make_layers": lambda count, make, prefix: (0, count, [make(prefix) for _ in range(count)])
            },
        }  # fmt: skip
        return {name: _module(name, **values) for name, values in contents.items()}

    @contextmanager
    def loaded(self, source: str) -> Iterator[dict[str, Any]]:
        """The names of a model file, with these modules in place while it is used."""
        modules = self.modules()
        saved = {name: sys.modules.get(name) for name in modules}
        sys.modules.update(modules)
        names: dict[str, Any] = {"__name__": "modeling"}
        try:
            exec(compile(source, "modeling.py", "exec"), names)
            yield names
        finally:
            for name, old in saved.items():
                if old is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = old


def _module(name: str, **values: Any) -> types.ModuleType:
    made = types.ModuleType(name)
    vars(made).update(values)
    return made


def recipe_calls(source: str, enabled: bool | None, prefill: bool = False) -> list[tuple[Any, ...]]:
    """What one step of the recipe-style model calls; enabled: the switch, None = the config has none."""
    config = SimpleNamespace(
        hidden_size=8, ffn_hidden_size=8, n_routed_experts=4, zero_expert_num=None, expert_ffn_hidden_size=8,
        num_attention_heads=2, qk_nope_head_dim=4, qk_rope_head_dim=4, q_lora_rank=4, kv_lora_rank=4,
        v_head_dim=4, num_layers=2, vocab_size=32,
    )  # fmt: skip
    custom = {} if enabled is None else {"enable_prefetch": enabled}
    infer = SimpleNamespace(
        model_config=SimpleNamespace(custom_params=custom),
        parallel_config=SimpleNamespace(dense_tp_size=1, moe_ep_size=1, attn_tp_size=1),
    )
    fake = FakeModel()
    with fake.loaded(source) as names:
        model = names["SketchModel"](config, infer)
        model(Value("hidden"), Value("cache"), prefill)
    return fake.calls


def vllm_calls(source: str, enabled: bool | None, tokens: int = 16) -> list[tuple[Any, ...]]:
    """What one step of the vLLM-style model calls."""
    config = SimpleNamespace(
        hidden_size=8, intermediate_size=8, num_attention_heads=2, num_key_value_heads=2, head_dim=4,
        num_hidden_layers=2,
    )  # fmt: skip
    if enabled is not None:
        config.enable_prefetch = enabled
    fake, shape = FakeModel(), Value.shape
    Value.shape = (tokens, 8)
    try:
        with fake.loaded(source) as names:
            given = SimpleNamespace(model_config=SimpleNamespace(hf_config=config), cache_config=None)
            names["OutlineModel"](vllm_config=given)(Value("positions"), Value("hidden"))
    finally:
        Value.shape = shape
    return fake.calls
