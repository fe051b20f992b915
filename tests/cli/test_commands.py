"""Every reading command answers in every form, and keeps answers and messages apart."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from npu_roofline.cli.main import run
from rich.text import Text

from tests.cli.conftest import Samples

# Command lines without the options that all share; {before} and {after} are the runs of the sample pair.
COMMANDS = {
    "runs": ["runs", "list"],
    "runs show": ["runs", "show", "moe_decode_before"],
    "summary": ["summary"],
    "summary by type": ["summary", "--by", "type"],
    "hotspots": ["hotspots", "--top", "5"],
    "candidates": ["candidates"],
    "compare": ["compare", "moe_decode_before", "moe_decode_after"],
    "devices": ["devices", "list"],
    "devices show": ["devices", "show", "910B3"],
    "devices detect": ["devices", "detect"],
    "query": ["query", "SELECT type, count(*) AS n FROM selected_signatures GROUP BY type ORDER BY ALL"],
    "size": ["size", "4096,8192", "--dtype", "int8", "--device", "910B2"],
}
WITHOUT_DATABASE = ("devices list", "devices show", "size")


def ask(samples: Samples, capsys: pytest.CaptureFixture[str], name: str, *more: str) -> str:
    """Run one of COMMANDS and return its stdout; nothing may stand on stderr."""
    arguments = COMMANDS[name]
    database = [] if " ".join(arguments).startswith(WITHOUT_DATABASE) else ["--db", str(samples.database)]
    capsys.readouterr()
    code = run([*arguments, *database, *more])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_the_envelope(name: str, samples: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    """--format json prints one object with the envelope's names and a schema of the command."""
    answer = json.loads(
        ask(samples, capsys, name, "--format", "json"), parse_constant=lambda text: pytest.fail(text)
    )
    assert answer["schema"] == f"npu-roofline.{name.split()[0]}/1"
    assert list(answer)[:6] == ["schema", "run", "device", "coverage", "rows", "notes"]
    assert answer["rows"], "a sample must have something to show"


