"""Role rules as data (roles.toml): which weights a model has, and their matrices for given parallel sizes."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from .model_config import ModelConfig

_ATOM = re.compile(r"^(?P<name>[a-z_0-9]+)(?:/(?P<divisor>[a-z_0-9]+))?$")
Numbers = Mapping[str, int]


@dataclass(frozen=True)
class Atom:
    """A number or symbol, divided over a parallel size or by another symbol."""

    name: str
    divisor: str | None

    def value(self, numbers: Numbers) -> int | None:
        """The number; None when a symbol is missing or does not divide (fewer heads than ranks: one each)."""
        whole = int(self.name) if self.name.isdigit() else numbers.get(self.name)
        if whole is None or self.divisor is None:
            return whole
        by = numbers.get(self.divisor)
        if not by:
            return None
        if whole % by == 0:
            return whole // by
        return 1 if by % whole == 0 else None


@dataclass(frozen=True)
class Expression:
    """A sum of products of atoms, as roles.toml writes it."""

    text: str
    terms: tuple[tuple[Atom, ...], ...]

    @classmethod
    def parse(cls, text: str) -> Expression:
        """'kv_lora + 2*heads/attn_tp*rope' -> its terms. Raises ValueError for anything else."""
        terms = []
        for term in text.split("+"):
            atoms = [_ATOM.match(part.strip()) for part in term.split("*")]
            if not all(atoms):
                raise ValueError(f"{text!r} is no sum of products")
            terms.append(tuple(Atom(each["name"], each["divisor"]) for each in atoms if each))
        return cls(text, tuple(terms))

    def value(self, numbers: Numbers) -> int | None:
        """The number for these symbols and sizes; None when one of them is missing or does not divide."""
        total = 0
        for term in self.terms:
            values = [atom.value(numbers) for atom in term]
            if any(value is None for value in values):
                return None
            total += math.prod(value for value in values if value is not None)
        return total

    def names(self) -> set[str]:
        """Every symbol and size that it uses."""
        atoms = [atom for term in self.terms for atom in term]
        return {name for atom in atoms for name in (atom.name, atom.divisor) if name and not name.isdigit()}


@dataclass(frozen=True)
class Near:
    """What stands beside a kernel: patterns over types within `reach` places, or the part of the step."""

    after: re.Pattern[str] | None = None
    before: re.Pattern[str] | None = None
    part: str | None = None
    reach: int = 2

    def holds(self, part: str | None, previous: Iterable[str], following: Iterable[str]) -> bool:
        """Whether it is so; `previous` and `following` are types, nearest first."""
        if self.part is not None and part != self.part:
            return False
        for pattern, types in ((self.before, previous), (self.after, following)):
            if pattern and not any(pattern.search(each) for each in list(types)[: self.reach]):
                return False
        return True


@dataclass(frozen=True)
class Role:
    """One weight that models have; expressions over the symbols of a config and the parallel sizes."""

    name: str
    families: frozenset[str]
    k: Expression
    n: Expression
    batch: Expression | None
    near: Near | None
    unless: str | None  # a symbol whose presence rules the role out
    listed: bool  # False: a part or a union of other roles, so no weight of its own in a list
    dtypes: Mapping[str, str]  # 'w8a8' and 'none' -> dtype as stored
    format: str
    source: str
    code: str | None = None  # what models call it, e.g. 'layer.mlp.down_proj.weight'

    @property
    def sizes(self) -> frozenset[str]:
        """The parallel sizes that split it."""
        used = self.k.names() | self.n.names() | (self.batch.names() if self.batch else set())
        return frozenset(used & rules().sizes.keys())

    def matrix(self, numbers: Numbers) -> tuple[int | None, int, int] | None:
        """(batch, K, N) for these numbers; None when the model has no such weight or it does not divide."""
        if self.unless and numbers.get(self.unless):
            return None
        k, n = self.k.value(numbers), self.n.value(numbers)
        batch = self.batch.value(numbers) if self.batch else None
        if not k or not n or (self.batch and not batch):
            return None
        return batch, k, n


@dataclass(frozen=True)
class NeighbourRole:
    """A role that the neighbours alone tell, where no config is given."""

    name: str
    families: frozenset[str]
    near: Near
    batched: bool | None = None


@dataclass(frozen=True)
class RoleRules:
    """All of roles.toml."""

    symbols: Mapping[str, Mapping[str, Any]]
    sizes: Mapping[str, Mapping[str, Any]]
    roles: tuple[Role, ...]
    fused: Mapping[str, tuple[str, tuple[str, ...]]]  # family -> (name, role of each weight in slot order)
    neighbours: tuple[NeighbourRole, ...]


@dataclass(frozen=True)
class ParallelSizes:
    """How many ranks share a weight, by kind of weight; None = not given."""

    given: Mapping[str, int] = field(default_factory=dict)  # names of [sizes]

    @classmethod
    def of(
        cls,
        tp: int | None = None,
        dense_tp: int | None = None,
        moe_tp: int | None = None,
        ep: int | None = None,
        lm_head_tp: int | None = None,
    ) -> ParallelSizes:
        """From the flags: --tp is that of attention, of the dense layers and of lm_head unless said."""
        flags = {"attn_tp": tp, "dense_tp": dense_tp, "moe_tp": moe_tp, "ep": ep, "head_tp": lm_head_tp}
        given = {name: value for name, value in flags.items() if value is not None}
        for name, entry in rules().sizes.items():
            source = entry.get("falls_back_to")
            if name not in given and source in given:
                given[name] = given[source]
        return cls(given)

    def complete(self) -> dict[str, int]:
        """Every size, those not given at their default."""
        return {name: self.given.get(name, entry["default"]) for name, entry in rules().sizes.items()}


@cache
def rules() -> RoleRules:
    """Read roles.toml. Raises ValueError for a rule that cannot be read, which a test would show."""
    text = Path(__file__).with_name("roles.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)
    return RoleRules(
        found["symbols"],
        found["sizes"],
        tuple(_role(entry) for entry in found["role"]),
        {each["family"]: (each["name"], tuple(each["weights"])) for each in found["fused"]},
        tuple(
            NeighbourRole(
                each["name"], frozenset(each["family"]), _near(each["near"]) or Near(), each.get("batched")
            )
            for each in found["neighbours"]
        ),
    )


def _role(entry: Mapping[str, Any]) -> Role:
    batch = entry.get("batch")
    return Role(
        name=entry["name"],
        families=frozenset(entry["family"]),
        k=Expression.parse(entry["k"]),
        n=Expression.parse(entry["n"]),
        batch=Expression.parse(batch) if batch else None,
        near=_near(entry.get("near")),
        unless=entry.get("unless"),
        listed=entry.get("listed", True),
        dtypes=entry["dtype"],
        format=entry.get("format", "FRACTAL_NZ"),
        source=entry["source"],
        code=entry.get("code"),
    )


def _near(entry: Mapping[str, Any] | None) -> Near | None:
    if entry is None:
        return None
    patterns = {name: re.compile(entry[name]) for name in ("after", "before") if name in entry}
    return Near(**patterns, part=entry.get("part"), reach=entry.get("reach", 2))


def symbols_of(config: ModelConfig) -> dict[str, int]:
    """The symbols of roles.toml that this config gives; those it does not give are absent."""
    found: dict[str, int] = {}
    for name, entry in rules().symbols.items():
        value = next((config.numbers[key] for key in entry.get("keys", ()) if key in config.numbers), None)
        formula = entry.get("of") or (entry.get("default") if value is None else None)
        if value is None and formula:
            value = Expression.parse(formula).value(found)
        if value is not None:
            found[name] = value - entry.get("minus", 0)
    return {name: value for name, value in found.items() if value > 0 or name == "zero_experts"}
