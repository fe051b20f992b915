"""A profiler database of any size, the Arrow scan of its PMU table, and the ingest that is held against it.

`python -m bench.databases make FILE KERNELS` writes one, `... scan FILE TARGET` scans it: each in a process
of its own.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.make_input import write_kernel_table
from bench.measure import Run, best, fastest, run

PYTHON = sys.executable
BATCH_ROWS = 65_536


def figures(path: Path, kernels: int, repeat: int) -> tuple[Run, Run]:
    """(scan of the PMU table, ingest of the database), the fastest of several runs each."""
    run([PYTHON, "-m", "bench.databases", "make", str(path), str(kernels)])
    print(f"{kernels:,} kernels as a database, {path.stat().st_size / 1e6:.1f} MB", flush=True)
    target = path.with_name("npu_roofline.duckdb")
    target.unlink(missing_ok=True)  # one of an earlier version would be refused
    scans = []
    for _ in range(repeat):
        scanned = path.with_name("scan.duckdb")
        scanned.unlink(missing_ok=True)
        scans.append(run([PYTHON, "-m", "bench.databases", "scan", str(path), str(scanned)]))
        scanned.unlink()
    command = [PYTHON, "-m", "npu_roofline", "ingest", str(path), "--db", str(target), "--replace"]
    found = (fastest(scans), best(command, repeat))
    for name, each in zip(("Arrow scan of the PMU", "ingest"), found, strict=True):
        memory = f"{each.peak_bytes / 1e6:8.0f} MB"
        print(f"  {name:<24} {each.seconds:8.2f} s {each.cpu_seconds:8.2f} s cpu {memory}", flush=True)
    return found


def make(path: Path, kernels: int) -> None:
    """The kernel table of the other measurements, as the database of the same capture."""
    from tests.ingest.profiler_database import write_database

    text = path.with_suffix(".csv")
    write_kernel_table(text, kernels)
    write_database(path, text.read_text(encoding="utf-8"))
    text.unlink()


def scan(path: Path, target: Path) -> None:
    """What it costs to get the PMU table into DuckDB at all, through Arrow batches."""
    import duckdb
    import pyarrow as pa

    source = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
    )
    schema = pa.schema([("globalTaskId", pa.int64()), ("name", pa.int64()), ("value", pa.float64())])

    def batches() -> Iterator[pa.RecordBatch]:
        cursor = source.execute("SELECT globalTaskId, name, CAST(value AS REAL) FROM TASK_PMU_INFO")
        while rows := cursor.fetchmany(BATCH_ROWS):
            cells = zip(*rows, strict=True)
            yield pa.record_batch(
                [pa.array(each, type_) for each, type_ in zip(cells, schema.types, strict=True)], schema
            )

    con = duckdb.connect(str(target))
    con.register("pmu", pa.RecordBatchReader.from_batches(schema, batches()))
    con.execute("CREATE TABLE pmu_rows AS FROM pmu").fetchall()
    con.close()


if __name__ == "__main__":
    what, first, second = sys.argv[1:]
    if what == "make":
        make(Path(first), int(second))
    else:
        scan(Path(first), Path(second))
