"""What the code and the configuration say about how the model runs, each with the line that says it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..answer_fusion import FactRow, ModuleRow, TreeStep
from .config import ModelConfig
from .events import Attribute, Function, ModelClass, ModelCode, conventions


def evidence(classes: Iterable[ModelClass], words: Sequence[str]) -> list[str]:
    """'file:line word' for each word that occurs as a name, argument or text; the first place of each."""
    found: dict[str, str] = {}
    for each in classes:
        for word in words:
            line = next((line for name, line in each.words.items() if _is_word(name, word)), None)
            same_line = any(f"{each.file}:{line} " in text and word in text for text in found.values())
            if line is not None and word not in found and not same_line:
                found[word] = f"{each.file}:{line} {word}"
    return list(found.values())


def _is_word(name: str, word: str) -> bool:
    """The name itself, its last part, or a part between underscores of a longer word."""
    return name == word or name.endswith(f".{word}") or (len(word) > 5 and word in name)


def facts(code: ModelCode, config: ModelConfig) -> tuple[FactRow, ...]:
    """KV cache organisation and write style, quantisation, parallelism, phases."""
    tables = conventions()
    rows = [_phases(code)]
    attention = [each for each in code.classes if each.kind in ("attention", "block", "model", "head", "")]
    paged = evidence(attention, tables["cache"]["paged"])
    contiguous = evidence(attention, tables["cache"]["contiguous"])
    organisation = "paged" if paged else "contiguous" if contiguous else "not told by this code"
    rows.append(FactRow("KV cache", organisation, tuple(paged or contiguous)))
    slots = evidence(attention, tables["cache"]["slot_write"])
    lengths = evidence(attention, tables["cache"]["length_write"])
    style = (
        "by slot (slot_mapping, cache_index)" if slots else "by length (kv_len, start_pos)" if lengths else ""
    )
    rows.append(FactRow("KV cache write", style or "not told by this code", tuple(slots or lengths)))
    rows.append(_quantisation(code, config))
    for name in ("tp", "ep", "dp", "sp"):
        found = evidence(code.classes, tables["parallel"][name])
        if found:
            rows.append(FactRow(f"parallelism: {name}", "handled", tuple(found)))
    supplied = [
        f"{each.file}:{attribute.line} {attribute.name} = {attribute.constructor}"
        for each in code.classes
        for attribute in each.attributes.values()
        if attribute.constructor in tables["framework"]["layers"]
    ]
    if supplied:
        value = "of vLLM: vllm-ascend replaces them, look at its ops/ and attention/ for what is fused"
        rows.append(FactRow("layers supplied", value, tuple(supplied)))
    return tuple(rows)


def _phases(code: ModelCode) -> FactRow:
    """Whether prefill and decode take branches or methods of their own."""
    places = [
        f"{each.file}:{event.line} {event.phase} in {each.name or 'module'}.{function.name}"
        for each in code.classes
        for function in each.functions
        for event in function.events[:1]
        + tuple(
            event
            for before, event in zip(function.events, function.events[1:], strict=False)
            if before.phase != event.phase
        )
        if event.phase != "both"
    ]
    told = {place.split()[1] for place in places}
    value = (
        "separate branches"
        if told == {"prefill", "decode"}
        else "one path"
        if not told
        else f"only {told.pop()}"
    )
    return FactRow("prefill and decode", value, tuple(places[:12]))


def _quantisation(code: ModelCode, config: ModelConfig) -> FactRow:
    tables = conventions()["quantisation"]
    if config.quantization:
        method = config.quantization.get("quant_method") or config.quantization.get("quant_type") or "named"
        return FactRow("quantisation", str(method), (f"quantization_config in {config.file}",))
    for kind in ("w4a16", "w8a8c8", "w8a8"):
        found = evidence(code.classes, tables[kind])
        if found:
            return FactRow("quantisation", f"code for {kind}", tuple(found))
    hook = evidence(code.classes, tables["hook"])
    return FactRow(
        "quantisation", "decided at run time (quant_config)" if hook else "none, 16-bit weights", tuple(hook)
    )


def attention_tree(code: ModelCode, config: ModelConfig) -> tuple[TreeStep, ...]:
    """Architecture, indexer, and the chain for each phase."""
    words = conventions()["trees"]
    classes = [each for each in code.classes if each.kind != "moe"]
    mla = evidence(classes, words["mla"]) or [text for text in [config.says("kv_lora_rank")] if text]
    if not mla:
        return _gqa(code, config)
    steps = [TreeStep("attention", "architecture", "MLA (latent KV)", tuple(mla))]
    indexer = evidence(classes, words["indexer"]) or [text for text in [config.says("index_top_k")] if text]
    steps.append(TreeStep("attention", "indexer", "yes" if indexer else "no", tuple(indexer)))
    if indexer:
        chain = (
            "one path: npu_mla_prolog_v3 -> npu_lightning_indexer -> npu_sparse_flash_attention -> V absorb"
        )
        steps.append(TreeStep("attention", "prefill and decode", chain, ()))
        return tuple(steps)
    prefill = "step projections, K and V expanded, npu_fused_infer_attention_score"
    decode = "absorbed (by hand or npu_mla_prolog_v3), npu_fused_infer_attention_score, V absorb"
    absorb = evidence(classes, words["absorb"])
    steps.append(TreeStep("attention", "prefill", prefill, ()))
    steps.append(TreeStep("attention", "decode", decode, tuple(absorb)))
    steps.append(TreeStep("attention", "absorb in the code", "yes" if absorb else "no", tuple(absorb)))
    return tuple(steps)


def _gqa(code: ModelCode, config: ModelConfig) -> tuple[TreeStep, ...]:
    found = [
        f"{each.file}:{each.line} class {each.name}" for each in code.classes if each.kind == "attention"
    ] or evidence(code.classes, conventions()["trees"]["attention_calls"])
    if not found:
        return (TreeStep("attention", "architecture", "none recognised in this code", ()),)
    heads, kv_heads = config.number("heads"), config.number("kv_heads")
    kind = "GQA or MHA (no config)"
    if heads is not None:
        shared = kv_heads is not None and kv_heads < heads
        kind = f"GQA, {heads} heads on {kv_heads}" if shared else f"MHA, {heads} heads"
    says = [text for text in (config.says("heads"), config.says("kv_heads")) if text]
    return (
        TreeStep("attention", "architecture", kind, (*found, *says)),
        TreeStep(
            "attention",
            "prefill",
            "q, k, v of the batch -> npu_fused_infer_attention_score, sparse_mode 3",
            (),
        ),
        TreeStep(
            "attention",
            "decode",
            "KV cache -> npu_fused_infer_attention_score with actual_seq_lengths_kv",
            (),
        ),
    )


def moe_tree(code: ModelCode, config: ModelConfig) -> tuple[TreeStep, ...]:
    """Whether there are experts, how they are chosen, and the chain for each phase."""
    words = conventions()["trees"]
    classes = [each for each in code.classes if each.kind in ("moe", "router")]
    places = [f"{each.file}:{each.line} class {each.name}" for each in classes]
    experts = config.says("experts")
    if not classes and not experts:
        return (TreeStep("moe", "experts", "none recognised in this code", ()),)
    steps = [TreeStep("moe", "experts", "yes", (*places, *([experts] if experts else [])))]
    steps.append(_gate(classes, config))
    dispatch = evidence(classes, words["dispatch"])
    exchange = evidence(classes, words["all_to_all"])
    ep = evidence(classes, conventions()["parallel"]["ep"])
    prefill = "npu_moe_init_routing_v2 -> npu_grouped_matmul -> npu_moe_finalize_routing"
    if exchange or ep:
        prefill = (
            "npu_moe_init_routing_v2 -> AllToAll -> npu_moe_re_routing -> npu_grouped_matmul -> "
            "npu_moe_finalize_routing"
        )
    steps.append(TreeStep("moe", "prefill", prefill, tuple(exchange or ep)))
    decode = "npu_moe_distribute_dispatch_v2 -> npu_grouped_matmul -> npu_moe_distribute_combine_v2"
    decode = decode if dispatch or exchange or ep else f"{prefill} (no expert parallelism in this code)"
    steps.append(TreeStep("moe", "decode", decode, tuple(dispatch or exchange or ep)))
    shared = evidence(classes, words["shared_expert"])
    steps.append(TreeStep("moe", "shared expert", "yes" if shared else "no", tuple(shared)))
    return tuple(steps)


def _gate(classes: Sequence[ModelClass], config: ModelConfig) -> TreeStep:
    words = conventions()["trees"]
    says = config.says("scoring")
    sigmoid, softmax = evidence(classes, words["sigmoid_gate"]), evidence(classes, words["softmax_gate"])
    if "sigmoid" in str(config.values.get("scoring", "")):
        return TreeStep("moe", "gate", "sigmoid: npu_moe_gating_top_k", (says, *sigmoid))
    if "softmax" in str(config.values.get("scoring", "")):
        return TreeStep("moe", "gate", "softmax: npu_moe_gating_top_k_softmax", (says, *softmax))
    if sigmoid and not any(text.endswith(" softmax") for text in softmax):
        return TreeStep("moe", "gate", "sigmoid or noaux: npu_moe_gating_top_k", tuple(sigmoid))
    if softmax and not sigmoid:
        return TreeStep("moe", "gate", "softmax: npu_moe_gating_top_k_softmax", tuple(softmax))
    both = (*sigmoid, *softmax)
    text = "both are in the code, --model-config decides" if both else "not told by this code"
    return TreeStep("moe", "gate", text, both)


def modules(code: ModelCode) -> tuple[ModuleRow, ...]:
    """The network from embedding to head, each class with its sub-chains and their first line."""
    rows: list[ModuleRow] = []
    order = ("embedding", "block", "attention", "mlp", "moe", "router", "norm", "rope", "model", "head")
    for each in code.classes:
        rows += _parts_from_attributes(each)
        if each.kind in order:
            rows.append(ModuleRow(each.name, each.kind, "", f"{each.file}:{each.line}", "both"))
            rows += _chains(each)
    return tuple(sorted(rows, key=lambda row: order.index(row.kind) if row.kind in order else len(order)))


def _parts_from_attributes(each: ModelClass) -> list[ModuleRow]:
    """Embeddings and heads, which are attributes of the model and no classes of it."""

    def row(attribute: Attribute, kind: str) -> ModuleRow:
        name = f"{each.name}.{attribute.name}"
        return ModuleRow(name, kind, attribute.constructor, f"{each.file}:{attribute.line}", "both")

    found = [row(a, "embedding") for a in each.attributes.values() if a.kind == "embedding"]
    heads = [a for a in each.attributes.values() if a.kind == "lm_head" or a.name == "lm_head"]
    return [*found, *(row(a, "head") for a in heads)]


def _chains(each: ModelClass) -> list[ModuleRow]:
    rows = []
    for part, tokens in conventions()["chains"].get(each.kind, {}).items():
        hits = [
            (event, function)
            for function in each.functions
            for event in function.events
            if event.token in tokens
        ]
        if hits:
            names = dict.fromkeys(event.name.removeprefix("self.") or event.token for event, _ in hits)
            phases = {event.phase for event, _ in hits}
            phase = phases.pop() if len(phases) == 1 else "both"
            rows.append(ModuleRow(each.name, each.kind, f"{part}: {', '.join(list(names)[:6])}",
                                  f"{each.file}:{hits[0][0].line}", phase))  # fmt: skip
    return rows


def functions_of(code: ModelCode) -> Iterable[tuple[ModelClass, Function]]:
    """Every function with its class."""
    return ((each, function) for each in code.classes for function in each.functions)
