"""Everything public says what it is, and every test says what it proves."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.repository import ROOT, all_files, name_of, parsed, product_files

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# A sentence has a subject and a verb; one or two words are a title.
FEWEST_WORDS = 4


def undocumented(path: Path, tree: ast.Module) -> list[str]:
    """Public modules, classes and functions without a docstring; what is nested in a function is private."""
    found = [] if ast.get_docstring(tree) or not tree.body else [f"{name_of(path)}: the module"]
    scopes: list[ast.Module | ast.ClassDef] = [tree]
    while scopes:
        for node in scopes.pop().body:
            if not isinstance(node, Documented) or node.name.startswith("_"):
                continue
            if not ast.get_docstring(node) and not overload(node):
                found.append(f"{name_of(path)}:{node.lineno} {node.name}")
            if isinstance(node, ast.ClassDef):
                scopes.append(node)
    return found


def overload(node: Documented) -> bool:
    """Whether a definition only declares a signature."""
    return any(isinstance(each, ast.Name) and each.id == "overload" for each in node.decorator_list)


def unexplained_tests(path: Path, tree: ast.Module) -> list[str]:
    """Test functions whose docstring is missing or is no sentence."""
    return [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and not is_sentence(ast.get_docstring(node))
    ]


def is_sentence(docstring: str | None) -> bool:
    """Whether the docstring begins with a sentence: a full stop, and more words than a title."""
    if not docstring:
        return False
    first = docstring.split("\n\n")[0].strip()
    return len(first.split()) >= FEWEST_WORDS and first.endswith(".")


def test_everything_public_has_a_docstring() -> None:
    """A reader of any public name finds what it is for, in all that is shipped and in the tools."""
    files = [*product_files(), *(ROOT / "docs").glob("*.py"), *(ROOT / "bench").glob("*.py")]
    assert [found for path in files for found in undocumented(path, parsed(path))] == []


def test_every_test_says_what_it_proves() -> None:
    """Each test function begins with a sentence of what it proves."""
    tests = [path for path in all_files() if path.is_relative_to(ROOT / "tests")]
    assert [found for path in tests for found in unexplained_tests(path, parsed(path))] == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""M."""\ndef f(): pass', ["x.py:2 f"]),
        ('"""M."""\nclass A:\n    """A."""\n    def m(self): pass\n    def _p(self): pass', ["x.py:4 m"]),
        ("x = 1", ["x.py: the module"]),
        ("", []),
    ],
)
def test_a_missing_docstring_is_found(source: str, expected: list[str]) -> None:
    """The check goes red for modules, functions and methods, not for private names and empty files."""
    assert undocumented(ROOT / "x.py", ast.parse(source)) == expected


@pytest.mark.parametrize("docstring", [None, "", "Sums.", "sums of all the rows"])
def test_a_title_is_no_sentence(docstring: str | None) -> None:
    """A docstring that is absent, a title, or without an end does not count as a sentence."""
    assert not is_sentence(docstring)
