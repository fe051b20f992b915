"""A run lands whole or not at all, once, and only in a database of ours."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from npu_roofline.errors import AlreadyIngested, DatabaseBusy, InputMissing, InternalError, UnsupportedExport
from npu_roofline.ingest import tables
from npu_roofline.ingest.options import DEFAULTS
from npu_roofline.ingest.stage import stage
from npu_roofline.ingest.store import RunRecord, Store, find_run, land, remove_run, runs

from .kernel_csv import row, starts, table, write

IMPATIENT = replace(DEFAULTS, lock_wait_s=0.2, lock_poll_s=0.05)


def profile(folder: Path, kernels: int = 3) -> Path:
    """A profile with that many kernels."""
    return write(folder, table([row(start=start) for start in starts(kernels)]))


def ingest(path: Path, db: Path, name: str | None = None, again: bool = False) -> RunRecord:
    """Stage and land."""
    with stage([path], name) as staging:
        return land(staging, db, again, IMPATIENT)


def names(db: Path) -> list[str]:
    """The runs of a database."""
    with Store.open(db) as store:
        return [record.name for record in runs(store.con)]


def test_a_landed_run_is_whole(tmp_path: Path) -> None:
    """Every table of the staging database is in the target under the number of the run."""
    with stage([profile(tmp_path / "prof")], device_argument="910B3") as staging:
        before = staging.con.execute("SELECT count(*) FROM tensors").fetchone()
        record = land(staging, tmp_path / "x.duckdb")
    assert (record.run_id, record.name, record.rows_kept, record.device_argument) == (1, "prof", 3, "910B3")
    with Store.open(tmp_path / "x.duckdb") as store:
        count = "SELECT count(*) FROM {} WHERE run_id = 1"
        assert store.con.execute(count.format("kernels")).fetchone() == (3,)
        assert store.con.execute(count.format("tensors")).fetchone() == before
        assert store.con.execute(count.format("ranks")).fetchone() == (1,)


def test_a_database_says_what_its_columns_hold(tmp_path: Path) -> None:
    """Staging leaves the comments out; the database that comes of it has one on each public column."""
    ingest(profile(tmp_path / "prof"), tmp_path / "x.duckdb")
    with Store.open(tmp_path / "x.duckdb") as store:
        silent = (
            "SELECT count(*) FROM duckdb_columns() WHERE comment IS NULL AND NOT starts_with(table_name, '_')"
        )
        assert store.con.execute(f"{silent} AND database_name = current_database()").fetchone() == (0,)


def test_a_second_run_gets_its_own_number_and_leaves_the_first_alone(tmp_path: Path) -> None:
    """Two exports in one database: 3 and 5 kernels, each under its run."""
    db = tmp_path / "x.duckdb"
    ingest(profile(tmp_path / "a"), db)
    ingest(profile(tmp_path / "b", 5), db)
    with Store.open(db) as store:
        counts = store.con.execute("SELECT run_id, count(*) FROM kernels GROUP BY 1 ORDER BY 1").fetchall()
        assert counts == [(1, 3), (2, 5)]
        assert find_run(store.con).name == "b"
        assert find_run(store.con, "a").run_id == 1


def test_the_same_content_is_refused_wherever_it_lies(tmp_path: Path) -> None:
    """A copy of the folder under another name is the same content; the error names the run that holds it."""
    db = tmp_path / "x.duckdb"
    ingest(profile(tmp_path / "a"), db)
    with pytest.raises(AlreadyIngested, match="as run 'a'"):
        ingest(profile(tmp_path / "b"), db)
    assert names(db) == ["a"]


def test_the_same_name_with_other_content_is_refused_with_a_hint(tmp_path: Path) -> None:
    """A name that the user chose is never taken away from another run, nor changed behind the user's back."""
    db = tmp_path / "x.duckdb"
    ingest(profile(tmp_path / "a"), db, "mine")
    with pytest.raises(AlreadyIngested, match="'mine' with other content") as caught:
        ingest(profile(tmp_path / "b", 5), db, "mine")
    assert "--replace" in caught.value.hint


def test_a_name_from_the_folder_is_made_unique(tmp_path: Path) -> None:
    """Two folders of one name are two runs: the second is prof-2, the third prof-3."""
    db = tmp_path / "x.duckdb"
    for number, kernels in enumerate((3, 4, 5)):
        ingest(profile(tmp_path / str(number) / "prof", kernels), db)
    assert names(db) == ["prof", "prof-2", "prof-3"]


