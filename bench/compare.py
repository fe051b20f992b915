"""Two runs in one database, and the comparison of them as a whole command."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.measure import Run, best, run

PYTHON = sys.executable
TOOL = (PYTHON, "-m", "npu_roofline")


def figure(folder: Path, kernels: int, repeat: int) -> Run:
    """`compare` of so many kernels a side, the fastest of several runs; ingest of both is not in it.

    The side after has one kernel more: a run of the same content is not taken in twice.
    """
    database = folder / "npu_roofline.duckdb"
    folder.mkdir(parents=True, exist_ok=True)
    database.unlink(missing_ok=True)  # one of an earlier version would be refused
    for name, rows in (("before", kernels), ("after", kernels + 1)):
        source = folder / name / "kernel_details.csv"
        run([PYTHON, "-m", "bench.make_input", str(source), str(rows)])
        run([*TOOL, "ingest", str(source), "--run", name, "--db", str(database)])
        source.unlink()
    found = best([*TOOL, "compare", "before", "after", "--db", str(database), "--format", "json"], repeat)
    print(f"{kernels:,} kernels a side", flush=True)
    memory = f"{found.peak_bytes / 1e6:8.0f} MB"
    print(f"  {'compare':<24} {found.seconds:8.2f} s {found.cpu_seconds:8.2f} s cpu {memory}", flush=True)
    return found
