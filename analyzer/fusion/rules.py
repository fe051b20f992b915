"""rules.toml as records: sequences of types, the conditions of a pattern, and the limits of the call."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from .types import normalised

LEVELS = {"K": "kernels", "C": "code", "M": "manual", "I": "inform"}
FLOWS = ("chain", "branches", "parallel", "any")
_REPEAT = re.compile(r"^(?P<name>.+)\{(?P<least>\d+),\}$")
_RULE_KEYS = {
    *("id", "number", "api", "also", "fused", "sequence", "fillers", "flow", "context", "keeps", "only_with"),
    *("when", "constraints", "level", "priority", "source", "prepare", "replaces_main"),
}
_COLLECTIVES = ("hcom", "allreduce", "allgather", "reducescatter", "alltoall")


@dataclass(frozen=True)
class Item:
    """One place in a sequence: the normalised types that fit, and how often one may stand there."""

    types: frozenset[str]
    optional: bool = False
    least: int = 1
    repeats: bool = False  # any number from `least` on


@dataclass(frozen=True)
class Check:
    """One condition on the kernels of a match; `check` names the function in constraints.py that decides
    it.
    """

    check: str
    on: frozenset[str]  # normalised types; empty = the sequence as a whole
    values: Mapping[str, Any]
    source: str


@dataclass(frozen=True)
class Rule:
    """One fused call and what it replaces; see the head of rules.toml for the meaning of the fields."""

    id: str
    number: int
    api: str
    also: tuple[str, ...]
    fused: frozenset[str]
    sequences: tuple[tuple[Item, ...], ...]
    fillers: frozenset[str]
    flow: str
    context: frozenset[int]
    keeps: frozenset[int]
    only_with: frozenset[str]
    when: tuple[Check, ...]
    constraints: tuple[Check, ...]
    level: str
    priority: int
    source: str
    prepare: str
    replaces_main: bool

    @property
    def with_collectives(self) -> bool:
        """Whether the sequence holds a collective, which runs on a stream of its own."""
        return any(
            name.startswith(_COLLECTIVES) for items in self.sequences for item in items for name in item.types
        )


@dataclass(frozen=True)
class RuleBook:
    """Every rule, and the fused types with the rule that each belongs to."""

    rules: tuple[Rule, ...]
    fused: Mapping[str, Rule]  # normalised type -> rule
    calls: Mapping[str, str]  # normalised type -> call, where the names do not tell

    def rule(self, rule_id: str) -> Rule:
        """The rule of that id; KeyError for another."""
        return next(each for each in self.rules if each.id == rule_id)

    def names_of(self, rule: Rule) -> frozenset[str]:
        """Every call that does the work of a rule, without its module."""
        calls = (rule.api, *rule.also, *(self.calls[name] for name in rule.fused if name in self.calls))
        return frozenset(call.split(" ")[0].split(".")[-1] for call in calls)

    def call_of(self, fused_type: str) -> str:
        """The call that runs as a fused type: MoeDistributeCombineV2 -> npu_moe_distribute_combine_v2.

        KeyError for a type that is not fused.
        """
        name = normalised(fused_type)
        rule = self.fused[name]
        if name in self.calls:
            return self.calls[name]
        return next((each for each in (rule.api, *rule.also) if name in each.replace("_", "")), rule.api)


@lru_cache(maxsize=1)
def rule_book() -> RuleBook:
    """The rules that ship with the tool. ValueError names the entry that is not complete."""
    text = resources.files("npu_roofline.analyzer.fusion").joinpath("rules.toml").read_text(encoding="utf-8")
    return parse_rules(text)


def parse_rules(text: str) -> RuleBook:
    """A rule table from its TOML text. ValueError names the entry that is wrong, and how."""
    table = tomllib.loads(text)
    groups = {name: frozenset(map(normalised, members)) for name, members in table.get("groups", {}).items()}
    fillers = tuple(table.get("fillers", ()))
    rules = tuple(_rule(entry, groups, fillers) for entry in table["rule"])
    ids = [rule.id for rule in rules]
    if len(set(ids)) != len(ids):
        raise ValueError(f"rules.toml: an id stands twice: {sorted(i for i in ids if ids.count(i) > 1)}")
    fused: dict[str, Rule] = {}
    for rule in rules:
        for name in rule.fused:
            fused.setdefault(name, rule)
    calls = {normalised(name): call for name, call in table.get("calls", {}).items()}
    if unknown := set(calls) - set(fused):
        raise ValueError(f"rules.toml: [calls] names a type of no rule: {', '.join(sorted(unknown))}")
    return RuleBook(rules, fused, calls)


def _rule(entry: Mapping[str, Any], groups: Mapping[str, frozenset[str]], fillers: Sequence[str]) -> Rule:
    where = f"rules.toml: {entry.get('id', '(no id)')}"
    if unknown := set(entry) - _RULE_KEYS:
        raise ValueError(f"{where}: unknown key {', '.join(sorted(unknown))}")
    if entry["level"] not in LEVELS or entry.get("flow", "chain") not in FLOWS or not entry["source"]:
        raise ValueError(f"{where}: level, flow or source")
    return Rule(
        id=entry["id"],
        number=entry["number"],
        api=entry["api"],
        also=tuple(entry.get("also", ())),
        fused=frozenset(map(normalised, entry.get("fused", ()))),
        sequences=tuple(parse_sequence(text, groups, where) for text in entry["sequence"]),
        fillers=frozenset(map(normalised, entry.get("fillers", fillers))),
        flow=entry.get("flow", "chain"),
        context=frozenset(entry.get("context", ())),
        keeps=frozenset(entry.get("keeps", ())),
        only_with=_types(entry.get("only_with", ()), groups, where),
        when=tuple(_check(each, groups, where) for each in entry.get("when", ())),
        constraints=tuple(_check(each, groups, where) for each in entry.get("constraints", ())),
        level=entry["level"],
        priority=entry["priority"],
        source=entry["source"],
        prepare=entry.get("prepare", ""),
        replaces_main=entry.get("replaces_main", False),
    )


def parse_sequence(text: str, groups: Mapping[str, frozenset[str]], where: str) -> tuple[Item, ...]:
    """'[Cast] Pow|Square ReduceMean' as items. ValueError for an unknown group or no required item."""
    items = []
    for token in text.split():
        optional = token.startswith("[") and token.endswith("]")
        name = token.removeprefix("[").removesuffix("]") if optional else token
        repeat = _REPEAT.match(name)
        names = (repeat["name"] if repeat else name).split("|")
        least = int(repeat["least"]) if repeat else 1
        items.append(Item(_types(names, groups, where), optional, least, repeat is not None))
    if all(item.optional for item in items):
        raise ValueError(f"{where}: no required type in {text!r}")
    return tuple(items)


def _types(names: Sequence[str], groups: Mapping[str, frozenset[str]], where: str) -> frozenset[str]:
    found: set[str] = set()
    for name in names:
        if name.startswith("@"):
            if name[1:] not in groups:
                raise ValueError(f"{where}: no group {name}")
            found |= groups[name[1:]]
        else:
            found.add(normalised(name))
    return frozenset(found)


def _check(entry: Mapping[str, Any], groups: Mapping[str, frozenset[str]], where: str) -> Check:
    values = {name: value for name, value in entry.items() if name not in ("check", "on", "source")}
    on = _types([entry["on"]], groups, where) if "on" in entry else frozenset()
    return Check(entry["check"], on, values, entry.get("source", ""))
