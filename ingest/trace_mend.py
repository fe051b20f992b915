"""Damaged pieces of a trace -> the events in them that can be read, one by one.

Only pieces that DuckDB could not parse come here: nothing of them is lost but the damage itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from .trace_stream import BOUNDARY, Piece

_DECODER = json.JSONDecoder()
_BEGIN = re.compile(BOUNDARY.pattern.decode("ascii"))
# The list of events ends before the end of the file or of the object around it, or before a member of that.
_END = re.compile(r'\]\s*(?:\Z|\}|,\s*")')
_BLANK_AND_COMMA = " \t\r\n,"
# Characters that may be read in vain per character: hostile text could be read to its end from each event.
_PATIENCE = 64
# What one attempt is taken to have cost when it says nothing about that (too deeply nested).
_DEEP = 1 << 16


@dataclass
class Mended:
    """What could be read of one piece: events as JSON text and damaged places (byte, reason).

    `again` is set for a piece that was parsed before, but is the inside of an event that began earlier; `end`
    when the list of events ends in it.
    """

    piece: int
    events: list[str] = field(default_factory=list)
    places: list[tuple[int, str]] = field(default_factory=list)
    again: bool = False
    end: bool = False


def mend(pieces: Iterable[Piece], damaged: Collection[int], event_limit: int) -> Iterator[Mended]:
    """Read the events of damaged pieces, of all pieces in order, one result for each that was read.

    An event may span pieces: what is left of one is read together with the next, damaged or not, up to
    `event_limit` characters.
    """
    rest, at_byte, last = "", 0, 0
    for piece in pieces:
        if not rest and piece.number not in damaged:
            continue
        mended = Mended(piece.number, again=piece.number not in damaged)
        text = piece.text.decode("utf-8", errors="replace")
        if not rest:
            at_byte = piece.offset
        rest, last = (f"{rest},{text}" if rest else text), piece.number
        left = _read(mended, rest, at_byte, event_limit)
        at_byte += len(rest[: len(rest) - len(left)].encode())
        rest = left
        yield mended
        if mended.end:
            return
    if rest:
        mended = Mended(last)
        _read(mended, rest, at_byte, None)
        yield mended


def _read(mended: Mended, text: str, offset: int, may_wait: int | None) -> str:
    """Read events until the text ends; returns the beginning of one (up to `may_wait` long)."""
    begins = [found.start(1) for found in _BEGIN.finditer(text)]
    begins.append(len(text))
    at, counted, next_begin, patience = 0, 0, 0, _PATIENCE * len(text)
    while (at := _skip(text, at)) < len(text):
        if _END.match(text, at):
            mended.end = True
            return ""
        end, cost, broken_off = _decode(text, at)
        if end:
            mended.events.append(text[at:end])
            at = end
            continue
        if broken_off and may_wait is not None and len(text) - at < may_wait:
            return text[at:]
        while begins[next_begin] <= at:
            next_begin += 1
        patience -= cost
        resume = _resume(text, at, begins[next_begin]) if patience > 0 else len(text)
        reason = "breaks off" if broken_off and resume == len(text) else "not a readable event"
        offset, counted = offset + len(text[counted:at].encode()), at
        mended.places.append((offset, reason))
        at = resume
    return ""


def _resume(text: str, at: int, next_begin: int) -> int:
    """Where to go on: at the next event, or, where no event begins here, at what may be one before that."""
    if text[at] == "{":
        return next_begin
    brace = text.find("{", at, next_begin)
    return next_begin if brace < 0 else brace


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
