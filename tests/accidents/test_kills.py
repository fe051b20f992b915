"""kill -9 at any moment of an ingest: the database opens, the run is whole or absent, nothing is left."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest
from npu_roofline.sample_profiles.generate import write_samples

from tests.accidents.processes import Place, kill_at, runs_by_table, state_after


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sample profiles by name."""
    return write_samples(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="module")
def whole(profiles: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A database with two runs, `first` and `killed`, that no accident has met."""
    home = tmp_path_factory.mktemp("whole")
    place = Place(home / "runs.duckdb", home / "scratch")
    assert place.run("ingest", str(profiles["dense_decode"]), "--run", "first")[0] == 0
    shutil.copy(place.database, home / "first.duckdb")
    assert place.run("ingest", str(profiles["moe_decode_before"]), "--run", "killed")[0] == 0
    return place


@pytest.mark.parametrize("seconds", [0.3, 0.7, None])
def test_a_kill_leaves_the_run_whole_or_absent(
    profiles: dict[str, Path], whole: Place, tmp_path: Path, seconds: float | None
) -> None:
    """Killed early, while reading and while landing: every table has all rows of the run or none."""
    place = Place(tmp_path / "runs.duckdb", tmp_path / "scratch")
    shutil.copy(whole.database.with_name("first.duckdb"), place.database)
    kill_at(place, profiles["moe_decode_before"], seconds, Random(str(seconds)))
    state_after(place, runs_by_table(whole.database), "killed")
    code, _, err = place.run("ingest", str(profiles["moe_decode_before"]), "--run", "killed", "--replace")
    assert code == 0, err
    assert runs_by_table(place.database) == runs_by_table(whole.database)
    assert place.left() == []


@pytest.mark.parametrize("seconds", [0.6, None])
def test_a_kill_leaves_no_database_or_a_whole_one(
    profiles: dict[str, Path], whole: Place, tmp_path: Path, seconds: float | None
) -> None:
    """The first ingest into a database that is not there yet: it gets its name when it is complete."""
    place = Place(tmp_path / "runs.duckdb", tmp_path / "scratch")
    kill_at(place, profiles["moe_decode_before"], seconds, Random(str(seconds)))
    state_after(place, {"killed": runs_by_table(whole.database)["killed"]}, "killed")
    code, _, err = place.run("ingest", str(profiles["moe_decode_before"]), "--run", "killed", "--replace")
    assert code == 0, err
    assert place.left() == []
