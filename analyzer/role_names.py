"""Roles by what the trace says around a launch: the name of a range or module, or a line of the call stack.

What was recorded where the kernel was launched is better evidence than what its matrix could be, so it goes
first. Which names stand for which roles is data (role_names.toml).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .labels import LabelledGroup
from .origins import Place, any_origins
from .sqlfiles import sql

if TYPE_CHECKING:
    from .session import Session

RANGE, STACK = "range", "stack"
_LONGEST = 500  # characters of a name that are read and shown, from its end: its innermost part
# Evidence, the best first: column of role_names.sql -> how it is named, and which patterns are for it.
EVIDENCE = {
    "mstx_range": ("module range", RANGE),
    "module": ("module range", RANGE),
    "call_stack": ("call stack", STACK),
    "python_function": ("python function", STACK),
}


@dataclass(frozen=True)
class TraceName:
    """What the trace calls the weight of a kernel; several roles where the name fits each of them."""

    roles: tuple[str, ...]
    source: str  # 'module range layers.#.mlp.down_proj', 'call stack qwen.py(123): o_proj'


@dataclass(frozen=True)
class TraceNames:
    """Names by place in the step, and what was said of places whose names disagree."""

    by_place: Mapping[Place, TraceName]
    notes: tuple[str, ...] = ()

    def of(self, group: LabelledGroup) -> TraceName | None:
        """The name of one place; None where the trace says none."""
        return self.by_place.get((group.signature_id, group.part, group.position))


NO_NAMES = TraceNames({})


@dataclass(frozen=True)
class NameRule:
    """One [[name]] of role_names.toml."""

    roles: tuple[str, ...]
    pattern: re.Pattern[str]
    where: frozenset[str]  # RANGE, STACK
    source: str


@cache
def name_rules() -> tuple[NameRule, ...]:
    """Read role_names.toml. Raises re.error for a pattern that is none, which a test would show."""
    found = tomllib.loads(Path(__file__).with_name("role_names.toml").read_text(encoding="utf-8"))
    return tuple(
        NameRule(
            tuple(each["roles"]),
            re.compile(rf"(?<![A-Za-z0-9_])(?:{each['pattern']})(?![A-Za-z0-9_])", re.IGNORECASE),
            frozenset(each["in"]),
            each["source"],
        )
        for each in found["name"]
    )


def trace_names(session: Session, groups: Iterable[LabelledGroup]) -> TraceNames:
    """Names of the given kinds of kernels at their places; empty when no trace was ingested.

    Where occurrences of one place have names of different roles, the place has none, and a note says so.
    """
    wanted = {(group.signature_id, group.part, group.position): group for group in groups}
    if not wanted or not any_origins(session):
        return NO_NAMES
    signatures = sorted({signature for signature, _, _ in wanted})
    said: dict[Place, dict[tuple[str, ...], tuple[int, str]]] = {}
    for row in session.rows(sql("role_names.sql"), {"signatures": signatures}):
        place = (row["signature_id"], row["part"], row["position"])
        name = named(row)
        if place in wanted and name is not None:
            kernels, source = said.setdefault(place, {}).get(name.roles, (0, name.source))
            said[place][name.roles] = (kernels + row["kernels"], source)
    names = {
        place: TraceName(roles, source)
        for place, found in said.items()
        if len(found) == 1
        for roles, (_, source) in found.items()
    }
    notes = [_disagree(wanted[place], found) for place, found in said.items() if len(found) > 1]
    return TraceNames(names, tuple(dict.fromkeys(notes)))


def named(row: Mapping[str, str | None]) -> TraceName | None:
    """The name that the best evidence of one row gives, columns as in EVIDENCE; None where nothing matches.

    A name that fits one role goes before one that fits several, which a worse evidence may settle.
    """
    found = [
        TraceName(rule.roles, f"{what} {text}")
        for column, (what, where) in EVIDENCE.items()
        if (told := row.get(column))
        for rule, text in _matches(told, where)
    ]
    return next((each for each in found if len(each.roles) == 1), found[0] if found else None)


def _matches(told: str, where: str) -> Iterable[tuple[NameRule, str]]:
    """The first rule that holds, with the text: of a call stack its innermost frame for which one holds."""
    rules = [rule for rule in name_rules() if where in rule.where]
    for line in told.splitlines():
        # of a path only the file and its function: folders are named after whole models
        text = re.split(r"[/\\]", line.strip())[-1] if where == STACK else line.strip()
        asked = text.replace("/", ".")  # ranges may be spelt layers/3/mlp
        begin = max(0, len(asked) - _LONGEST)
        rule = next((rule for rule in rules if rule.pattern.search(asked, begin)), None)
        if rule is not None:
            return [(rule, f"…{text[begin:]}" if begin else text)]
    return []


def _disagree(group: LabelledGroup, found: Mapping[tuple[str, ...], tuple[int, str]]) -> str:
    parts = [f"{' or '.join(roles)} by {source} ({kernels})" for roles, (kernels, source) in found.items()]
    at = f" at position {group.position}" if group.position is not None else ""
    return f"{group.row.type}{at}: the trace has several names for it, {'; '.join(parts)}: none is taken."


def same_role(one: str, other: str) -> bool:
    """Whether two names of roles can be one weight: 'k_proj' is one of 'k_proj or v_proj'."""
    return bool(set(one.split(" or ")) & set(other.split(" or ")))


def narrowed(roles: Sequence[str], name: str, alternatives: Sequence[str]) -> tuple[str, ...]:
    """Of a role and its alternatives those that the trace's names allow, in their order."""
    return tuple(each for each in (name, *alternatives) if any(same_role(each, said) for said in roles))
