"""Names that the user gives: a roles.toml of her own, which wins over every rule."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputMissing, WrongUsage
from .labels import LabelledGroup

# Key -> type of its value. `weight` is how the model's code names the weight; the rest says which kernel.
_KEYS = {"role": str, "weight": str, "type": str, "shapes": str, "position": int, "k": int, "n": int}
_SELECTORS = ("type", "shapes", "position", "k", "n")


@dataclass(frozen=True)
class UserRole:
    """One [[kernel]] of a roles.toml; None = any."""

    role: str
    source: str
    weight: str | None = None
    type: str | None = None
    shapes: str | None = None
    position: int | None = None
    k: int | None = None
    n: int | None = None

    def matches(self, group: LabelledGroup) -> bool:
        """Whether every selector that is given fits the kernel."""
        actual = {
            "type": group.row.type,
            "shapes": group.row.input_shapes,
            "position": group.position,
            "k": group.work.k,
            "n": group.work.n,
        }
        return all(getattr(self, name) in (None, value) for name, value in actual.items())


def read_user_roles(path: Path) -> tuple[UserRole, ...]:
    """Read [[kernel]] tables: role, and what selects the kernel (type, shapes, position, k, n).

    Raises InputMissing for no file, WrongUsage for one that cannot be read or has unknown keys.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputMissing(f"no file {path}", "give a roles.toml with [[kernel]] tables") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise WrongUsage(f"cannot read {path}: {error}", "give a TOML file with [[kernel]] tables") from error
    kernels = found.get("kernel")
    if found.keys() - {"kernel"} or not isinstance(kernels, list):
        raise WrongUsage(f"{path} holds no list of [[kernel]] tables", f"keys of each: {', '.join(_KEYS)}")
    return tuple(_role(entry, path) for entry in kernels)


def _role(entry: Mapping[str, Any], path: Path) -> UserRole:
    for key, value in entry.items():
        if key not in _KEYS:
            raise WrongUsage(f"{path}: {key!r} is no key of a [[kernel]]", f"the keys are {', '.join(_KEYS)}")
        if type(value) is not _KEYS[key]:
            raise WrongUsage(f"{path}: {key} = {value!r}", f"{key} is of type {_KEYS[key].__name__}")
    if not entry.get("role") or not any(name in entry for name in _SELECTORS):
        raise WrongUsage(
            f"{path}: a [[kernel]] names no role or selects no kernel",
            f"give role and one of {', '.join(_SELECTORS)}",
        )
    if "weight" in entry and not is_attribute(entry["weight"]):
        raise WrongUsage(
            f"{path}: weight = {entry['weight']!r} is no attribute of a layer or model",
            "write it as layer.self_attn.o_proj.weight or model.lm_head.weight",
        )
    return UserRole(source=str(path), **entry)


def is_attribute(text: str) -> bool:
    """Whether the text is a chain of attributes and constant indexes on `layer` or `model`: no calls."""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("layer", "model")
