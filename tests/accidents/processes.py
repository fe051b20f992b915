"""Ingests as processes of their own, which can be killed, and what a database must hold afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from random import Random

from npu_roofline.cli.main import run
from npu_roofline.ingest.store import Store
from npu_roofline.ingest.tables import public_tables

# The longest a single command may take before it counts as hanging.
SECONDS = 60.0


@dataclass(frozen=True)
class Place:
    """A database and the temporary folder that ingests into it work in."""

    database: Path
    scratch: Path

    def start(self, *arguments: str, preexec: Callable[[], None] | None = None) -> subprocess.Popen[str]:
        """Start one command line as a process of its own; `preexec` runs in it first."""
        self.scratch.mkdir(exist_ok=True)
        return subprocess.Popen(
            [sys.executable, "-m", "npu_roofline", *arguments, "--db", str(self.database)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=preexec,
            env={**os.environ, "TMPDIR": str(self.scratch)},
        )

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Run one command line in this process: exit code, stdout, stderr."""
        self.scratch.mkdir(exist_ok=True)
        usual, tempfile.tempdir = tempfile.tempdir, str(self.scratch)
        out, err = StringIO(), StringIO()
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = run([*arguments, "--db", str(self.database)])
        finally:
            tempfile.tempdir = usual
        return code, out.getvalue(), err.getvalue()

    def left(self) -> list[str]:
        """Names of what ingests left in the temporary folder and beside the database."""
        beside = [path.name for path in self.database.parent.glob(f".{self.database.name}*")]
        return sorted([path.name for path in self.scratch.iterdir()] + beside)


def kill_at(place: Place, profile: Path, seconds: float | None, random: Random) -> str:
    """Start an ingest and kill it (SIGKILL) after that time, or while it lands where no time is given.

    Returns 'killed', or 'done' when the ingest was faster.
    """
    process = place.start("ingest", str(profile), "--run", "killed")
    end = time.monotonic() + (SECONDS if seconds is None else seconds)
    while process.poll() is None and time.monotonic() < end:
        if seconds is None and _lands(place.database):
            time.sleep(random.uniform(0, 0.02))
            break
        time.sleep(0.0005)
    done = process.poll() is not None
    process.kill()
    process.communicate(timeout=SECONDS)
    return "done" if done else "killed"


def _lands(database: Path) -> bool:
    """Whether an ingest is writing: a copy beside the database that is not there yet, or a log beside it."""
    log = database.with_name(f"{database.name}.wal")
    return any(database.parent.glob(f".{database.name}.landing-*")) or log.exists()


def runs_by_table(database: Path) -> dict[str, dict[str, int]]:
    """Rows of each run in each table; opening the database checks that it can be read at all."""
    found: dict[str, dict[str, int]] = {}
    with Store.open(database) as store:
        names = dict(store.con.execute("SELECT run_id, name FROM runs").fetchall())
        catalog = store.con.execute("SELECT current_database()").fetchall()[0][0]
        for table in public_tables(store.con, catalog):
            for run_id, rows in store.con.execute(
                f'SELECT run_id, count(*) FROM "{table}" GROUP BY 1'
            ).fetchall():
                assert run_id in names, f"{table} holds {rows} rows of run {run_id}, which is not there"
                found.setdefault(names[run_id], {})[table] = rows
    return found


def state_after(place: Place, expected: Mapping[str, Mapping[str, int]], name: str) -> str:
    """'whole' or 'absent': what became of the run; AssertionError when it, or another, is there in part."""
    if not place.database.exists():
        assert set(expected) == {name}, "a database that was there is gone"
        return "absent"
    found = runs_by_table(place.database)
    others = {each: tables for each, tables in expected.items() if each != name}
    assert {each: tables for each, tables in found.items() if each != name} == others
    if name not in found:
        return "absent"
    assert found[name] == expected[name], "the run is there in part"
    return "whole"
