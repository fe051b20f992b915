"""Paths a user gives -> the export files there, by kind; only what is an export by its name is opened."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from ..errors import InputMissing, UnsupportedExport
from .grouping import DATABASE_KINDS, FoundFile, FoundRank, group
from .probe import first_fields
from .sqlite_source import is_sqlite

_OPPROF = re.compile(r"OPPROF_.*")
# What is read beside a kernel table that was given alone: the files that say what it is.
_BESIDE = ("info", "statistics", "host")
_NAMES_SHOWN = 8


@dataclass
class Discovery:
    """What the paths hold: ranks with their files, files of no rank, and what the user should know."""

    ranks: list[FoundRank] = field(default_factory=list)
    others: list[FoundFile] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class _Search:
    """State of one discovery: files by real path, so that overlapping paths count once."""

    files: dict[Path, FoundFile] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def add(self, path: Path, kind: str, role: str) -> None:
        """Keep a file unless the same one was found before under another name."""
        self.files.setdefault(path.resolve(), FoundFile(path, kind, role))


def discover(paths: Sequence[Path | str]) -> Discovery:
    """Find every export file under the given folders and files, grouped by rank.

    Any mix of profile folders, parents of them and single files. Symbolic links that lead out of a given
    folder are not followed, and the notes say so. Raises InputMissing when a path is not there or nothing
    was found, UnsupportedExport when what was found is no export.
    """
    if not paths:
        raise InputMissing("no path was given", "give a profile folder or a kernel table")
    search = _Search()
    for path in map(Path, paths):
        _search_path(path, search)
    if not search.files:
        raise _nothing(paths, search)
    ranks, others, notes = group(list(search.files.values()))
    return Discovery(ranks, others, [*search.notes, *search.unreadable, *notes])


def kind_of(path: Path) -> tuple[str, str] | None:
    """(kind, role) of a file by its name and folder; None when it is no export."""
    section = "opprof" if any(_OPPROF.fullmatch(part) for part in path.parent.parts) else "export"
    for kind, role, pattern in _patterns(section):
        if pattern.fullmatch(path.name):
            return kind, role
    return None


def _search_path(path: Path, search: _Search) -> None:
    try:
        if path.is_dir():
            _search_folder(path, search)
        elif path.is_file():
            _search_file(path, search)
        elif path.exists():
            raise UnsupportedExport(f"{path} is neither a file nor a folder", "give a profile folder")
        else:
            raise InputMissing(f"there is no file or folder {path}", "check the path")
    except OSError as error:
        raise InputMissing(
            f"{path} cannot be read: {error.strerror or error}", "check the permissions"
        ) from error


def _search_file(path: Path, search: _Search) -> None:
    """A file given by name: an export by its name, or by its header when it was renamed."""
    found = kind_of(path) or _kind_by_header(path)
    if found is None:
        search.unknown.append(path.name)
        return
    search.add(path, *found)
    if found[1] == "kernels":
        folder = path.resolve().parent
        _look_beside(folder, folder, _BESIDE, search)
        _look_above(folder, _BESIDE, search)


def _kind_by_header(path: Path) -> tuple[str, str] | None:
    """A renamed kernel table is recognised by its columns; a database is opened to see what it is."""
    from .columns import is_kernel_header

    if path.suffix.lower() == ".db" and is_sqlite(path):
        return DATABASE_KINDS[0], "kernels"
    if path.suffix.lower() != ".csv":
        return None
    header = first_fields(path)
    if not is_kernel_header(header):
        return None
    return ("op_summary" if "Op Name" in header else "kernel_details"), "kernels"


def _look_above(folder: Path, roles: tuple[str, ...], search: _Search) -> None:
    """Files above an ASCEND_PROFILER_OUTPUT: the profiler writes there what it was asked for."""
    if folder.name == "ASCEND_PROFILER_OUTPUT":
        _look_beside(folder.parent, folder.parent, roles, search)


def _look_beside(folder: Path, inside: Path, roles: tuple[str, ...], search: _Search) -> None:
    """Files of one folder, not of those in it, that have one of the roles."""
    for entry in sorted(folder.iterdir()):
        kind = kind_of(entry)
        if kind is None or kind[1] not in roles or _leads_out(entry, inside, search):
            continue
        if entry.is_file():
            search.add(entry, *kind)


def _leads_out(path: Path, inside: Path, search: _Search) -> bool:
    """Whether a symbolic link leads out of what the user gave; it is not followed then, and that is said."""
    if not path.is_symlink() or (target := path.resolve()).is_relative_to(inside):
        return False
    search.notes.append(f"the link {path} leads out of the given folder, to {target}; it was not followed")
    return True


def _search_folder(root: Path, search: _Search) -> None:
    def refused(error: OSError) -> None:
        search.unreadable.append(f"the folder {error.filename} cannot be read: {error.strerror}")

    inside = root.resolve()
    _look_above(inside, ("info",), search)
    for folder, folders, names in os.walk(root, onerror=refused):
        folders.sort()
        for name in folders:
            _look_at_folder(Path(folder) / name, inside, search)
        for name in sorted(names):
            _look_at_file(Path(folder) / name, inside, search)


def _look_at_folder(path: Path, inside: Path, search: _Search) -> None:
    """Links to folders are never walked: inside the tree they are found anyway, outside they are not ours."""
    if path.is_symlink():
        _leads_out(path, inside, search)
    elif (kind := kind_of(path)) and kind[1] == "kernels":
        search.notes.append(f"{path} is a folder, not a kernel table")


def _look_at_file(path: Path, inside: Path, search: _Search) -> None:
    found = kind_of(path)
    if found is None:
        search.unknown.append(path.name)
        return
    if not _leads_out(path, inside, search) and path.is_file():
        search.add(path, *found)


def _nothing(paths: Sequence[Path | str], search: _Search) -> Exception:
    """The error for paths without any export, saying what was found instead."""
    where = ", ".join(str(path) for path in paths)
    reasons = [*search.unreadable, *search.notes]
    if reasons:
        return InputMissing(
            f"no profiler export in {where}: {'; '.join(reasons)}", "check the path and its rights"
        )
    if search.unknown:
        names = ", ".join(sorted(set(search.unknown))[:_NAMES_SHOWN])
        return UnsupportedExport(
            f"no profiler export in {where}; found {names}",
            "give a profile folder, a PROF_* folder, kernel_details.csv or op_summary_*.csv",
        )
    return InputMissing(f"{where} is empty", "give the folder that the profiler wrote")


@lru_cache(maxsize=2)
def _patterns(section: str) -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    data = tomllib.loads(Path(__file__).with_name("exports.toml").read_text(encoding="utf-8"))
    return tuple((row["kind"], row["role"], re.compile(row["pattern"])) for row in data[section])
