"""The tensor that a kernel's call gives, by its name, in the function where a prefetch would be written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from .align import Way
from .codebase import CodeBase, Definition
from .ops import Frame, Op
from .values import weight_rules


class NotTold(Exception):
    """What the code does not tell: the place at which it ends, and why."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.place, self.reason = place, reason


class AlreadyThere(NotTold):
    """The weight is prefetched by the code as it is."""


@dataclass(frozen=True)
class Spot:
    """Behind which statement of which function a call can stand, and the tensor that it depends on."""

    frame: Frame
    statement: ast.stmt
    tensor: str

    @property
    def place(self) -> str:
        """'modeling_x.py:12', the statement behind which the call stands."""
        return f"{self.frame.owner.file.name}:{self.statement.lineno}"


def spot_behind(way: Way, at: int, level: int) -> Spot:
    """Where the output of an operation has a name in the function of `level` (its index in op.frames).

    Raises NotTold where it has none there: it is not what the functions between return, or other
    operations follow before they return.
    """
    op = way.ops[at]
    last = len(op.frames) - 1
    if level == last:
        name = _named(op.statement, op.node, op.token, None)
        if name is None:
            raise NotTold(op.place, "its output has no name of its own there: assign it to one first")
        return Spot(op.frames[level], op.statement, name)
    _nothing_follows(way, at, last)
    index = _returned(op.frames[last], op.statement, op.node, op.token, op)
    for inner in range(last, level, -1):
        frame = op.frames[inner]
        _nothing_follows(way, at, inner)
        assert frame.node is not None
        assert frame.statement is not None
        if inner - 1 == level:
            name = _named(frame.statement, frame.node, "", index)
            place = f"{op.frames[level].owner.file.name}:{frame.node.lineno}"
            if name is None:
                raise NotTold(place, f"the output of {op.name} at {op.place} gets no name here")
            return Spot(op.frames[level], frame.statement, name)
        index = _returned(op.frames[inner - 1], frame.statement, frame.node, "", op, index)
    raise NotTold(op.place, "it stands in another function")


def _nothing_follows(way: Way, at: int, inner: int) -> None:
    """Raise NotTold when the function goes on computing behind the operation before it returns."""
    op = way.ops[at]
    for other in way.ops[at + 1 :]:
        if len(other.frames) <= inner or other.frames[inner] is not op.frames[inner]:
            return
        function = op.frames[inner].function.name
        raise NotTold(
            other.place,
            f"{op.name} at {op.place} is followed by {other.name or other.token} before {function} returns, "
            "so its output is not at hand where the weight is",
        )


def _returned(
    frame: Frame, statement: ast.stmt, node: ast.expr, token: str, op: Op, index: int | None = None
) -> int | None:
    """Which part of what a function returns is the output of a call in it; None = the whole."""
    file = frame.owner.file.name
    if isinstance(statement, ast.Return):
        if statement.value is not None and _same(statement.value, node):
            return index
        raise NotTold(f"{file}:{statement.lineno}", f"{op.name} is not what {frame.function.name} returns")
    name = _named(statement, node, token, index)
    after = [each for each in _returns(frame.function) if each.lineno > statement.lineno]
    if name is None or len(after) != 1:
        raise NotTold(
            f"{file}:{statement.lineno}",
            f"the output of {op.name} does not leave {frame.function.name} by one return",
        )
    for each in ast.walk(frame.function):
        if not (isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store)):
            continue
        if (statement.end_lineno or 0) < each.lineno <= after[0].lineno:
            raise NotTold(f"{file}:{each.lineno}", f"{name} is another tensor from here on")
    value = after[0].value
    if isinstance(value, ast.Tuple):
        for number, each in enumerate(value.elts):
            if isinstance(each, ast.Name) and each.id == name:
                return number
    elif isinstance(value, ast.Name) and value.id == name:
        return None
    raise NotTold(f"{file}:{after[0].lineno}", f"{frame.function.name} returns something else than {name}")


def _returns(function: Definition) -> Iterator[ast.Return]:
    """The returns of a function, not those of functions inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def _same(value: ast.expr, node: ast.expr) -> bool:
    """Whether an expression is a call's output, seen in another shape at most."""
    while value is not node:
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in weight_rules()["views"]["same"]
        ):
            value = value.func.value
        elif isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
            value = value.value
        else:
            return False
    return True


def _named(statement: ast.stmt, node: ast.expr, token: str, index: int | None) -> str | None:
    """The name that a statement gives to the output of a call, or to part `index` of it."""
    if isinstance(statement, ast.Expr) and isinstance(node, ast.Call) and statement.value is node:
        in_place = token in weight_rules()["views"]["in_place"] and node.args
        return node.args[0].id if in_place and isinstance(node.args[0], ast.Name) else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    if not _same(statement.value, node):
        return None
    target = statement.targets[0]
    if isinstance(target, ast.Tuple | ast.List):
        parts = target.elts[: (index or 0) + 1]
        if len(parts) <= (index or 0) or any(isinstance(each, ast.Starred) for each in parts):
            return None  # which part a name takes is not told
        target = parts[-1]
    elif index is not None and not isinstance(statement.value, ast.Subscript):
        return None
    return target.id if isinstance(target, ast.Name) and target.id != "_" else None


def decode_guard(base: CodeBase, spot: Spot, in_decode: bool) -> str | None:
    """The condition that a spot runs in decode only; None where the branch around it says so already.

    Raises NotTold where nothing in the function says which phase it is.
    """
    function, words = spot.frame.function, weight_rules()["phase"]
    if in_decode or _called_in_decode_only(base, spot.frame):
        return None
    arguments = {
        each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    }
    for node in (*(ast.Name(name) for name in sorted(arguments)), *ast.walk(function)):
        if not isinstance(node, ast.Name | ast.Attribute):
            continue
        text, root = ast.unparse(node), node
        while isinstance(root, ast.Attribute):
            root = root.value
        last = text.split(".")[-1]
        if not isinstance(root, ast.Name) or root.id not in (*arguments, "self"):
            continue
        if last in words["prefill"]:
            return f"not {text}"
        if last in words["decode"]:
            return text
    if spot.frame.owner.file.uses(words["token_frameworks"]):
        return f"{spot.tensor}.shape[0] < {words['tokens_below']}"
    raise NotTold(
        f"{spot.frame.owner.file.name}:{function.lineno}",
        f"nothing in {function.name} says whether it is decode: pass is_prefill to it",
    )


def _called_in_decode_only(base: CodeBase, frame: Frame) -> bool:
    """Whether the one call of the function in all files stands in a decode branch."""
    if frame.phase != "decode":
        return False
    calls = [
        node
        for file in base.files
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Attribute) and node.attr == frame.function.name
    ]
    return len(calls) == 1
