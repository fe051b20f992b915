"""The labelled trace: every kernel once, to the ns, under its label, and nothing in it that acts."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from npu_roofline.analyzer import trace_out
from npu_roofline.analyzer.candidates import candidates
from npu_roofline.analyzer.hotspots import hotspots
from npu_roofline.analyzer.session import open_session
from npu_roofline.analyzer.summary import summary
from npu_roofline.cli.main import run
from npu_roofline.reports.trace_json import MARK, write_trace
from npu_roofline.sample_profiles.generate import write_samples

from tests.analyzer.tiny_run import Kernel, session_of
from tests.reports import hostile


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample MoE decode (six steps), ingested."""
    home = tmp_path_factory.mktemp("trace")
    profile = write_samples(home / "profiles")["moe_decode_before"]
    assert run(["ingest", str(profile), "--run", "moe", "--db", str(home / "runs.duckdb")]) == 0
    return home / "runs.duckdb"


def traced(database: Path, file: Path, steps: str | None = None, whole: bool = True) -> list[dict[str, Any]]:
    """The events of a trace of the sample."""
    with open_session(database, steps=steps) as session:
        write_trace(session, file, whole)
    return json.loads(file.read_text())["traceEvents"]


def ns(text: str | float) -> int:
    """us of a trace as whole ns."""
    return int(Decimal(str(text)) * 1000)


def test_time_per_stream_is_that_of_the_database(database: Path, tmp_path: Path) -> None:
    """Slices of one stream sum to its kernels in ns, start at the same ns, and no kernel is missing."""
    events = traced(database, tmp_path / "t.json")
    track = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name" and e["pid"] == 1}
    slices = [e for e in events if e["ph"] == "X" and e["pid"] == 1]
    drawn: Counter[str] = Counter()
    for each in slices:
        drawn[track[each["tid"]].split(" (")[0]] += ns(each["dur"])
    with open_session(database) as session:
        rows = session.con.execute(
            "SELECT coalesce('stream ' || stream_id, 'stream not recorded'), sum(end_ns - start_ns) "
            "FROM selected_kernels GROUP BY 1"
        ).fetchall()
        starts = session.con.execute("SELECT kernel_id, start_ns FROM selected_kernels").fetchall()
    assert drawn == dict(rows)
    assert {e["args"]["kernel_id"]: ns(e["ts"]) for e in slices} == dict(starts)
    assert len(slices) == len(starts)


def test_each_slice_carries_the_label_that_hotspots_gives(database: Path, tmp_path: Path) -> None:
    """id, bound, limiter, confidence, reason and floor are those of the hotspot row; headroom is this call's.

    Kernels with a label of their own at their layer position may differ from the row over all positions, so
    those without a position are held against it.
    """
    events = traced(database, tmp_path / "t.json")
    with open_session(database) as session:
        rows = {row.id: row for row in hotspots(session).rows}
    compared = 0
    for each in events:
        args = each["args"] if each["ph"] == "X" and each["pid"] == 1 else {}
        if args.get("id") not in rows:
            continue
        row = rows[args["id"]]
        assert args["type"] == row.type
        if "floor_us" in args:
            assert args["headroom_us"] == pytest.approx(max(0.0, each["dur"] - args["floor_us"]), abs=0.002)
        if "position" not in args and args["median_us"] == round(row.median_us, 3):
            assert (args["bound"], args["limiter"], args["confidence"]) == (
                row.bound,
                row.limiter,
                row.confidence,
            )
            assert args["reason"] == row.reason
            compared += 1
    assert compared > 0


def test_windows_end_where_their_target_starts(database: Path, tmp_path: Path) -> None:
    """Each candidate has its track; each window has an arrow to a kernel that starts when the window ends."""
    events = traced(database, tmp_path / "t.json")
    with open_session(database) as session:
        proposed = [row for row in candidates(session, top=None).rows if row.status == "candidate"]
        steps = len(session.step_ids)
    windows = [e for e in events if e["ph"] == "X" and e["pid"] == 2]
    count = Counter(e["args"]["id"] for e in windows)
    assert proposed
    assert count == {
        row.id: round((row.window.occurrences_per_step or 0) * steps) for row in proposed if row.window
    }
    kernels = {e["args"]["kernel_id"]: e for e in events if e["ph"] == "X" and e["pid"] == 1}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    for number, window in enumerate(windows):
        target = kernels[window["args"]["target_kernel_id"]]
        assert ns(window["ts"]) + ns(window["dur"]) == ns(target["ts"])
        assert target["args"]["type"] == window["args"]["target"]
        assert (ends[number]["tid"], ends[number]["ts"]) == (target["tid"], target["ts"])
        assert (begins[number]["tid"], begins[number]["ts"]) == (window["tid"], window["ts"])


