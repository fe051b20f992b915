"""Sizes in model code as numbers: a small part of Python, evaluated from config.json; the rest is unknown."""

from __future__ import annotations

import ast
import operator
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from ..model_config import LARGEST_NUMBER

_ARITHMETIC = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARED = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip
_DEEPEST = 60  # nested expressions
_CALLS = {"int": int, "max": max, "min": min, "sum": sum, "len": len, "bool": bool}


class Unknown:
    """A value that the code and the config do not tell."""

    def __repr__(self) -> str:
        return "unknown"


class Configuration:
    """The object that holds config.json, whatever it is called."""


UNKNOWN, CONFIG = Unknown(), Configuration()


@cache
def weight_rules() -> Mapping[str, Any]:
    """weights.toml."""
    source = resources.files("npu_roofline.analyzer.modelcode").joinpath("weights.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))


@dataclass
class Scope:
    """What names mean in one function: locals, attributes of self, numbers of the config, parallel sizes."""

    numbers: Mapping[str, int]
    ranks: Mapping[str, int]  # by the names of [ranks]' keys
    attributes: dict[str, Any]
    names: dict[str, Any] = field(default_factory=dict)

    def value(self, node: ast.expr | None, depth: int = 0) -> Any:
        """The value of an expression, UNKNOWN where it is not told; never runs anything of the code."""
        if node is None or depth > _DEEPEST:
            return UNKNOWN
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        found = UNKNOWN if handler is None else handler(node, depth + 1)
        too_large = isinstance(found, int | float) and abs(found) > LARGEST_NUMBER
        return UNKNOWN if too_large else found

    def _constant(self, node: ast.Constant, _: int) -> Any:
        known = node.value is None or isinstance(node.value, bool | int | float | str)
        return node.value if known else UNKNOWN

    def _name(self, node: ast.Name, _: int) -> Any:
        if node.id in self.names:
            return self.names[node.id]
        return CONFIG if node.id in weight_rules()["config"]["names"] else UNKNOWN

    def _attribute(self, node: ast.Attribute, depth: int) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            if node.attr in self.attributes:
                return self.attributes[node.attr]
            return CONFIG if node.attr in weight_rules()["config"]["names"] else self._ranks(node.attr)
        holder = self.value(node.value, depth)
        if holder is CONFIG and node.attr in self.numbers:
            return self.numbers[node.attr]
        if node.attr in weight_rules()["config"]["names"]:
            return CONFIG
        return self._ranks(node.attr) if holder in (CONFIG, UNKNOWN) else UNKNOWN

    def _ranks(self, name: str) -> Any:
        size = next((size for size, names in weight_rules()["ranks"].items() if name in names), None)
        return UNKNOWN if size is None else self.ranks.get(size, UNKNOWN)

    def _binop(self, node: ast.BinOp, depth: int) -> Any:
        left, right = self.value(node.left, depth), self.value(node.right, depth)
        act = _ARITHMETIC.get(type(node.op))
        if isinstance(left, list) and isinstance(right, int) and isinstance(node.op, ast.Mult):
            return left * right if len(left) * right <= 16 else UNKNOWN
        if act is None or not all(isinstance(each, int | float) for each in (left, right)):
            return UNKNOWN
        try:
            return act(left, right)
        except (ZeroDivisionError, OverflowError):
            return UNKNOWN

    def _unaryop(self, node: ast.UnaryOp, depth: int) -> Any:
        value = self.value(node.operand, depth)
        if isinstance(value, Unknown | Configuration):
            return UNKNOWN
        if isinstance(node.op, ast.Not):
            return not value
        return -value if isinstance(node.op, ast.USub) and isinstance(value, int | float) else UNKNOWN

    def _compare(self, node: ast.Compare, depth: int) -> Any:
        left, right = self.value(node.left, depth), self.value(node.comparators[0], depth)
        act = _COMPARED.get(type(node.ops[0]))
        if act is None or len(node.ops) > 1 or UNKNOWN in (left, right) or CONFIG in (left, right):
            return UNKNOWN
        try:
            return act(left, right)
        except TypeError:
            return UNKNOWN

    def _boolop(self, node: ast.BoolOp, depth: int) -> Any:
        decides = isinstance(node.op, ast.Or)
        values = [self.value(each, depth) for each in node.values]
        for value in values:
            if not isinstance(value, Unknown) and (value is CONFIG or bool(value)) == decides:
                return decides  # only asked whether it is true
        return UNKNOWN if UNKNOWN in values else not decides

    def _ifexp(self, node: ast.IfExp, depth: int) -> Any:
        test = self.value(node.test, depth)
        if test is not UNKNOWN:
            return self.value(node.body if test else node.orelse, depth)
        either = [self.value(each, depth) for each in (node.body, node.orelse)]
        return either[0] if either[0] == either[1] else UNKNOWN

    def _list(self, node: ast.List | ast.Tuple, depth: int) -> Any:
        return [self.value(each, depth) for each in node.elts]

    _tuple = _list

    def _call(self, node: ast.Call, depth: int) -> Any:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        arguments = [self.value(each, depth) for each in node.args]
        if name == "getattr" and len(arguments) > 1 and arguments[0] is CONFIG:
            key = arguments[1]
            return self.numbers.get(key, UNKNOWN) if isinstance(key, str) else UNKNOWN
        if name in _CALLS and arguments and isinstance(node.func, ast.Name) and not node.keywords:
            flat = arguments[0] if isinstance(arguments[0], list) else arguments
            if any(isinstance(each, Unknown | Configuration) for each in (*arguments, *flat)):
                return UNKNOWN
            try:
                return _CALLS[name](*arguments)
            except (TypeError, ValueError, OverflowError):
                return UNKNOWN
        return self._ranks(name)