def test_replace_leaves_one_run(tmp_path: Path) -> None:
    """--replace puts the new run in the place of the one of that name, and of the one of that content."""
    db = tmp_path / "x.duckdb"
    ingest(profile(tmp_path / "a"), db, "mine")
    record = ingest(profile(tmp_path / "b", 5), db, "mine", again=True)
    assert (names(db), record.rows_kept) == (["mine"], 5)
    record = ingest(profile(tmp_path / "c", 5), db, "other", again=True)
    assert (names(db), record.rows_kept) == (["other"], 5)


def test_a_run_is_removed_from_every_table(tmp_path: Path) -> None:
    """After remove_run no table holds a row of it, and the other run is whole."""
    db = tmp_path / "x.duckdb"
    ingest(profile(tmp_path / "a"), db)
    ingest(profile(tmp_path / "b", 5), db)
    remove_run(db, "a")
    with Store.open(db) as store:
        for name in tables.public_tables(store.con, "x"):
            assert store.con.execute(f"SELECT count(*) FROM {name} WHERE run_id = 1").fetchone() == (0,), name
        assert store.con.execute("SELECT count(*) FROM kernels").fetchone() == (5,)
    with pytest.raises(InputMissing, match="no run is named 'a'") as caught:
        remove_run(db, "a")
    assert "b" in caught.value.hint


def test_a_failure_while_landing_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that is lost on the way is noticed: the run is not there, the earlier one is."""
    db = tmp_path / "x.duckdb"
    ingest(profile(tmp_path / "a"), db)
    real = tables._count
    monkeypatch.setattr(tables, "_count", lambda con, query, values: real(con, query, values) + len(values))
    with pytest.raises(InternalError, match="were staged and"):
        ingest(profile(tmp_path / "b", 5), db)
    assert names(db) == ["a"]


def test_a_failure_while_a_database_is_made_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills up while the first run is written leaves neither a database nor a piece of one."""
    folder = tmp_path / "db"
    folder.mkdir()

    def full(_: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr("npu_roofline.ingest.landing.shutil.copyfile", full)
    with pytest.raises(InputMissing, match="No space left on device"):
        ingest(profile(tmp_path / "a"), folder / "x.duckdb")
    assert list(folder.iterdir()) == []


def test_a_database_that_appears_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two first ingests at once: the slower one finds the other's database and adds its run to it."""
    db, other = tmp_path / "x.duckdb", tmp_path / "other.duckdb"
    ingest(profile(tmp_path / "a"), other)
    real = os.link

    def link_too_late(source: Path, target: Path) -> None:
        monkeypatch.setattr("npu_roofline.ingest.landing.os.link", real)
        other.rename(target)
        real(source, target)

    monkeypatch.setattr("npu_roofline.ingest.landing.os.link", link_too_late)
    assert ingest(profile(tmp_path / "b", 5), db).run_id == 2
    assert names(db) == ["a", "b"]


KILLED = """
    import os, sys
    from pathlib import Path
    from npu_roofline.ingest import landing, tables
    from npu_roofline.ingest.stage import stage
    copy = landing.copy_run
    def copy_and_die(*arguments):
        copy(*arguments)
        os.kill(os.getpid(), 9)
    landing.copy_run = copy_and_die
    with stage([Path(sys.argv[1])]) as staging:
        landing.land(staging, Path(sys.argv[2]))
"""
HOLD = """
    import sys, duckdb
    con = duckdb.connect(sys.argv[1])
    print("held", flush=True)
    sys.stdin.read()
"""


def python(code: str, *arguments: Path) -> list[str]:
    """The command line of another Python process."""
    return [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]


def test_a_killed_ingest_leaves_the_database_without_the_run(tmp_path: Path) -> None:
    """kill -9 after all rows were written and before the commit: the database opens and holds the old run."""
    db = tmp_path / "x.duckdb"
    ingest(profile(tmp_path / "a"), db)
    killed = subprocess.run(python(KILLED, profile(tmp_path / "b", 5), db), check=False)
    assert killed.returncode == -9
    assert names(db) == ["a"]
    assert ingest(profile(tmp_path / "b", 5), db).rows_kept == 5


def test_a_database_in_use_is_said_after_a_wait(tmp_path: Path) -> None:
    """Another process holds the file: landing and reading wait, then say so; free again, both work."""
    db = tmp_path / "x.duckdb"
    ingest(profile(tmp_path / "a"), db)
    holder = subprocess.Popen(python(HOLD, db), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(DatabaseBusy, match="in use by another process"):
            ingest(profile(tmp_path / "b", 5), db)
        with pytest.raises(DatabaseBusy):
            Store.open(db, options=IMPATIENT)
    finally:
        holder.stdin.close()
        holder.wait()
    assert ingest(profile(tmp_path / "b", 5), db).name == "b"


def test_the_target_is_free_while_a_run_is_staged(tmp_path: Path) -> None:
    """Reading exports locks nothing: the database can be read, and written by another, before the landing."""
    db = tmp_path / "x.duckdb"
    ingest(profile(tmp_path / "a"), db)
    with stage([profile(tmp_path / "b", 5)]) as staging:
        subprocess.run(python("import duckdb, sys; duckdb.connect(sys.argv[1]).close()", db), check=True)
        land(staging, db)
    assert names(db) == ["a", "b"]


def sqlite_file(path: Path) -> None:
    """A database of SQLite."""
    with sqlite3.connect(path) as con:
        con.execute("CREATE TABLE runs (a)")


def duckdb_file(path: Path) -> None:
    """A DuckDB database of another tool."""
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE runs (a INTEGER)")


def lookalike_file(path: Path) -> None:
    """A database of another tool whose tables are named like ours."""
    with duckdb.connect(str(path)) as con:
        for name in ("_schema", "runs", "kernels"):
            con.execute(f"CREATE TABLE {name} (a INTEGER)")


def newer_file(path: Path) -> None:
    """A database of a later version of this tool."""
    Store.open(path, read_only=False).close()
    with duckdb.connect(str(path)) as con:
        con.execute("UPDATE _schema SET version = 99")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (sqlite_file, "is an SQLite database"),
        (duckdb_file, "is a database of another tool"),
        (lookalike_file, "is a database of another tool"),
        (newer_file, "has schema version 99"),
        (lambda path: path.write_text("hello, I am a text"), "is not a DuckDB database"),
        (lambda path: path.write_bytes(b"12345678DUCK" + b"\1" * 9000), "(no database|cannot be opened)"),
        (lambda path: path.mkdir(), "is a folder"),
    ],
)
def test_what_is_not_ours_is_refused_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], object], words: str
) -> None:
    """A file of another kind is neither written nor opened for reading, and keeps every byte."""
    db = tmp_path / "x.duckdb"
    make(db)
    before = None if db.is_dir() else db.read_bytes()
    with pytest.raises((UnsupportedExport, InputMissing), match=words):
        ingest(profile(tmp_path / "a"), db)
    with pytest.raises((UnsupportedExport, InputMissing), match=words):
        Store.open(db)
    assert before == (None if db.is_dir() else db.read_bytes())


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to(os.devnull)])
def test_a_device_or_a_pipe_is_no_empty_database(tmp_path: Path, make: Callable[[Path], object]) -> None:
    """/dev/null has no bytes, as an empty file; a landing must never put a database in its place."""
    db = tmp_path / "x.duckdb"
    make(db)
    before = db.lstat()
    with pytest.raises(UnsupportedExport, match="is a device or a pipe"):
        ingest(profile(tmp_path / "a"), db)
    with pytest.raises(UnsupportedExport, match="is a device or a pipe"):
        Store.open(db)
    assert (db.lstat().st_ino, db.lstat().st_mode) == (before.st_ino, before.st_mode)


