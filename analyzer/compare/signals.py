"""From what a comparison shows to what it means and what to try next: the rules of signals.toml."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class Rule:
    """All facts must hold; then the signal is shown, and the first rule's action is the next one."""

    facts: tuple[str, ...]
    signal: str
    action: str


@functools.cache
def rules() -> tuple[Rule, ...]:
    """The rules in their order."""
    text = resources.files("npu_roofline.analyzer.compare").joinpath("signals.toml").read_text("utf-8")
    found = tomllib.loads(text)["rule"]
    return tuple(Rule(tuple(rule["facts"]), rule["signal"], rule["action"]) for rule in found)


def fitting(facts: Mapping[str, bool]) -> tuple[Rule, ...]:
    """The rules whose facts all hold, in order; KeyError for a rule that names an unknown fact."""
    return tuple(rule for rule in rules() if all(facts[name] for name in rule.facts))
