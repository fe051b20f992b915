"""Staging reads ranks side by side into a temporary database, tells how far it is, and leaves nothing."""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from npu_roofline.errors import InputMissing, InternalError
from npu_roofline.ingest import stage as stage_module
from npu_roofline.ingest.options import DEFAULTS
from npu_roofline.ingest.stage import Staging, stage
from npu_roofline.ingest.store import Store, land

from .kernel_csv import row, starts, table, write


def ranks(folder: Path, count: int) -> Path:
    """A parent with that many ranks; rank n has n + 1 kernels."""
    for number in range(count):
        cells = [row(start=start) for start in starts(number + 1)]
        write(folder / f"host_{number}_ascend_pt", table(cells))
    return folder


@pytest.mark.parametrize("jobs", [1, 3, None])
def test_ranks_are_the_same_however_many_are_read_at_a_time(
    tmp_path: Path, staged: Callable[..., Staging], jobs: int | None
) -> None:
    """One, three or the default number of jobs: each rank has its own kernels, numbered from 0."""
    con = staged(ranks(tmp_path, 4), jobs=jobs).con
    found = con.execute(
        "SELECT rank_id, count(*), min(kernel_id), max(kernel_id) FROM kernels GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert found == [(0, 1, 0, 0), (1, 2, 0, 1), (2, 3, 0, 2), (3, 4, 0, 3)]
    assert con.execute("SELECT count(*) FROM signatures").fetchone() == (1,)


def test_progress_is_told_rank_by_rank(tmp_path: Path) -> None:
    """The callback hears 0 of 3 first and 3 of 3 last, never backwards."""
    heard: list[tuple[int, int | None]] = []
    with stage([ranks(tmp_path, 3)], progress=lambda _, done, total: heard.append((done, total))):
        pass
    assert heard == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The staging database and what it spilled are gone afterwards, also when the work in between fails."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    seen = []

    def use_and_fail() -> None:
        with stage([ranks(tmp_path / "prof", 2)]):
            seen.extend(scratch.iterdir())
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        use_and_fail()
    assert len(seen) == 1
    assert list(scratch.iterdir()) == []


def test_the_content_hash_follows_the_content_only(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """The same files elsewhere have the same hash; one changed byte changes it."""
    cells = [row(start=start) for start in starts(2)]
    text = table(cells)
    hashes = [
        staged(write(tmp_path / name, content)).con.execute("SELECT content_hash FROM runs").fetchone()
        for name, content in (("a", text), ("b", text), ("c", text.replace("40.000", "40.001", 1)))
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_lost_row_stops_the_ingest(
    tmp_path: Path, staged: Callable[..., Staging], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A join that loses kernels is an internal error: numbers that do not add up are never shown."""
    from npu_roofline.ingest import assemble

    real = assemble.read_sql
    lossy = "JOIN raw_keys AS k USING (signature_key) JOIN (SELECT 0 AS kernel_id) USING (kernel_id)"
    whole = "JOIN raw_keys AS k USING (signature_key)"
    monkeypatch.setattr(assemble, "read_sql", lambda name: real(name).replace(whole, lossy))
    with pytest.raises(InternalError, match="2 rows read, 1 kept"):
        staged(write(tmp_path, table([row(start=start) for start in starts(2)])))


def test_no_room_for_staging_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk under the temporary folder is InputMissing with the folder and what to do."""

    def full(*_: object) -> None:
        raise duckdb.IOException("Could not write file: No space left on device")

    monkeypatch.setattr("npu_roofline.ingest.stage.create_tables", full)
    with pytest.raises(InputMissing, match="No space left") as caught, stage([ranks(tmp_path, 1)]):
        pass
    assert "TMPDIR" in caught.value.hint


@pytest.mark.parametrize(
    "full",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        duckdb.IOException("Could not write file: No space left on device"),
        duckdb.TransactionException("Failed to commit: Could not write file: No space left on device"),
    ],
)
def test_a_full_disk_is_no_fault_of_a_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: Exception
) -> None:
    """A disk that fills up while a rank is read ends the ingest; the run must not land without that rank."""
    real = stage_module.read_kernel_files

    def fill_up(con: duckdb.DuckDBPyConnection, paths: list[Path], *rest: Any) -> Any:
        if "host_1" in str(paths[0]):
            raise full
        return real(con, paths, *rest)

    monkeypatch.setattr(stage_module, "read_kernel_files", fill_up)
    with pytest.raises(InputMissing, match="No space left") as caught, stage([ranks(tmp_path, 3)]):
        pass
    assert "cannot be staged" in caught.value.message
    assert "TMPDIR" in caught.value.hint


def test_a_rank_without_kernels_lands(tmp_path: Path) -> None:
    """Step times alone make a run that says it has no kernels; nothing divides by zero on the way."""
    from npu_roofline.ingest.availability import availability

    profile = write(tmp_path / "prof", "Step,Computing\n3,80.0\n", "step_trace_time.csv")
    with stage([profile]) as staging:
        record = land(staging, tmp_path / "x.duckdb")
    assert (record.rows_read, record.rows_kept) == (0, 0)
    with Store.open(tmp_path / "x.duckdb") as store:
        assert {each.status for each in availability(store.con, 1)} == {"no"}


def test_a_small_memory_limit_is_enough(tmp_path: Path) -> None:
    """200,000 kernels are read with far less memory than they take: DuckDB spills to the temporary folder."""
    lines = table([row(start=start) for start in starts(1)]).splitlines()
    first = 1_779_440_805_781_809_542
    body = [
        lines[1].replace("1779440805781809.542", f"{(first + n * 50_000) // 1000}.542")
        for n in range(200_000)
    ]
    profile = write(tmp_path, "\n".join([lines[0], *body]) + "\n")
    small = replace(DEFAULTS, memory_limit_mib=300, memory_per_column_mib=1)
    with stage([profile], options=small) as staging:
        assert staging.con.execute("SELECT count(*), max(kernel_id) FROM kernels").fetchone() == (
            200_000,
            199_999,
        )
