"""operators.toml as rows: which family, unit, slots and work model an operator type has."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

_VERSION_ENDING = re.compile(r"(V\d+|D)$")
_UNITS = ("cube", "vector", "none")


@dataclass(frozen=True)
class OperatorRow:
    """One row of the table; `slots` holds what the row's model understands, see family_*.py."""

    family: str
    model: str
    unit: str
    source: str
    ops: float = 0.0
    flags: frozenset[str] = frozenset()
    slots: Mapping[str, Any] = field(default_factory=dict)
    known: bool = True


UNKNOWN_TYPE = OperatorRow(
    family="generic",
    model="generic",
    unit="vector",
    source="no row in operators.toml",
    known=False,
)


@dataclass(frozen=True)
class Registry:
    """All rows: by exact type name, by pattern in order of the file, and the flags that names imply."""

    by_type: Mapping[str, OperatorRow]
    by_pattern: tuple[tuple[re.Pattern[str], OperatorRow], ...]
    flag_patterns: tuple[tuple[re.Pattern[str], str], ...]

    def row_of(self, operator_type: str) -> OperatorRow:
        """The row of a type: its name, its name without a version ending, a pattern, or `UNKNOWN_TYPE`."""
        row = self.by_type.get(operator_type)
        if row is None:
            row = self.by_type.get(_VERSION_ENDING.sub("", operator_type))
        if row is None:
            row = next(
                (each for pattern, each in self.by_pattern if pattern.search(operator_type)), UNKNOWN_TYPE
            )
        implied = {flag for pattern, flag in self.flag_patterns if pattern.search(operator_type)}
        return replace(row, flags=row.flags | implied) if implied - row.flags else row


@lru_cache(maxsize=1)
def registry() -> Registry:
    """The table of operators; raises ValueError when a row is not complete or a type stands in two rows."""
    table = tomllib.loads(Path(__file__).with_name("operators.toml").read_text(encoding="utf-8"))
    by_type: dict[str, OperatorRow] = {}
    by_pattern: list[tuple[re.Pattern[str], OperatorRow]] = []
    for entry in table["operator"]:
        row = _row(entry)
        for name in entry.get("types", ()):
            if name in by_type:
                raise ValueError(f"operators.toml: {name} stands in two rows")
            by_type[name] = row
        if "pattern" in entry:
            by_pattern.append((re.compile(entry["pattern"]), row))
    flags = tuple((re.compile(entry["pattern"]), entry["flag"]) for entry in table["flag"])
    return Registry(by_type, tuple(by_pattern), flags)


def _row(entry: dict[str, Any]) -> OperatorRow:
    unknown = sorted(
        set(entry) - {"types", "pattern", "family", "model", "unit", "ops", "flags", "slots", "source"}
    )
    if unknown or entry["unit"] not in _UNITS or not entry["source"]:
        raise ValueError(
            f"operators.toml: {entry.get('types') or entry.get('pattern')}: {unknown or 'unit, source'}"
        )
    return OperatorRow(
        family=entry["family"],
        model=entry.get("model", entry["family"]),
        unit=entry["unit"],
        source=entry["source"],
        ops=float(entry.get("ops", 0)),
        flags=frozenset(entry.get("flags", ())),
        slots=entry.get("slots", {}),
    )