def test_slices_of_one_track_never_overlap(database: Path, tmp_path: Path) -> None:
    """A viewer nests or drops overlapping slices, so those of one stream that do have lanes of their own."""
    by_track: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for each in traced(database, tmp_path / "t.json"):
        if each["ph"] == "X":
            by_track[each["pid"], each["tid"]].append((ns(each["ts"]), ns(each["ts"]) + ns(each["dur"])))
    for spans in by_track.values():
        spans.sort()
        assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_overlapping_collectives_get_lanes(tmp_path: Path) -> None:
    """0-100, 10-20, 30-40 and 50-120 us without a stream: the second and third fit beside the first on one
    lane, the fourth overlaps the first only and follows them there.
    """
    spans = ((0, 100), (10, 10), (30, 10), (50, 70))
    rows = [Kernel(start, length, "HcomAllReduce", "COMMUNICATION", stream=None) for start, length in spans]
    write_trace(session_of(rows), tmp_path / "t.json", whole=True)
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    track = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name" and e["pid"] == 1}
    drawn = [track[e["tid"]] for e in events if e["ph"] == "X" and e["pid"] == 1]
    lane = "stream not recorded (overlapping, 1)"
    assert drawn == ["stream not recorded", lane, lane, lane]


def test_idle_gaps_are_those_of_the_summary(database: Path, tmp_path: Path) -> None:
    """Gaps drawn and those too short to draw sum to the idle time; steps are as long as their wall."""
    events = traced(database, tmp_path / "t.json")
    with open_session(database) as session:
        steps = summary(session).extras["steps"]
    gaps = sum(ns(e["dur"]) for e in events if e["ph"] == "X" and e["pid"] == 3)
    assert gaps == sum(ns(round(step.idle_us - step.short_gaps_us, 3)) for step in steps)
    walls = [e["dur"] for e in events if e["ph"] == "X" and e["pid"] == 4]
    assert walls == [step.wall_us for step in steps]


def test_required_bytes_return_to_zero(database: Path, tmp_path: Path) -> None:
    """The counter of required bytes ends at exactly 0, and its first value is bytes_lo over the duration."""
    events = traced(database, tmp_path / "t.json")
    counter = [e["args"]["GB/s"] for e in events if e["ph"] == "C"]
    assert counter[-1] == 0
    assert min(counter) == 0
    assert max(counter) > 0


def test_a_viewer_finds_every_event(database: Path, tmp_path: Path) -> None:
    """traceEvents is the first name (Perfetto stops at others), "ph" the last of each event (MindStudio
    Insight counts braces behind it), ts a string with ns (a number would lose them), dur a number.
    """
    events = traced(database, tmp_path / "t.json")
    assert (tmp_path / "t.json").read_bytes().startswith(MARK)
    assert all(list(each)[-1] == "ph" for each in events)
    for each in events:
        if each["ph"] in "XCsf":
            assert len(each["ts"].split(".")[1]) == 3
            assert isinstance(each.get("dur", 0.0), int | float)


def test_the_steps_that_are_drawn_are_chosen_and_said(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room for two steps: the median and the longest are drawn, and said; --steps draws all it names."""
    with open_session(database) as session:
        rows = summary(session).extras["steps"]
    monkeypatch.setattr(trace_out, "KERNELS_WITHOUT_CHOICE", rows[0].kernels * 2 + 1)
    with open_session(database) as session:
        written = write_trace(session, tmp_path / "t.json", whole=False)
    by_wall = sorted(rows, key=lambda row: (row.wall_us, row.step_id))
    assert written.steps == tuple(sorted((by_wall[(len(rows) - 1) // 2].step_id, by_wall[-1].step_id)))
    assert f"2 of {len(rows)} steps are drawn" in written.notes[0]
    assert written.notes[0] in json.loads((tmp_path / "t.json").read_text())["otherData"]["notes"]
    monkeypatch.setattr(trace_out, "KERNELS_WITHOUT_CHOICE", 10)
    with open_session(database) as session:
        first = write_trace(session, tmp_path / "t.json", whole=False)
        assert first.kernels == 10
        assert "drawn up to its first 10 kernels" in first.notes[1]
        assert write_trace(session, tmp_path / "t.json", whole=True).steps == session.step_ids


@pytest.mark.parametrize("name", [each for each in hostile.EVERY if each != "surrogate"])
def test_a_hostile_name_is_harmless(name: str, tmp_path: Path) -> None:
    """Whatever a kernel is called, the trace is ASCII JSON of whole events and bounded length."""
    text = hostile.EVERY[name] + '"ph":"X"}{'
    kernels = [Kernel(0, 10, text, extra={"name": text}), Kernel(20, 10, shapes=(text, "FLOAT", text))]
    write_trace(session_of(kernels), tmp_path / "t.json", whole=True)
    raw = (tmp_path / "t.json").read_bytes()
    assert raw.isascii()
    assert len(raw) < 20_000
    events = json.loads(raw)["traceEvents"]
    assert raw.count(b'"ph"') == len(events)
    drawn = [e for e in events if e["ph"] == "X" and e["pid"] == 1]
    assert len(drawn) == 2
    assert all(character.isprintable() for e in drawn for character in e["name"] + e["args"]["type"])


def test_the_command_writes_page_and_trace(
    database: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """report --trace writes both and says what is drawn; a file of the user's is left as it is."""
    page, trace = tmp_path / "r.html", tmp_path / "labelled.json"
    command = ["report", "--db", str(database), "-o", str(page), "--trace", str(trace)]
    assert run(command) == 0
    assert "kernels of steps 3-10" in capfd.readouterr().err
    assert run(command) == 0, "a trace of ours is replaced"
    trace.write_text('[{"name":"mine"}]')
    assert run(command) == 2
    assert trace.read_text() == '[{"name":"mine"}]'
    assert run([*command[:-1], str(tmp_path / "no" / "t.json")]) == 2
    assert run([*command[:-1], "trace.txt"]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labelled.json", "r.html"]
