"""The files of a model: their classes, methods and imports, and what a module tree is made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .events import dotted
from .source import parse_file

_DEEPEST = 12  # bases of bases
Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class CodeFile:
    """One file: its path as given, its tree, where each imported name comes from."""

    path: Path
    tree: ast.Module
    imports: Mapping[str, str]  # name -> module it was imported from

    @property
    def name(self) -> str:
        """How places name it."""
        return self.path.name

    def uses(self, frameworks: Sequence[str]) -> bool:
        """Whether it imports from one of these packages."""
        return any(module.split(".")[0] in frameworks for module in self.imports.values())


@dataclass(frozen=True, eq=False)
class CodeClass:
    """One class and the file that it stands in."""

    name: str
    file: CodeFile
    node: ast.ClassDef
    bases: tuple[str, ...]
    methods: Mapping[str, Definition]


@dataclass(frozen=True)
class Weight:
    """One weight of the code; sizes None = not told by code and config."""

    path: str  # from the layer: 'mlps[0].gate_up_proj.weight'
    attribute: str  # 'gate_up_proj', 'w13_weight'
    constructor: str
    file: CodeFile
    line: int
    k: int | None = None
    n: int | None = None
    batch: int | None = None
    reduces: bool = False  # what its layer returns is summed over the ranks already

    @property
    def bare(self) -> bool:
        """Whether the attribute is the weight itself (nn.Parameter) and not a layer that has one."""
        return self.path.endswith(self.attribute)

    @property
    def place(self) -> str:
        """'modeling_x.py:12', where it is made."""
        return f"{self.file.name}:{self.line}"


@dataclass(eq=False)
class Module:
    """One module of the tree; a list holds its modules, or one that stands for all of its layers."""

    path: str
    made_of: CodeClass | None
    children: dict[str, Any] = field(default_factory=dict)  # name -> Module, list of them, or Leaf
    attributes: dict[str, Any] = field(default_factory=dict)  # other values of self
    aliases: dict[str, list[str]] = field(default_factory=dict)  # self.x = self.method -> the methods


@dataclass(frozen=True)
class Leaf:
    """A layer of weights that a library supplies: one weight, or those of the experts."""

    weights: tuple[Weight, ...]


@dataclass
class CodeBase:
    """Every class of the files; `twice` names those that are defined more than once and so not entered."""

    files: list[CodeFile]
    classes: dict[str, CodeClass]
    twice: dict[str, tuple[str, ...]]
    notes: list[str]

    def method(self, owner: CodeClass, name: str, depth: int = 0) -> tuple[CodeClass, Definition] | None:
        """The method of a class or of its bases in the files."""
        if name in owner.methods:
            return owner, owner.methods[name]
        for base in owner.bases:
            other = self.classes.get(base)
            if other is not None and other is not owner and depth < _DEEPEST:
                found = self.method(other, name, depth + 1)
                if found is not None:
                    return found
        return None


def read_code(paths: Sequence[Path]) -> CodeBase:
    """Parse the files; one that is no Python is a note. Raises InputMissing for one that is not there."""
    base = CodeBase([], {}, {}, [])
    places: dict[str, list[str]] = {}
    for path in dict.fromkeys(paths):
        tree = parse_file(path, base.notes)
        if tree is None:
            continue
        file = CodeFile(path, tree, dict(_imports(tree)))
        base.files.append(file)
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{file.name}:{node.lineno}")
                base.classes[node.name] = _class(node, file)
    base.twice = {name: tuple(found) for name, found in places.items() if len(found) > 1}
    for name in base.twice:
        del base.classes[name]
    return base


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for each in node.names:
                yield each.asname or each.name, node.module or "."
        elif isinstance(node, ast.Import):
            for each in node.names:
                yield each.asname or each.name.split(".")[0], each.name


def _class(node: ast.ClassDef, file: CodeFile) -> CodeClass:
    methods = {each.name: each for each in node.body if isinstance(each, Definition)}
    bases = tuple(dotted(base).split(".")[-1] for base in node.bases)
    return CodeClass(node.name, file, node, bases, methods)
