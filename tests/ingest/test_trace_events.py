"""Traces of every form become the same rows, with every digit of their times; a second reader counts too."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from npu_roofline.ingest.options import DEFAULTS
from npu_roofline.ingest.trace_events import TraceFile, create_events, read_trace
from npu_roofline.ingest.trace_stream import TraceText

from .trace_json import BASE_NS, FORMS, LAUNCHES, MAIN, PYTHON, WHOLE, Event, span, us, write_trace

# Pieces of a few events, so that small traces have many of them.
SMALL = replace(DEFAULTS, trace_piece_bytes=400)
Read = Callable[..., tuple[TraceFile, duckdb.DuckDBPyConnection]]


@contextmanager
def reading(path: Path, options: Any = SMALL) -> Iterator[tuple[TraceFile, duckdb.DuckDBPyConnection]]:
    """The events of one file in a database in memory."""
    con = duckdb.connect()
    create_events(con)
    try:
        yield read_trace(con, 0, path, options), con
    finally:
        con.close()


def rows(path: Path, query: str, options: Any = SMALL) -> list[tuple[Any, ...]]:
    """A query on the events of one file."""
    with reading(path, options) as (_, con):
        return con.execute(query).fetchall()


KEYS = (
    "SELECT ph, name, cat, pid, tid, start_ns, end_ns, id, task_type, stream, dims, stack "
    "FROM trace_events ORDER BY ALL"
)


def expected(events: list[Event]) -> list[tuple[Any, ...]]:
    """The same by the json module and whole numbers, not by the tool."""

    def ns(event: Event) -> int | None:
        return int(event["ts"].replace(".", "")) if "ts" in event else None

    found = []
    for event in events:
        args = event.get("args", {})
        start = ns(event)
        end = None if start is None or "dur" not in event else start + round(event["dur"] * 1000)
        number = None if "id" not in event else str(event["id"])
        found.append(
            (
                *(
                    event["ph"],
                    event["name"],
                    event.get("cat"),
                    event["pid"],
                    event["tid"],
                    start,
                    end,
                    number,
                ),
                *(args.get("Task Type"), args.get("Physic Stream Id"), args.get("Input Dims")),
                args.get("Call stack"),
            )
        )
    return sorted(found, key=lambda each: tuple((part is None, part) for part in each))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("piece_bytes", [150, 400, 1 << 20])
def test_every_form_gives_the_same_events(tmp_path: Path, form: str, piece_bytes: int) -> None:
    """List, object, indented, compressed: each event once, whatever the size of the pieces."""
    options = replace(DEFAULTS, trace_piece_bytes=piece_bytes)
    with reading(write_trace(tmp_path, WHOLE, form), options) as (file, con):
        assert (file.events, file.rejected, file.notes) == (len(WHOLE), 0, [])
        assert con.execute(KEYS).fetchall() == expected(WHOLE)


def test_numbers_as_time_stamps_keep_their_nanoseconds(tmp_path: Path) -> None:
    """1736412474700003.123 is no double (the next are a quarter of a us away), and yet 123 ns arrive."""
    text = json.dumps(WHOLE)
    for event in LAUNCHES:
        text = text.replace(f'"ts": "{event["ts"]}"', f'"ts": {event["ts"]}')
    path = tmp_path / "trace_view.json"
    path.write_text(text)
    assert '"ts": "' not in text
    assert rows(path, KEYS) == expected(WHOLE)


def test_events_have_the_order_of_the_file(tmp_path: Path) -> None:
    """The number of an event is its place in the file, however many threads parse."""
    events = [span(f"op {n}", PYTHON, MAIN, n * 1000, 10, "cpu_op") for n in range(5000)]
    found = rows(write_trace(tmp_path, events), "SELECT rowid, name FROM trace_events ORDER BY rowid")
    assert found == [(n, f"op {n}") for n in range(5000)]


def test_lists_of_objects_inside_an_event_do_not_tear_it(tmp_path: Path) -> None:
    """What looks like the end of an event inside args ({"name": 1}, {"name": 2}) is none."""
    inner = [{"name": n, "ph": "X"} for n in range(60)]
    events = [span("plain", PYTHON, MAIN, 0, 1), span("nested", PYTHON, MAIN, 5, 1, items=inner), *WHOLE]
    with reading(write_trace(tmp_path, events)) as (file, con):
        assert (file.events, file.rejected) == (len(events), 0)
        assert con.execute("SELECT count(*) FROM trace_events WHERE name = 'nested'").fetchall() == [(1,)]


def test_what_follows_the_events_is_no_event(tmp_path: Path) -> None:
    """Objects behind the list of events, however much they look like events, are not read as such."""
    later = [
        {"name": f"x{n}", "ph": "X", "ts": us(BASE_NS), "dur": 1.0, "pid": 1, "tid": 1} for n in range(50)
    ]
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps({"traceEvents": WHOLE, "otherData": {"events": later}}))
    with reading(path) as (file, con):
        assert (file.events, file.rejected) == (len(WHOLE), 0)
        assert con.execute("SELECT count(*) FROM trace_events WHERE starts_with(name, 'x')").fetchall() == [
            (0,)
        ]


def test_an_archive_of_several_parts_is_read_whole(tmp_path: Path) -> None:
    """gzip files may be joined: `cat a.gz b.gz` is one text."""
    import gzip

    text = json.dumps(WHOLE).encode()
    path = tmp_path / "trace_view.json.gz"
    path.write_bytes(gzip.compress(text[:777]) + gzip.compress(text[777:]))
    assert rows(path, KEYS) == expected(WHOLE)


def test_the_hash_is_that_of_the_file(tmp_path: Path) -> None:
    """The fingerprint is SHA-256 of the bytes on disk, compressed or not."""
    import hashlib

    for form in ("list", "object", "packed"):
        path = write_trace(tmp_path / form, WHOLE, form)
        text = TraceText(path, SMALL)
        assert len(list(text.pieces())) > 3
        assert text.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        '}, {"ph": "X"',
        '"}, {"name":',
        "]",
        "[{",
        "\\",
        '\\"',
        "\r\n;",
        "\u0000",
        "=cmd|' /C calc'!A0",
        "\u202e",
    ]
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(TEXTS, TEXTS, st.integers(0, 10**9)), min_size=1, max_size=40), st.sampled_from(FORMS)
)
def test_texts_of_any_kind_survive(
    tmp_path_factory: Any, cells: list[tuple[str, str, int]], form: str
) -> None:
    """Quotes, brackets, ends of events inside names: what json.loads reads is what is in the table."""
    events = [span(name, PYTHON, MAIN, at, 1, "cpu_op", **{"Call stack": stack}) for name, stack, at in cells]
    path = write_trace(tmp_path_factory.mktemp("texts"), events, form)
    with reading(path, replace(DEFAULTS, trace_piece_bytes=120)) as (file, con):
        found = con.execute("SELECT name, stack, start_ns FROM trace_events").fetchall()
    assert (file.events, file.rejected) == (len(events), 0)
    assert Counter(found) == Counter((name, stack, BASE_NS + at) for name, stack, at in cells)
