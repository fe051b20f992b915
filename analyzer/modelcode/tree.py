"""The modules behind a decoder layer, from its constructors: children, weights, their sizes as numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .codebase import CodeBase, CodeClass, Definition, Leaf, Module
from .events import conventions, dotted
from .linears import is_layer, leaf
from .values import CONFIG, UNKNOWN, Scope, weight_rules

_DEEPEST = 12  # modules inside modules
_MOST_MODULES = 2000  # of one layer; more are made by classes that make each other
_MOST_STATEMENTS = 100_000  # of the constructors of one layer; loops in loops multiply
_MOST_LAYERS = 32  # readings of one layer, by the branches of its constructors that nothing decides
_MOST_TURNS = 8  # turns of a constructor's loop that are read one by one; layers of one kind are read once


def layers_of(base: CodeBase, numbers: Mapping[str, int], ranks: Mapping[str, int]) -> list[Module]:
    """The decoder layers: classes called so, or listed as `layers`, that are no part of another one.

    A layer whose constructors make one module or another (experts or a dense MLP) is there once for each.
    """
    listed = {name for each in base.classes.values() for name in _listed_layers(each)}
    endings = tuple(conventions()["classes"]["block"])
    named = [each for each in base.classes.values() if each.name.endswith(endings)]
    chosen = [base.classes[name] for name in listed if name in base.classes] or named
    owners = [each for each in chosen if base.method(each, "forward")]
    return [layer for owner in owners for layer in _readings(base, numbers, ranks, owner)]


def _readings(
    base: CodeBase, numbers: Mapping[str, int], ranks: Mapping[str, int], owner: CodeClass
) -> list[Module]:
    """The layer for each choice of the arms that config.json does not decide and that make modules."""
    made: list[Module] = []
    waiting: list[dict[int, int]] = [{}]
    while waiting:
        choices = waiting.pop()
        builder = _Builder(base, numbers, ranks, choices)
        layer = builder.module("", owner, {}, 0)
        if builder.open is None:
            made.append(layer)
        elif len(made) + len(waiting) >= _MOST_LAYERS:
            base.notes.append(f"{owner.name} is made in too many ways that config.json does not decide")
            return []
        else:
            waiting += [{**choices, builder.open: arm} for arm in (1, 0)]
    return made


def _listed_layers(owner: CodeClass) -> Iterator[str]:
    """Names of the classes that are made for self.layers."""
    for node in ast.walk(owner.node):
        if isinstance(node, ast.Assign) and any("layers" in ast.unparse(target) for target in node.targets):
            for call in ast.walk(node.value):
                if isinstance(call, ast.Call):
                    yield dotted(call.func).split(".")[-1]


class _Builder:
    """Reads constructors into modules, by the arms chosen for branches that nothing decides.

    `open` is the first such branch for which no arm was chosen.
    """

    def __init__(
        self,
        base: CodeBase,
        numbers: Mapping[str, int],
        ranks: Mapping[str, int],
        choices: Mapping[int, int],
    ) -> None:
        self._base, self._numbers, self._ranks, self._choices = base, numbers, ranks, choices
        self.open: int | None = None
        self._count = 0
        self._read = 0

    def reads_on(self) -> bool:
        """Count a statement or expression; whether it is still to be read."""
        self._read += 1
        return self._read <= _MOST_STATEMENTS

    def arm(self, node: ast.AST) -> int:
        """Which arm of an undecided branch is read."""
        if id(node) not in self._choices and self.open is None:
            self.open = id(node)
        return self._choices.get(id(node), 0)

    def makes(self, node: ast.AST) -> bool:
        """Whether something inside makes a module or a layer with weights."""
        return any(
            isinstance(each, ast.Call)
            and ((name := dotted(each.func).split(".")[-1]) in self._base.classes or is_layer(name))
            for each in ast.walk(node)
        )

    def module(self, path: str, owner: CodeClass, names: dict[str, Any], depth: int) -> Module:
        made = Module(path, owner)
        self._run(made, owner, names, depth)
        return made

    def _run(self, made: Module, owner: CodeClass, names: dict[str, Any], depth: int) -> None:
        found = self._base.method(owner, "__init__")
        self._count += 1
        if found is None or depth > _DEEPEST or self._count > _MOST_MODULES:
            return
        where, init = found
        scope = Scope(self._numbers, self._ranks, made.attributes, dict(names))
        for argument, default in _defaults(init):
            scope.names.setdefault(argument, _plain(scope.value(default)))
        _Constructor(self, made, where, scope, depth).block(init.body)

    def inherited(self, made: Module, owner: CodeClass, call: ast.Call, scope: Scope, depth: int) -> None:
        """super().__init__(...): the constructor of the base in the files, on the same module."""
        for name in owner.bases:
            other = self._base.classes.get(name)
            found = self._base.method(other, "__init__") if other else None
            if other is not None and found is not None and other is not owner:
                self._run(made, other, _bound(found[1], call, scope), depth + 1)
                return

    def made_by(self, node: ast.expr, path: str, where: CodeClass, scope: Scope, depth: int) -> Any:
        """What an expression makes: Module, Leaf, list of them; None for anything else."""
        if not self.reads_on():
            return None
        if isinstance(node, ast.IfExp):
            test = scope.value(node.test)
            if test is UNKNOWN:
                if not self.makes(node):
                    return None
                test = self.arm(node) == 0
            return self.made_by(node.body if test else node.orelse, path, where, scope, depth)
        if not isinstance(node, ast.Call):
            return None
        name = dotted(node.func).split(".")[-1]
        if name == "ModuleList" and node.args:
            return self._listed(node.args[0], path, where, scope, depth)
        owner = self._base.classes.get(name)
        if owner is not None:
            found = self._base.method(owner, "__init__")
            names = _bound(found[1], node, scope) if found else {}
            return self.module(path, owner, names, depth + 1)
        return leaf(name, node, path, where, scope)

    def _listed(self, node: ast.expr, path: str, where: CodeClass, scope: Scope, depth: int) -> Any:
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            turns = turns_of(node.generators[0].iter, scope)
            made = []
            for turn in [UNKNOWN] if turns is None else turns:
                inner = Scope(scope.numbers, scope.ranks, scope.attributes, dict(scope.names))
                if isinstance(node.generators[0].target, ast.Name):
                    inner.names[node.generators[0].target.id] = turn
                at = "*" if turns is None else turn
                made.append(self.made_by(node.elt, f"{path}[{at}]", where, inner, depth))
            return made
        if isinstance(node, ast.List):
            return [
                self.made_by(each, f"{path}[{at}]", where, scope, depth) for at, each in enumerate(node.elts)
            ]
        if isinstance(node, ast.Name) and isinstance(scope.names.get(node.id), list):
            return _moved(scope.names[node.id], path)
        return None


class _Constructor:
    """One __init__, statement by statement; of an undecided branch without modules both arms are read."""

    def __init__(self, builder: _Builder, made: Module, where: CodeClass, scope: Scope, depth: int) -> None:
        self._builder, self._made, self._where = builder, made, where
        self._scope, self._depth = scope, depth
        self._undecided = 0

    def block(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            if self._builder.reads_on():
                self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.If):
            test = self._scope.value(node.test)
            if test is UNKNOWN and self._builder.makes(node):
                test = self._builder.arm(node) == 0
            if test is not UNKNOWN:
                self.block(node.body if test else node.orelse)
                return
            self._undecided += 1
            self.block(node.body)
            self.block(node.orelse)
            self._undecided -= 1
        elif isinstance(node, ast.For):
            turns = turns_of(node.iter, self._scope)
            for turn in [UNKNOWN] if turns is None else turns:
                if isinstance(node.target, ast.Name):
                    self._scope.names[node.target.id] = turn
                self.block(node.body)
        elif isinstance(node, ast.With | ast.Try):
            self.block(node.body)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._assign(target, node.value)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self._call(node.value)

    def _call(self, call: ast.Call) -> None:
        name = dotted(call.func)
        if name.endswith(".__init__") and isinstance(call.func, ast.Attribute):
            self._builder.inherited(self._made, self._where, call, self._scope, self._depth)
        elif name.endswith(".append") and len(call.args) == 1:
            holder = name.removesuffix(".append")
            own = holder.removeprefix("self.")
            known = self._scope.names.get(holder) if own == holder else self._made.children.get(own)
            if isinstance(known, list):
                path = f"{own}[{len(known)}]"
                known.append(self._make(call.args[0], path if own == holder else self._path(path)))

    def _path(self, name: str) -> str:
        return f"{self._made.path}.{name}" if self._made.path else name

    def _make(self, node: ast.expr, path: str) -> Any:
        return self._builder.made_by(node, path, self._where, self._scope, self._depth)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple):
            many = value.elts if isinstance(value, ast.Tuple) else [None] * len(target.elts)
            for each, part in zip(target.elts, many, strict=False):
                if part is not None:
                    self._assign(each, part)
                elif isinstance(each, ast.Name):
                    self._scope.names[each.id] = UNKNOWN
        elif isinstance(target, ast.Name):
            empty = isinstance(value, ast.List) and not value.elts
            self._scope.names[target.id] = [] if empty else self._told(target.id, value)
        elif isinstance(target, ast.Attribute) and dotted(target.value) == "self":
            self._attribute(target.attr, value)

    def _attribute(self, name: str, value: ast.expr) -> None:
        own = self._where.methods
        if isinstance(value, ast.Attribute) and dotted(value.value) == "self" and value.attr in own:
            known = self._made.aliases.setdefault(name, [])
            self._made.aliases[name] = [*known, value.attr] if self._undecided else [value.attr]
            return
        made = self._make(value, self._path(name))
        if made is not None:
            self._made.children[name] = made
            return
        if isinstance(value, ast.Call):
            self._made.attributes[f"{name}()"] = dotted(value.func).split(".")[-1]
        self._made.attributes[name] = self._told(name, value)

    def _told(self, name: str, value: ast.expr) -> Any:
        """The value, unless the other arm of an undecided branch says another."""
        found = self._scope.value(value)
        before = self._made.attributes.get(name, found)
        return found if not self._undecided or before == found else UNKNOWN


def turns_of(node: ast.expr, scope: Scope) -> list[int] | None:
    """The numbers of a range that is known and short; None for any other loop."""
    if not (isinstance(node, ast.Call) and dotted(node.func) == "range" and 1 <= len(node.args) <= 2):
        return None
    bounds = [scope.value(each) for each in node.args]
    if not all(isinstance(each, int) for each in bounds):
        return None
    turns = range(*bounds)
    return list(turns) if len(turns) <= _MOST_TURNS else None


def _moved(made: list[Any], path: str) -> list[Any]:
    """Modules that were made for a local list, at the path of the attribute that takes it."""
    return [_relocated(each, _first(each), f"{path}[{at}]") for at, each in enumerate(made)]


def _first(made: Any) -> str:
    if isinstance(made, Module):
        return made.path
    return made.weights[0].path.removesuffix(".weight") if isinstance(made, Leaf) and made.weights else ""


def _relocated(made: Any, old: str, new: str) -> Any:
    if isinstance(made, list):
        return [_relocated(each, old, new) for each in made]
    if isinstance(made, Leaf):
        return Leaf(tuple(replace(each, path=new + each.path.removeprefix(old)) for each in made.weights))
    if isinstance(made, Module):
        made.path = new + made.path.removeprefix(old)
        made.children = {name: _relocated(each, old, new) for name, each in made.children.items()}
    return made


def _defaults(init: Definition) -> Iterator[tuple[str, ast.expr | None]]:
    arguments = [*init.args.posonlyargs, *init.args.args]
    missing = len(arguments) - len(init.args.defaults)
    for argument, default in zip(arguments, [*[None] * missing, *init.args.defaults], strict=True):
        if argument.arg not in ("self", *weight_rules()["config"]["names"]):
            yield argument.arg, default
    for argument, default in zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True):
        if argument.arg not in weight_rules()["config"]["names"]:
            yield argument.arg, default


def _plain(value: Any) -> Any:
    """A default as a value: None may be replaced by the caller, so it says nothing."""
    return UNKNOWN if value is None else value


def _bound(init: Definition, call: ast.Call, scope: Scope) -> dict[str, Any]:
    """Arguments of a constructor call, evaluated where it is called."""
    arguments = [each.arg for each in (*init.args.posonlyargs, *init.args.args)][1:]
    names = {name: scope.value(each) for name, each in zip(arguments, call.args, strict=False)}
    names |= {each.arg: scope.value(each.value) for each in call.keywords if each.arg}
    configs = weight_rules()["config"]["names"]
    return {name: CONFIG if name in configs and value is UNKNOWN else value for name, value in names.items()}
