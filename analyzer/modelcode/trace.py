"""What one decode step of a layer calls, in order: its functions entered, prefill branches left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .codebase import CodeBase, Leaf, Module, Weight
from .events import conventions, dotted
from .ops import Arms, Frame, Op, Prefetch, Trace, phases_of
from .tree import turns_of
from .values import UNKNOWN, Scope, weight_rules

_DEEPEST = 24  # functions inside functions
_MOST_OPS = 20_000
_MOST_STATEMENTS = 100_000  # followed; loops in loops and calls of calls multiply
_OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.MatMult: "matmul"}


@dataclass(frozen=True)
class _Where:
    frames: tuple[Frame, ...]
    statement: ast.stmt | None = None
    arms: Arms = ()
    loops: tuple[tuple[ast.For, int], ...] = ()
    decode: bool = False


def trace_layer(base: CodeBase, layer: Module, ranks: dict[str, int], numbers: dict[str, int]) -> Trace:
    """Follow the forward of a decoder layer; nothing is run."""
    made = Trace(layer)
    assert layer.made_of is not None
    tracer = _Tracer(base, made, ranks, numbers)
    tracer.enter(layer, "forward", None, "self", _Where(()))
    if tracer.full:
        made.notes.append(
            f"{layer.made_of.name} calls more than {_MOST_OPS:,} operations, or runs more than "
            f"{_MOST_STATEMENTS:,} statements: the rest is left out"
        )
    return made


class _Tracer:
    """Walks functions in evaluation order."""

    def __init__(self, base: CodeBase, made: Trace, ranks: dict[str, int], numbers: dict[str, int]) -> None:
        self._base, self._made, self._ranks, self._numbers = base, made, ranks, numbers
        self._scopes: list[Scope] = []
        self._modules: list[Module] = []
        self._statements = 0

    @property
    def full(self) -> bool:
        """Whether no more of the layer is followed."""
        return len(self._made.ops) >= _MOST_OPS or self._statements >= _MOST_STATEMENTS

    def enter(self, module: Module, name: str, node: ast.Call | None, written: str, where: _Where) -> bool:
        """Run a method of a module; False when the files do not have it."""
        owner = module.made_of
        found = self._base.method(owner, name) if owner else None
        names = [frame.function for frame in where.frames]
        if found is None or len(names) > _DEEPEST or self.full:
            return False
        where_defined, function = found
        if names.count(function) > 2:
            return False
        phase = "decode" if where.decode else "both"
        frame = Frame(module, where_defined, function, written, node, where.statement, phase)
        self._scopes.append(Scope(self._numbers, self._ranks, module.attributes))
        self._modules.append(module)
        inside = _Where((*where.frames, frame), None, where.arms, where.loops, _named_decode(name))
        self._block(function.body, inside)
        self._scopes.pop()
        self._modules.pop()
        return True

    def _block(self, body: Sequence[ast.stmt], where: _Where) -> bool:
        """Whether the function goes on behind these statements."""
        for node in body:
            if self.full:
                return False
            self._statements += 1
            at = _with(where, statement=node)
            if isinstance(node, ast.If):
                goes_on, where = self._if(node, at, where)
            elif isinstance(node, ast.For):
                goes_on = self._for(node, at)
            elif isinstance(node, ast.With | ast.AsyncWith):
                for item in node.items:
                    self._expression(item.context_expr, at)
                goes_on = self._block(node.body, at)
            elif isinstance(node, ast.Try):
                goes_on = self._block([*node.body, *node.orelse, *node.finalbody], at)
            elif isinstance(node, ast.While):
                goes_on = self._block(node.body, at) or True
            else:
                self._simple(node, at)
                goes_on = not isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break)
            if not goes_on:
                return False
        return True

    def _if(self, node: ast.If, at: _Where, where: _Where) -> tuple[bool, _Where]:
        self._expression(node.test, at)
        test = self._scopes[-1].value(node.test)
        if test is not UNKNOWN:
            return self._block(node.body if test else node.orelse, at), where
        body, other = phases_of(node.test)
        if "prefill" in (body, other):  # one arm is prefill's: what is left runs in decode
            taken = node.orelse if body == "prefill" else node.body
            ended = not _goes_on(node.body if body == "prefill" else node.orelse)
            on = self._block(taken, _with(at, decode=True))
            return on, _with(where, decode=True) if ended else where
        first = self._block(node.body, _arm(at, node, 0, body == "decode"))
        second = self._block(node.orelse, _arm(at, node, 1, other == "decode"))
        if first and second:
            return True, where
        return first or second, _arm(where, node, 0 if first else 1, False)

    def _for(self, node: ast.For, at: _Where) -> bool:
        self._expression(node.iter, at)
        scope = self._scopes[-1]
        modules = self._resolve(node.iter)
        turns: Sequence[Any] = (
            modules if isinstance(modules, list) else turns_of(node.iter, scope) or [UNKNOWN]
        )
        for number, turn in enumerate(turns):
            if isinstance(node.target, ast.Name):
                scope.names[node.target.id] = turn
            self._block(node.body, _with(at, loops=(*at.loops, (node, number))))
        return True

    def _simple(self, node: ast.stmt, at: _Where) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._expression(child, at)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            made = self._resolve(node.value)
            value = made if made is not None else self._scopes[-1].value(node.value)
            self._scopes[-1].names[node.targets[0].id] = value

    def _expression(self, node: ast.expr, at: _Where) -> None:
        if isinstance(node, ast.Lambda | ast.Constant | ast.Name):
            return
        if isinstance(node, ast.IfExp):
            self._expression(node.test, at)
            self._expression(node.body, _arm(at, node, 0, False))
            self._expression(node.orelse, _arm(at, node, 1, False))
            return
        for child in ast.iter_child_nodes(node):
            for part in (child, child.value) if isinstance(child, ast.keyword) else (child,):
                if isinstance(part, ast.expr):
                    self._expression(part, at)
        if isinstance(node, ast.Call):
            self._call(node, at)
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            self._add(_OPERATORS[type(node.op)], "", node, at)

    def _call(self, node: ast.Call, at: _Where) -> None:
        found = self._resolve(node.func)
        written = ast.unparse(node.func)
        if isinstance(found, Leaf):
            self._add(
                "linear" if len(found.weights) == 1 else "experts", written, node, at, found.weights, written
            )
        elif isinstance(found, Module):
            if kind := _kind_of(found):
                self._add(_norm_token(kind, node), written, node, at)
            elif not self.enter(found, "forward", node, written, at):
                self._add(written.split(".")[-1], written, node, at, self._uses(node))
        elif not self._method(node, at):
            self._plain(node, written, at)

    def _method(self, node: ast.Call, at: _Where) -> bool:
        """self.forward_decode(...), self.mlps[0].forward_prefetch(...), or a method that __init__ chose."""
        if not isinstance(node.func, ast.Attribute):
            return False
        if isinstance(node.func.value, ast.Call) and dotted(node.func.value.func) == "super":
            return self._base_method(node, at)
        holder = self._resolve(node.func.value)
        if not isinstance(holder, Module):
            return False
        text = ast.unparse(node.func.value)
        names = holder.aliases.get(node.func.attr, [node.func.attr])
        if len(names) == 1:
            return self.enter(holder, names[0], node, text, at)
        entered = [
            self.enter(holder, name, node, text, _arm(at, node, number, False))
            for number, name in enumerate(names)
        ]
        return any(entered)

    def _base_method(self, node: ast.Call, at: _Where) -> bool:
        assert isinstance(node.func, ast.Attribute)
        frame = at.frames[-1]
        for base in frame.owner.bases:
            other = self._base.classes.get(base)
            if other is not None and self._base.method(other, node.func.attr):
                return self.enter(replace(frame.module, made_of=other), node.func.attr, node, "self", at)
        return False

    def _plain(self, node: ast.Call, written: str, at: _Where) -> None:
        last = written.split(".")[-1]
        rules = weight_rules()
        if last in rules["prefetch"]["calls"]:
            self._prefetch(node, written, at)
        elif last not in rules["views"]["same"]:
            name = dotted(node.func)
            kind = self._attribute_kind(name)
            self._add(_norm_token(kind, node) if kind else last, name or written, node, at, self._uses(node))

    def _attribute_kind(self, name: str) -> str:
        """What `self.x` is by its constructor or name, for layers that a library supplies."""
        if not name.startswith("self."):
            return ""
        tables = conventions()
        own = name.split(".")[-1]
        made = self._scopes[-1].attributes.get(f"{own}()", "")
        ends = [
            (len(end), kind)
            for kind, endings in tables["constructors"].items()
            for end in endings
            if made.lower().endswith(end.lower())
        ]
        return max(ends)[1] if ends else next((k for k, n in tables["attributes"].items() if own in n), "")

    def _prefetch(self, node: ast.Call, written: str, at: _Where) -> None:
        weight = next(
            (each for each in node.args if "weight" in ast.unparse(each) or self._resolve(each)), None
        )
        text = ast.unparse(weight) if weight is not None else ""
        path = None if weight is None else self._weight_path(weight)
        self._made.prefetches.append(
            Prefetch("prefetch", written, node, at.statement or ast.Pass(), at.frames, arms=at.arms,
                     loops=at.loops, weight=text, path=path)
        )  # fmt: skip

    def _weight_path(self, node: ast.expr) -> str | None:
        """The path of a weight from the layer; `next_layer.x` is x of the layer that follows."""
        while isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        found = self._resolve(node)
        if isinstance(found, Leaf) and len(found.weights) == 1:
            return found.weights[0].path
        if isinstance(found, Weight):
            return found.path
        text = ast.unparse(node)
        return text.removeprefix("next_layer.") if text.startswith("next_layer.") else None

    def _uses(self, node: ast.Call) -> tuple[Weight, ...]:
        """Weights that stand among the arguments of a call, those of calls inside it left out."""
        found: dict[str, Weight] = {}
        for argument in (*node.args, *(each.value for each in node.keywords)):
            for each in _shallow(argument):
                made = self._resolve(each)
                if isinstance(made, Leaf) and len(made.weights) == 1 and made.weights[0].bare:
                    made = made.weights[0]
                if isinstance(made, Weight):
                    found[made.path] = made
        return tuple(found.values())

    def _resolve(self, node: ast.AST) -> Any:
        """The Module, Leaf, Weight or list that an expression names; None for anything else."""
        scope = self._scopes[-1]
        if isinstance(node, ast.Name):
            made = self._modules[-1] if node.id == "self" else scope.names.get(node.id)
            return made if isinstance(made, Module | Leaf | list) else None
        if isinstance(node, ast.Attribute):
            return self._child(self._resolve(node.value), node.attr)
        if isinstance(node, ast.Subscript):
            holder, at = self._resolve(node.value), scope.value(node.slice)
            if isinstance(holder, list) and isinstance(at, int) and -len(holder) <= at < len(holder):
                return holder[at]
        return None

    def _child(self, holder: Any, name: str) -> Any:
        if isinstance(holder, Module):
            return holder.children.get(name)
        if isinstance(holder, Leaf):
            return next((each for each in holder.weights if each.path.endswith(f".{name}")), None)
        return holder if isinstance(holder, Weight) and name == "data" else None

    def _add(
        self,
        token: str,
        name: str,
        node: ast.expr,
        at: _Where,
        uses: tuple[Weight, ...] = (),
        written: str = "",
    ) -> None:
        if at.statement is not None and not self.full:
            self._made.ops.append(
                Op(token, name, node, at.statement, at.frames, uses, written, at.arms, at.loops, at.decode)
            )


def _with(where: _Where, **changes: Any) -> _Where:
    return replace(where, **changes)


def _arm(where: _Where, node: ast.AST, arm: int, decode: bool) -> _Where:
    return replace(where, arms=(*where.arms, (id(node), arm)), decode=where.decode or decode)


def _goes_on(body: Sequence[ast.stmt]) -> bool:
    """Whether the statements behind a branch are reached from it."""
    return not body or not isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def _named_decode(name: str) -> bool:
    return "decode" in name.lower() and "prefill" not in name.lower()


def _kind_of(module: Module) -> str:
    """'norm' for a class that is called so: its inside is one kernel on this hardware."""
    name = module.made_of.name if module.made_of else ""
    return "norm" if name.endswith(tuple(conventions()["classes"]["norm"])) else ""


def _norm_token(kind: str, node: ast.Call) -> str:
    residual = kind == "norm" and len(node.args) + len(node.keywords) > 1
    return "norm_with_residual" if residual else kind


def _shallow(node: ast.expr) -> Iterator[ast.AST]:
    """The nodes of an expression without those inside calls, which are operations of their own."""
    if isinstance(node, ast.Call):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _shallow(child)
