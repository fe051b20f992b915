"""Several processes at one database: readers wait for a landing and answer, ingests wait for each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from npu_roofline.sample_profiles.generate import write_samples

from tests.accidents.processes import SECONDS, Place, runs_by_table

READERS = 8


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sample profiles by name."""
    return write_samples(tmp_path_factory.mktemp("samples"))


def test_eight_readers_answer_while_a_run_lands(profiles: dict[str, Path], tmp_path: Path) -> None:
    """Readers that start together with an ingest each give the whole answer of the run they ask for."""
    place = Place(tmp_path / "runs.duckdb", tmp_path / "scratch")
    assert place.run("ingest", str(profiles["dense_decode"]), "--run", "first")[0] == 0
    usual = json.loads(place.run("summary", "--run", "first", "--format", "json")[1])
    writer = place.start("ingest", str(profiles["moe_decode_before"]), "--run", "second")
    readers = [place.start("summary", "--run", "first", "--format", "json") for _ in range(READERS)]
    for reader in readers:
        out, err = reader.communicate(timeout=SECONDS)
        assert reader.returncode == 0, err
        assert json.loads(out) == usual
    _, err = writer.communicate(timeout=SECONDS)
    assert writer.returncode == 0, err
    assert set(runs_by_table(place.database)) == {"first", "second"}


@pytest.mark.parametrize("there", [True, False])
def test_two_ingests_at_once_both_land(profiles: dict[str, Path], tmp_path: Path, there: bool) -> None:
    """Into a database that is there, or that neither found: one waits for the other, no run is lost."""
    place = Place(tmp_path / "runs.duckdb", tmp_path / "scratch")
    if there:
        assert place.run("ingest", str(profiles["prefill"]), "--run", "first")[0] == 0
    names = ("dense_decode", "moe_decode_before")
    both = [place.start("ingest", str(profiles[name]), "--run", name) for name in names]
    for process in both:
        _, err = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, err
    assert set(runs_by_table(place.database)) == {*names, *(["first"] if there else [])}
    assert place.left() == []


def test_the_same_profile_twice_at_once_lands_once(profiles: dict[str, Path], tmp_path: Path) -> None:
    """Whoever comes second is told that the content is there already, and changes nothing."""
    place = Place(tmp_path / "runs.duckdb", tmp_path / "scratch")
    both = [place.start("ingest", str(profiles["dense_decode"]), "--run", "same") for _ in range(2)]
    errors = [process.communicate(timeout=SECONDS)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 3]
    assert any("same content is in the database already" in error for error in errors)
    assert set(runs_by_table(place.database)) == {"same"}
