"""What the repository-wide tests share: the files of the project, parsed."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The rooms in the direction in which imports may go: each may use what stands after it.
ROOMS = ("cli", "reports", "analyzer", "roofline", "ingest")
FOUNDATION = ("errors", "units", "__init__")


@functools.cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a source file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def product_files() -> list[Path]:
    """Every Python file that is shipped."""
    top = list(ROOT.glob("*.py"))
    rooms = [path for room in (*ROOMS, "sample_profiles") for path in (ROOT / room).rglob("*.py")]
    return sorted(top + rooms)


def all_files() -> list[Path]:
    """Every Python file of the repository, tests and tools included."""
    others = [path for folder in ("tests", "docs", "bench") for path in (ROOT / folder).rglob("*.py")]
    return sorted({*product_files(), *others})


def name_of(path: Path) -> str:
    """The file as messages name it."""
    return path.relative_to(ROOT).as_posix()
