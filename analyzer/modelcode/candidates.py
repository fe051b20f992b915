"""Eager code that a fused call replaces: found by its tokens, judged by the configuration."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from ..answer_fusion import CodeCandidate, UsedRow
from ..fusion.constraints import FAILS, within_limits
from ..fusion.rules import rule_book
from .config import PER_RANK, ModelConfig
from .conventions import conventions
from .events import Function, ModelClass, ModelCode
from .facts import functions_of
from .steps import Event

READY, PREPARE, REFUSED = "ready", "needs_preparation", "not_adaptable"
_BETWEEN = 3
_LOOSE = "(module)"  # functions outside classes
_PATTERN_KEYS = {
    *("rule", "tokens", "attributes", "kinds", "within", "phases", "prepare", "limits"),
    *("through_calls", "activation", "words"),
}


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
    through_calls: bool = False  # the chain may go on in a method that is called
    activation: frozenset[str] = frozenset()  # names of the activation that the call computes
    words: frozenset[str] = frozenset()  # names of which the class mentions one


# A pattern at one place: the class, the function (None for its attributes), the events.
Place = tuple[ModelClass, Function | None, tuple[Event, ...], CodePattern]


@cache
def code_patterns() -> tuple[CodePattern, ...]:
    """The patterns of patterns.toml. ValueError names an entry that is wrong."""
    return tuple(_pattern(entry) for entry in _tables()["pattern"])


@cache
def _tables() -> Mapping[str, Any]:
    file = resources.files("npu_roofline.analyzer.modelcode").joinpath("patterns.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


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
        entry.get("through_calls", False),
        frozenset(entry.get("activation", ())),
        frozenset(entry.get("words", ())),
    )


def used_operators(code: ModelCode) -> tuple[UsedRow, ...]:
    """Calls of fused operators that the code makes already, with the places."""
    places: dict[str, list[str]] = {}
    phases: dict[str, set[str]] = {}
    for each, function in functions_of(code):
        for event in function.events:
            name = operator_name(event.name)
            if name:
                places.setdefault(name, []).append(f"{each.file}:{event.line}")
                phases.setdefault(name, set()).add(event.phase)
    return tuple(
        UsedRow(name, len(found), tuple(found), "/".join(sorted(phases[name])), _rule_of(name))
        for name, found in sorted(places.items())
    )


def operator_name(call: str) -> str:
    """The operator that a call as written runs; '' for one that is none, such as a stream or a workspace."""
    words = conventions()["operators"]
    if not call.startswith(tuple(words["prefixes"])) or call.startswith(tuple(words["runtime"])):
        return ""
    parts = call.split(".")
    name = parts[-2] if parts[-1] in words["overloads"] else parts[-1]
    return "" if any(part in name for part in words["controls"]) else name


def _rule_of(call: str) -> str:
    for rule in rule_book().rules:
        if call in rule_book().names_of(rule):
            return rule.id
    return ""


def code_candidates(code: ModelCode, config: ModelConfig, paged: bool) -> tuple[CodeCandidate, ...]:
    """What could be replaced, in the order of files and lines; a longer pattern takes its lines first."""
    found: dict[tuple[str, str], list[Place]] = {}
    for each in code.classes:
        calls = {event.name.split(".")[-1] for function in each.functions for event in function.events}
        for pattern in sorted(code_patterns(), key=lambda pattern: -len(pattern.tokens)):
            rule = rule_book().rule(pattern.rule)
            if calls & rule_book().names_of(rule):
                continue  # the class calls it already
            for function, events in places_of(each, pattern):
                if _computes(each, events, pattern, config):
                    found.setdefault((each.name, pattern.rule), []).append((each, function, events, pattern))
    _join_functions(found)
    rows = [_candidate(places, code, config, paged) for places in found.values()]
    rows = [_with_alternatives(row, rows) for row in rows]
    return tuple(sorted(rows, key=lambda row: (*_place_of(row), row.rule)))


def _with_alternatives(row: CodeCandidate, rows: Sequence[CodeCandidate]) -> CodeCandidate:
    """A function that the class calls is the same place as the class."""
    rules = {rule for group in _tables()["alternatives"] if row.rule in group for rule in group} - {row.rule}
    others = tuple(
        f"{other.api} ({other.id})" for other in rows
        if other.rule in rules and (other.module == row.module or _LOOSE in (other.module, row.module))
    )  # fmt: skip
    return replace(row, instead=others)


def _join_functions(found: dict[tuple[str, str], list[Place]]) -> None:
    """A function that one class alone hands its work to is part of the candidate of that class."""
    for key in [key for key in found if key[0] == ""]:
        names = {function.name for _, function, _, _ in found[key] if function is not None}
        users = [
            other for other, places in found.items()
            if other[0] and other[1] == key[1] and names & set(places[0][0].words)
        ]  # fmt: skip
        if len(users) == 1:
            found[users[0]] += found.pop(key)


def _computes(each: ModelClass, events: Sequence[Event], pattern: CodePattern, config: ModelConfig) -> bool:
    """Whether the activation of a place is one that the call computes; one that is not told may be SiLU."""
    if not pattern.activation:
        return True
    told = [_activation(each, event, config) for event in events if event.token == "activation"]
    return all("silu" in pattern.activation if name is None else name in pattern.activation for name in told)


def _activation(each: ModelClass, event: Event, config: ModelConfig) -> str | None:
    attribute = each.attributes.get(event.name.removeprefix("self."))
    if attribute is None or not attribute.constructor:
        return None
    if attribute.constructor == "ACT2FN":
        value = config.values.get("activation")
        return None if value is None else str(value).lower()
    return attribute.constructor.split(".")[-1].lower()


def _place_of(row: CodeCandidate) -> tuple[str, int]:
    """File and first line, to sort by."""
    file, _, lines = row.code[0].rpartition(":")
    return file, int(lines.split("-")[0])


def places_of(each: ModelClass, pattern: CodePattern) -> list[tuple[Function | None, tuple[Event, ...]]]:
    """Where a pattern stands in a class: the function (None for its attributes) and the events."""
    if pattern.kinds and each.kind not in pattern.kinds:
        return []
    if pattern.words and not pattern.words & each.words.keys():
        return []
    if pattern.attributes:
        if not pattern.attributes <= set(each.attributes):
            return []
        events = tuple(
            Event(name, name, each.attributes[name].line, "both") for name in sorted(pattern.attributes)
        )
        return [(None, tuple(sorted(events, key=lambda event: event.line)))]
    found = [
        (function, events) for function in each.functions for events in match_tokens(function.events, pattern)
    ]
    if pattern.through_calls:
        taken = {id(event) for _, events in found for event in events}
        found += [
            (function, events)
            for function in each.functions
            for events in match_tokens(_with_called(function, each), pattern)
            if not taken & {id(event) for event in events}
        ]
    return [place for place in found if {event.phase for event in place[1]} & pattern.phases]


def _with_called(function: Function, each: ModelClass) -> tuple[Event, ...]:
    """The events of a method with those of the methods of its class that it calls, in their place."""
    methods = {other.name: other.events for other in each.functions if other is not function}
    events: list[Event] = []
    for event in function.events:
        events.append(event)
        if event.name == f"self.{event.token}":
            events += methods.get(event.token, ())
    return tuple(events)


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
    prepare = [*_without_caller(places, code)]
    prepare += [
        entry["text"] for entry in pattern.prepare if _applies(entry.get("if"), each, code, config, paged)
    ]
    check = [
        f"for inference: {limit.values['text']}" if limit.check == "inference" else str(limit.values["text"])
        for limit in rule.constraints
        if limit.check in ("manual", "inference", "prefill") and "text" in limit.values
    ]
    verdict = REFUSED if refused else PREPARE if prepare or unknown else READY
    lines = [line for owner, _, events, _ in places for line in _lines(owner, events)]
    functions = dict.fromkeys(function.name for _, function, _, _ in places if function is not None)
    phases = {event.phase for _, _, events, _ in places for event in events}
    if len(pattern.phases) == 1:
        phases = set(pattern.phases)
    return CodeCandidate(
        id=f"m-{hashlib.sha256(f'{each.file}|{each.name}|{rule.id}'.encode()).hexdigest()[:8]}",
        verdict=verdict,
        api=rule.api,
        rule=rule.id,
        module=each.name or _LOOSE,
        functions=tuple(functions),
        code=tuple(dict.fromkeys(lines)),
        phase=min(phases) if len(phases) == 1 else "both",
        prepare=(*prepare, *unknown),
        constraint=refused,
        check=tuple(check),
        evidence=" ".join(event.token for event in places[0][2]),
    )


def _without_caller(places: Sequence[Place], code: ModelCode) -> list[str]:
    """That nothing in the files calls a function outside classes, which may be left over."""
    names = dict.fromkeys(
        function.name for owner, function, _, _ in places if not owner.name and function is not None
    )
    alone = [name for name in names if not any(name in each.words for each in code.classes)]
    return [f"see whether {', '.join(alone)} runs: no code of these files calls it"] if alone else []


def _lines(owner: ModelClass, events: Sequence[Event]) -> list[str]:
    """'file:first-last', or 'file:line' for one; a chain that goes on in a method above is two places."""
    runs: list[list[int]] = []
    for event in events:
        if runs and event.line >= runs[-1][-1]:
            runs[-1].append(event.line)
        else:
            runs.append([event.line])
    return [
        f"{owner.file}:{run[0]}" if run[0] == run[-1] else f"{owner.file}:{run[0]}-{run[-1]}" for run in runs
    ]


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


def _applies(
    condition: str | None, each: ModelClass, code: ModelCode, config: ModelConfig, paged: bool
) -> bool:
    """Whether a preparation is needed: always without a condition."""
    if condition is None:
        return True
    if condition == "activation_not_told":
        return "ACT2FN" in each.words and config.values.get("activation") is None
    if condition == "experts_apart":
        return not any("expert" in " ".join(a.arguments) and a.constructor.endswith("Parameter")
                       for a in each.attributes.values())  # fmt: skip
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
