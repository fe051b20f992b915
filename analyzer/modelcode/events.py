"""Model code -> classes, attributes and ordered events, by its syntax tree; nothing is imported or run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...errors import UnsupportedExport
from .conventions import conventions
from .source import parse_file
from .steps import Attribute, Event, Walker, dotted, phase_of

_OF_A_LAYER = frozenset({"attention", "mlp", "moe", "router", "block"})


@dataclass(frozen=True)
class Function:
    """A method or module-level function: its events in the order of the code."""

    name: str
    line: int
    phase: str
    events: tuple[Event, ...]


@dataclass(frozen=True)
class ModelClass:
    """One class of the model: kind by its name, attributes, functions, every name that its code mentions."""

    name: str
    kind: str
    file: str
    line: int
    bases: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    functions: tuple[Function, ...]
    words: Mapping[str, int]  # identifiers and dotted names -> first line


@dataclass
class ModelCode:
    """Everything read from the files; functions outside classes stand in a class without name per file."""

    classes: list[ModelClass] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    imports: dict[str, str] = field(default_factory=dict)  # name in the code -> module it comes from


def read_model(files: Sequence[Path]) -> ModelCode:
    """Read the classes of model files. InputMissing for a file that is not there, UnsupportedExport when
    none of
    them is Python that can be read.
    """
    code = ModelCode()
    for file in files:
        tree = parse_file(file, code.notes)
        if tree is not None:
            code.classes += _classes(tree, file.name)
            code.imports.update(_imports(tree))
    if not code.classes:
        raise UnsupportedExport(
            f"no class or function in {', '.join(str(file) for file in files)}",
            code.notes[0] if code.notes else "give the file in which the model's layers are defined",
        )
    return code


def _imports(tree: ast.Module) -> dict[str, str]:
    return {
        name.asname or name.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for name in node.names
    }


def _top_level(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Definitions of a file, those under a condition or a try as well."""
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            yield from _top_level([*node.body, *node.orelse])
        else:
            yield node


def _classes(tree: ast.Module, file: str) -> list[ModelClass]:
    top = list(_top_level(tree.body))
    found = [_class(node, file) for node in top if isinstance(node, ast.ClassDef)]
    loose = [node for node in top if isinstance(node, ast.FunctionDef)]
    if loose:
        words = {word: line for node in loose for word, line in _words(node).items()}
        functions = tuple(_function(node, {}, _serves("", words)) for node in loose)
        found.append(ModelClass("", "", file, loose[0].lineno, (), {}, functions, words))
    return found


def _class(node: ast.ClassDef, file: str) -> ModelClass:
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    attributes: dict[str, Attribute] = {}
    for each in (each for method in methods for each in _attributes(method)):
        # What one branch makes stays, although the other branch sets a placeholder or nothing.
        if not attributes.get(each.name, each).kind or each.name not in attributes:
            attributes[each.name] = each
    kind, words = by_ending(node.name, conventions()["classes"]), {node.name: node.lineno, **_words(node)}
    serves = _serves(kind, words)
    return ModelClass(
        node.name,
        kind,
        file,
        node.lineno,
        tuple(ast.unparse(base) for base in node.bases),
        attributes,
        _inherit_phases(
            tuple(_function(each, attributes, serves) for each in methods if each.name != "__init__")
        ),
        words,
    )


def _inherit_phases(functions: tuple[Function, ...]) -> tuple[Function, ...]:
    """A method that is called in one phase only runs in that phase; twice, for what it calls in turn."""
    for _ in range(2):
        called: dict[str, set[str]] = {}
        for function in functions:
            for event in function.events:
                if event.name == f"self.{event.token}":
                    called.setdefault(event.token, set()).add(event.phase)
        functions = tuple(_in_phase(each, called.get(each.name, set())) for each in functions)
    return functions


def _in_phase(function: Function, phases: set[str]) -> Function:
    if function.phase != "both" or len(phases) != 1 or phases == {"both"}:
        return function
    (phase,) = phases
    events = tuple(
        replace(event, phase=phase) if event.phase == "both" else event for event in function.events
    )
    return replace(function, phase=phase, events=events)


