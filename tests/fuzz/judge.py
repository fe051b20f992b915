"""What must hold for every export, however damaged: a clear answer or a clear error, and no row lost."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from npu_roofline.cli.main import run

from tests.fuzz.cases import Case

INGEST_CODES = (0, 3, 4)
READING_CODES = (0, 3)
READING_COMMANDS = (
    ("runs", "show", "case"),
    ("summary",),
    ("hotspots", "--top", "1000"),
    ("candidates",),
)
SECONDS = 10.0


def faults(case: Case, folder: Path) -> list[str]:
    """Everything that is wrong with how the tool takes this export; empty when all is well."""
    database = folder / f"case_{case.seed}.duckdb"
    found: list[str] = []
    begin = time.perf_counter()
    code, out, err = command(
        ["ingest", str(case.write(folder)), "--run", "case", "--db", str(database), "--format", "json"]
    )
    found += _speaks_clearly("ingest", code, err, INGEST_CODES)
    if code in (0, 4):
        found += _keeps_every_row(out)
        for each in READING_COMMANDS:
            code, out, err = command([*each, "--db", str(database), "--format", "json"])
            found += _speaks_clearly(each[0], code, err, READING_CODES)
            if code == 0:
                found += _is_json(each[0], out)
    elif database.exists() and _holds_a_run(database):
        found.append("ingest failed and left a run behind")
    if time.perf_counter() - begin > SECONDS:
        found.append(f"took longer than {SECONDS} s")
    return [f"{case}: {fault}" for fault in found]


def command(arguments: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command line, run in this process."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    return code, out.getvalue(), err.getvalue()


def _speaks_clearly(name: str, code: int, err: str, allowed: tuple[int, ...]) -> list[str]:
    if code not in allowed:
        return [f"{name} ended with {code}: {err.strip()[:600]}"]
    if code == 3 and not ("error: " in err and "hint: " in err):
        return [f"{name} ended with 3 without an error and a hint: {err.strip()[:300]}"]
    return [f"{name} shows a traceback"] if "Traceback" in err else []


def _keeps_every_row(out: str) -> list[str]:
    answer = json.loads(out)
    return [
        f"{row['path']}: {row['rows_read']} rows in, {row['rows_kept']} kept, {row['rows_rejected']} rejected"
        for row in answer["rows"]
        if row["rows_read"] is not None and row["rows_read"] != row["rows_kept"] + row["rows_rejected"]
    ]


def _is_json(name: str, out: str) -> list[str]:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        json.loads(out, parse_constant=refuse)
    except ValueError as error:
        return [f"{name}: {error}"]
    return []


def _holds_a_run(database: Path) -> bool:
    code, out, _ = command(["runs", "list", "--db", str(database), "--format", "json"])
    return code == 0 and bool(json.loads(out)["rows"])
