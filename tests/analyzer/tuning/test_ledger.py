"""The ledger in the database: recorded from runs and from quoted gains, whole, and outliving its runs."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import numpy as np
import pytest
from npu_roofline.sample_profiles.generate import write_samples

from tests.samples.conftest import command_line

RUNS = ("moe_decode_before", "moe_decode_after")
TARGET = "c-772c5e02-17"


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sample pair, one more sample, and equal outputs of two runs."""
    folder = tmp_path_factory.mktemp("tuning")
    made = write_samples(folder, [*RUNS, "level0"])
    np.savez(folder / "outputs.npz", logits=np.arange(6.0, dtype=np.float32))
    return {**made, "outputs": folder / "outputs.npz"}


@pytest.fixture
def database(profiles: dict[str, Path], tmp_path: Path) -> Path:
    """Both runs of the pair, freshly ingested."""
    for name in RUNS:
        ingest(tmp_path / "runs.duckdb", profiles[name], name)
    return tmp_path / "runs.duckdb"


def ingest(database: Path, profile: Path, name: str, *more: str) -> None:
    """Read one profile under a name."""
    code, _, err = command_line("ingest", str(profile), "--run", name, "--db", str(database), *more)
    assert code == 0, err


def tune(database: Path, *arguments: str) -> dict:
    """The JSON answer of one tune command."""
    code, out, err = command_line("tune", *arguments, "--db", str(database), "--format", "json")
    assert code == 0, err
    return json.loads(out)


def test_a_candidate_is_carried_to_the_next_rung(database: Path, profiles: dict[str, Path]) -> None:
    """Half of 40 MiB; target -54.2 us and window +5.5 us in a step of 3,885 save 1.25 %; 70 % comes next."""
    first = tune(database, "start", TARGET, "--run", RUNS[0])
    assert first["next"]["max_size"] == 20 * 2**20
    outputs = str(profiles["outputs"])
    answer = tune(database, "record", *RUNS, "--outputs", outputs, outputs)
    row = answer["rows"][0]
    assert (row["max_size"], row["coefficient"], row["outcome"]) == (20 * 2**20, 0.5, "accepted")
    assert row["gain_of"] == "target and window"
    assert row["gain_pct"] == pytest.approx(1.26, abs=0.05)
    assert row["gain_low_pct"] < row["gain_pct"] < row["gain_high_pct"]
    assert row["target_pct"] == pytest.approx(-27.3, abs=0.3)
    assert (answer["next"]["action"], answer["next"]["max_size"]) == ("try", 28 * 2**20)


def test_recording_takes_the_proposed_size(database: Path) -> None:
    """The second experiment without --max-size is at the proposed 28 MiB, at the same place."""
    tune(database, "start", TARGET, "--run", RUNS[0])
    tune(database, "record", *RUNS)
    rows = tune(database, "record", *RUNS)["rows"]
    assert [row["max_size"] for row in rows] == [20 * 2**20, 28 * 2**20]
    assert rows[0]["dependency"] == rows[1]["dependency"] == "GroupedMatmul, layer 14"


def test_two_changes_at_once_are_said(database: Path) -> None:
    """What differs from all others in size and place carries a note; what differs in one does not."""
    tune(database, "start", "w", "--weight", "100MiB", "--dependency", "A")
    tune(database, "record", "--gain", "1")
    rows = tune(database, "record", "--gain", "1", "--max-size", "70MiB")["rows"]
    assert rows[1]["note"] is None
    rows = tune(database, "record", "--gain", "1", "--max-size", "30MiB", "--dependency", "B")["rows"]
    assert "size and dependency both differ" in rows[2]["note"]


def test_the_ledger_outlives_other_runs(database: Path, profiles: dict[str, Path]) -> None:
    """Experiments stay word for word when another run comes, is replaced and is removed."""
    tune(database, "start", TARGET, "--run", RUNS[0])
    before = tune(database, "record", *RUNS)["rows"]
    ingest(database, profiles["level0"], "other")
    ingest(database, profiles["level0"], "other", "--replace")
    assert command_line("runs", "remove", "other", "--db", str(database))[0] == 0
    assert tune(database, "history")["rows"] == before


