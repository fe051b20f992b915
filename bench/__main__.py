"""`python -m bench`: speed and memory on input that it makes itself, as ratios within one run.

Every figure is a process of its own. Exits with 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

from bench import compare
from bench.databases import figures
from bench.limits import (
    CANDIDATES_SECONDS,
    COMPARE_SECONDS,
    DATABASE_RATIO,
    HELP_SECONDS,
    LINEAR_SLACK,
    PEAK_BYTES,
    PIPELINE_RATIO,
    TRACE_MEMORY_RATIO,
    TRACE_RATIO,
    Check,
    missed,
    table,
)
from bench.measure import Run, best, fastest, others_per_core, run
from bench.traces import trace_figures

PYTHON = sys.executable
TOOL = (PYTHON, "-m", "npu_roofline")
# What it costs DuckDB to get the file into a table at all.
READ_CSV = """
import duckdb, sys
source, target = sys.argv[1:]
duckdb.connect(target).execute(f"create table t as from read_csv('{source}'%s)")
"""
HELP_RUNS = 15
QUESTION_RUNS = 5  # of what takes a second: a moment of another process is a tenth of it
BUSY = 0.5


def main() -> int:
    """Makes the input, measures, prints the table; the exit code is 1 when a limit is missed."""
    options = _options()
    options.folder.mkdir(parents=True, exist_ok=True)
    if (load := others_per_core()) > BUSY:
        print(f"note: {load:.1f} processes per core already run here, so times are too long", file=sys.stderr)
    small, large = (
        _pipeline(options.folder, rows, options.repeat) for rows in (options.rows // 10, options.rows)
    )
    checks = [
        *_checks(options, small, large),
        _compare_check(options),
        _database_check(options),
        *_trace_checks(options),
    ]
    print(table(checks))
    for check in missed(checks):
        print(
            f"error: {check.what}: {check.measured:.3f} {check.unit}, limit {check.limit:.3f}",
            file=sys.stderr,
        )
    return 1 if missed(checks) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="kernel rows of the large input")
    parser.add_argument("--trace-mb", type=int, default=465, help="size of the trace")
    parser.add_argument("--repeat", type=int, default=2, help="runs of each figure; the fastest counts")
    parser.add_argument("--folder", type=Path, default=Path("bench_out"), help="where the input is made")
    return parser.parse_args()


def _pipeline(folder: Path, rows: int, repeat: int) -> dict[str, Run]:
    """Every figure for one size: DuckDB's reading of the file, then ours, command by command."""
    source = folder / f"rows_{rows}" / "kernel_details.csv"
    # In a process of its own, which leaves this one small (see measure.py).
    run([PYTHON, "-m", "bench.make_input", str(source), str(rows)])
    print(f"{rows:,} rows, {source.stat().st_size / 1e6:.1f} MB", flush=True)
    found = {
        "read_csv, all text": _read_csv(source, ", all_varchar=true", repeat),
        "read_csv, types found": _read_csv(source, "", repeat),
    }
    database = folder / f"rows_{rows}" / "npu_roofline.duckdb"
    database.unlink(missing_ok=True)  # one of an earlier version would be refused
    found["ingest"] = best([*TOOL, "ingest", str(source), "--db", str(database), "--replace"], repeat)
    for command in ("hotspots", "summary", "candidates"):
        question = [*TOOL, command, "--db", str(database), "--format", "json"]
        found[command] = best(question, max(repeat, QUESTION_RUNS))
    for name, each in found.items():
        memory = f"{each.peak_bytes / 1e6:8.0f} MB"
        print(f"  {name:<24} {each.seconds:8.2f} s {each.cpu_seconds:8.2f} s cpu {memory}", flush=True)
    return found


def _read_csv(source: Path, arguments: str, repeat: int) -> Run:
    runs = []
    for _ in range(repeat):
        target = source.with_name("read_csv.duckdb")
        target.unlink(missing_ok=True)
        runs.append(run([PYTHON, "-c", READ_CSV % arguments, str(source), str(target)]))
        target.unlink()
    return fastest(runs)


def _checks(options: argparse.Namespace, small: dict[str, Run], large: dict[str, Run]) -> list[Check]:
    """The limits, on the large input; ingest labels every signature, so it holds classify already."""
    reference = min(large["read_csv, all text"].seconds, large["read_csv, types found"].seconds)
    ours = ("ingest", "hotspots", "candidates")
    total = sum(large[name].seconds for name in ours)
    before = sum(small[name].seconds for name in ours)
    peak = max(large[name].peak_bytes for name in (*ours, "summary"))
    return [
        Check(
            f"{options.rows:,} rows: ingest + hotspots + candidates / read_csv",
            total / reference,
            PIPELINE_RATIO,
            "x",
        ),
        Check("peak memory of any of them", peak / 1e9, PEAK_BYTES / 1e9, "GB"),
        Check("candidates, whole command", large["candidates"].seconds, CANDIDATES_SECONDS, "s"),
        Check("time for ten times the rows / ten times the time", total / (10 * before), LINEAR_SLACK, "x"),
        Check("--help over the bare interpreter", _help_seconds(), HELP_SECONDS, "s"),
    ]


def _compare_check(options: argparse.Namespace) -> Check:
    """Half of the kernels on either side."""
    kernels = options.rows // 2
    found = compare.figure(options.folder / f"compare_{kernels}", kernels, options.repeat)
    what = f"compare, {kernels:,} kernels a side: whole command"
    return Check(what, found.seconds, COMPARE_SECONDS, "s")


def _database_check(options: argparse.Namespace) -> Check:
    """A tenth of the kernels as a profiler database: 28 counters each make the PMU table 28 times as long."""
    kernels = options.rows // 10
    path = options.folder / f"database_{kernels}" / "ascend_pytorch_profiler_0.db"
    scan, ingest = figures(path, kernels, options.repeat)
    what = f"{kernels:,} kernels from a database: ingest / Arrow scan of its PMU"
    return Check(what, ingest.seconds / scan.seconds, DATABASE_RATIO, "x")


def _trace_checks(options: argparse.Namespace) -> list[Check]:
    found = trace_figures(options.folder, options.trace_mb * 1_000_000, options.repeat)
    what = f"trace of {options.trace_mb} MB, list and object"
    return [
        Check(f"{what}: ingest / DuckDB reading the fields", found.ratio, TRACE_RATIO, "x"),
        Check(f"{what}: peak memory / file", found.memory_ratio, TRACE_MEMORY_RATIO, "x"),
    ]


def _help_seconds() -> float:
    """Medians of alternating runs, because the machine's own pace drifts."""
    pairs = [(run([*TOOL, "--help"]).seconds, run([PYTHON, "-c", "pass"]).seconds) for _ in range(HELP_RUNS)]
    return statistics.median(ours - bare for ours, bare in pairs)


if __name__ == "__main__":
    sys.exit(main())
