"""The body of a function -> its steps in evaluation order, each with the phase of its branch."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .conventions import conventions

_OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.MatMult: "matmul", ast.Pow: "pow",
}  # fmt: skip
# Calls that move no data and compute nothing: they part no pattern.
_SILENT = frozenset(
    {
        *("contiguous", "size", "shape", "dim", "type_as", "unsqueeze", "squeeze"),
        *("len", "isinstance", "get", "int", "range", "print", "super", "hasattr", "getattr"),
    }
)
_FLOAT = ("float", "float32")
# Words of arithmetic on sizes, which is no operation on tensors.
_SIZES = ("size", "shape", "_dim", "num_", "len(", "rank")


@dataclass(frozen=True)
class Event:
    """One step of a function: a token for patterns, the dotted name as written, its line, and its phase."""

    token: str
    name: str
    line: int
    phase: str  # prefill | decode | both


@dataclass(frozen=True)
class Attribute:
    """`self.x = C(...)`: the constructor as written, what kind it makes, its positional and keyword
    arguments.
    """

    name: str
    constructor: str
    kind: str
    line: int
    arguments: tuple[str, ...]


def dotted(node: ast.expr) -> str:
    """'torch.nn.functional.softmax', 'self.q_proj', '.transpose' for a method of an expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    if isinstance(node, ast.Subscript):  # self.norms[0]
        return dotted(node.value)
    return ""


_OTHER = {"prefill": "decode", "decode": "prefill"}


def phase_of(text: str) -> str:
    """'prefill' or 'decode' where one of them is named in a text, else 'both'."""
    words = conventions()["phases"]
    text = text.lower().replace("decoder", "")  # a decoder layer runs in both
    told = {phase for phase in ("prefill", "decode") if any(word in text for word in words[phase])}
    return told.pop() if len(told) == 1 else "both"


