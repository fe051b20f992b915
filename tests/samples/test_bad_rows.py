"""Damage inside a kernel table: good rows land, bad ones are set aside with the reason, or all is refused."""

from __future__ import annotations

import csv
import ctypes
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from npu_roofline.sample_profiles.generate import KERNELS, sample_texts

from tests.samples.conftest import Profiles, command_line

Rows = list[list[str]]


@pytest.fixture
def table() -> Rows:
    """Header and 30 rows of a dense decode step, undamaged."""
    lines = io.StringIO(sample_texts("dense_decode")[KERNELS], newline="")
    return list(csv.reader(lines))[:31]


def ingest(tmp_path: Path, data: bytes) -> tuple[int, dict[str, Any] | None, str]:
    """Exit code, answer (None when refused) and stderr of ingesting a file with these bytes."""
    file = tmp_path / "kernel_details.csv"
    tmp_path.mkdir(exist_ok=True)
    file.write_bytes(data)
    arguments = [
        "ingest",
        str(file),
        "--run",
        "damaged",
        "--db",
        str(tmp_path / "runs.duckdb"),
        "--format",
        "json",
    ]
    code, out, err = command_line(*arguments)
    assert "Traceback" not in err
    assert "internal error" not in err
    return code, json.loads(out) if out else None, err


def text(rows: Rows, separator: str = ",", line_end: str = "\n") -> bytes:
    """The table as a file."""
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=separator, lineterminator=line_end).writerows(rows)
    return buffer.getvalue().encode()


def counts(answer: dict[str, Any] | None) -> tuple[int, int, int]:
    """Rows read, kept and rejected."""
    assert answer is not None
    return answer["rows_read"], answer["rows_kept"], answer["rows_rejected"]


def test_the_broken_sample_is_taken_apart_row_by_row(profiles: Profiles) -> None:
    """30 rows in = 23 kept + 7 rejected; each rejected row is named by its line, with the reason."""
    code, answer = profiles.ingest("broken_rows")
    assert code == 4
    assert counts(answer) == (30, 23, 7)
    assert [reject["line"] for reject in answer["rejects"]] == [5, 9, 12, 14, 17, 20, 31]
    reasons = {reject["line"]: reject["reason"].lower() for reject in answer["rejects"]}
    assert "46" in reasons[5]
    assert "49" in reasons[9]
    assert "duration" in reasons[12]
    assert "duration" in reasons[14]
    assert "start" in reasons[17]
    assert "duration" in reasons[20]
    rows = profiles.ask("broken_rows", "hotspots")["rows"]
    assert sum(row["count"] for row in rows) == 23


@pytest.mark.parametrize(
    ("profile", "said"), [("header_only", "a header and no rows"), ("no_kernels", "step_trace")]
)
def test_samples_without_kernels_say_what_is_there(profile: str, said: str, profiles: Profiles) -> None:
    """Nothing to answer from: exit code 3 or a note that says what is there and what is not."""
    database = profiles.folder / f"{profile}.duckdb"
    code, out, err = command_line("ingest", str(profiles.path(profile)), "--db", str(database))
    assert code in (0, 3)
    assert said in (out + err).lower()
    assert "no kernel" in (out + err).lower()


