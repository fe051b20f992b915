"""Which kind of attention and of experts a model has, decided branch by branch with the line behind each."""

from __future__ import annotations

from collections.abc import Sequence

from ..answer_fusion import TreeStep
from .candidates import code_patterns, places_of
from .config import ModelConfig
from .conventions import conventions
from .events import ModelClass, ModelCode
from .facts import attention_layers, evidence, functions_of

_SHOWN = 4  # lines of the attention itself


def attention_tree(code: ModelCode, config: ModelConfig) -> tuple[TreeStep, ...]:
    """Architecture, indexer, and the chain for each phase."""
    words = conventions()["trees"]
    classes = [each for each in code.classes if each.kind != "moe"]
    mla = evidence(classes, words["mla"]) or [text for text in [config.says("kv_lora_rank")] if text]
    if not mla:
        return _gqa(code, config)
    has_indexer, indexer = _indexer(code, config)
    steps = [
        TreeStep("attention", "architecture", "MLA (latent KV)", tuple(mla)),
        TreeStep("attention", "indexer", indexer.answer, indexer.evidence),
    ]
    if has_indexer:
        chain = (
            "one path: npu_mla_prolog_v3 -> npu_lightning_indexer -> npu_sparse_flash_attention -> V absorb"
        )
        return (*steps, TreeStep("attention", "prefill and decode", chain, _core(code)))
    prefill = "step projections, K and V expanded, npu_fused_infer_attention_score"
    decode = "absorbed (by hand or npu_mla_prolog_v3), npu_fused_infer_attention_score, V absorb"
    absorb = evidence(classes, words["absorb"])
    layers = attention_layers(code)
    answer = "yes" if absorb else "not told: the attention layer of the framework decides" if layers else "no"
    steps.append(TreeStep("attention", "prefill", prefill, _core(code)))
    steps.append(TreeStep("attention", "decode", decode, _core(code)))
    steps.append(TreeStep("attention", "absorb in the code", answer, tuple(absorb or layers)))
    return tuple(steps)


def _indexer(code: ModelCode, config: ModelConfig) -> tuple[bool, TreeStep]:
    """Whether keys are chosen by an indexer: one file may serve models with and without, then the key of the
    configuration that the code asks for decides.
    """
    classes = [each for each in code.classes if each.kind != "moe"]
    found = evidence(classes, conventions()["trees"]["indexer"])
    asked = evidence(classes, conventions()["config"]["index_top_k"])
    says = config.says("index_top_k")
    if says:
        return True, TreeStep("attention", "indexer", "yes", (says, *found))
    if found and asked and config.file is not None:
        answer = f"no: the code has one, but {config.file} has no index_topk"
        return False, TreeStep("attention", "indexer", answer, tuple(found))
    return bool(found), TreeStep("attention", "indexer", "yes" if found else "no", tuple(found))


def _core(code: ModelCode) -> tuple[str, ...]:
    """Lines of the attention itself: a layer of a framework, or the calls that are attention."""
    calls = conventions()["trees"]["attention_calls"]
    lines = [
        f"{each.file}:{event.line} {event.name.removeprefix('self.') or event.token}"
        for each, function in functions_of(code)
        for event in function.events
        if (event.token in calls or event.name.split(".")[-1] in calls)
        and (event.token != "attention_core" or each.kind == "attention")
    ]
    return tuple(dict.fromkeys(lines or attention_layers(code)))[:_SHOWN]


def _gqa(code: ModelCode, config: ModelConfig) -> tuple[TreeStep, ...]:
    found = [
        f"{each.file}:{each.line} class {each.name}" for each in code.classes if each.kind == "attention"
    ] or list(_core(code))
    if not found:
        return (TreeStep("attention", "architecture", "none recognised in this code", ()),)
    heads, kv_heads = config.number("heads"), config.number("kv_heads")
    kind = "GQA or MHA (no config)"
    if heads is not None:
        shared = kv_heads is not None and kv_heads < heads
        kind = f"GQA, {heads} heads on {kv_heads}" if shared else f"MHA, {heads} heads"
    says = [text for text in (config.says("heads"), config.says("kv_heads")) if text]
    prefill = "q, k, v of the batch -> npu_fused_infer_attention_score, sparse_mode 3"
    decode = "KV cache -> npu_fused_infer_attention_score with actual_seq_lengths_kv"
    return (
        TreeStep("attention", "architecture", kind, (*found, *says)),
        TreeStep("attention", "prefill", prefill, _core(code)),
        TreeStep("attention", "decode", decode, _core(code)),
    )


def moe_tree(code: ModelCode, config: ModelConfig) -> tuple[TreeStep, ...]:
    """Whether there are experts, how they are chosen, and the chain for each phase."""
    classes = [each for each in code.classes if each.kind in ("moe", "router")]
    places = [f"{each.file}:{each.line} class {each.name}" for each in classes]
    experts = config.says("experts")
    if not classes:
        answer = "yes, by the configuration; not in this code" if experts else "none recognised in this code"
        return (TreeStep("moe", "experts", answer, (experts,) if experts else ()),)
    yes = "yes"
    if not experts and config.file is not None:
        yes = f"in the code; {config.file} has no number of experts, so this model may be dense"
    steps = [TreeStep("moe", "experts", yes, (*places, *([experts] if experts else [])))]
    steps.append(_gate(classes, config))
    steps += _expert_chains(code, classes)
    steps.append(_shared_expert(classes, config))
    return tuple(steps)


