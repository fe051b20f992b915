"""The function list of torch_npu -> signatures: the one reliable source of what exists and how it is
called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_FUNCTION = re.compile(
    r"^\s*(?P<name>\w+)(?:\.(?P<overload>\w+))?\s*\((?P<arguments>.*)\)\s*->\s*(?P<returns>.+)$", re.S
)
_WRITTEN = re.compile(r"\(\w+!\)")


@dataclass(frozen=True)
class Argument:
    """One argument of a schema: type without alias marks, default text (None = required), written in place
    or not.
    """

    name: str
    type: str
    default: str | None
    keyword_only: bool
    written: bool


@dataclass(frozen=True)
class Schema:
    """One signature of a function as the list spells it."""

    name: str
    overload: str
    text: str
    arguments: tuple[Argument, ...]
    returns: str


@dataclass(frozen=True)
class SchemaList:
    """Every signature by function name; `failure` says why the list could not be read."""

    functions: Mapping[str, tuple[Schema, ...]]
    failure: str | None = None


def read_schemas(source: bytes) -> SchemaList:
    """The signatures of a function YAML. Never raises: what is no signature is left out."""
    import yaml  # kept out of --help

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data = yaml.load(source.decode("utf-8-sig", errors="replace"), Loader=loader)  # a safe loader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return SchemaList({}, str(error).split("\n")[0])
    found: dict[str, list[Schema]] = {}
    for text in _texts(data):
        schema = parse_schema(text)
        if schema is not None and schema.text not in {each.text for each in found.get(schema.name, ())}:
            found.setdefault(schema.name, []).append(schema)
    return SchemaList({name: tuple(each) for name, each in found.items()})


def _texts(data: Any) -> Iterator[str]:
    if not isinstance(data, dict):
        return
    for entries in data.values():
        for entry in entries if isinstance(entries, list) else ():
            text = entry.get("func") if isinstance(entry, dict) else None
            if isinstance(text, str):
                yield text


def parse_schema(text: str) -> Schema | None:
    """'npu_x(Tensor(a!) self, int dim=-1) -> Tensor' as a record; None for anything else."""
    found = _FUNCTION.match(text)
    if found is None:
        return None
    arguments = []
    keyword_only = False
    for part in _parts(found["arguments"]):
        if part == "*":
            keyword_only = True
            continue
        argument = _argument(part, keyword_only)
        if argument is not None:
            arguments.append(argument)
    return Schema(
        found["name"],
        found["overload"] or "",
        " ".join(text.split()),
        tuple(arguments),
        found["returns"].strip(),
    )


def _parts(text: str) -> list[str]:
    """Split at commas that stand in no bracket: `int[2] x=[0, 1]` is one argument."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in [*parts, text[start:].strip()] if part]


def _argument(part: str, keyword_only: bool) -> Argument | None:
    declaration, _, default = part.partition("=")
    kind, _, name = declaration.strip().rpartition(" ")
    if not kind:
        return None
    written = _WRITTEN.search(kind) is not None
    plain = re.sub(r"\(\w+!?\)", "", kind)
    return Argument(name, plain, default.strip() if "=" in part else None, keyword_only, written)
