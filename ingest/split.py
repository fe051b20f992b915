"""A damaged kernel table -> the rows that can be read and those that cannot, line by line in constant memory.

A kernel table has one row per line: a line is the unit that is kept or set aside, so that an open quote
cannot swallow the rows behind it.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from .cells import duration_problem, number_text, start_problem
from .columns import Header
from .options import IngestOptions

_STRAY = " \t\"'"
_CACHE_LIMIT = 100_000


@dataclass
class Split:
    """What the pass found; `unread` counts cells, by column, that are neither numbers nor "not recorded"."""

    rows_read: int = 0
    rows_kept: int = 0
    rows_rejected: int = 0
    unread: Counter[str] = field(default_factory=Counter)


class _RowRejectedError(Exception):
    """One row that is set aside, with the reason."""


def split_rows(path: Path, header: Header, kept: Path, rejected: Path, options: IngestOptions) -> Split:
    """Write the readable rows (line number first) and the rejects (line, reason, text) as CSV files."""
    split = Split()
    with ExitStack() as stack:
        source = stack.enter_context(path.open("rb"))
        good, bad = _writer(stack, kept), _writer(stack, rejected)
        good.writerow(["line", *(f"c{index}" for index in range(len(header.fields)))])
        bad.writerow(["line", "reason", "text"])
        check = _row_check(header, split.unread, options)
        for number, line, too_long in _lines(source, options.line_limit_bytes):
            if number == 1 or not line.strip():
                continue
            split.rows_read += 1
            try:
                good.writerow([number, *check(_fields(line, too_long, len(header.fields)))])
                split.rows_kept += 1
            except _RowRejectedError as reject:
                split.rows_rejected += 1
                bad.writerow([number, str(reject), _shown(line, options.reject_text_limit)])
    return split


def _writer(stack: ExitStack, path: Path) -> Any:
    """A CSV writer; with CRLF as line end it also quotes a cell that holds CR or LF alone."""
    file = stack.enter_context(path.open("w", encoding="utf-8", newline=""))
    return csv.writer(file, lineterminator="\r\n")


def _lines(source: BinaryIO, limit: int) -> Iterator[tuple[int, bytes, bool]]:
    """(1-based number, line without its end, whether it was cut at the limit)."""
    number = 0
    while line := source.readline(limit + 2):
        number += 1
        cut = len(line) > limit and not line.endswith(b"\n")
        rest = line if cut else b""
        while rest and not rest.endswith(b"\n"):
            rest = source.readline(limit)
        yield number, line.rstrip(b"\r\n"), cut


def _fields(line: bytes, too_long: bool, expected: int) -> list[str]:
    """The fields of one line."""
    if too_long:
        raise _RowRejectedError("the line is longer than any row")
    if b"\0" in line:
        raise _RowRejectedError("holds a NUL byte")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise _RowRejectedError("not valid UTF-8") from None
    try:
        fields = next(csv.reader((text,), strict=True))
    except csv.Error:
        raise _RowRejectedError("quotes are not balanced") from None
    if len(fields) != expected:
        raise _RowRejectedError(f"{len(fields)} fields instead of {expected}")
    return fields


def _row_check(
    header: Header, unread: Counter[str], options: IngestOptions
) -> Callable[[list[str]], list[str]]:
    """A function that returns a row with its numbers as plain text, or raises _RowRejectedError."""
    places = {column.name: index for index, column in enumerate(header.fields) if column is not None}
    start, duration = places["start"], places["duration_us"]
    numbers = [
        (index, column, {})
        for index, column in enumerate(header.fields)
        if column is not None and column.type != "VARCHAR"
    ]

    def check(fields: list[str]) -> list[str]:
        problem = start_problem(fields[start], options) or duration_problem(fields[duration], options)
        if problem:
            raise _RowRejectedError(problem)
        fields[start] = fields[start].strip(_STRAY)
        for index, column, seen in numbers:
            cell = fields[index]
            if cell not in seen:  # most cells repeat (0.0, N/A), and judging one is slow
                if len(seen) > _CACHE_LIMIT:
                    seen.clear()
                seen[cell] = number_text(cell, column)
            text = seen[cell]
            if text is None:
                unread[column.spellings[0]] += 1
            fields[index] = text or ""
        return fields

    return check


def _shown(line: bytes, limit: int) -> str:
    """The row as text of a readable length, for the table of rejects."""
    text = line[: 4 * limit].decode("utf-8", errors="replace").replace("\0", "\ufffd")
    return text if len(text) <= limit else text[:limit] + "…"
