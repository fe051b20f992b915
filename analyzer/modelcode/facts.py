"""What the code and the configuration say about how the model runs, each with the line that says it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..answer_fusion import FactRow, ModuleRow
from .config import ModelConfig
from .conventions import conventions
from .events import Function, ModelClass, ModelCode
from .steps import Attribute


def evidence(classes: Iterable[ModelClass], words: Sequence[str]) -> list[str]:
    """'file:line word' for each word that occurs as a name, argument or text; the first place of each."""
    found: dict[str, str] = {}
    for each in classes:
        for word in words:
            line = next((line for name, line in each.words.items() if _is_word(name, word)), None)
            shown = word.removeprefix("=")
            place = f"{each.file}:{line} "
            same_line = any(text.startswith(place) and (shown in text or text.removeprefix(place) in shown)
                            for text in found.values())  # fmt: skip
            if line is not None and word not in found and not same_line:
                found[word] = f"{each.file}:{line} {shown}"
    return list(found.values())


def _is_word(name: str, word: str) -> bool:
    """The name itself or its last part; for a longer word also a whole part of it between underscores
    (ep_size is in moe_ep_size and not in step_size); `=word` is the name and nothing else.
    """
    if word.startswith("="):
        return name == word[1:]
    if name == word or name.endswith(f".{word}"):
        return True
    if len(word) <= 5 or word not in name:
        return False
    return not word.islower() or re.search(rf"(^|[_.]){re.escape(word)}s?(?![a-z])", name) is not None


def facts(code: ModelCode, config: ModelConfig) -> tuple[FactRow, ...]:
    """KV cache organisation and write style, quantisation, parallelism, phases."""
    tables = conventions()
    rows = [_phases(code), *_cache(code)]
    rows.append(_quantisation(code, config))
    for name in ("tp", "ep", "dp", "sp"):
        found = evidence(code.classes, tables["parallel"][name])
        if found:
            rows.append(FactRow(f"parallelism: {name}", "handled", tuple(found)))
    rows += [
        FactRow("layers supplied", tables["framework"]["owners"][owner], tuple(places))
        for owner, places in supplied_layers(code).items()
    ]
    return tuple(rows)


def has_paged_cache(known: Iterable[FactRow]) -> bool:
    """Whether the facts say that the KV cache is paged."""
    return any(row.fact == "KV cache" and row.value.startswith("paged") for row in known)


def _cache(code: ModelCode) -> tuple[FactRow, FactRow]:
    """How the KV cache is laid out and written: by words of the code, else by the layer that holds it."""
    words = conventions()["cache"]
    concerned = [each for each in code.classes if each.kind in ("attention", "block", "model", "head", "")]
    layers = attention_layers(code)
    paged, slots = evidence(concerned, words["paged"]), evidence(concerned, words["slot_write"])
    contiguous, lengths = evidence(concerned, words["contiguous"]), evidence(concerned, words["length_write"])
    handed = evidence(concerned, words["handed_in"])
    organisation = FactRow("KV cache", "not told by this code", ())
    for found, value in (
        (paged, "paged"),
        (layers, "paged, in the attention layer of the framework"),
        (evidence(concerned, words["page_size"]), "paged"),
        (contiguous, "contiguous"),
        (handed, "contiguous and growing, unless the caller hands in a static cache"),
    ):
        if found:
            organisation = FactRow("KV cache", value, tuple(found))
            break
    for found, value in (
        (slots, "by slot (slot_mapping, cache_index)"),
        (layers, "by slot, in the attention layer of the framework"),
        (lengths, "by length (kv_len, start_pos)"),
        (handed, "by the update of the cache object"),
    ):
        if found:
            return organisation, FactRow("KV cache write", value, tuple(found))
    return organisation, FactRow("KV cache write", "not told by this code", ())


def supplied_layers(code: ModelCode) -> dict[str, list[str]]:
    """Framework -> 'file:line name = Layer' of the layers that it supplies, by what is imported."""
    table = conventions()["framework"]
    defined = {each.name for each in code.classes}
    found: dict[str, list[str]] = {}
    for each in code.classes:
        for attribute in each.attributes.values():
            if attribute.constructor in table["layers"] and attribute.constructor not in defined:
                owner = _owner(attribute, code)
                found.setdefault(owner, []).append(_made(each, attribute))
    return found


def attention_layers(code: ModelCode) -> list[str]:
    """Attention layers of a framework among the attributes: they hold the cache and the attention itself."""
    names = conventions()["framework"]["attention"]
    return [
        _made(each, attribute)
        for each in code.classes
        for attribute in each.attributes.values()
        if attribute.constructor in names and _owner(attribute, code) != "other"
    ]


def _owner(attribute: Attribute, code: ModelCode) -> str:
    """By the import of the layer; without one, by the only framework that is imported from."""
    owners = conventions()["framework"]["owners"]
    module = code.imports.get(attribute.constructor)
    modules = code.imports.values() if module is None else [module]
    roots = {each.split(".")[0] for each in modules} & set(owners)
    return roots.pop() if len(roots) == 1 else "other"


def _made(each: ModelClass, attribute: Attribute) -> str:
    return f"{each.file}:{attribute.line} {attribute.name} = {attribute.constructor}"


_OTHER = {"prefill": "decode", "decode": "prefill"}


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
        else f"a branch for {(only := told.pop())} only, {_OTHER[only]} takes the common path"
    )
    return FactRow("prefill and decode", value, tuple(places[:12]))


def _quantisation(code: ModelCode, config: ModelConfig) -> FactRow:
    tables = conventions()["quantisation"]
    if config.quantization:
        method = config.quantization.get("quant_method") or config.quantization.get("quant_type") or "named"
        return FactRow("quantisation", str(method), (f"quantization_config in {config.file}",))
    found = {kind: evidence(code.classes, tables[kind]) for kind in ("w4a16", "w4a8", "w8a8", "c8")}
    kinds = [kind for kind, places in found.items() if places]
    if kinds:
        places = tuple(dict.fromkeys(place for each in found.values() for place in each))
        return FactRow("quantisation", f"code for {', '.join(kinds)}", places)
    hook = evidence(code.classes, tables["hook"])
    if hook:
        return FactRow("quantisation", "decided at run time (quant_config)", tuple(hook))
    linear = next(
        (_made(each, a) for each in code.classes for a in each.attributes.values() if a.kind == "linear"),
        None,
    )
    if linear is None:
        return FactRow("quantisation", "not told by this code", ())
    return FactRow("quantisation", "none named: 16-bit weights", (linear,))


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