def test_a_row_that_is_cut_off_is_set_aside(table: Rows, tmp_path: Path) -> None:
    """The last row ends in the middle of a shape cell: 29 rows land, line 31 is rejected."""
    whole = text(table)
    last = text(table[-1:])
    code, answer, _ = ingest(tmp_path, whole[: len(whole) - len(last) // 2])
    assert code == 4
    assert counts(answer) == (30, 29, 1)
    assert answer is not None
    assert [reject["line"] for reject in answer["rejects"]] == [31]


@pytest.mark.parametrize("value", ["NaN", "inf", "-inf", "-4.02", "", "N/A", "fast", "1e400", "٣"])
def test_a_duration_that_is_no_duration_is_set_aside(value: str, table: Rows, tmp_path: Path) -> None:
    """Not a number, infinite, negative or missing: the row is rejected with its text, the others land."""
    table[3][table[0].index("Duration(us)")] = value
    code, answer, _ = ingest(tmp_path, text(table))
    assert code == 4
    assert counts(answer) == (30, 29, 1)
    assert answer is not None
    assert [(reject["line"], "duration" in reject["reason"].lower()) for reject in answer["rejects"]] == [
        (4, True)
    ]


@pytest.mark.parametrize("value", ["", "N/A", "NaN", "soon", "-5.0"])
def test_a_start_that_is_no_time_is_set_aside(value: str, table: Rows, tmp_path: Path) -> None:
    """Without a start a row has no place in time: rejected, the others land."""
    table[7][table[0].index("Start Time(us)")] = value
    code, answer, _ = ingest(tmp_path, text(table))
    assert code == 4
    assert counts(answer) == (30, 29, 1)


def test_zero_is_a_duration(table: Rows, tmp_path: Path) -> None:
    """0 us is read as 0: the row is kept, and the answers name it as not measured."""
    table[3][table[0].index("Duration(us)")] = "0.000"
    code, answer, _ = ingest(tmp_path, text(table))
    assert (code, counts(answer)) == (0, (30, 30, 0))


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("0", "start time is 0"),
        ("0.000", "start time is 0"),
        ("946684800000000.000", "days before the middle row of the capture"),
        ("4102444800000000.000", "days after the middle row of the capture"),
    ],
)
def test_a_start_of_another_time_is_set_aside(start: str, said: str, table: Rows, tmp_path: Path) -> None:
    """Start 0, of the year 2000 and of 2100: the row is a reject with its own line and text, and the step is
    as long as that of the other 29 rows.
    """
    column = table[0].index("Start Time(us)")
    code, answer, _ = ingest(tmp_path / "without", text(table[:9] + table[10:]))
    expected = wall_us(tmp_path / "without")
    table[9][column] = start
    code, answer, _ = ingest(tmp_path / "with", text(table))
    assert (code, counts(answer)) == (4, (30, 29, 1))
    assert answer is not None
    [reject] = answer["rejects"]
    assert reject["line"] == 10
    assert said in reject["reason"]
    assert start in reject["text"]
    assert wall_us(tmp_path / "with") == expected
    code, out, _ = command_line(
        "query",
        "SELECT min(file_row), max(file_row), count(*) FILTER (file_row = 10) FROM kernels",
        "--db",
        str(tmp_path / "with" / "runs.duckdb"),
        "--format",
        "csv",
    )
    assert out.splitlines()[-1] == "2,31,0"


def test_a_capture_that_starts_at_zero_is_one(table: Rows, tmp_path: Path) -> None:
    """Excerpts are written with starts from 0: all 30 rows are of one time and stay."""
    column = table[0].index("Start Time(us)")
    for number, row in enumerate(table[1:]):
        row[column] = f"{number * 50}.000"
    code, answer, _ = ingest(tmp_path, text(table))
    assert (code, counts(answer)) == (0, (30, 30, 0))


@pytest.mark.parametrize("value", ["NaN", "inf", "-inf", "Infinity"])
@pytest.mark.parametrize("damaged", [False, True])
def test_a_counter_that_is_no_number_is_named(value: str, damaged: bool, table: Rows, tmp_path: Path) -> None:
    """NaN and infinity in two counters of one row: kept as not measured, counted by column; also in a file
    that has to be split because another row is cut.
    """
    for name in ("aic_mac_ratio", "aic_mte2_ratio"):
        table[3][table[0].index(name)] = value
    if damaged:
        table[5] = table[5][:10]
    code, answer, _ = ingest(tmp_path, text(table))
    assert (code, counts(answer)) == ((4, (30, 29, 1)) if damaged else (0, (30, 30, 0)))
    assert answer is not None
    for name in ("aic_mac_ratio", "aic_mte2_ratio"):
        assert any(f"1 cell of {name} is NaN or infinite" in note for note in answer["notes"])


