"""A damaged trace loses what is damaged and nothing else; a hostile one ends with a sentence, soon."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from npu_roofline.errors import InputMissing, UnsupportedExport
from npu_roofline.ingest.options import DEFAULTS
from npu_roofline.ingest.stage import Staging

from .test_trace_events import SMALL, reading
from .trace_json import BASE_NS, LAUNCHES, MAIN, PYTHON, WHOLE, arrow, kernels_csv, span, us, write_trace

OPS = [span(f"op {n}", PYTHON, MAIN, n * 1000, 10, "cpu_op") for n in range(200)]


def damaged(folder: Path, text: str | bytes, name: str = "trace_view.json") -> Path:
    """A file with that content."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("form", ["list", "object"])
def test_a_trace_that_breaks_off_keeps_what_came_before(tmp_path: Path, share: float, form: str) -> None:
    """A profiler that was killed: every event that is whole in what is left arrives, the torn one counts."""
    text = write_trace(tmp_path, OPS, form).read_text()
    kept = text[: int(len(text) * share)]
    whole = kept.count('"cpu_op"}')
    rest = kept[kept.rindex('"cpu_op"}') + len('"cpu_op"}') :].strip(", ")
    torn = 0 if rest.startswith("]") or not rest else 1
    with reading(damaged(tmp_path, kept)) as (file, _):
        assert (file.events, file.rejected) == (whole, torn)
        assert not torn or "breaks off" in file.notes[0]


def test_one_broken_event_costs_one_event(tmp_path: Path) -> None:
    """A quote lost in the middle of 200 events: 199 arrive, and the place is named by its byte."""
    text = json.dumps(OPS)
    at = text.index('"name": "op 77"')
    broken = text[:at] + text[at:].replace('"name": "op 77"', '"name": "op 77', 1)
    with reading(damaged(tmp_path, broken)) as (file, con):
        assert (file.events, file.rejected) == (199, 1)
        missing = con.execute("SELECT count(*) FROM trace_events WHERE name = 'op 77'").fetchall()
        assert missing == [(0,)]
        begin = broken.rindex("{", 0, broken.index("op 77"))
        assert f"byte {begin:,} (not a readable event)" in file.notes[0]


@pytest.mark.parametrize("stray", ["]", "}", "[", '"', "x", "]]]", "\0"])
def test_a_stray_character_between_events_costs_at_most_one(tmp_path: Path, stray: str) -> None:
    """A bracket too many is no end of the list: behind it come events, in a list and in an object."""
    for text in (json.dumps(OPS), json.dumps({"traceEvents": OPS, "displayTimeUnit": "ns"})):
        at = text.index('{"ph": "X", "name": "op 90"')
        with reading(damaged(tmp_path, text[: at - 2] + stray + text[at - 2 :])) as (file, con):
            assert file.events >= 199
            assert file.rejected >= 1
            names = con.execute("SELECT count(DISTINCT name) FROM trace_events").fetchall()
            assert names == [(file.events,)]


def test_bytes_that_are_no_text_cost_one_event(tmp_path: Path) -> None:
    """A byte that is no UTF-8 inside a name is shown as such; the events around it are whole."""
    text = json.dumps(OPS).encode().replace(b"op 50", b"op \xff50")
    with reading(damaged(tmp_path, text)) as (file, con):
        assert (file.events, file.rejected) == (200, 0)
        names = con.execute("SELECT name FROM trace_events WHERE name LIKE 'op _50'").fetchall()
        assert ("op \ufffd50",) in names


def test_entries_that_cannot_be_believed_are_counted(tmp_path: Path) -> None:
    """Numbers among the events, a time beyond the clock, a negative duration: each has its reason."""
    odd = [
        5,
        None,
        {"ph": "X", "name": "late", "pid": 1, "tid": 1, "ts": "9" * 25, "dur": 1.0},
        {"ph": "X", "name": "back", "pid": 1, "tid": 1, "ts": us(BASE_NS), "dur": -1.0},
        {"ph": "X", "name": "endless", "pid": 1, "tid": 1, "ts": us(BASE_NS), "dur": 1e300},
        {"ph": "s", "name": "no time", "pid": 1, "tid": 1, "id": 1},
    ]
    with reading(damaged(tmp_path, json.dumps([*OPS, *odd]))) as (file, con):
        assert (file.events, file.rejected) == (200, 6)
        reasons = con.execute("SELECT reason, count(*) FROM trace_rejects GROUP BY 1 ORDER BY 1").fetchall()
        assert reasons == [("no duration", 2), ("no start time", 2), ("not an event", 2)]


