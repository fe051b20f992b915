"""Eager code that a fused call replaces: found by its tokens, judged by the configuration."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from ..answer_fusion import CodeCandidate, UsedRow
from ..fusion.constraints import FAILS, within_limits
from ..fusion.rules import rule_book
from .config import PER_RANK, ModelConfig
from .events import Event, Function, ModelClass, ModelCode, conventions
from .facts import functions_of

READY, PREPARE, REFUSED = "ready", "needs_preparation", "not_adaptable"
_BETWEEN = 3
_PATTERN_KEYS = {"rule", "tokens", "attributes", "kinds", "within", "phases", "prepare", "limits"}


@dataclass(frozen=True)
class CodePattern:
    """One entry of patterns.toml."""

    rule: str
    tokens: tuple[tuple[frozenset[str], bool], ...]  # names, optional
    attributes: frozenset[str]
    kinds: frozenset[str]
    within: int
    phases: frozenset[str]
    prepare: tuple[Mapping[str, str], ...]
    limits: tuple[Mapping[str, Any], ...]


# A pattern at one place: the class, the function (None for its attributes), the events.
Place = tuple[ModelClass, Function | None, tuple[Event, ...], CodePattern]


@cache
def code_patterns() -> tuple[CodePattern, ...]:
    """patterns.toml. ValueError names an entry that is wrong."""
    text = (
        resources.files("npu_roofline.analyzer.modelcode")
        .joinpath("patterns.toml")
        .read_text(encoding="utf-8")
    )
    return tuple(_pattern(entry) for entry in tomllib.loads(text)["pattern"])


def _pattern(entry: Mapping[str, Any]) -> CodePattern:
    if unknown := set(entry) - _PATTERN_KEYS:
        raise ValueError(f"patterns.toml: {entry.get('rule')}: unknown key {', '.join(sorted(unknown))}")
    rule_book().rule(entry["rule"])
    tokens = []
    for token in entry.get("tokens", "").split():
        optional = token.startswith("[")
        tokens.append((frozenset(token.strip("[]").split("|")), optional))
    return CodePattern(
        entry["rule"],
        tuple(tokens),
        frozenset(entry.get("attributes", ())),
        frozenset(entry.get("kinds", ())),
        entry.get("within", _BETWEEN),
        frozenset(entry.get("phases", ("prefill", "decode", "both"))),
        tuple(entry.get("prepare", ())),
        tuple(entry.get("limits", ())),
    )


def used_operators(code: ModelCode) -> tuple[UsedRow, ...]:
    """Calls of fused operators that the code makes already, with the places."""
    prefixes = tuple(conventions()["operators"]["prefixes"])
    places: dict[str, list[str]] = {}
    phases: dict[str, set[str]] = {}
    for each, function in functions_of(code):
        for event in function.events:
            if event.name.startswith(prefixes):
                name = event.name.split(".")[-1]
                places.setdefault(name, []).append(f"{each.file}:{event.line}")
                phases.setdefault(name, set()).add(event.phase)
    return tuple(
        UsedRow(name, len(found), tuple(found), "/".join(sorted(phases[name])), _rule_of(name))
        for name, found in sorted(places.items())
    )


def _rule_of(call: str) -> str:
    for rule in rule_book().rules:
        if call in (rule.api.split(" ")[0], *rule.also):
            return rule.id
    return ""


def code_candidates(code: ModelCode, config: ModelConfig, paged: bool) -> tuple[CodeCandidate, ...]:
    """What could be replaced, in the order of files and lines; a longer pattern takes its lines first."""
    found: dict[
        tuple[str, str], list[tuple[ModelClass, Function | None, tuple[Event, ...], CodePattern]]
    ] = {}
    for each in code.classes:
        calls = {event.name.split(".")[-1] for function in each.functions for event in function.events}
        for pattern in sorted(code_patterns(), key=lambda pattern: -len(pattern.tokens)):
            rule = rule_book().rule(pattern.rule)
            if pattern.kinds and each.kind not in pattern.kinds:
                continue
            if calls & {rule.api.split(" ")[0], *rule.also}:
                continue  # the class calls it already
            for function, events in _places(each, pattern):
                found.setdefault((each.name, pattern.rule), []).append((each, function, events, pattern))
    rows = [_candidate(places, code, config, paged) for places in found.values()]
    return tuple(sorted(rows, key=lambda row: (*_place_of(row), row.rule)))


def _place_of(row: CodeCandidate) -> tuple[str, int]:
    """File and first line, to sort by."""
    file, _, lines = row.code[0].rpartition(":")
    return file, int(lines.split("-")[0])


def _places(each: ModelClass, pattern: CodePattern) -> list[tuple[Function | None, tuple[Event, ...]]]:
    if pattern.attributes:
        if not pattern.attributes <= set(each.attributes):
            return []
        events = tuple(
            Event(name, name, each.attributes[name].line, "both") for name in sorted(pattern.attributes)
        )
        return [(None, tuple(sorted(events, key=lambda event: event.line)))]
    found = []
    for function in each.functions:
        for events in match_tokens(function.events, pattern):
            if {event.phase for event in events} & pattern.phases:
                found.append((function, events))
    return found


def match_tokens(events: Sequence[Event], pattern: CodePattern) -> list[tuple[Event, ...]]:
    """Every place at which the tokens stand in order, with at most `within` others between two; none
    overlaps.
    """
    found, start = [], 0
    while start < len(events):
        hit = _match_from(events, start, pattern)
        if hit is None:
            start += 1
        else:
            found.append(tuple(events[at] for at in hit))
            start = hit[-1] + 1
    return found


def _match_from(events: Sequence[Event], start: int, pattern: CodePattern) -> list[int] | None:
    taken: list[int] = []
    at = start
    for names, optional in pattern.tokens:
        reach = at + 1 if not taken else at + pattern.within + 1
        where = next((k for k in range(at, min(reach, len(events))) if events[k].token in names), None)
        if where is None:
            if optional:
                continue
            return None
        taken.append(where)
        at = where + 1
    return taken


def _candidate(
    places: Sequence[Place],
    code: ModelCode,
    config: ModelConfig,
    paged: bool,
) -> CodeCandidate:
    each, _, _, pattern = places[0]
    rule = rule_book().rule(pattern.rule)
    refused, unknown = _limits(pattern, config)
    prepare = [entry["text"] for entry in pattern.prepare if _applies(entry.get("if"), each, code, paged)]
    check = [
        f"for inference: {limit.values['text']}" if limit.check == "inference" else str(limit.values["text"])
        for limit in rule.constraints
        if limit.check in ("manual", "inference", "prefill") and "text" in limit.values
    ]
    verdict = REFUSED if refused else PREPARE if prepare or unknown else READY
    lines = [_lines(owner, events) for owner, _, events, _ in places]
    functions = dict.fromkeys(function.name for _, function, _, _ in places if function is not None)
    phases = {event.phase for _, _, events, _ in places for event in events}
    if len(pattern.phases) == 1:
        phases = set(pattern.phases)
    return CodeCandidate(
        id=f"m-{hashlib.sha256(f'{each.file}|{each.name}|{rule.id}'.encode()).hexdigest()[:8]}",
        verdict=verdict,
        api=rule.api,
        rule=rule.id,
        module=each.name or "(module)",
        functions=tuple(functions),
        code=tuple(lines),
        phase=min(phases) if len(phases) == 1 else "both",
        prepare=(*prepare, *unknown),
        constraint=refused,
        check=tuple(check),
        evidence=" ".join(event.token for event in places[0][2]),
    )


def _lines(owner: ModelClass, events: Sequence[Event]) -> str:
    """'file:first-last', or 'file:line' for one."""
    first, last = events[0].line, events[-1].line
    return f"{owner.file}:{first}" if first == last else f"{owner.file}:{first}-{last}"


def _limits(pattern: CodePattern, config: ModelConfig) -> tuple[str | None, list[str]]:
    """(the first limit that is not met, limits that cannot be decided) from the configuration."""
    unknown = []
    for limit in pattern.limits:
        name, source = limit["value"], limit["source"]
        value = config.number(name)
        words = name.replace("_", " ")
        if value is None:
            unknown.append(f"check {words}: {_wanted(limit)} ({source}); give --model-config")
            continue
        status, text = within_limits(limit, value, f"{words} is {value}")
        if status == FAILS:
            if name in PER_RANK:
                unknown.append(f"{text} on a rank ({source})")
            else:
                return f"{text} ({source})", unknown
    return None, unknown


def _wanted(limit: Mapping[str, Any]) -> str:
    keys = ("one_of", "min", "max", "even", "multiple")
    return ", ".join(f"{key.replace('_', ' ')} {limit[key]}" for key in keys if key in limit)


def _applies(condition: str | None, each: ModelClass, code: ModelCode, paged: bool) -> bool:
    """Whether a preparation is needed: always without a condition."""
    if condition is None:
        return True
    if condition == "separate_gate_up":
        return {"gate_proj", "up_proj"} <= set(each.attributes)
    if condition == "no_paged_cache":
        return not paged
    if condition == "rope_per_call":
        return any(
            attribute.kind == "rope" for owner in code.classes if owner.kind == "attention"
            for attribute in owner.attributes.values()
        )  # fmt: skip
    raise ValueError(f"patterns.toml: no condition {condition!r}")
