"""A hostile export from end to end: shown harmlessly in every form, its links and its size not believed."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from npu_roofline.sample_profiles.exporter import OUTPUT
from npu_roofline.sample_profiles.generate import write_samples

from tests.accidents.processes import Place
from tests.reports import hostile
from tests.reports.test_hostile import elements

NAMES = [text for name, text in hostile.EVERY.items() if name not in ("surrogate", "lines", "long")]
FOLDER = "<b>\x1b[31m\u202e=cmd_ascend_pt"
RUN = hostile.SCRIPT + hostile.TERMINAL
COMMANDS = (
    ("summary", "--by", "type"),
    ("summary", "--by", "rank"),
    ("hotspots",),
    ("candidates",),
    ("runs", "show", RUN),
    ("runs", "list"),
    ("query", "SELECT name, type, input_shapes FROM kernels JOIN signatures USING (signature_id)"),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Path]:
    """A database with a capture whose names, types, shapes and folder are hostile, and the profile."""
    home = tmp_path_factory.mktemp("hostile")
    profile = home / FOLDER
    shutil.move(write_samples(home / "profiles")["dense_decode"], profile)
    table = profile / OUTPUT / "kernel_details.csv"
    rows = list(csv.reader(io.StringIO(table.read_text(), newline="")))
    names = rows[0]
    for number, row in enumerate(rows[1:]):
        row[names.index("Name")] = NAMES[number % len(NAMES)]
        if number % 5 == 0:
            row[names.index("Type")] = NAMES[number % len(NAMES)]
            row[names.index("Input Shapes")] = NAMES[(number + 1) % len(NAMES)]
    rows[1][names.index("Name")] = rows[2][names.index("Type")] = "A" * 900_000
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    table.write_text(buffer.getvalue())
    made = Place(home / "runs.duckdb", home / "scratch")
    assert made.run("ingest", str(profile), "--run", RUN)[0] == 0
    return made, profile


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("form", ["table", "md", "csv", "json"])
def test_every_command_shows_them_harmlessly(
    place: tuple[Place, Path], command: tuple[str, ...], form: str
) -> None:
    """No control or bidi character reaches a terminal, no cell of a CSV is a formula, JSON stays JSON."""
    code, out, err = place[0].run(*command, "--format", form)
    assert code == 0, err
    assert len(out) < (4_000_000 if form == "json" or command[0] == "query" else 300_000)
    for text in (out, err):
        assert all(each == "\n" or each.isprintable() for each in text.replace("\r\n", "\n"))
    if form == "csv":
        cells = [cell for row in csv.reader(io.StringIO(out, newline="")) for cell in row]
        assert not [cell for cell in cells if cell.lstrip().startswith(("=", "@"))]
    if form == "json":
        json.loads(out)
    if form == "md":
        assert not re.search(r"(?<!\\)<[a-z/!]", out.removeprefix("<!-- npu-roofline"))


def test_the_page_and_the_trace_act_on_none_of_them(place: tuple[Place, Path], tmp_path: Path) -> None:
    """The page has the scripts and the handlers of any page; the trace is ASCII."""
    page, trace = tmp_path / "r.html", tmp_path / "t.json"
    code, _, err = place[0].run("report", "-o", str(page), "--trace", str(trace))
    assert code == 0, err
    found = elements(page.read_text(encoding="utf-8"))
    assert not [tag for tag, attributes in found if any(name.startswith("on") for name in attributes)]
    assert not [
        tag for tag, attributes in found if tag == "img" and "data:" not in (attributes.get("src") or "")
    ]
    assert all(each["ph"] for each in json.loads(trace.read_text(encoding="ascii"))["traceEvents"])


def test_ingest_names_a_hostile_folder_harmlessly(place: tuple[Place, Path], tmp_path: Path) -> None:
    """What ingest and its errors say about such a folder holds no control character either."""
    other = Place(tmp_path / "runs.duckdb", tmp_path / "scratch")
    for arguments in (("ingest", str(place[1])), ("ingest", str(place[1] / "\x1b[2Jnothing"))):
        _, out, err = other.run(*arguments)
        assert all(each == "\n" or each.isprintable() for each in out + err)


@pytest.mark.parametrize("name", ["kernel_details.csv", "trace_view.json", "ascend_pytorch_profiler.db"])
def test_a_file_that_claims_20_gb_is_refused_at_once(name: str, tmp_path: Path) -> None:
    """A true beginning, and 20 GB of which nothing is there: refused by its size on the disk, not read."""
    profile = write_samples(tmp_path / "profiles")["dense_decode"]
    table = profile / OUTPUT / "kernel_details.csv"
    claiming = table.with_name(name)
    if name.endswith(".db"):
        table.unlink()
        with sqlite3.connect(claiming) as con:
            con.execute("CREATE TABLE TASK (startNs INTEGER)")
        con.close()
    elif name.endswith(".json"):
        table.unlink()
        claiming.write_text('[{"ph": "X", "name": "x", "ts": "1.0", "dur": 1.0, "pid": 1, "tid": 1},\n')
    os.truncate(claiming, 20 * 10**9)
    code, _, err = Place(tmp_path / "runs.duckdb", tmp_path / "scratch").run("ingest", str(profile))
    assert code == 3, err
    assert f"{name} claims 18.6 GiB" in err


def test_links_out_of_the_given_folder_are_said_and_not_followed(tmp_path: Path) -> None:
    """A table, its info file and a folder that are links to elsewhere: none is read, each is named."""
    profiles = write_samples(tmp_path / "profiles")
    elsewhere = profiles["moe_decode_before"]
    profile = profiles["dense_decode"]
    info = next(profile.glob("profiler_info*.json"))
    info.unlink()
    info.symlink_to(next(elsewhere.glob("profiler_info*.json")))
    (profile / "more").symlink_to(elsewhere)
    (profile / OUTPUT / "op_statistic.csv").unlink(missing_ok=True)
    (profile / OUTPUT / "op_statistic.csv").symlink_to(elsewhere / OUTPUT / "op_statistic.csv")
    for given in (profile, profile / OUTPUT, profile / OUTPUT / "kernel_details.csv"):
        place = Place(tmp_path / f"{given.name}.duckdb", tmp_path / "scratch")
        code, out, err = place.run("ingest", str(given), "--format", "json")
        assert code == 0, err
        answer = json.loads(out)
        assert {row["kind"] for row in answer["rows"] if row["status"] == "read"} <= {
            "kernel_details",
            "step_trace_time",
            "profiler_metadata",
        }
        notes = " ".join(answer["notes"])
        assert "op_statistic.csv leads out of the given folder" in notes
        assert f"{info.name} leads out of the given folder" in notes
        assert ("/more leads out" in notes) == (given == profile)


def test_brackets_without_end_are_refused(tmp_path: Path) -> None:
    """A hundred thousand brackets in each JSON file of a profile: said, and the kernels land."""
    profile = write_samples(tmp_path / "profiles")["dense_decode"]
    for name in ("trace_view.json", "communication.json", "communication_matrix.json"):
        (profile / OUTPUT / name).write_text("[" * 100_000)
    for info in profile.glob("profiler_*.json"):
        info.write_text('{"a":' * 100_000)
    place = Place(tmp_path / "runs.duckdb", tmp_path / "scratch")
    code, out, err = place.run("ingest", str(profile), "--format", "json")
    assert code == 4, err
    assert "not valid JSON" in out
    assert "Traceback" not in err
