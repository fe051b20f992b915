"""What a step of a layer does, as records: operations in order, functions around each, prefetch calls."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from .codebase import CodeClass, Definition, Module, Weight
from .steps import branches, dotted
from .values import weight_rules

Arms = tuple[tuple[int, int], ...]  # (branch, arm) of every undecided branch around


@dataclass(frozen=True, eq=False)
class Frame:
    """One function while it runs: on which module, and how the function outside called it."""

    module: Module
    owner: CodeClass
    function: Definition
    written: str = "self"  # the module as the caller wrote it
    node: ast.Call | None = None  # the call, and the statement that it stands in
    statement: ast.stmt | None = None
    phase: str = "both"  # decode: the call stands in a decode branch


@dataclass(frozen=True, eq=False)
class Op:
    """One call or operation, with the weights that it reads and the functions around it, outermost first."""

    token: str
    name: str
    node: ast.expr
    statement: ast.stmt
    frames: tuple[Frame, ...]
    uses: tuple[Weight, ...] = ()
    written: str = ""  # the holder of the weight as written: 'self.mlps[0].down_proj'
    arms: Arms = ()
    loops: tuple[tuple[ast.For, int], ...] = ()  # loops around, and which turn of each
    in_decode: bool = False  # a branch of its own function says so

    @property
    def place(self) -> str:
        """'modeling_x.py:12'."""
        return f"{self.frames[-1].owner.file.name}:{self.node.lineno}"


@dataclass(frozen=True, eq=False)
class Prefetch(Op):
    """A prefetch call that the code makes already; `path` is its weight from the layer."""

    weight: str = ""  # as written
    path: str | None = None


@dataclass
class Trace:
    """The operations of a layer in order; `branches` are the undecided ones in which weights are used."""

    layer: Module
    ops: list[Op] = field(default_factory=list)
    prefetches: list[Prefetch] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def phases_of(test: ast.expr) -> tuple[str, str]:
    """What a condition says of its two branches: ('prefill', 'decode') for `if is_prefill`; 'both' else.

    Only whole names count: a patch is guarded by what this says.
    """
    return branches(test, _told_by_name)


def _told_by_name(test: ast.expr) -> tuple[str, str]:
    if isinstance(test, ast.Call) and not test.args:
        test = test.func
    last = dotted(test).split(".")[-1] if isinstance(test, ast.Name | ast.Attribute) else ""
    words = weight_rules()["phase"]
    if last in words["prefill"]:
        return "prefill", "decode"
    return ("decode", "prefill") if last in words["decode"] else ("both", "both")
