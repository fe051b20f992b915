"""The first look at a text export: is it one, what is its header, what are its bytes."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputMissing, NpuRooflineError, UnsupportedExport
from ..units import format_bytes
from .options import DEFAULTS, IngestOptions

_CHUNK = 1 << 20
_BLOCK = 512  # bytes in a unit of st_blocks
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LFS_POINTER = b"version https://git-lfs"
_EXPORT_AGAIN = "export the profile again as text (CSV)"


@dataclass(frozen=True)
class Fingerprint:
    """What a file is by its bytes; `lines` counts line ends, and a last line without one."""

    sha256: str
    bytes: int
    lines: int
    has_nul: bool


def read_header(path: Path, options: IngestOptions = DEFAULTS) -> list[str]:
    """The header fields of a CSV file.

    Raises InputMissing when the file cannot be opened, UnsupportedExport when it is empty, binary, UTF-16,
    not UTF-8, not separated by commas, or has no header that ends within the limit.
    """
    head = _first_line(path, options.header_limit_bytes)
    text = _decoded(path, head, options.header_limit_bytes)
    try:
        fields = next(csv.reader((text,), strict=True), [])
    except csv.Error as error:
        raise UnsupportedExport(f"{path}: the header cannot be read: {error}", _EXPORT_AGAIN) from error
    if len(fields) == 1:
        for separator, name in ((";", "semicolons"), ("\t", "tabs")):
            if separator in text:
                raise UnsupportedExport(f"{path}: fields are separated by {name}, not commas", _EXPORT_AGAIN)
    return fields


def first_fields(path: Path) -> list[str]:
    """The header fields, or nothing when the file is no CSV: for recognising a file that was renamed."""
    try:
        return read_header(path)
    except NpuRooflineError:
        return []


def fingerprint(path: Path) -> Fingerprint:
    """Hash the bytes and count the lines of a file, in constant memory."""
    digest = hashlib.sha256()
    size = lines = 0
    has_nul, last = False, b""
    with _opened(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            lines += chunk.count(b"\n")
            has_nul = has_nul or b"\0" in chunk
            last = chunk[-1:]
    if last not in (b"\n", b""):
        lines += 1
    return Fingerprint(digest.hexdigest(), size, lines, has_nul)


@contextmanager
def unchanged(paths: Sequence[Path]) -> Iterator[None]:
    """Read files inside of it: one that grows, is replaced or vanishes meanwhile was not read as it is.

    Raises UnsupportedExport, which names it, at the end or in place of what the change led to.
    """
    before = [_state(path) for path in paths]
    try:
        yield
    except Exception as error:
        _refuse_changed(paths, before, error)
        raise
    _refuse_changed(paths, before, None)


def refuse_hollow(paths: Sequence[Path], options: IngestOptions = DEFAULTS) -> None:
    """Refuse a file that claims a size of which next to nothing is on the disk: a broken copy, or a trap.

    Reading gigabytes of nothing takes minutes. Raises UnsupportedExport, which names both sizes.
    """
    for path in paths:
        try:
            found = path.stat()
        except OSError:
            continue  # reading it says what is wrong
        there = getattr(found, "st_blocks", None)
        if there is None or found.st_size < options.hollow_file_bytes:
            continue
        if there * _BLOCK < found.st_size * options.hollow_share:
            claimed, on_disk = format_bytes(found.st_size), format_bytes(there * _BLOCK)
            raise UnsupportedExport(
                f"{path} claims {claimed}, of which {on_disk} are there",
                "copy it again: what is missing reads as zeros",
            )


def _refuse_changed(
    paths: Sequence[Path], before: Sequence[tuple[int, ...] | None], error: Exception | None
) -> None:
    for path, state in zip(paths, before, strict=True):
        now = _state(path)
        if now != state:
            what = "vanished" if now is None else "changed"
            raise UnsupportedExport(
                f"{path} {what} while it was read", "wait until the profiler has written it, and ingest again"
            ) from error


def _state(path: Path) -> tuple[int, ...] | None:
    """Size, time of change and identity of a file; None when it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def _first_line(path: Path, limit: int) -> bytes:
    with _opened(path) as file:
        head = file.readline(limit)
    if not head:
        raise UnsupportedExport(f"{path} is empty", "the profiler did not finish writing it; record again")
    return head


def _opened(path: Path):
    """The file opened for bytes; what stands in the way is said in the user's words."""
    try:
        return path.open("rb")
    except IsADirectoryError as error:
        raise UnsupportedExport(f"{path} is a folder, not a file", "give the folder above it") from error
    except FileNotFoundError as error:
        raise InputMissing(f"{path} is not there (any more)", "check the path") from error
    except OSError as error:
        raise InputMissing(f"{path} cannot be read: {error.strerror or error}", "check its rights") from error


def _decoded(path: Path, head: bytes, limit: int) -> str:
    """The header as text, or the reason why it is none."""
    if head.startswith(_UTF16) or (b"\0" in head and head.count(b"\0") >= len(head) // 3):
        raise UnsupportedExport(f"{path} is UTF-16 text", "save it as UTF-8")
    if b"\0" in head:
        raise UnsupportedExport(f"{path} is a binary file, not text", _EXPORT_AGAIN)
    if head.startswith(_LFS_POINTER):
        raise UnsupportedExport(
            f"{path} is a Git LFS pointer, not the file itself", "fetch it with git lfs pull"
        )
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnsupportedExport(f"{path}: the header is not UTF-8 text", "save it as UTF-8") from error
    if len(head) >= limit and not head.endswith(b"\n"):
        raise UnsupportedExport(f"{path}: the first line is longer than any header", _EXPORT_AGAIN)
    text = text.rstrip("\r\n")
    if "\r" in text:
        raise UnsupportedExport(f"{path}: lines end with CR alone", "save it with LF or CRLF line ends")
    return text