def test_a_missing_or_empty_database_is_said(tmp_path: Path) -> None:
    """Reading what is not there, or an empty file, is InputMissing; landing makes it a database."""
    db = tmp_path / "x.duckdb"
    with pytest.raises(InputMissing, match="no database at"):
        Store.open(db)
    db.touch()
    with pytest.raises(InputMissing):
        Store.open(db)
    assert ingest(profile(tmp_path / "a"), db).run_id == 1
    with pytest.raises(InputMissing, match="folder of the database"):
        ingest(profile(tmp_path / "b", 5), tmp_path / "nowhere" / "x.duckdb")


def test_an_open_reader_of_the_same_process_does_not_stop_a_landing(tmp_path: Path) -> None:
    """A library user may hold a store open while ingesting: it is busy or it works, never a traceback."""
    db = tmp_path / "x.duckdb"
    ingest(profile(tmp_path / "a"), db)
    with Store.open(db), stage([profile(tmp_path / "b", 5)]) as staging, suppress(DatabaseBusy):
        land(staging, db, options=IMPATIENT)
    assert names(db) in (["a"], ["a", "b"])


def test_a_run_from_no_runs_is_said(tmp_path: Path) -> None:
    """A database of ours without any run says what to do first."""
    Store.open(tmp_path / "x.duckdb", read_only=False).close()
    with Store.open(tmp_path / "x.duckdb") as store, pytest.raises(InputMissing, match="holds no runs"):
        find_run(store.con)
