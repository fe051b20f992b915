"""Files that vanish, grow or are replaced while they are read: named, and never read in part."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from npu_roofline.ingest import stage as stage_module
from npu_roofline.sample_profiles.generate import write_samples

from tests.accidents.processes import Place, runs_by_table


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A profile of one rank, with its small files."""
    return write_samples(tmp_path / "profiles")["dense_decode"]


def vanish(table: Path) -> None:
    """The file is deleted."""
    table.unlink()


def grow(table: Path) -> None:
    """The profiler goes on writing rows."""
    lines = table.read_bytes().splitlines(keepends=True)
    with table.open("ab") as file:
        file.write(lines[-1])


def shrink(table: Path) -> None:
    """The profiler begins the file anew."""
    os.truncate(table, table.stat().st_size // 2)


def replace(table: Path) -> None:
    """Another file of the same size takes its place."""
    other = table.with_suffix(".new")
    other.write_bytes(table.read_bytes().swapcase())
    other.replace(table)


def meanwhile(monkeypatch: pytest.MonkeyPatch, when: str, accident: Callable[[Path], None]) -> None:
    """Let the accident happen before or after the bytes of a kernel table are read."""
    real = stage_module.read_kernel_files

    def read(con: Any, paths: list[Path], *rest: Any) -> Any:
        if when == "before":
            accident(paths[0])
        found = real(con, paths, *rest)
        if when == "after":
            accident(paths[0])
        return found

    monkeypatch.setattr(stage_module, "read_kernel_files", read)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("accident", [vanish, grow, shrink, replace])
def test_a_table_that_changes_while_it_is_read_is_refused(
    profile: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    accident: Callable[[Path], None],
    when: str,
) -> None:
    """Whatever happens to the only kernel table, the error names it and says to wait; no run is written."""
    meanwhile(monkeypatch, when, accident)
    place = Place(tmp_path / "runs.duckdb", tmp_path / "scratch")
    code, _, err = place.run("ingest", str(profile))
    assert code == 3, err
    what = "vanished" if accident is vanish else "changed"
    assert f"kernel_details.csv {what} while it was read" in err
    assert "wait until the profiler has written it" in err
    assert not place.database.exists()
    assert place.left() == []


def test_the_other_ranks_land(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two ranks, the one whose table grew is reported, exit code 4; the other one is in the database."""
    profiles = write_samples(tmp_path / "profiles")
    parent = tmp_path / "parent"
    parent.mkdir()
    for rank, name in enumerate(("dense_decode", "moe_decode_before")):
        profiles[name].rename(parent / f"rank_{rank}_ascend_pt")
    real = stage_module.read_kernel_files

    def read(con: Any, paths: list[Path], *rest: Any) -> Any:
        if "rank_1" in str(paths[0]):
            grow(paths[0])
        return real(con, paths, *rest)

    monkeypatch.setattr(stage_module, "read_kernel_files", read)
    place = Place(tmp_path / "runs.duckdb", tmp_path / "scratch")
    code, out, _ = place.run("ingest", str(parent), "--run", "two", "--format", "json")
    assert code == 4
    assert "changed while it was read" in out
    tables = runs_by_table(place.database)["two"]
    assert tables["ranks"] == 2
    assert tables["kernels"] > 0


def test_a_small_file_that_vanishes_costs_only_itself(
    profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """profiler_info.json goes away after it was read: it is reported, the kernels land."""
    info = next(profile.rglob("profiler_info*.json"))
    meanwhile(monkeypatch, "after", lambda _: info.unlink())
    place = Place(tmp_path / "runs.duckdb", tmp_path / "scratch")
    code, out, _ = place.run("ingest", str(profile), "--run", "one", "--format", "json")
    assert code == 4
    assert "is not there (any more)" in out
    assert runs_by_table(place.database)["one"]["kernels"] > 0