def by_ending(name: str, table: Mapping[str, Sequence[str]]) -> str:
    """The kind with the longest ending of the name; '' when none fits."""
    fits = [
        (len(ending), kind)
        for kind, endings in table.items()
        for ending in endings
        if name.lower().endswith(ending.lower())
    ]
    return max(fits)[1] if fits else ""


def _attributes(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Attribute]:
    named = _named_layers(method)
    for node in ast.walk(method):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            for each in names:
                if (
                    isinstance(each, ast.Attribute)
                    and isinstance(each.value, ast.Name)
                    and each.value.id == "self"
                ):
                    yield _attribute(each.attr, node.value, node.lineno, named)


def _named_layers(method: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, str]:
    """Variable -> layer, for `kind = A if encoder else B`: the one that is a layer of a framework."""
    layers = conventions()["framework"]["layers"]
    found = {}
    for node in ast.walk(method):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value
            options = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
            known = [dotted(option) for option in options if dotted(option) in layers]
            if known:
                found[node.targets[0].id] = known[0]
    return found


def _attribute(name: str, value: ast.expr, line: int, named: Mapping[str, str]) -> Attribute:
    if isinstance(value, ast.Call) and dotted(value.func).endswith("ModuleList") and value.args:
        inner = value.args[0]
        if isinstance(inner, ast.ListComp | ast.GeneratorExp):
            value = inner.elt
        elif isinstance(inner, ast.List) and inner.elts:
            value = inner.elts[0]
    constructor, arguments = "", ()
    if isinstance(value, ast.Call):
        constructor = named.get(dotted(value.func), dotted(value.func))
        texts = [ast.unparse(each) for each in value.args]
        texts += [f"{each.arg}={ast.unparse(each.value)}" for each in value.keywords]
        arguments = tuple(texts)
    elif isinstance(value, ast.Subscript):
        constructor = dotted(value.value)  # ACT2FN[config.hidden_act]
    tables = conventions()
    last = constructor.split(".")[-1]
    kind = by_ending(last, tables["constructors"]) if constructor else ""
    kind = kind or ("activation" if constructor == "ACT2FN" else "")
    if last not in tables["framework"]["placeholders"] and not isinstance(value, ast.Constant):
        kind = kind or next((k for k, names in tables["attributes"].items() if name in names), "")
    return Attribute(name, constructor, kind, line, arguments)


def _words(node: ast.AST) -> dict[str, int]:
    """Names, attributes, keywords (`norm_type` and `norm_type=0`) and short texts, with their first line."""
    found: dict[str, int] = {}
    for each in ast.walk(node):
        line = getattr(each, "lineno", 0)
        if isinstance(each, ast.Name):
            found.setdefault(each.id, line)
        elif isinstance(each, ast.Attribute):
            found.setdefault(each.attr, line)
            found.setdefault(dotted(each), line)
        elif isinstance(each, ast.arg):
            found.setdefault(each.arg, line)
        elif isinstance(each, ast.keyword) and each.arg:
            found.setdefault(each.arg, each.value.lineno)
            if isinstance(each.value, ast.Constant) and isinstance(each.value.value, int):
                found.setdefault(f"{each.arg}={each.value.value}", each.value.lineno)
        elif isinstance(each, ast.Constant) and isinstance(each.value, str) and len(each.value) < 40:
            found.setdefault(each.value, line)
    return found


def _serves(kind: str, words: Iterable[str]) -> bool:
    """Whether `decode` in the name of a function is a phase: a codec of images or sound decodes as well."""
    return kind in _OF_A_LAYER or any("prefill" in word.lower() for word in words)


def _function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, attributes: Mapping[str, Attribute], serves: bool
) -> Function:
    phase = phase_of(node.name) if serves else "both"
    walker = Walker(attributes)
    walker.block(node.body, phase)
    return Function(node.name, node.lineno, phase, tuple(walker.events))
