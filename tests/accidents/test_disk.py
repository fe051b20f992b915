"""Disks that are full or read-only: what cannot be written is named, and nothing is left in part."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from npu_roofline.ingest import landing
from npu_roofline.ingest.tables import copy_run
from npu_roofline.sample_profiles.generate import write_samples

from tests.accidents.processes import SECONDS, Place, runs_by_table


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sample profiles by name."""
    return write_samples(tmp_path_factory.mktemp("samples"))


@pytest.fixture
def place(profiles: dict[str, Path], tmp_path: Path) -> Place:
    """A database with one run, `first`."""
    made = Place(tmp_path / "runs.duckdb", tmp_path / "scratch")
    assert made.run("ingest", str(profiles["dense_decode"]), "--run", "first")[0] == 0
    return made


def limited(most: int) -> Callable[[], None]:
    """No file of the process may grow beyond `most` bytes, as on a disk without room."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@pytest.mark.parametrize("kilobytes", [100, 1500])
def test_a_disk_without_room_ends_the_ingest_and_is_named(
    profiles: dict[str, Path], place: Place, kilobytes: int
) -> None:
    """With room for so much of the staging database or of the copy the run is absent, the other one whole."""
    before = runs_by_table(place.database)
    process = place.start(
        "ingest", str(profiles["moe_decode_before"]), "--run", "second", preexec=limited(kilobytes * 1000)
    )
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 3, err
    assert "File too large" in err
    assert str(place.scratch) in err or str(place.database) in err
    assert runs_by_table(place.database) == before
    assert place.left() == []


def test_a_full_staging_disk_is_not_blamed_on_the_database(
    profiles: dict[str, Path], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a run lands DuckDB may spill into the staging folder: when that is full, TMPDIR is the hint."""
    full = 'Could not write file "{}/staging.tmp/duckdb_temp_storage-0.tmp": No space left on device'

    def spill(con: duckdb.DuckDBPyConnection, source: str, target: str, run_id: int) -> None:
        copy_run(con, source, target, run_id)
        folder = next(place.scratch.glob("npu-roofline-*"))
        raise duckdb.IOException(full.format(folder))

    monkeypatch.setattr(landing, "copy_run", spill)
    before = runs_by_table(place.database)
    code, _, err = place.run("ingest", str(profiles["moe_decode_before"]), "--run", "second")
    assert code == 3
    assert "the run cannot be staged in" in err
    assert "TMPDIR" in err
    assert runs_by_table(place.database) == before


def test_the_database_is_named_when_it_is_what_cannot_be_written(
    profiles: dict[str, Path], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that does not fit names the database and --db, not the file that it was made from."""

    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device", str(source), None, str(target))

    monkeypatch.setattr(shutil, "copyfile", full)
    place.database.unlink()
    code, _, err = place.run("ingest", str(profiles["moe_decode_before"]))
    assert code == 3
    assert f"the database {place.database} cannot be written: No space left on device" in err
    assert "--db" in err
    assert place.left() == []


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder in which nobody can make a file")
def test_a_folder_that_cannot_be_written_is_named(profiles: dict[str, Path], tmp_path: Path) -> None:
    """A database in a read-only folder is named with what to do; an export in one is read."""
    place = Place(Path("/proc/self/runs.duckdb"), tmp_path / "scratch")
    code, _, err = place.run("ingest", str(profiles["dense_decode"]))
    assert code == 3
    assert "the database /proc/self/runs.duckdb cannot be written" in err
    profile = profiles["prefill"]
    for path in (*profile.rglob("*"), profile):
        path.chmod(path.stat().st_mode & ~0o222)
    readable = Place(tmp_path / "runs.duckdb", tmp_path / "scratch")
    assert readable.run("ingest", str(profile))[0] == 0
    for path in (profile, *profile.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)


def test_no_temporary_folder_is_said(profiles: dict[str, Path], tmp_path: Path) -> None:
    """Where the staging folder cannot be made, the hint is TMPDIR and not the profile."""
    place = Place(tmp_path / "runs.duckdb", Path("/proc/self"))
    code, _, err = place.run("ingest", str(profiles["dense_decode"]))
    assert code == 3
    assert "there is no temporary folder to work in" in err
    assert "TMPDIR" in err


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder in which nobody can make a file")
def test_a_report_that_cannot_be_written_names_what_was_asked_for(place: Place, tmp_path: Path) -> None:
    """Page and trace into a folder without rights: the error names the file of the user, not a part of it."""
    page = str(tmp_path / "r.html")
    for files in (("-o", "/proc/r.html"), ("-o", page, "--trace", "/proc/t.json")):
        code, _, err = place.run("report", *files)
        assert code == 2
        assert f"cannot write '{files[-1]}'" in err or f"cannot write {files[-1]}" in err
        assert ".part" not in err