def test_counters_that_cannot_be_are_counted_by_kind(table: Rows, tmp_path: Path) -> None:
    """A busy share of 9.9, twice the kernel as core time, 300 % occupancy, core times of 0: each kind is said
    with its number of rows, also where a median would hide them.
    """
    column = {name: table[0].index(name) for name in table[0]}
    table[3][column["aic_mac_ratio"]] = "9.9"
    for row in table[4:6]:
        row[column["aicore_time(us)"]] = str(2 * float(row[column["Duration(us)"]]))
    table[6][column["cube_utilization(%)"]] = "300"
    for name in ("aicore_time(us)", "aiv_time(us)"):
        table[7][column[name]] = "0.000"
    code, answer, _ = ingest(tmp_path, text(table))
    assert (code, counts(answer)) == (0, (30, 30, 0))
    assert answer is not None
    [note] = [each for each in answer["notes"] if "counters that cannot be" in each]
    for said in (
        "1 with shares outside 0 to 1",
        "1 with core times of 0 although they ran",
        "2 with core times longer than the kernel",
        "1 with a cube utilization",
    ):
        assert said in note


def test_a_table_without_its_header_row_is_told_so(table: Rows, tmp_path: Path) -> None:
    """The first line is a row: what is missing is the header, not one of two equal columns."""
    code, answer, err = ingest(tmp_path, text(table[1:]))
    assert (code, answer) == (3, None)
    assert "no header row" in err
    assert "twice" not in err


def wall_us(folder: Path) -> list[float]:
    """Walls of the steps of the run in a folder."""
    database = str(folder / "runs.duckdb")
    code, out, _ = command_line("summary", "--by", "step", "--db", database, "--format", "json")
    assert code == 0
    return [row["wall_us"] for row in json.loads(out)["rows"]]


def test_two_devices_in_one_file_are_not_mixed(table: Rows, tmp_path: Path) -> None:
    """Rows of two devices overlap in time: they become two ranks, or the file is refused for that."""
    column = table[0].index("Device_id")
    for row in table[1::2]:
        row[column] = "3"
    code, answer, err = ingest(tmp_path, text(table))
    if code == 3:
        assert "device" in err.lower()
        return
    assert answer is not None
    assert sorted(rank["kernels"] for rank in answer["ranks"]) == [15, 15]


@pytest.mark.parametrize("name", ["Duration(us)", "Start Time(us)", "Name", "aic_mac_ratio"])
def test_a_column_that_is_there_twice_is_no_guess(name: str, table: Rows, tmp_path: Path) -> None:
    """Two columns of one name with different values: refused, or said which one was read; never silently."""
    column = table[0].index(name)
    rows = [[*row, row[column] if i == 0 else "7.5"] for i, row in enumerate(table)]
    code, answer, err = ingest(tmp_path, text(rows))
    said = err if answer is None else " ".join(answer["notes"])
    assert code in (0, 3)
    assert name in said


@pytest.mark.parametrize("lost", ["Duration(us)", "Start Time(us)", "Name"])
def test_a_table_without_a_needed_column_is_refused(lost: str, table: Rows, tmp_path: Path) -> None:
    """Without name, start or duration no row means anything: refused, and the column is named."""
    column = table[0].index(lost)
    code, answer, err = ingest(tmp_path, text([row[:column] + row[column + 1 :] for row in table]))
    assert (code, answer) == (3, None)
    assert lost.split("(")[0].lower() in err.lower()
    assert not holds_a_run(tmp_path)


ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "blank lines at the end": lambda data: data + b"\n\n\n",
    "no last line end": lambda data: data.rstrip(b"\n"),
}


@pytest.mark.parametrize("kind", ENCODINGS)
def test_spellings_of_the_same_table_give_the_same_rows(kind: str, table: Rows, tmp_path: Path) -> None:
    """What editors and systems do to a text file changes no row."""
    code, answer, _ = ingest(tmp_path, ENCODINGS[kind](text(table)))
    assert (code, counts(answer)) == (0, (30, 30, 0))


