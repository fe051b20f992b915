"""Where operator documentation is read from: a wheel, an installed torch_npu, or a folder. Nothing is
imported.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import tomllib
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from ...errors import InputMissing, UnsupportedExport

_HINT = "give a torch_npu wheel, an installed torch_npu, or a folder with torch_npu/_op_plugin_docs.py in it"
# The largest member is 1 MB; more is no documentation.
_LARGEST_MEMBER = 64 * 2**20
# What zipfile raises for a damaged archive.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)


@dataclass(frozen=True)
class OperatorSource:
    """The texts of one torch_npu: docstring modules and the function list, by kind; absent ones are
    missing.
    """

    label: str  # as the user named it, or 'installed torch_npu'
    texts: Mapping[str, bytes]

    @property
    def content_hash(self) -> str:
        """SHA-256 over the texts, hex: equal for equal content wherever it lies."""
        digest = hashlib.sha256()
        for kind in sorted(self.texts):
            digest.update(kind.encode() + b"\0" + self.texts[kind] + b"\0")
        return digest.hexdigest()


@cache
def opdocs_table() -> Mapping[str, Any]:
    """opdocs.toml: members, headings, words."""
    text = resources.files("npu_roofline.analyzer.fusion").joinpath("opdocs.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def operator_source(where: Path | None) -> OperatorSource:
    """The texts of a wheel or folder; None means the torch_npu that is installed beside this tool.

    Raises InputMissing when there is nothing at the place, UnsupportedExport when no operators are in it.
    """
    if where is None:
        label, texts = "installed torch_npu", _from_folder(_installed())
    elif where.is_dir():
        label, texts = str(where), _from_folder(where)
    elif where.is_file():
        label, texts = where.name, _from_wheel(where)
    else:
        raise InputMissing(f"no wheel or folder at {where}", _HINT)
    if "docs" not in texts and "schemas" not in texts:
        raise UnsupportedExport(f"no operator documentation and no function list in {label}", _HINT)
    return OperatorSource(label, texts)


def _installed() -> Path:
    try:
        return Path(str(importlib.metadata.distribution("torch_npu").locate_file("")))
    except importlib.metadata.PackageNotFoundError as error:
        raise InputMissing(
            "torch_npu is not installed beside this tool", "name a wheel or folder: --wheel FILE"
        ) from error


def _from_folder(folder: Path) -> dict[str, bytes]:
    """Texts of site-packages, of the torch_npu folder itself, or of one that holds an unpacked wheel."""
    found = {}
    for kind, members in opdocs_table()["members"].items():
        for member in members:
            places = (folder / member, folder / member.removeprefix("torch_npu/"))
            path = next((each for each in places if each.is_file()), None)
            if path is not None:
                try:
                    _refuse_large(str(path), path.stat().st_size)
                    found[kind] = path.read_bytes()
                except OSError as error:
                    raise InputMissing(f"cannot read {path}: {error.strerror}", _HINT) from error
                break
    return found


def _from_wheel(path: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as wheel:
            sizes = {member.filename: member.file_size for member in wheel.infolist()}
            texts = {}
            for kind, members in opdocs_table()["members"].items():
                for member in (each for each in members if each in sizes):
                    _refuse_large(f"{member} in {path}", sizes[member])
                    texts[kind] = wheel.read(member)  # reads no more than the size that was just checked
            return texts
    except _DAMAGE as error:
        raise UnsupportedExport(f"{path} is no wheel that can be read: {error}", _HINT) from error


def _refuse_large(name: str, size: int) -> None:
    if size > _LARGEST_MEMBER:
        raise UnsupportedExport(
            f"{name} has {size / 2**20:,.0f} MiB unpacked; operator documentation has 1 MiB, and more than "
            f"{_LARGEST_MEMBER // 2**20} MiB is not read",
            _HINT,
        )