def test_a_run_that_is_gone_is_said(database: Path, profiles: dict[str, Path]) -> None:
    """Replaced by another capture, then removed: the numbers stay, and what became of the run is said."""
    tune(database, "start", TARGET, "--run", RUNS[0])
    recorded = tune(database, "record", *RUNS)["rows"][0]
    ingest(database, profiles["level0"], RUNS[1], "--replace")
    row = tune(database, "history")["rows"][0]
    assert row["captures"] == f"{RUNS[1]} was replaced by another capture"
    code, _, err = command_line("runs", "remove", RUNS[1], "--db", str(database))
    assert code == 0
    assert "1 experiment that was measured on it keeps its numbers" in err
    answer = tune(database, "history")
    row = answer["rows"][0]
    assert row["captures"] == f"{RUNS[1]} was removed"
    assert {**row, "captures": ""} == {**recorded, "captures": ""}
    assert any(f"experiment 1: {RUNS[1]} was removed" in note for note in answer["notes"])


def test_a_quoted_gain_is_no_measurement(database: Path) -> None:
    """--gain lands as a headline with its floor of 0.4 %, or with the interval of its own noise."""
    tune(database, "start", "w", "--max-size", "10MB")
    rows = tune(database, "record", "--gain", "2.05", "--noise", "0.3", "--max-size", "80MB")["rows"]
    assert (rows[0]["outcome"], rows[0]["gain_of"], rows[0]["captures"]) == (
        "headline", "headline", "none: a quoted gain",
    )  # fmt: skip
    assert (rows[0]["gain_low_pct"], rows[0]["gain_high_pct"]) == pytest.approx((1.75, 2.35))
    assert (rows[0]["floor_pct"], rows[0]["max_size"], rows[0]["coefficient"]) == (0.4, 80_000_000, None)


def test_nothing_lands_of_an_experiment_that_fails(database: Path) -> None:
    """A comparison that cannot be made, and a size above the weight, leave the ledger as it was."""
    tune(database, "start", "w", "--weight", "10MiB")
    for wrong in (["nowhere", RUNS[1]], ["--gain", "1", "--max-size", "20MiB"]):
        assert command_line("tune", "record", *wrong, "--db", str(database))[0] in (2, 3)
    assert tune(database, "history")["rows"] == []
    with duckdb.connect(str(database), read_only=True) as con:
        assert con.execute("SELECT count(*) FROM experiments").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["next"], 3, "nothing is being tuned yet"),
        (["start", "c-nothing"], 3, "no candidate 'c-nothing'"),
        (["start", "w", "--weight", "0"], 2, "no size to prefetch"),
        (["start", "w", "--weight", "much"], 2, "is no size"),
        (["start", "w", "--weight", "1MiB", "--keep", "x"], 3, "no tuning is named 'x'"),
        (["record", RUNS[0]], 2, "an experiment is two runs, or a gain"),
        (["record", *RUNS, "--gain", "1"], 2, "--gain stands for a pair of runs"),
    ],
)
def test_what_cannot_be_done_is_said(database: Path, arguments: list[str], code: int, said: str) -> None:
    """Wrong usage and missing things end in one line that says what and what to do."""
    found, _, err = command_line("tune", *arguments, "--db", str(database))
    assert (found, said in err, "hint:" in err) == (code, True, True), err


def test_names_are_unique(database: Path) -> None:
    """The same target twice gets a number; a given name that is taken is refused."""
    assert tune(database, "start", "w", "--weight", "8MiB")["tuning"]["name"] == "w"
    assert tune(database, "start", "w", "--weight", "8MiB")["tuning"]["name"] == "w-2"
    code, _, err = command_line(
        "tune", "start", "v", "--name", "w", "--weight", "8MiB", "--db", str(database)
    )
    assert (code, "already" in err) == (2, True)


@pytest.mark.parametrize("form", ["table", "csv", "md", "html"])
def test_every_form_shows_the_knee(database: Path, tmp_path: Path, form: str) -> None:
    """Each form of the history holds every experiment; the HTML draws the curve with the knee at 76.3 MiB."""
    tune(database, "start", "w", "--max-size", "10MB")
    for size, gain in (("10MB", "0.03"), ("80MB", "2.05"), ("100MB", "2.14"), ("120MB", "1.5")):
        tune(database, "record", "--gain", gain, "--max-size", size)
    file = tmp_path / f"history.{'txt' if form == 'table' else form}"
    code, _, err = command_line("tune", "history", "--db", str(database), "-o", str(file))
    assert code == 0, err
    text = file.read_text(encoding="utf-8")
    assert {"table": "◄", "csv": "true", "md": "◄", "html": "knee: 76.3 MiB"}[form] in text
