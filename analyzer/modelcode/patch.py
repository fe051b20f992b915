"""Edits -> a unified diff that `git apply` takes; the formatting of every other line stays as it is.

The files are read and never written. libcst is loaded here and only when a patch is asked for.
"""

from __future__ import annotations

import ast
import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .codebase import CodeFile
from .edits import BEHIND_IMPORTS, IMPORTS, Edit

_CONTEXT = 3


class CannotPatch(Exception):
    """Why a file cannot be given the edits."""


def patched(file: CodeFile, edits: Sequence[Edit]) -> tuple[str, str]:
    """The text of a file and its text with the edits. Raises CannotPatch where one has no place."""
    import libcst
    import libcst.helpers

    try:
        before = file.path.read_bytes().decode("utf-8")
        module = libcst.parse_module(before)
    except (OSError, UnicodeDecodeError) as error:
        raise CannotPatch(f"{file.name} is not UTF-8, which a patch has to be") from error
    except (libcst.ParserSyntaxError, RecursionError) as error:
        raise CannotPatch(f"{file.name} is Python that the patch writer cannot read") from error
    if module.code != before:
        raise CannotPatch(f"{file.name} would not come out as it is")
    try:
        after = _written(libcst, module, edits)
        ast.parse(after)
    except RecursionError as error:
        raise CannotPatch(f"{file.name} is nested too deeply for the patch writer") from error
    except SyntaxError as error:
        raise CannotPatch(f"{file.name}:{error.lineno}: the call cannot be written there") from error
    return before, after


def _written(libcst: Any, module: Any, edits: Sequence[Edit]) -> str:
    from libcst.metadata import MetadataWrapper, PositionProvider

    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    positions = wrapper.resolve(PositionProvider)
    waiting: dict[tuple[int, int], list[Edit]] = {}
    for edit in edits:
        waiting.setdefault((edit.line, edit.column), []).append(edit)
    imports, top = (
        [statement for edit in waiting.pop(place, []) for statement in _parsed(libcst, module, edit.text)]
        for place in (IMPORTS, BEHIND_IMPORTS)
    )

    class Writer(libcst.CSTTransformer):
        """Puts statements behind those that begin where an edit says."""

        def _body(self, original: Any, updated: Any) -> Any:
            made = []
            for old, new in zip(original.body, updated.body, strict=True):
                made.append(new)
                start = positions[old].start
                for edit in waiting.pop((start.line, start.column), []):
                    made += _parsed(libcst, module, edit.text)
            return updated.with_changes(body=made) if len(made) > len(updated.body) else updated

        def leave_IndentedBlock(self, original_node: Any, updated_node: Any) -> Any:  # noqa: N802
            return self._body(original_node, updated_node)

        def leave_Module(self, original_node: Any, updated_node: Any) -> Any:  # noqa: N802
            return self._body(original_node, updated_node)

    changed = wrapper.module.visit(Writer())
    if waiting:
        line = min(waiting)[0]
        raise CannotPatch(f"line {line} shares its line with another statement: part them first")
    for made, only in ((top, None), (imports, "torch")):
        if made:
            at = _behind_imports(libcst, changed.body, only)
            changed = changed.with_changes(body=[*changed.body[:at], *made, *changed.body[at:]])
    return changed.code


def _parsed(libcst: Any, module: Any, text: str) -> list[Any]:
    """Statements in the file's own indentation and line ends."""
    made = libcst.parse_module(text, module.config_for_parsing)
    first, *others = made.body
    # Blank lines before the first statement of a module belong to the module: here to the statement.
    return [first.with_changes(leading_lines=[*made.header, *first.leading_lines]), *others]


def _behind_imports(libcst: Any, body: Sequence[Any], package: str | None) -> int:
    """Behind the last import of those with which a file begins; behind `import package` and its parts where
    one of them is that.
    """
    at, own = 0, 0
    for number, statement in enumerate(body):
        small = statement.body if isinstance(statement, libcst.SimpleStatementLine) else ()
        if any(isinstance(each, libcst.Import | libcst.ImportFrom) for each in small):
            at = number + 1
            own = at if package and any(_imports(libcst, each, package) for each in small) else own
        elif _docstring(libcst, small):
            at = at or number + 1
        elif not isinstance(statement, libcst.If | libcst.Try):
            break
    return own or at


def _imports(libcst: Any, statement: Any, package: str) -> bool:
    """Whether it is `import package` or a part of it."""
    return isinstance(statement, libcst.Import) and any(
        (libcst.helpers.get_full_name_for_node(each.name) or "").split(".")[0] == package
        for each in statement.names
    )


def _docstring(libcst: Any, small: Sequence[Any]) -> bool:
    return (
        len(small) == 1
        and isinstance(small[0], libcst.Expr)
        and isinstance(small[0].value, libcst.SimpleString | libcst.ConcatenatedString)
    )


def diff(before: str, after: str, name: str) -> str:
    """A unified diff; lines end where git ends them, at a line feed and nowhere else."""
    lines = list(
        difflib.unified_diff(
            _lines(before), _lines(after), _quoted(f"a/{name}"), _quoted(f"b/{name}"), n=_CONTEXT
        )
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(text: str) -> list[str]:
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _quoted(name: str) -> str:
    """A path as git writes it: in quotes with escapes where it has unusual characters."""
    if all(" " < letter < "\x7f" and letter not in '"\\' for letter in name):
        return name
    if all(" " <= letter < "\x7f" and letter not in '"\\' for letter in name):
        return f"{name}\t"  # a tab ends a name with spaces
    escaped = "".join(
        chr(byte) if 0x20 <= byte < 0x7F and chr(byte) not in '"\\' else f"\\{byte:03o}"
        for byte in os.fsencode(name)  # a name that is no UTF-8 has bytes too
    )
    return f'"{escaped}"'


def name_in_patch(path: Path) -> tuple[str, Path]:
    """The file's path in a patch, and the folder in which `git apply` takes it: that of the repository, of
    the working folder, or the file's own.
    """
    real = path.resolve()
    roots = [each for each in real.parents if (each / ".git").exists()]
    here = Path.cwd()
    root = roots[0] if roots else here if here in real.parents else real.parent
    return real.relative_to(root).as_posix(), root
