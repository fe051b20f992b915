"""One file of model code as a syntax tree; nothing is imported or run."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

from ...errors import InputMissing, UnsupportedExport

_LARGEST_FILE = 8 * 2**20


def parse_file(file: Path, notes: list[str]) -> ast.Module | None:
    """The syntax tree of a file; None, and a note that says why, when it is no Python.

    Raises InputMissing when it is not there or no file, UnsupportedExport when it is too large.
    """
    try:
        if file.exists() and not file.is_file():
            raise InputMissing(f"{file} is no file", "give the path of a modeling file")
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
        notes.append(f"{file.name} could not be parsed: {error}")
        return None
