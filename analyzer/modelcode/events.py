"""Model code -> classes, attributes and ordered events, by its syntax tree; nothing is imported or run."""

from __future__ import annotations

import ast
import tomllib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from ...errors import InputMissing, UnsupportedExport

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
_LARGEST_FILE = 8 * 2**20


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


@cache
def conventions() -> Mapping[str, Any]:
    """conventions.toml."""
    return tomllib.loads(_text("conventions.toml"))


def _text(name: str) -> str:
    return resources.files("npu_roofline.analyzer.modelcode").joinpath(name).read_text(encoding="utf-8")


def read_model(files: Sequence[Path]) -> ModelCode:
    """Read the classes of model files. InputMissing for a file that is not there, UnsupportedExport when
    none of
    them is Python that can be read.
    """
    code = ModelCode()
    for file in files:
        tree = _tree(file, code)
        if tree is not None:
            code.classes += _classes(tree, file.name)
    if not code.classes:
        raise UnsupportedExport(
            f"no class or function in {', '.join(str(file) for file in files)}",
            code.notes[0] if code.notes else "give the file in which the model's layers are defined",
        )
    return code


def _tree(file: Path, code: ModelCode) -> ast.Module | None:
    try:
        if file.stat().st_size > _LARGEST_FILE:
            raise UnsupportedExport(f"{file} is larger than any model code", "give the modeling file itself")
        source = file.read_bytes()
    except OSError as error:
        raise InputMissing(
            f"cannot read {file}: {error.strerror}", "give the path of a modeling file"
        ) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        code.notes.append(f"{file.name} could not be parsed: {error}")
        return None


def _classes(tree: ast.Module, file: str) -> list[ModelClass]:
    found = [_class(node, file) for node in tree.body if isinstance(node, ast.ClassDef)]
    loose = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if loose:
        functions = tuple(_function(node, {}) for node in loose)
        words = {word: line for node in loose for word, line in _words(node).items()}
        found.append(ModelClass("", "", file, loose[0].lineno, (), {}, functions, words))
    return found


def _class(node: ast.ClassDef, file: str) -> ModelClass:
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    attributes = {each.name: each for method in methods for each in _attributes(method)}
    return ModelClass(
        node.name,
        _by_ending(node.name, conventions()["classes"]),
        file,
        node.lineno,
        tuple(ast.unparse(base) for base in node.bases),
        attributes,
        _inherit_phases(tuple(_function(each, attributes) for each in methods if each.name != "__init__")),
        {node.name: node.lineno, **_words(node)},
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


def _by_ending(name: str, table: Mapping[str, Sequence[str]]) -> str:
    """The kind with the longest ending of the name; '' when none fits."""
    fits = [
        (len(ending), kind)
        for kind, endings in table.items()
        for ending in endings
        if name.lower().endswith(ending.lower())
    ]
    return max(fits)[1] if fits else ""


def _attributes(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Attribute]:
    for node in ast.walk(method):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            for each in names:
                if (
                    isinstance(each, ast.Attribute)
                    and isinstance(each.value, ast.Name)
                    and each.value.id == "self"
                ):
                    yield _attribute(each.attr, node)


def _attribute(name: str, node: ast.Assign) -> Attribute:
    value: ast.expr = node.value
    if isinstance(value, ast.Call) and dotted(value.func).endswith("ModuleList") and value.args:
        inner = value.args[0]
        value = inner.elt if isinstance(inner, ast.ListComp | ast.GeneratorExp) else value
    constructor, arguments = "", ()
    if isinstance(value, ast.Call):
        constructor = dotted(value.func)
        texts = [ast.unparse(each) for each in value.args]
        texts += [f"{each.arg}={ast.unparse(each.value)}" for each in value.keywords]
        arguments = tuple(texts)
    elif isinstance(value, ast.Subscript):
        constructor = dotted(value.value)  # ACT2FN[config.hidden_act]
    tables = conventions()
    kind = _by_ending(constructor.split(".")[-1], tables["constructors"]) if constructor else ""
    kind = kind or ("activation" if constructor == "ACT2FN" else "")
    kind = kind or next((k for k, names in tables["attributes"].items() if name in names), "")
    return Attribute(name, constructor, kind, node.lineno, arguments)


def dotted(node: ast.expr) -> str:
    """'torch.nn.functional.softmax', 'self.q_proj', '.transpose' for a method of an expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def _words(node: ast.AST) -> dict[str, int]:
    """Names, attributes, keywords and short texts that occur, with their first line."""
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
        elif isinstance(each, ast.Constant) and isinstance(each.value, str) and len(each.value) < 40:
            found.setdefault(each.value, line)
    return found


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, attributes: Mapping[str, Attribute]) -> Function:
    phase = _phase_of(node.name)
    walker = _Walker(attributes)
    walker.block(node.body, phase)
    return Function(node.name, node.lineno, phase, tuple(walker.events))


def _phase_of(text: str) -> str:
    words = conventions()["phases"]
    told = {phase for phase in ("prefill", "decode") if any(word in text.lower() for word in words[phase])}
    return told.pop() if len(told) == 1 else "both"


class _Walker:
    """Collects events in evaluation order, with the phase of the branch that they are in."""

    def __init__(self, attributes: Mapping[str, Attribute]) -> None:
        self.events: list[Event] = []
        self._attributes = attributes

    def block(self, body: Sequence[ast.stmt], phase: str) -> None:
        """The statements of a body."""
        for statement in body:
            self._statement(statement, phase)

    def _statement(self, node: ast.stmt, phase: str) -> None:
        if isinstance(node, ast.If):
            self._expression(node.test, phase)
            told = _phase_of(ast.unparse(node.test))
            if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not):
                told = {"prefill": "decode", "decode": "prefill"}.get(told, told)
            other = {"prefill": "decode", "decode": "prefill"}.get(told, phase)
            self.block(node.body, phase if told == "both" else told)
            self.block(node.orelse, phase if told == "both" else other)
        elif isinstance(node, ast.For):
            self._expression(node.iter, phase)
            if "expert" in ast.unparse(node.iter).lower() and _calls_anything(node.body):
                self._add("experts_loop", ast.unparse(node.iter), node.lineno, phase)
            self.block(node.body, phase)
        elif isinstance(node, ast.While | ast.With | ast.Try | ast.AsyncWith):
            for item in getattr(node, "items", ()):
                self._expression(item.context_expr, phase)
            self.block(node.body, phase)
            self.block(getattr(node, "orelse", []), phase)
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
                if isinstance(target, ast.Subscript) and "cache" in ast.unparse(target.value).lower():
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
