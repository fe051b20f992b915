"""The bytes of a trace -> pieces of whole events, in constant memory: `[{...}, {...}]` of about a megabyte.

A trace is one JSON array of millions of events, often inside an object and often compressed. DuckDB parses
the pieces; here only the ends of the pieces are looked for, so that the cost is that of copying the bytes.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ..errors import InputMissing, UnsupportedExport
from .options import IngestOptions

_GZIP = b"\x1f\x8b"
_LFS_POINTER = b"version https://git-lfs"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BLANK = b" \t\r\n"
_EVENTS = re.compile(rb'"traceEvents"\s*:\s*\[')
_RECORD_AGAIN = "export the trace again, or leave this file out"
# Between two events. In valid JSON this never stands inside a text: a quote there would be escaped, and
# behind a closing quote no letter follows. Inside the args of an event it may; then the piece is no JSON.
BOUNDARY = re.compile(rb'\}\s*,\s*(\{)\s*"(?:ph|name|pid|tid|ts|dur|cat|id|args|bp|s)"\s*:')
# Time stamps that are numbers: a double of 1.7e15 us has steps of a quarter of a us, so they are made texts.
_NUMBER_STAMP = re.compile(rb'"ts"\s*:\s*(-?[0-9][0-9.eE+-]*)')
_STAMP = re.compile(rb'"ts"\s*:\s*(.)')
_TAIL_BYTES = 1 << 16


@dataclass(frozen=True)
class Piece:
    """Some events in a row: their text without the brackets around it, and the byte where it begins.

    `tail` is set for the last piece when what ends it is not known to be the end of the array.
    """

    number: int
    offset: int
    text: bytes
    tail: bool = False


@dataclass
class TraceText:
    """One trace file as a stream of pieces; after it was read, its hash and what was wrong with it."""

    path: Path
    options: IngestOptions
    sha256: str = ""
    file_bytes: int = 0
    text_bytes: int = 0
    problems: list[str] = field(default_factory=list)

    def pieces(self) -> Iterator[Piece]:
        """Pieces in the order of the file. A file that breaks off gives what it has, and a problem.

        Raises InputMissing when it cannot be read, UnsupportedExport when it is no trace at all.
        """
        self.problems.clear()
        try:
            with self.path.open("rb") as file:
                yield from self._framed(_Blocks(file, self))
        except OSError as error:
            raise InputMissing(
                f"{self.path} cannot be read: {error.strerror or error}", "check the file and its rights"
            ) from error

    def _framed(self, blocks: _Blocks) -> Iterator[Piece]:
        buffer, offset, in_list = self._first_event(blocks)
        number, skipped = 0, 0
        while block := blocks.read():
            cut = _last_boundary(buffer)
            if cut is None:
                buffer += block
                if len(buffer) <= self.options.trace_event_limit_bytes:
                    continue
                if not number or skipped > self.options.trace_event_limit_bytes:
                    self._give_up(number, offset)
                    self.sha256 = blocks.digest.hexdigest()  # of what was read
                    return
                # No event is that long: what is here is damage, and ends where the next event begins.
                skipped += len(buffer)
                yield Piece(number, offset, buffer, tail=True)
                number, offset, buffer = number + 1, offset + len(buffer), b""
                continue
            end, begin = cut
            skipped = 0
            yield Piece(number, offset, buffer[:end])
            number, offset, buffer = number + 1, offset + begin, buffer[begin:] + block
        closed = buffer.rstrip(_BLANK)
        if in_list and closed.endswith(b"]") and not blocks.broken:
            yield Piece(number, offset, closed[:-1])
        else:
            yield Piece(number, offset, buffer, tail=True)

    def _give_up(self, number: int, offset: int) -> None:
        limit = self.options.trace_event_limit_bytes >> 20
        if not number:
            raise UnsupportedExport(f"{self.path}: no event ends within {limit} MiB", _RECORD_AGAIN)
        self.problems.append(
            f"from byte {offset:,} on no event ends within {limit} MiB; the rest was left out"
        )

    def _first_event(self, blocks: _Blocks) -> tuple[bytes, int, bool]:
        """(what follows the opening bracket of the events, its offset, whether the file is a plain list)."""
        head = blocks.read()
        self._refuse(head)
        start = len(head) - len(head.removeprefix(b"\xef\xbb\xbf").lstrip(_BLANK))
        if head[start : start + 1] == b"[":
            return head[start + 1 :], start + 1, True
        if head[start : start + 1] != b"{":
            raise UnsupportedExport(
                f"{self.path} is no trace: it is neither a list nor an object", _RECORD_AGAIN
            )
        while (found := _EVENTS.search(head)) is None:
            block = blocks.read()
            if not block or len(head) > self.options.trace_event_limit_bytes:
                raise UnsupportedExport(f"{self.path} is no trace: it has no traceEvents", _RECORD_AGAIN)
            head += block
        return head[found.end() :], found.end(), False

    def _refuse(self, head: bytes) -> None:
        """What is no JSON text by its first bytes."""
        if not head.strip():
            raise UnsupportedExport(
                f"{self.path} is empty", "the profiler did not finish writing it; record again"
            )
        if head.startswith(_UTF16) or 3 * head[:60].count(b"\0") > len(head[:60]):
            raise UnsupportedExport(f"{self.path} is UTF-16 or binary, not JSON in UTF-8", "save it as UTF-8")
        if head.startswith(_LFS_POINTER):
            raise UnsupportedExport(
                f"{self.path} is a Git LFS pointer, not the file itself", "fetch it with git lfs pull"
            )


class _Blocks:
    """The text of a file block by block, unpacked where it is gzip; `broken` when it ends too early."""

    def __init__(self, file: BinaryIO, owner: TraceText) -> None:
        self.file, self.owner, self.options = file, owner, owner.options
        self.digest = hashlib.sha256()
        self.broken = False
        owner.file_bytes = owner.text_bytes = 0
        self.unpack = zlib.decompressobj(wbits=31) if file.peek(2)[:2] == _GZIP else None  # type: ignore[attr-defined]
        self.waiting = b""

    def read(self) -> bytes:
        """The next block of text; empty at the end, when the size and the hash are known."""
        text = self._raw() if self.unpack is None else self._unpacked()
        self.owner.text_bytes += len(text)
        if not text:
            self.owner.sha256 = self.digest.hexdigest()
        return text

    def _raw(self) -> bytes:
        raw = self.file.read(self.options.trace_piece_bytes)
        self.digest.update(raw)
        self.owner.file_bytes += len(raw)
        return raw

    def _unpacked(self) -> bytes:
        """One block out of the archive, which may consist of several; a broken one ends the text."""
        assert self.unpack is not None
        text = b""
        while not text and not self.broken:
            packed = self.waiting or self._raw()
            if self.unpack.eof:  # another member, or the end; padding behind it is none
                packed = packed.lstrip(b"\0")
                if not packed:
                    return b""
                self.unpack = zlib.decompressobj(wbits=31)
            elif not packed:
                self._break("the compressed data breaks off")
                break
            try:
                text = self.unpack.decompress(packed, self.options.trace_piece_bytes)
            except zlib.error as error:
                self._break(f"the compressed data is damaged ({error})")
            self.waiting = self.unpack.unconsumed_tail or self.unpack.unused_data
        self._refuse_bomb()
        return text

    def _break(self, why: str) -> None:
        self.broken = True
        self.owner.sha256 = self.digest.hexdigest()  # of what was read
        self.owner.problems.append(f"{why} after {self.owner.text_bytes:,} bytes of text")

    def _refuse_bomb(self) -> None:
        """Text that packs a thousandfold is one character again and again, no trace."""
        limit = self.options.trace_packing_limit
        if self.owner.text_bytes > limit * (self.owner.file_bytes + self.options.trace_piece_bytes):
            raise UnsupportedExport(
                f"{self.owner.path} unpacks to more than {limit} times its size, as no trace does",
                _RECORD_AGAIN,
            )


def _last_boundary(buffer: bytes) -> tuple[int, int] | None:
    """(end of the last event that is surely whole, begin of the next); None when there is none."""
    width = _TAIL_BYTES
    while True:
        begin = max(0, len(buffer) - width)
        found = deque(BOUNDARY.finditer(buffer, begin), maxlen=1)
        if found:
            return found[0].start() + 1, found[0].start(1)
        if begin == 0:
            return None
        width *= 8


def with_text_stamps(text: bytes) -> bytes:
    """The same events with every time stamp a text, so that no digit of it is lost."""
    if all(found is None or found[1] == b'"' for found in (_STAMP.search(text), _last_stamp(text))):
        return text
    return _NUMBER_STAMP.sub(rb'"ts":"\1"', text)


def _last_stamp(text: bytes) -> re.Match[bytes] | None:
    """A writer writes all stamps alike, and where two are merged, each its own events in a row."""
    at = text.rfind(b'"ts"')
    return None if at < 0 else _STAMP.match(text, at)
