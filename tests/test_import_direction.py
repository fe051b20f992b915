"""The rooms import downwards only, and only the two upper ones speak to the user."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.repository import FOUNDATION, ROOMS, ROOT, name_of, parsed, product_files

# Libraries and calls that belong to the rooms which face the user.
FACES_THE_USER = {"typer", "rich", "plotly", "jinja2"}
NEVER_CALLED = {"eval", "exec", "compile", "__import__"}
NEVER_IMPORTED = {"pickle", "marshal", "shelve", "socket", "urllib", "http", "requests"}


def imported_modules(path: Path, tree: ast.Module) -> list[tuple[int, str]]:
    """Every module that a file imports, with its line; relative ones spelled from the package root."""
    package = name_of(path).removesuffix(".py").split("/")[:-1]
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                found.append((node.lineno, node.module or ""))
                continue
            base = package[: len(package) - (node.level - 1)]
            start = ".".join([*base, *([node.module] if node.module else [])])
            found += [(node.lineno, start or alias.name) for alias in node.names]
    return [(line, module.removeprefix("npu_roofline.")) for line, module in found]


def upward_imports(path: Path, tree: ast.Module) -> list[str]:
    """The imports of a file that go up, or from one room's foundation into a room."""
    room = name_of(path).split("/")[0]
    if room in ROOMS:
        allowed = ROOMS[ROOMS.index(room) :]
    elif room == "sample_profiles":
        allowed = ("sample_profiles",)
    elif name_of(path) == "__main__.py":
        allowed = ("cli",)
    else:
        allowed = ()
    forbidden = {*ROOMS, "sample_profiles"} - {*allowed}
    if room == "cli":
        # The demo command hands the sample profiles to the tool.
        forbidden -= {"sample_profiles"}
    return [
        f"{name_of(path)}:{line} imports {module}"
        for line, module in imported_modules(path, tree)
        if module.split(".")[0] in forbidden
    ]


def test_imports_go_down_only() -> None:
    """No file imports from a room above its own."""
    assert [found for path in product_files() for found in upward_imports(path, parsed(path))] == []


@pytest.mark.parametrize(
    ("file", "source", "expected"),
    [
        ("ingest/x.py", "from ..analyzer.layers import assign", ["ingest/x.py:1 imports analyzer.layers"]),
        ("roofline/x.py", "import npu_roofline.reports.render", ["roofline/x.py:1 imports reports.render"]),
        ("ingest/sub/x.py", "from ... import cli", ["ingest/sub/x.py:1 imports cli"]),
        ("errors.py", "def f():\n    from .ingest import store", ["errors.py:2 imports ingest"]),
        ("analyzer/x.py", "from ..ingest.store import Store\nfrom ..errors import WrongUsage", []),
    ],
)
def test_an_upward_import_is_found(file: str, source: str, expected: list[str]) -> None:
    """The check itself goes red for every way in which an upward import can be written."""
    assert upward_imports(ROOT / file, ast.parse(source)) == expected


def test_the_rooms_of_this_test_are_the_rooms_of_the_repository() -> None:
    """A new room or top-level module cannot appear without a place in the direction of imports."""
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py") if path.parent.name != "tests"}
    assert packages == {*ROOMS, "sample_profiles"}
    assert {path.stem for path in ROOT.glob("*.py")} <= {*FOUNDATION, "__main__"}


def test_only_the_upper_rooms_speak() -> None:
    """Nothing outside cli and reports prints, exits, draws or parses a command line."""
    found = []
    for path in product_files():
        if name_of(path).split("/")[0] in ("cli", "reports", "sample_profiles", "__main__.py"):
            continue
        tree = parsed(path)
        found += [
            f"{name_of(path)}:{line} imports {module}"
            for line, module in imported_modules(path, tree)
            if module.split(".")[0] in FACES_THE_USER | {"argparse"}
        ]
        found += [
            f"{name_of(path)}:{call.lineno} calls print" for call in calls_of(tree, {"print", "exit", "quit"})
        ]
    assert found == []


def test_nothing_runs_text_as_code_or_reaches_the_network() -> None:
    """No eval, exec, pickle or network library in anything that is shipped."""
    found = []
    for path in product_files():
        tree = parsed(path)
        found += [
            f"{name_of(path)}:{call.lineno} calls {ast.unparse(call.func)}"
            for call in calls_of(tree, NEVER_CALLED)
        ]
        found += [
            f"{name_of(path)}:{line} imports {module}"
            for line, module in imported_modules(path, tree)
            if module.split(".")[0] in NEVER_IMPORTED
        ]
    assert found == []


def calls_of(tree: ast.Module, names: set[str]) -> list[ast.Call]:
    """Calls of a bare name; `re.compile` is none."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    ]
