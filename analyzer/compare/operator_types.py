"""Operator type names: what counts as the same operator under two names, and the group it is shown in."""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import resources


@dataclass(frozen=True)
class _Table:
    suffix: re.Pattern[str]
    canonical: dict[str, str]
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    told_by_name: frozenset[str]


@functools.cache
def _table() -> _Table:
    text = resources.files("npu_roofline.analyzer.compare").joinpath("types.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return _Table(
        suffix=re.compile(data["same"]["suffix"]),
        canonical={name: words[0] for words in data["same"]["words"] for name in words},
        told_by_name=frozenset(data["told_by_name"]["types"]),
        groups=tuple((group["name"], tuple(group["types"])) for group in data["group"]),
    )


@functools.cache
def operator_of(type_name: str) -> str:
    """The operator behind a type name, without version: MatMulV3, MatMulV2 and MatMul are one operator."""
    table = _table()
    bare = table.suffix.sub("", type_name, count=1) or type_name
    return table.canonical.get(bare, bare)


@functools.cache
def group_of(type_name: str, kernel_name: str = "") -> str:
    """The group that a type's time is added up in; a type that says nothing is told by the kernel's name."""
    table = _table()
    text = kernel_name if kernel_name and type_name in table.told_by_name else type_name
    bare = table.suffix.sub("", text, count=1) or text
    return next(name for name, patterns in table.groups if any(fnmatchcase(bare, each) for each in patterns))


def group_names() -> tuple[str, ...]:
    """All groups in the order of the table."""
    return tuple(name for name, _ in _table().groups)