def branches(test: ast.expr, told: Callable[[ast.expr], tuple[str, str]]) -> tuple[str, str]:
    """The phase of what runs when a condition holds, and when it does not; 'both' where that is open.

    told: the same of a condition without not, and, or.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        holds, fails = branches(test.operand, told)
        return fails, holds
    if isinstance(test, ast.BoolOp):
        parts = [branches(value, told) for value in test.values]
        if isinstance(test.op, ast.And):  # it may fail for the sake of another part
            return _the_one(holds for holds, _ in parts), "both"
        return "both", _the_one(fails for _, fails in parts)
    return told(test)


def _branches(test: ast.expr) -> tuple[str, str]:
    return branches(test, _told_by_words)


def _told_by_words(test: ast.expr) -> tuple[str, str]:
    told = phase_of(ast.unparse(test))
    other = _OTHER.get(told, "both")
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is | ast.Eq):
        right = test.comparators[0]
        if isinstance(right, ast.Constant) and right.value in (None, False, 0):
            return other, told
    return told, other


def _the_one(phases: Iterable[str]) -> str:
    told = set(phases) - {"both"}
    return told.pop() if len(told) == 1 else "both"


def _leaves(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue)


class Walker:
    """Collects events in evaluation order, with the phase of the branch that they are in."""

    def __init__(self, attributes: Mapping[str, Attribute]) -> None:
        self.events: list[Event] = []
        self._attributes = attributes

    def block(self, body: Sequence[ast.stmt], phase: str) -> None:
        """The statements of a body; what follows a branch that leaves it runs when the condition fails."""
        for statement in body:
            self._statement(statement, phase)
            if isinstance(statement, ast.If) and _leaves(statement.body) and not statement.orelse:
                fails = _branches(statement.test)[1]
                phase = phase if fails == "both" else fails

    def _statement(self, node: ast.stmt, phase: str) -> None:
        if isinstance(node, ast.If):
            self._expression(node.test, phase)
            holds, fails = _branches(node.test)
            self.block(node.body, phase if holds == "both" else holds)
            self.block(node.orelse, phase if fails == "both" else fails)
        elif isinstance(node, ast.For):
            self._expression(node.iter, phase)
            loop = f"{ast.unparse(node.target)} {ast.unparse(node.iter)}".lower()
            if "expert" in loop and _calls_anything(node.body):
                self._add("experts_loop", ast.unparse(node.iter), node.lineno, phase)
            self.block(node.body, phase)
        elif isinstance(node, ast.While | ast.With | ast.Try | ast.AsyncWith):
            for item in getattr(node, "items", ()):
                self._expression(item.context_expr, phase)
            self.block(node.body, phase)
            self.block(getattr(node, "orelse", []), phase)
            self.block(getattr(node, "finalbody", []), phase)
        elif isinstance(node, ast.Match):
            self._expression(node.subject, phase)
            for case in node.cases:
                told = phase_of(ast.unparse(case.pattern))
                self.block(case.body, phase if told == "both" else told)
        elif not isinstance(node, ast.FunctionDef | ast.ClassDef):
            self._simple(node, phase)

    def _simple(self, node: ast.stmt, phase: str) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            if node.value is not None:
                self._expression(node.value, phase)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
                self._add(_OPERATORS[type(node.op)], ast.unparse(node.target), node.lineno, phase)
            for target in targets:
                if isinstance(target, ast.Subscript) and _is_cache_entry(target):
                    self._add("cache_write", ast.unparse(target.value), node.lineno, phase)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._expression(child, phase)

    def _expression(self, node: ast.expr, phase: str) -> None:
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                self._expression(node.func.value, phase)
            for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                self._expression(each, phase)
            self._call(node, phase)
        elif isinstance(node, ast.BinOp):
            self._expression(node.left, phase)
            self._expression(node.right, phase)
            if type(node.op) in _OPERATORS and not _is_number(node.left, node.right, node.op):
                self._add(_OPERATORS[type(node.op)], "", node.lineno, phase)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self._expression(node.operand, phase)
            if not isinstance(node.operand, ast.Constant):
                self._add("neg", "", node.lineno, phase)
        elif not isinstance(node, ast.Lambda):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._expression(child, phase)

    def _call(self, node: ast.Call, phase: str) -> None:
        name = dotted(node.func)
        last = name.split(".")[-1]
        attribute = self._attributes.get(last) if name == f"self.{last}" else None
        if attribute is not None and attribute.kind:
            residual = len(node.args) + len(node.keywords) > 1 and attribute.kind == "norm"
            self._add("norm_with_residual" if residual else attribute.kind, name, node.lineno, phase)
        elif last in ("to", "type") and any(word in ast.unparse(node) for word in _FLOAT):
            self._add("float", name, node.lineno, phase)
        elif last and last not in _SILENT:
            self._add(last, name, node.lineno, phase)

    def _add(self, token: str, name: str, line: int, phase: str) -> None:
        self.events.append(Event(token, name, line, phase))


def _is_cache_entry(target: ast.Subscript) -> bool:
    """A store into entries of a cache; one into columns of every entry ([..., :n]) fills a tensor."""
    index = (
        target.slice.elts[0] if isinstance(target.slice, ast.Tuple) and target.slice.elts else target.slice
    )
    every = isinstance(index, ast.Constant) and index.value is ...
    return not every and "cache" in ast.unparse(target.value).lower()


def _calls_anything(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(each, ast.Call) for statement in body for each in ast.walk(statement))


def _is_number(left: ast.expr, right: ast.expr, op: ast.operator) -> bool:
    """Whether an operation is arithmetic on sizes and not on tensors, as far as its text tells."""
    if isinstance(op, ast.Pow):
        return isinstance(left, ast.Constant)
    if any(isinstance(each, ast.Constant) for each in (left, right)) and not isinstance(
        op, ast.Add | ast.Mult
    ):
        return True
    texts = (ast.unparse(left), ast.unparse(right))
    return any(word in text for text in texts for word in _SIZES)
