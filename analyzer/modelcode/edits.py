"""What a patch writes: the calls behind their dependencies, the switch where a module is made, imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .carried import NotTold
from .codebase import CodeBase, CodeClass, CodeFile, Definition, Module
from .sites import Insertion
from .values import weight_rules

SWITCH = "enable_prefetch"
# Places that are no statement: behind `import torch`, and behind all imports at the top of a file.
IMPORTS, BEHIND_IMPORTS = (0, 0), (0, 1)


@dataclass(frozen=True)
class Edit:
    """Lines to write behind the statement that begins at a line and column of a file, or at IMPORTS."""

    file: CodeFile
    line: int
    column: int
    text: str


def merged(insertions: Sequence[Insertion]) -> list[Insertion]:
    """One insertion per line and weight: a line that serves several calls takes the smallest size."""
    found: dict[tuple[int, int, str, tuple[str, ...]], Insertion] = {}
    for each in sorted(insertions, key=lambda each: each.order):
        key = (id(each.spot.frame.function), id(each.spot.statement), each.expression, each.guards)
        if key in found:
            old = found[key]
            found[key] = replace(
                old,
                names=(*old.names, *each.names),
                max_size=min(old.max_size, each.max_size),
                modules=old.modules | each.modules,
            )
        else:
            found[key] = each
    return list(found.values())


def check_mode(made: Insertion, mode: str) -> None:
    """Raise NotTold where a call cannot stand behind its dependency, or where the mode needs the side stream
    joined and the code has no place for that.
    """
    file, target, function = made.spot.frame.owner.file.name, made.target, made.spot.frame.function
    block = _block_alone(function, made.spot.statement, file)
    if not weight_rules()["modes"][mode]["join"]:
        return
    if target is None:
        raise NotTold(
            made.spot.place, "the side stream is to be joined behind the target, which runs in the next layer"
        )
    if isinstance(target, ast.Return):
        raise NotTold(
            f"{file}:{target.lineno}",
            "it returns what the target gives, so the side stream has no place to join: give it a name first",
        )
    if _block_alone(function, target, file) is not block:
        raise NotTold(f"{file}:{target.lineno}", "dependency and target stand in different blocks")


def _block_alone(function: Definition, statement: ast.stmt, file: str) -> list[ast.stmt] | None:
    """The block of a statement. Raises NotTold where it shares a line with another one."""
    for node in ast.walk(function):
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if not isinstance(block, list) or not any(each is statement for each in block):
                continue
            lines = {getattr(node, "lineno", 0)}
            for each in block:
                lines |= set() if each is statement else {each.lineno, each.end_lineno}
            if lines & {statement.lineno, statement.end_lineno}:
                raise NotTold(
                    f"{file}:{statement.lineno}", "it shares its line with another statement: part them first"
                )
            return block
    return None


def edits_of(insertions: Sequence[Insertion], mode: str, base: CodeBase) -> list[Edit]:
    """Every edit of a patch, one switch per class. Raises NotTold where a switch has no place."""
    rules = weight_rules()["modes"][mode]
    found: list[Edit] = []
    for number, group in enumerate(_grouped(insertions)):
        found += _calls(group, rules, f"prefetching_{number}" if number else "prefetching")
    for each in {id(made.spot.frame.module.made_of): made for made in insertions}.values():
        found += switch(each, rules, base)
    for file in {edit.file.path: edit.file for edit in found}.values():
        found += _top(file, rules, {each.text for each in found if each.file is file})
    return list(dict.fromkeys(found))


def _calls(group: Sequence[Insertion], rules: dict[str, Any], name: str) -> Iterator[Edit]:
    """The calls behind one dependency, and the joins of their stream behind the targets.

    name: of the local variable that lets both ask the same: a tensor may be another one by then.
    """
    first = group[0]
    file, test = first.spot.frame.owner.file, " and ".join((f"self.{SWITCH}", *first.guards))
    calls = [
        f"torch_npu.npu_prefetch({each.expression}, {each.spot.tensor}, {each.max_size})" for each in group
    ]
    lines = _filled(rules["issue"], calls)
    targets = {id(each.target): each.target for each in group if each.target is not None}
    if not rules["join"]:
        yield _plain_edit(file, first.spot.statement, _if(test, lines))
        return
    yield _plain_edit(file, first.spot.statement, [f"{name} = {test}", *_if(name, lines)])
    last = max(targets.values(), key=lambda each: each.lineno)
    yield _plain_edit(file, last, _if(name, rules["join"]))


def _if(test: str, lines: Sequence[str]) -> list[str]:
    return [f"if {test}:", *(f"    {line}" for line in lines)]


def _grouped(insertions: Sequence[Insertion]) -> list[list[Insertion]]:
    """Insertions behind one statement under one condition: one `if` for them."""
    groups: dict[tuple[int, tuple[str, ...]], list[Insertion]] = {}
    for each in insertions:
        groups.setdefault((id(each.spot.statement), each.guards), []).append(each)
    return list(groups.values())


def _filled(lines: Sequence[str], calls: Sequence[str]) -> list[str]:
    return [
        text.replace("{calls}", call) for text in lines for call in (calls if "{calls}" in text else [""])
    ]


def _top(file: CodeFile, rules: dict[str, Any], texts: set[str]) -> Iterator[Edit]:
    """Imports that are missing, and what the mode needs once in a file that makes calls or streams."""
    used = " ".join(texts)
    needed = [name for name in rules["imports"] if f"{name}." in used or "prefetch_stream()" in used]
    missing = [name for name in needed if name not in _bound(file)]
    if missing:
        yield Edit(file, *IMPORTS, "".join(f"import {name}\n" for name in missing))
    if "prefetch_stream()" in used and rules["top"] and "prefetch_stream" not in _bound(file):
        yield Edit(file, *BEHIND_IMPORTS, "\n\n" + "\n".join(rules["top"]) + "\n")


def _bound(file: CodeFile) -> set[str]:
    """Names that the top of a file binds, those under a condition or a try as well."""
    names: set[str] = set()
    waiting: list[ast.AST] = list(file.tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {each.asname or each.name.split(".")[0] for each in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            waiting += ast.iter_child_nodes(node)
    return names


def switch(made: Insertion, rules: dict[str, Any], base: CodeBase) -> list[Edit]:
    """The switch of the module in which a call is made, off unless the config says otherwise."""
    module = made.spot.frame.module
    owner, init = _constructor(base, module, made.spot.place)
    lines = [
        line.replace("{self}", "self") for line in rules["init"] if not _sets(owner.node, "prefetch_stream")
    ]
    for name in sorted({SWITCH, *(["prefetch_stream"] if rules["init"] else [])} & _defines(owner)):
        raise NotTold(
            f"{owner.file.name}:{owner.node.lineno}", f"{owner.name} defines {name} itself: rename it first"
        )
    if _sets(owner.node, SWITCH):
        place = _behind_switch(init)
        if place is None and (lines or not _sets(init, SWITCH)):
            raise NotTold(
                f"{owner.file.name}:{init.lineno}",
                f"{owner.name} sets {SWITCH} elsewhere than by one assignment in its __init__",
            )
        return [Edit(owner.file, *place, "\n".join(lines) + "\n")] if lines and place else []
    read = _source(init)
    if read is not None:
        anchor, text = read
        return [_plain_edit(owner.file, anchor, [f"self.{SWITCH} = {text}", *lines])]
    for outer in reversed(made.parents):
        if module.path.startswith(outer.module.path) and module.path != outer.module.path:
            return _from_outside(made, outer.module, (owner, init), rules, base)
    raise NotTold(
        f"{owner.file.name}:{init.lineno}", "no config reaches it, so the switch cannot be read there"
    )


def _from_outside(
    made: Insertion, outer: Module, inner: tuple[CodeClass, Definition], rules: dict[str, Any], base: CodeBase
) -> list[Edit]:
    """The switch set by the module outside, whose constructor is given the config."""
    owner, init = inner
    parent, outer_init = _constructor(base, outer, made.spot.place)
    read = _source(outer_init)
    name = made.spot.frame.module.path.removeprefix(outer.path).removeprefix(".")
    makers = [
        node
        for node in ast.walk(outer_init)
        if isinstance(node, ast.Assign) and any(ast.unparse(each) == f"self.{name}" for each in node.targets)
    ]
    if read is None or len(makers) != 1:
        raise NotTold(
            f"{owner.file.name}:{init.lineno}",
            f"no config reaches {owner.name}, and {parent.name} does not make it in one place with a config",
        )
    streams = [line.split(" = ")[0].replace("{self}", "self") + " = None" for line in rules["init"]]
    outside = [line.replace("{self}", f"self.{name}") for line in rules["init"]]
    return [
        _plain_edit(owner.file, _opening(init), [f"self.{SWITCH} = False", *streams]),
        _plain_edit(parent.file, makers[0], [f"self.{name}.{SWITCH} = {read[1]}", *outside]),
    ]


def _plain_edit(file: CodeFile, anchor: ast.stmt, lines: Sequence[str]) -> Edit:
    return Edit(file, anchor.lineno, anchor.col_offset, "\n".join(lines) + "\n")


def _constructor(base: CodeBase, module: Module, place: str) -> tuple[CodeClass, Definition]:
    found = base.method(module.made_of, "__init__") if module.made_of else None
    if found is None:
        raise NotTold(place, "its class has no __init__ in these files, so the switch has no place")
    return found


def _sets(code: ast.AST, name: str) -> bool:
    """Whether a class or function gives self an attribute of this name."""
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and ast.unparse(node) == f"self.{name}"
        for node in ast.walk(code)
    )


def _defines(owner: CodeClass) -> set[str]:
    """Names of the methods and properties of a class: an assignment to self would not be one of those."""
    return {node.name for node in owner.node.body if isinstance(node, Definition)}


def _behind_switch(init: Definition) -> tuple[int, int] | None:
    """The assignment that a constructor always makes."""
    for node in init.body:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        targets = (node.target,) if isinstance(node, ast.AnnAssign) and node.value else targets
        if any(ast.unparse(each) == f"self.{SWITCH}" for each in targets):
            return node.lineno, node.col_offset
    return None


def _opening(init: Definition) -> ast.stmt:
    """The call of super().__init__, or the first statement."""
    for node in init.body:
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and ".__init__" in ast.unparse(node.value)
        ):
            return node
    return init.body[0]


def _source(init: Definition) -> tuple[ast.stmt, str] | None:
    """Where and how a constructor can read the switch: the statement behind which, and the expression."""
    arguments = {each.arg for each in (*init.args.posonlyargs, *init.args.args, *init.args.kwonlyargs)}
    made = {
        target.id: node
        for node in init.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    rules = weight_rules()["config"]
    rows = [(row["name"], row["text"]) for row in rules["switch"]]
    rows += [(name, f'getattr({name}, "{SWITCH}", False)') for name in rules["names"]]
    for name, text in rows:
        if name in made:
            return made[name], text
        if name in arguments:
            return _opening(init), text
    return None


def writable(
    insertions: Sequence[Insertion], mode: str, base: CodeBase
) -> Iterator[tuple[Insertion, NotTold | None]]:
    """Each insertion, with what keeps it from being written in this mode."""
    for each in insertions:
        try:
            check_mode(each, mode)
            edits_of([each], mode, base)
        except NotTold as why:
            yield each, why
        else:
            yield each, None
