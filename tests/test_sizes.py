"""Files and functions stay within what a reader can hold."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.repository import ROOT, all_files, name_of, parsed

FILE_LINES = 400
FUNCTION_LINES = 60
# Written by people too: stylesheets, scripts, templates, SQL and data are read like code.
TEXT_PATTERNS = ("*/sql/*.sql", "*/templates/*")


def too_long_functions(path: Path, tree: ast.Module) -> list[str]:
    """Functions over the limit, with their length."""
    return [
        f"{name_of(path)}:{node.lineno} {node.name} has {lines} lines"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    ]


def line_count(path: Path) -> int:
    """Physical lines of a text file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def test_a_file_has_at_most_400_lines() -> None:
    """Every Python file can be read in one sitting."""
    assert [
        f"{name_of(path)}: {line_count(path)}" for path in all_files() if line_count(path) > FILE_LINES
    ] == []


def test_sql_and_templates_have_at_most_400_lines() -> None:
    """SQL, templates, styles and scripts keep to the limit of Python files."""
    files = [path for pattern in TEXT_PATTERNS for path in ROOT.glob(pattern)]
    assert files, "the patterns find nothing: the test would prove nothing"
    assert [f"{name_of(path)}: {line_count(path)}" for path in files if line_count(path) > FILE_LINES] == []


def test_a_function_has_at_most_60_lines() -> None:
    """Every function fits on a screen."""
    assert [found for path in all_files() for found in too_long_functions(path, parsed(path))] == []


def test_a_long_function_is_found() -> None:
    """The check goes red at 61 lines and not at 60, nested functions included."""
    body = "\n".join("        pass" for _ in range(59))
    just_right = ast.parse(f"class A:\n    def f(self):\n{body}")  # 1 + 59 lines
    too_long = ast.parse(f"class A:\n    def f(self):\n{body}\n        pass")  # 1 + 60 lines
    assert too_long_functions(ROOT / "x.py", just_right) == []
    assert too_long_functions(ROOT / "x.py", too_long) == ["x.py:2 f has 61 lines"]
