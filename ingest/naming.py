"""Engine, kernel class and operator type from the texts of a kernel row, by naming.toml."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

# Type text of NonZero_MemSet in real exports: no type at all (formats.md 8.8).
_NO_TYPE = ("", "0")
_BINARY_NAME = r"([A-Za-z][A-Za-z0-9]*)_[0-9a-f]{32}(?:_|$)"


@dataclass(frozen=True, slots=True)
class Naming:
    """What a row is: type (None = unknown) and where it is from, engine (None = not exported), class."""

    type: str | None
    type_source: str | None
    core: str | None
    kernel_class: str


def name_kernel(type_text: str | None, name: str | None, core_text: str | None) -> Naming:
    """Name a kernel from its exported texts; the name speaks only where the export has no type."""
    type_, source = type_text, "column"
    if type_ is None or type_ in _NO_TYPE:
        type_ = None if not name else type_of_name(name)
        source = None if type_ is None else "name"
    core = _data()["core_spelling"].get(core_text, core_text) if core_text else None
    return Naming(type_, source, core, _class_of(core, type_ or "", name or ""))


def type_of_name(name: str) -> str:
    """Operator type hidden in a kernel name: `aclnnAddmm_MatMulCommon_MatMulV2` -> `MatMulV2`."""
    for pattern, replacement in _type_rules():
        if match := pattern.fullmatch(name):
            return match.expand(replacement)
    return name


def binary_type(name: str) -> str | None:
    """The type that a kernel binary's name begins with (`Add_<32 hex digits>_0`), None in other names."""
    match = re.match(_BINARY_NAME, name)
    return None if match is None else match[1]


def _class_of(core: str | None, type_: str, name: str) -> str:
    """By engine; at level 0, where no engine is exported, by type and name."""
    if core is not None:
        return _data()["core_class"].get(core, "other")
    for field, pattern, class_ in _unknown_core_rules():
        if pattern.search(type_ if field == "type" else name):
            return class_
    return "aicore"


@lru_cache(maxsize=1)
def _type_rules() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(rule["pattern"]), rule["type"]) for rule in _data()["type_of_name"])


@lru_cache(maxsize=1)
def _unknown_core_rules() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    return tuple(
        (rule["field"], re.compile(rule["pattern"]), rule["class"]) for rule in _data()["unknown_core"]
    )


@lru_cache(maxsize=1)
def _data() -> dict:
    return tomllib.loads(Path(__file__).with_name("naming.toml").read_text(encoding="utf-8"))
