"""Damaged pieces of a trace -> the events in them that can be read, one by one.

Only pieces that DuckDB could not parse come here: nothing of them is lost but the damage itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .trace_stream import BOUNDARY, Piece

_DECODER = json.JSONDecoder()
_BEGIN = re.compile(BOUNDARY.pattern.decode("ascii"))
_BLANK_AND_COMMA = " \t\r\n,"
# Characters that may be read in vain per character: hostile text could be read to its end from each event.
_PATIENCE = 64
# What one attempt is taken to have cost when it says nothing about that (too deeply nested).
_DEEP = 1 << 16


@dataclass
class Mended:
    """What could be read: (piece, event as JSON text), the damaged places (byte, reason), and the last piece
    that holds events when the list ends before the file does.
    """

    events: list[tuple[int, str]] = field(default_factory=list)
    places: list[tuple[int, str]] = field(default_factory=list)
    end: int | None = None


def mend(pieces: Iterable[Piece], event_limit: int) -> Iterable[Mended]:
    """Read the events of damaged pieces, one result per piece; the last has `end` when the list ends there.

    An event may span neighbouring pieces, so what is left of one is read together with the next.
    """
    rest, at_byte, expected = "", 0, -1
    for piece in pieces:
        mended = Mended()
        if rest and piece.number != expected:
            _read(mended, expected - 1, rest, at_byte, None)
            rest = ""
        text = piece.text.decode("utf-8", errors="replace")
        if not rest:
            at_byte = piece.offset
        rest = f"{rest},{text}" if rest else text
        left = _read(mended, piece.number, rest, at_byte, event_limit)
        at_byte += len(rest[: len(rest) - len(left)].encode())
        rest, expected = left, piece.number + 1
        yield mended
        if mended.end is not None:
            return
    if rest:
        mended = Mended()
        _read(mended, expected - 1, rest, at_byte, None)
        yield mended


def _read(mended: Mended, number: int, text: str, offset: int, may_wait: int | None) -> str:
    """Read events until the text ends; returns the beginning of one (up to `may_wait` long)."""
    begins = [found.start(1) for found in _BEGIN.finditer(text)]
    begins.append(len(text))
    at, next_begin, patience = 0, 0, _PATIENCE * len(text)
    while (at := _skip(text, at)) < len(text):
        if text[at] == "]":
            mended.end = number
            return ""
        end, cost, broken_off = _decode(text, at)
        if end:
            mended.events.append((number, text[at:end]))
            at = end
            continue
        if broken_off and may_wait is not None and len(text) - at < may_wait:
            return text[at:]
        while begins[next_begin] <= at:
            next_begin += 1
        patience -= cost
        resume = begins[next_begin] if patience > 0 else len(text)
        reason = "breaks off" if broken_off and resume == len(text) else "not a readable event"
        mended.places.append((offset + len(text[:at].encode()), reason))
        at = resume
    return ""


def _decode(text: str, at: int) -> tuple[int, int, bool]:
    """(end of the event, or 0; characters read in vain; whether the text ended before the event did)."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        broken_off = error.msg.startswith("Unterminated") or error.pos >= len(text)
        return 0, (len(text) if broken_off else error.pos) - at + 1, broken_off
    except RecursionError:
        return 0, _DEEP, False
    return (end, 0, False) if isinstance(value, dict) else (0, end - at, False)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK_AND_COMMA:
        at += 1
    return at