OTHER_FILES: dict[str, Callable[[bytes], bytes]] = {
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "semicolons": lambda data: data.replace(b",", b";"),
    "NUL bytes": lambda data: b"\x00" * len(data),
    "one long line": lambda _data: b"x" * 10_000_000,
    "header and one long line": lambda data: data.splitlines(keepends=True)[0] + b"y" * 10_000_000,
}


@pytest.mark.parametrize("kind", OTHER_FILES)
def test_what_is_no_kernel_table_is_refused_whole(kind: str, table: Rows, tmp_path: Path) -> None:
    """Another encoding, separator or no text at all: exit code 3, and no run is left behind."""
    code, _, err = ingest(tmp_path, OTHER_FILES[kind](text(table)))
    assert code == 3
    assert "error: " in err
    assert "kernel_details.csv" in err
    assert not holds_a_run(tmp_path)


def test_a_long_line_among_good_rows_costs_only_itself(table: Rows, tmp_path: Path) -> None:
    """A 10 MB line between the rows is one rejected row; its text is not carried along in full."""
    lines = text(table).splitlines(keepends=True)
    code, answer, _ = ingest(tmp_path, b"".join([*lines[:10], b"z" * 10_000_000 + b"\n", *lines[10:]]))
    assert code == 4
    assert counts(answer) == (31, 30, 1)
    assert answer is not None
    assert len(json.dumps(answer)) < 1_000_000


def test_bytes_that_are_no_text_cost_only_their_row(table: Rows, tmp_path: Path) -> None:
    """A name with bytes that are not UTF-8 costs at most its own row, and no row is lost."""
    lines = text(table).splitlines(keepends=True)
    lines[5] = lines[5].replace(b"aclnn", b"acl\xff\xfe", 1)
    code, answer, _ = ingest(tmp_path, b"".join(lines))
    read, kept, rejected = counts(answer)
    assert code in (0, 4)
    assert read == kept + rejected == 30
    assert kept >= 29


def test_a_file_that_may_not_be_read_is_named(table: Rows, tmp_path: Path) -> None:
    """No permission: exit code 3 and the file's name, and no database appears."""
    file = tmp_path / "kernel_details.csv"
    file.write_bytes(text(table))
    file.chmod(0)
    database = tmp_path / "runs.duckdb"
    done = subprocess.run(
        [sys.executable, "-m", "npu_roofline", "ingest", str(file), "--db", str(database)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=bound_by_permissions,
    )
    if done.returncode == 0:
        pytest.skip("this system lets the tests read every file")
    assert done.returncode == 3, done.stderr
    assert "kernel_details.csv" in done.stderr
    assert "Traceback" not in done.stderr
    assert not database.exists()


def bound_by_permissions() -> None:
    """Gives up root's right to read every file, for the process that is about to start; Linux only."""
    drop_from_bounding_set, read_any_file, override_modes = 24, 2, 1
    if sys.platform == "linux":
        for capability in (override_modes, read_any_file):
            ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


def test_one_broken_file_does_not_leave_half_a_run(tmp_path: Path) -> None:
    """Of two ranks one is no text at all: either both facts are said and one rank lands, or nothing does."""
    for name in ("rank_0", "rank_1"):
        for path, content in sample_texts("level0").items():
            target = tmp_path / "ranks" / f"{name}_ascend_pt" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content.replace('"rank_id": "0"', f'"rank_id": "{name[-1]}"'))
    (tmp_path / "ranks" / "rank_1_ascend_pt" / KERNELS).write_bytes(bytes(range(256)) * 50)
    database = str(tmp_path / "runs.duckdb")
    code, out, err = command_line("ingest", str(tmp_path / "ranks"), "--db", database, "--format", "json")
    assert code == 4, err
    answer = json.loads(out)
    assert answer["rows_kept"] == 216
    assert any(row["status"] == "failed" and "rank_1" in row["path"] for row in answer["rows"])


def holds_a_run(folder: Path) -> bool:
    """Whether a database with a run in it was left in the folder."""
    database = folder / "runs.duckdb"
    if not database.exists():
        return False
    code, out, _ = command_line("runs", "list", "--db", str(database), "--format", "json")
    return code == 0 and bool(json.loads(out)["rows"])
