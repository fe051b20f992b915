"""Accidents and malice inside a trace: events that are none, members that are not what they should be."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from tests.fuzz.mutate import (
    NASTY,
    Mutation,
    append_itself,
    cut,
    flip_bytes,
    insert_junk,
    lose_middle,
    other_encoding,
)

VALUES: tuple[Any, ...] = (
    *NASTY,
    None,
    True,
    [],
    {},
    [[[[]]]],
    -1,
    0,
    10**40,
    1e308,
    -1e308,
    0.1,
    2**63,
    {"name": "x"},
)
Change = Callable[[list[Any], Random], None]


def _events(change: Change) -> Mutation:
    """The change as a mutation of the bytes, in either form of a trace; other text is cut."""

    def mutation(data: bytes, random: Random) -> bytes:
        try:
            document = json.loads(data)
            events = document["traceEvents"] if isinstance(document, dict) else document
            change(events, random)
            return json.dumps(document).encode()
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
            return cut(data, random)

    mutation.__name__ = change.__name__
    return mutation


def odd_members(events: list[Any], random: Random) -> None:
    """Members of some events are of another kind, gone, or there under another name."""
    for event in random.sample(events, min(len(events), random.randrange(1, 30))):
        inside = event["args"] if random.random() < 0.4 and isinstance(event.get("args"), dict) else event
        key = random.choice(sorted(inside)) if inside else "name"
        value = inside.pop(key, None)
        if random.random() < 0.8:
            inside[key if random.random() < 0.8 else key.upper()] = random.choice((*VALUES, value))


def odd_everywhere(events: list[Any], random: Random) -> None:
    """One member of every event has the same odd value."""
    key, value = random.choice(("ts", "dur", "tid", "pid", "ph", "name", "args", "id")), random.choice(VALUES)
    for event in events:
        if key in event:
            event[key] = value


def shuffle_events(events: list[Any], random: Random) -> None:
    """Events in another order, some twice, some gone."""
    random.shuffle(events)
    events[: len(events) // 3] = events[: len(events) // 6] * 2


def no_events(events: list[Any], random: Random) -> None:
    """Things between the events that are none."""
    for _ in range(random.randrange(1, 10)):
        events.insert(random.randrange(len(events) + 1), random.choice(VALUES))


def deep(events: list[Any], random: Random) -> None:
    """An event whose args are nested deeper than any reader should go."""
    node: Any = "x"
    for _ in range(random.choice((50, 400, 900))):
        node = [node] if random.random() < 0.5 else {"args": node}
    events.insert(random.randrange(len(events) + 1), {"ph": "X", "name": "deep", "args": {"a": node}})


def bomb(data: bytes, random: Random) -> bytes:
    """Brackets without end: a file that makes a recursive reader run out of stack."""
    opened = random.choice((b"[", b'{"a":', b'{"traceEvents":['))
    return random.choice((b"", data[: len(data) // 2])) + opened * random.choice((3_000, 300_000))


def long_text(events: list[Any], random: Random) -> None:
    """One name of a megabyte."""
    random.choice(events)["name"] = random.choice(("A", '"', "\\", "}{", "\u202e")) * 1_000_000


TRACE_MUTATIONS: tuple[Mutation, ...] = (
    flip_bytes,
    cut,
    lose_middle,
    insert_junk,
    append_itself,
    other_encoding,
    bomb,
    *(
        _events(change)
        for change in (odd_members, odd_members, odd_everywhere, shuffle_events, no_events, deep, long_text)
    ),
)