def test_args_of_another_shape_are_not_measured(tmp_path: Path) -> None:
    """args may be a text, a number may be a list: the cell is NULL, the event stays."""
    events = [
        {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": us(BASE_NS), "dur": 1.0, "args": "text"},
        {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": us(BASE_NS), "dur": 1.0, "args": {"Task Id": [1]}},
        {
            "ph": "X",
            "name": "c",
            "pid": "x",
            "tid": None,
            "ts": us(BASE_NS),
            "dur": 1.0,
            "args": {"MHz": "fast"},
        },
    ]
    with reading(damaged(tmp_path, json.dumps(events))) as (file, con):
        assert (file.events, file.rejected) == (3, 0)
        assert con.execute("SELECT count(task), count(value), count(pid) FROM trace_events").fetchall() == [
            (0, 0, 2)
        ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"   \n ", "is empty"),
        (b'"text"', "neither a list nor an object"),
        (b"version https://git-lfs.github.com/spec/v1\noid x", "Git LFS pointer"),
        ("[]".encode("utf-16"), "not JSON in UTF-8"),
        (b'{"a": 1}', "no traceEvents"),
        (b"[]", "holds no events"),
        (b"[" * 200_000, "holds no events"),
        (b'{"traceEvents": [' + b'{"args":' * 100_000, "holds no events"),
    ],
)
def test_what_is_no_trace_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    """No traceback: one sentence on what the file is."""
    with pytest.raises(UnsupportedExport, match=said), reading(damaged(tmp_path, content)):
        pass


def test_events_without_end_are_refused(tmp_path: Path) -> None:
    """Text without the end of an event is not gathered in memory: the limit ends it."""
    options = replace(SMALL, trace_event_limit_bytes=5_000)
    with (
        pytest.raises(UnsupportedExport, match="no event ends within"),
        reading(damaged(tmp_path, b'[{"name": "' + b"x" * 50_000), options),
    ):
        pass


def test_a_hole_in_the_middle_ends_the_reading(tmp_path: Path) -> None:
    """Zeros where events were (a sparse file): what came before is kept, the rest is said to be left out."""
    text = json.dumps(OPS)
    options = replace(SMALL, trace_event_limit_bytes=5_000)
    with reading(damaged(tmp_path, text[:8_000] + "\0" * 200_000), options) as (file, _):
        assert file.events == text[:8_000].count('"cpu_op"}')
        assert any("the rest was left out" in note for note in file.notes)


def test_a_compressed_bomb_is_refused(tmp_path: Path) -> None:
    """A megabyte of blanks in a kilobyte: no trace packs like that."""
    options = replace(SMALL, trace_packing_limit=20)
    bomb = gzip.compress(b"[" + b" " * 2_000_000 + b"]")
    with (
        pytest.raises(UnsupportedExport, match="as no trace does"),
        reading(damaged(tmp_path, bomb, "trace_view.json.gz"), options),
    ):
        pass


@pytest.mark.parametrize("what", ["cut", "flipped"])
def test_a_damaged_archive_gives_its_beginning(tmp_path: Path, what: str) -> None:
    """What can be unpacked is read, and the end is said to be missing."""
    events = [span(f"op {n} {n * 7919 % 1000}", PYTHON, MAIN, n * 1000, 10, "cpu_op") for n in range(3000)]
    packed = bytearray(gzip.compress(json.dumps(events).encode()))
    half = len(packed) // 2
    if what == "flipped":
        packed[half : half + 40] = b"\x55" * 40
    path = damaged(tmp_path, bytes(packed[:half] if what == "cut" else packed), "trace_view.json.gz")
    with reading(path, replace(DEFAULTS, trace_piece_bytes=4_000)) as (file, _):
        assert 500 < file.events < 3000
        assert "the compressed data" in file.notes[0]


def test_equal_arrows_multiply_nothing(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """20,000 tails and heads with one number, and many tasks at one moment, are not joined each with each."""
    tail, head = (PYTHON, MAIN, 3_000), (30, 2, 50_000)
    arrows = arrow("async_npu", 1, tail, head) * 20_000
    begin = time.monotonic()
    con = staged(write_trace(tmp_path, [*WHOLE, *arrows, *LAUNCHES * 20])).con
    assert time.monotonic() - begin < 10
    assert con.execute("SELECT count(*) FROM trace_flows").fetchall()[0][0] <= 20_000 + 42
    kernels, origins = con.execute(
        "SELECT (SELECT count(*) FROM kernels), count(*) FROM kernel_origins"
    ).fetchall()[0]
    assert kernels == 2 * 21
    assert origins <= kernels


def test_a_damaged_trace_costs_no_kernel(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """Beside a kernel table, a file that is no trace is reported, and the kernels are there."""
    kernels_csv(tmp_path)
    damaged(tmp_path, b"no json at all")
    con = staged(tmp_path).con
    assert con.execute("SELECT count(*) FROM kernels").fetchall() == [(2,)]
    assert con.execute("SELECT status FROM files WHERE kind = 'trace_view'").fetchall() == [("failed",)]
    assert any(
        "the trace was not read" in note for note in con.execute("SELECT notes FROM ranks").fetchall()[0][0]
    )


def test_a_trace_that_vanished_is_named(tmp_path: Path) -> None:
    """The error names the file."""
    with (
        pytest.raises((InputMissing, FileNotFoundError), match="trace_view"),
        reading(tmp_path / "trace_view.json"),
    ):
        pass
