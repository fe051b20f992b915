"""Docstring modules of torch_npu -> sections per operator, by their syntax tree; nothing is run."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from .opsource import opdocs_table

# Control characters that stand in a few docstrings after decoding; tabs and line ends are no part of them.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ADDS_DOC = re.compile(r"_?add_\w*doc\w*|_add_torch_npu\w*")
_NUMBER = r"\d*"


@dataclass(frozen=True)
class Docstring:
    """One operator's docstring: its text, its sections by kind, and what was unusual about it."""

    name: str
    text: str
    sections: dict[str, str]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class DocModule:
    """What a docstring module holds; the last of several docstrings of a name wins, as when it is run."""

    docstrings: dict[str, Docstring] = field(default_factory=dict)
    duplicates: tuple[str, ...] = ()
    failure: str | None = None  # why it could not be parsed at all


def read_docstrings(source: bytes) -> DocModule:
    """The docstrings that a module adds, at its top level or in functions of it. Never raises."""
    try:
        text = source.decode("utf-8-sig", errors="replace")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes such as \\( are usual in these texts
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return DocModule(failure=str(error))
    found: dict[str, Docstring] = {}
    twice: dict[str, None] = {}
    for name, doc in _added(tree):
        if name in found:
            twice[name] = None
        found[name] = _docstring(name, doc)
    return DocModule(found, tuple(twice))


def _added(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(name, docstring) of every call that adds one, in the order of the file."""
    calls = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and len(node.value.args) >= 2
    )
    for call in sorted(calls, key=lambda call: call.lineno):
        function = call.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        first, second = call.args[:2]
        if (
            _ADDS_DOC.fullmatch(name)
            and isinstance(first, ast.Constant)
            and isinstance(first.value, str)
            and isinstance(second, ast.Constant)
            and isinstance(second.value, str)
        ):
            yield first.value, second.value


def _docstring(name: str, raw: str) -> Docstring:
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    clean = _CONTROL.sub("", text).strip("\n")
    remarks = []
    if clean.strip() == "":
        remarks.append("its docstring is empty")
    if len(clean) != len(text.strip("\n")):
        remarks.append("control characters were taken out of its docstring")
    sections = split_sections(clean)
    prototype = sections.get("prototype", "")
    if clean.strip() and name.split(".")[0] not in prototype and name.split(".")[0] not in clean:
        remarks.append("its docstring does not name it")
    return Docstring(name, clean, sections, tuple(remarks))


def split_sections(text: str) -> dict[str, str]:
    """Section kind -> text; what stands before the first heading is `head`, or the
    prototype when it is a call and no other is given. A kind that recurs is joined.
    """
    parts: dict[str, list[str]] = {}
    current = "head"
    for line in text.split("\n"):
        heading = _heading(line)
        if heading is not None:
            current, rest = heading
            parts.setdefault(current, [])
            if rest:
                parts[current].append(rest)
        else:
            parts.setdefault(current, []).append(line)
    joined = {kind: "\n".join(lines).strip() for kind, lines in parts.items()}
    if "prototype" not in joined and "(" in joined.get("head", ""):
        joined["prototype"] = joined.pop("head")  # most docstrings begin with the call
    return {kind: body for kind, body in joined.items() if body}


def _heading(line: str) -> tuple[str, str] | None:
    """(kind, text behind the colon) where a line is a heading; None for any other line."""
    found = _headings().match(line)
    if found is None:
        return None
    return _kinds()[found["word"]], (found["rest"] or "").strip()


@cache
def _kinds() -> dict[str, str]:
    return {word: kind for kind, words in opdocs_table()["headings"].items() for word in words}


@cache
def _headings() -> re.Pattern[str]:
    # The longest word first: 参数说明 is no 参数 with a rest.
    words = "|".join(sorted(map(re.escape, _kinds()), key=len, reverse=True))
    return re.compile(rf"^[\s#*]*(?P<word>{words}){_NUMBER}\**\s*(?:[:\uff1a](?P<rest>.*)|$)")