def _expert_chains(code: ModelCode, classes: Sequence[ModelClass]) -> list[TreeStep]:
    """The chains that fit, with the calls or the words of parallelism that they stand on."""
    words = conventions()["trees"]
    dispatch = evidence(classes, words["dispatch"])
    exchange = evidence(classes, words["all_to_all"])
    ep = evidence(classes, conventions()["parallel"]["ep"])
    alone = "npu_moe_init_routing_v2 -> npu_grouped_matmul -> npu_moe_finalize_routing"
    spread = (
        "npu_moe_init_routing_v2 -> AllToAll -> npu_moe_re_routing -> npu_grouped_matmul -> "
        "npu_moe_finalize_routing"
    )
    decode = "npu_moe_distribute_dispatch_v2 -> npu_grouped_matmul -> npu_moe_distribute_combine_v2"
    if not (dispatch or exchange or ep):
        layers = _expert_layers(code, classes)
        why = "not named in this code"
        if layers:
            why = f"left to {layers[0].split(' = ')[1]}, which is not in this code"
        return [
            TreeStep("moe", "prefill", f"{alone} (expert parallelism is {why})", tuple(layers)),
            TreeStep("moe", "decode", f"{alone}; with expert parallelism {decode}", tuple(layers)),
        ]
    steps = [
        TreeStep("moe", "prefill", spread, tuple(exchange or ep)),
        TreeStep("moe", "decode", decode, tuple(dispatch or exchange or ep)),
    ]
    tensor_parallel = evidence(classes, words["tensor_parallel"])
    if tensor_parallel:
        steps.append(
            TreeStep("moe", "with TP of the experts", f"{alone} -> AllReduce", tuple(tensor_parallel))
        )
    return steps


def _expert_layers(code: ModelCode, classes: Sequence[ModelClass]) -> list[str]:
    """Experts that another file defines."""
    defined = {each.name for each in code.classes}
    return [
        f"{each.file}:{attribute.line} {attribute.name} = {attribute.constructor}"
        for each in classes
        for attribute in each.attributes.values()
        if attribute.kind == "experts" and attribute.constructor and attribute.constructor not in defined
    ]


def _shared_expert(classes: Sequence[ModelClass], config: ModelConfig) -> TreeStep:
    found = evidence(classes, conventions()["trees"]["shared_expert"])
    says = config.says("shared_experts")
    answer = "yes" if found or says else "no"
    if found and not says and config.file is not None:
        answer = f"in the code; {config.file} names none"
    return TreeStep("moe", "shared expert", answer, tuple([says] if says else []) + tuple(found))


_SIGMOID = "npu_moe_gating_top_k"
_SOFTMAX = "npu_moe_gating_top_k_softmax, or npu_moe_gating_top_k with norm_type 0"


def _gate(classes: Sequence[ModelClass], config: ModelConfig) -> TreeStep:
    """By the configuration, else by what is computed before the choice, else by words of the code."""
    words = conventions()["trees"]
    scoring = str(config.values.get("scoring", ""))
    sigmoid, softmax = evidence(classes, words["sigmoid_gate"]), evidence(classes, words["softmax_gate"])
    says = config.says("scoring")
    if "sigmoid" in scoring:
        return TreeStep("moe", "gate", f"sigmoid: {_SIGMOID}", (says, *sigmoid))
    if "softmax" in scoring:
        return TreeStep("moe", "gate", f"softmax: {_SOFTMAX}", (says, *softmax))
    computed = _gate_modes(classes) or _computed_gate(classes)
    if set(computed) == {"sigmoid"}:
        return TreeStep("moe", "gate", f"sigmoid: {_SIGMOID}", _once(computed["sigmoid"], sigmoid))
    if set(computed) == {"softmax"}:
        bias = evidence(classes, ["e_score_correction_bias"])
        fits = (
            f"softmax with a bias on the choice: {_SIGMOID} with norm_type 0"
            if bias
            else f"softmax: {_SOFTMAX}"
        )
        return TreeStep("moe", "gate", fits, _once(computed["softmax"], bias or softmax))
    if sigmoid and not any(text.endswith(" softmax") for text in softmax):
        return TreeStep("moe", "gate", f"sigmoid or noaux: {_SIGMOID}", tuple(sigmoid))
    if softmax and not sigmoid:
        return TreeStep("moe", "gate", f"softmax: {_SOFTMAX}", tuple(softmax))
    both = (*sigmoid, *softmax)
    decides = (
        "--model-config decides"
        if config.file is None
        else f"not told apart: {config.file} has no scoring_func"
    )
    text = f"both are in the code, {decides}" if both else "not told by this code"
    return TreeStep("moe", "gate", text, both)


def _once(*lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for each in lines for line in each))


def _gate_modes(classes: Sequence[ModelClass]) -> dict[str, list[str]]:
    """softmax or sigmoid -> the lines at which the fused gate is asked for it."""
    words = conventions()["trees"]
    found = {mode: evidence(classes, words[f"{mode}_mode"]) for mode in ("softmax", "sigmoid")}
    return {mode: lines for mode, lines in found.items() if lines}


def _computed_gate(classes: Sequence[ModelClass]) -> dict[str, list[str]]:
    """softmax or sigmoid -> the lines at which it is computed before a choice of the top k."""
    found: dict[str, list[str]] = {}
    for pattern in (each for each in code_patterns() if each.rule == "moe_gating_top_k"):
        for each in classes:
            for _, events in places_of(each, pattern):
                first = events[0]
                found.setdefault(first.token, []).append(f"{each.file}:{first.line} {first.token}")
    return found
