"""What must hold for every export, however damaged: a clear answer or a clear error, and no row lost."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from npu_roofline.cli.main import run

from tests.fuzz.cases import Case, case

INGEST_CODES = (0, 3, 4)
READING_CODES = (0, 3)
READING_COMMANDS = (("summary",), ("hotspots",), ("candidates",))
# Of work; a machine that has other work too gets more time, but not without end.
SECONDS = 10.0
OF_WALL = 6
# Of a group of ranks so many are asked every question; which ones, the seeds decide.
RANKS_ASKED = 2


def group_faults(seeds: Sequence[int], folder: Path) -> list[str]:
    """Faults of several damaged exports, taken as the ranks of one run: ten times as fast as one by one.

    When the group shows a fault, its members are judged alone, so that the seed behind it is named.
    """
    parent = folder / f"group_{seeds[0]}"
    for seed in seeds:
        case(seed).write(parent)
    together = list(_faults(parent, folder / f"group_{seeds[0]}.duckdb", SECONDS * len(seeds)))
    if not together:
        return []
    alone = [fault for seed in seeds for fault in case_faults(case(seed), folder)]
    return alone or [f"seeds {seeds[0]} to {seeds[-1]} together: {fault}" for fault in together]


def case_faults(damaged: Case, folder: Path) -> list[str]:
    """Everything that is wrong with how the tool takes this export; empty when all is well."""
    root = damaged.write(folder)
    database = folder / f"case_{damaged.seed}.duckdb"
    return [f"{damaged}: {fault}" for fault in _faults(root, database, SECONDS)]


def command(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command line, run in this process."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    return code, out.getvalue(), err.getvalue()


def _faults(path: Path, database: Path, seconds: float) -> Iterator[str]:
    begin, worked = time.perf_counter(), time.process_time()
    shared = ("--db", str(database), "--format", "json")
    code, out, err = command("ingest", str(path), "--run", "damaged", *shared)
    yield from _unclear("ingest", code, err, INGEST_CODES)
    if code in (0, 4):
        answer = json.loads(out)
        yield from _lost_rows(answer)
        yield from _unanswered(("runs", "show", "damaged"), shared)
        asked = _asked(answer)
        for rank in asked:
            for each in READING_COMMANDS:
                yield from _unanswered((*each, "--rank", str(rank)), shared)
        yield from _untraced(asked[:1], database)
    elif database.exists() and _holds_a_run(database):
        yield "ingest failed and left a run behind"
    if time.process_time() - worked > seconds or time.perf_counter() - begin > seconds * OF_WALL:
        yield f"took longer than {seconds} s"


def _asked(answer: dict[str, Any]) -> list[int]:
    ranks = [rank["rank"] for rank in answer["ranks"] if rank["has_kernels"]]
    return ranks[:: max(1, len(ranks) // RANKS_ASKED)][:RANKS_ASKED]


def _unanswered(arguments: Sequence[str], shared: Sequence[str]) -> Iterator[str]:
    code, out, err = command(*arguments, *shared)
    name = " ".join(arguments)
    yield from _unclear(name, code, err, READING_CODES)
    if code == 0:
        try:
            json.loads(out, parse_constant=_refuse)
        except ValueError as error:
            yield f"{name}: {error}"


def _untraced(ranks: Sequence[int], database: Path) -> Iterator[str]:
    """The page and the trace of a rank: written, or refused clearly; the trace is JSON."""
    for rank in ranks:
        page, trace = database.with_suffix(".html"), database.with_suffix(".json")
        arguments = ("report", "--rank", str(rank), "-o", str(page), "--trace", str(trace))
        code, _, err = command(*arguments, "--db", str(database))
        yield from _unclear("report --trace", code, err, READING_CODES)
        if code == 0:
            try:
                json.loads(trace.read_bytes(), parse_constant=_refuse)
            except (ValueError, OSError) as error:
                yield f"report --trace: {error}"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _unclear(name: str, code: int, err: str, allowed: tuple[int, ...]) -> Iterator[str]:
    if code not in allowed:
        yield f"{name} ended with {code}: {err.strip()[:600]}"
    elif code == 3 and not ("error: " in err and "hint: " in err):
        yield f"{name} ended with 3 without an error and a hint: {err.strip()[:300]}"
    if "Traceback" in err:
        yield f"{name} shows a traceback"


def _lost_rows(answer: dict[str, Any]) -> Iterator[str]:
    for row in [*answer["rows"], {**answer, "path": "the run"}]:
        read, kept, rejected = (row[name] for name in ("rows_read", "rows_kept", "rows_rejected"))
        if read is not None and read != kept + rejected:
            yield f"{row['path']}: {read} in, {kept} kept, {rejected} rejected"


def _holds_a_run(database: Path) -> bool:
    code, out, _ = command("runs", "list", "--db", str(database), "--format", "json")
    return code == 0 and bool(json.loads(out)["rows"])