@pytest.mark.parametrize("name", COMMANDS)
def test_csv_is_one_rectangle(name: str, samples: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    """--format csv prints a header and rows of the same width, as many as the JSON has or more."""
    rows = list(csv.reader(io.StringIO(ask(samples, capsys, name, "--format", "csv"))))
    answer = json.loads(ask(samples, capsys, name, "--format", "json"))
    assert len({len(row) for row in rows}) == 1
    assert len(rows) - 1 >= len(answer["rows"])


@pytest.mark.parametrize("name", COMMANDS)
def test_markdown_tables_have_equal_columns(
    name: str, samples: Samples, capsys: pytest.CaptureFixture[str]
) -> None:
    """--format md prints tables whose rows have the cells of their header."""
    text = ask(samples, capsys, name, "--format", "md")
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert blocks
    for block in blocks:
        # An escaped pipe is text of a cell.
        assert len({line.replace("\\|", "").count("|") for line in block}) == 1


@pytest.mark.parametrize("width", ["80", "120", "200"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_table_fits_its_terminal(
    name: str,
    width: str,
    samples: Samples,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The default form has no line wider than the terminal, and no colour where none can be seen."""
    monkeypatch.setenv("COLUMNS", width)
    text = ask(samples, capsys, name)
    assert [line for line in text.splitlines() if Text(line).cell_len > int(width)] == []
    assert "\x1b" not in text


@pytest.mark.parametrize("kind", ["k", "c"])
def test_an_id_can_be_explained(kind: str, samples: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    """An id printed by hotspots or candidates is one that explain takes, whole or shortened."""
    name = {"k": "hotspots", "c": "candidates"}[kind]
    first = json.loads(ask(samples, capsys, name, "--format", "json"))["rows"][0]["id"]
    assert first.startswith(f"{kind}-")
    assert run(["explain", first, "--db", str(samples.database), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["rows"][0]["id"] == first
    assert answer["steps"], "an explanation has steps"


@pytest.mark.parametrize("suffix", ["json", "csv", "md", "txt", "html"])
def test_the_suffix_chooses_the_form(
    suffix: str, samples: Samples, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """-o writes the form its name asks for, says so on stderr, and prints nothing on stdout."""
    file = tmp_path / f"out.{suffix}"
    assert run(["hotspots", "--db", str(samples.database), "-o", str(file)]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"wrote {file}\n")
    starts = {
        "json": '{\n  "schema"',
        "csv": "id,type,core",
        "md": "<!-- npu-roofline",
        "txt": "npu-roofline",
    }
    assert file.read_text().startswith(starts.get(suffix, "<!DOCTYPE html>"))


@pytest.mark.parametrize("command", [["report"], ["compare", "moe_decode_before", "moe_decode_after"]])
def test_a_report_is_one_page(command: list[str], samples: Samples, tmp_path: Path) -> None:
    """The HTML reports are written whole, name the run, and load nothing from elsewhere."""
    file = tmp_path / "page.html"
    assert run([*command, "--db", str(samples.database), "-o", str(file)]) == 0
    page = file.read_text()
    assert page.rstrip().endswith("</html>")
    assert "moe_decode_before" in page
    assert "<script src" not in page


def test_the_environment_names_the_database(
    samples: Samples, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """NPU_ROOFLINE_DB is used when --db is not given."""
    monkeypatch.setenv("NPU_ROOFLINE_DB", str(samples.database))
    assert run(["runs", "list", "--format", "json"]) == 0
    names = [row["name"] for row in json.loads(capsys.readouterr().out)["rows"]]
    assert names == ["moe_decode_before", "moe_decode_after", "level0"]


def test_the_latest_run_is_the_default(samples: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --run the run that was ingested last answers; with it, the named one."""
    assert (
        json.loads(ask(samples, capsys, "summary", "--format", "json"))["run"]["name"] == "moe_decode_before"
    )
    other = ask(samples, capsys, "summary", "--format", "json", "--run", "moe_decode_after")
    assert json.loads(other)["run"]["name"] == "moe_decode_after"


def test_steps_and_device_select(samples: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    """--steps narrows what is counted, --device and --hbm-gb-s change what it is held against."""
    answer = json.loads(
        ask(
            samples,
            capsys,
            "hotspots",
            "--format",
            "json",
            "--steps",
            "4-5",
            "--device",
            "910B4",
            "--hbm-gb-s",
            "700",
        )
    )
    assert answer["run"]["steps"] == [4, 5]
    assert answer["device"]["soc"].startswith("910B4 ")
    assert answer["device"]["hbm_gb_s"] == 700


def test_a_config_file_sets_thresholds(
    samples: Samples, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A threshold of --config reaches the question: with a coefficient of 0.25 no size exceeds a quarter."""
    config = tmp_path / "config.toml"
    config.write_text("[analysis]\ncoefficient = 0.25\n")
    rows = json.loads(ask(samples, capsys, "candidates", "--format", "json", "--config", str(config)))["rows"]
    sized = [row for row in rows if row["max_size"] is not None]
    assert sized
    assert all(row["max_size"] <= row["weight_bytes"] * 0.25 for row in sized)


def test_a_reader_that_goes_away_is_no_error(samples: Samples) -> None:
    """Output into a pipe that is closed early ends without a message or a traceback."""
    command = [
        sys.executable,
        "-m",
        "npu_roofline",
        "hotspots",
        "--format",
        "json",
        "--db",
        str(samples.database),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(60) == 141


@pytest.mark.parametrize(
    ("arguments", "redirection", "code", "lines"),
    [
        ("runs list", ">/dev/full", 3, ["error: the output cannot be written: No space left on device"]),
        ("", ">/dev/full", 3, ["error: the output cannot be written: No space left on device"]),
        ("runs list", ">&-", 0, []),  # the caller wants no output
    ],
)
def test_output_that_cannot_be_written_is_no_internal_error(
    arguments: str, redirection: str, code: int, lines: list[str], samples: Samples
) -> None:
    """A full disk behind stdout exits 3 and says so; a closed stdout loses the answer, nothing else."""
    command = f'"{sys.executable}" -m npu_roofline {arguments} {redirection}'
    done = subprocess.run(
        ["sh", "-c", command],
        env={**os.environ, "NPU_ROOFLINE_DB": str(samples.database)},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.splitlines()[:1]) == (code, lines)
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    ("sides", "threshold", "code", "regressions"),
    [
        # The prefetch of the sample pair slows two kernels of its window, by 2.2 and 2.6 %.
        (["moe_decode_before", "moe_decode_after"], "0", 1, 2),
        (["moe_decode_before", "moe_decode_after"], "5", 0, 0),
        (["moe_decode_before", "moe_decode_before"], "0", 0, 0),
    ],
)
def test_a_regression_can_fail_a_build(
    sides: list[str],
    threshold: str,
    code: int,
    regressions: int,
    samples: Samples,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """--fail-on-regression exits 1 with one line for each kernel that got slower than the threshold."""
    options = ["--db", str(samples.database), "--fail-on-regression", "--threshold", threshold]
    assert run(["compare", *sides, *options]) == code
    lines = capsys.readouterr().err.splitlines()
    assert sum(line.startswith("regression: ") for line in lines) == regressions
    assert any(line.startswith("error: ") for line in lines) == bool(code)


def test_a_side_may_name_its_steps(samples: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    """A run against itself, its first steps against its last: the step times are those of the steps named."""
    command = ["compare", "moe_decode_before@3-6", "moe_decode_before@7-10", "--format", "json"]
    assert run([*command, "--db", str(samples.database)]) == 0
    step = json.loads(capsys.readouterr().out)["step"]
    assert (step["before"]["steps"], step["after"]["steps"]) == (4, 4)


@pytest.mark.parametrize("arguments", [["ingest", ""], ["hotspots", "--run="], ["hotspots", "--device", ""]])
def test_an_empty_argument_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """An unset shell variable reads neither the working folder nor another run than was meant."""
    assert run(arguments) == 2
    assert "is empty" in capsys.readouterr().err


def test_a_bound_may_be_the_whole_label(samples: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    """`--bound memory/hbm`, as the table shows it, asks the same as `--bound memory --limiter hbm`."""
    whole = ask(samples, capsys, "hotspots", "--bound", "memory/hbm", "--format", "json")
    apart = ask(samples, capsys, "hotspots", "--bound", "memory", "--limiter", "hbm", "--format", "json")
    assert whole == apart
    assert {row["limiter"] for row in json.loads(whole)["rows"]} == {"hbm"}
