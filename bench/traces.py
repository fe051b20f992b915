"""A trace of any size, DuckDB reading the same fields from it, and the ingest that is held against it.

`python -m bench.traces read FILE TARGET` is that reading, in a process of its own.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Run, best, fastest, run

PYTHON = sys.executable


@dataclass(frozen=True)
class TraceFigures:
    """Size of the trace, DuckDB reading its list, and the ingest of it as a list and inside an object."""

    file_bytes: int
    read: Run
    ingests: dict[str, Run]

    @property
    def ratio(self) -> float:
        """The slower ingest over the reading of the list: DuckDB alone takes the object whole into memory."""
        return max(each.seconds for each in self.ingests.values()) / self.read.seconds

    @property
    def memory_ratio(self) -> float:
        """The larger peak over the size of the file."""
        return max(each.peak_bytes for each in self.ingests.values()) / self.file_bytes


def trace_figures(folder: Path, size: int, repeat: int) -> TraceFigures:
    """Make the traces and measure, the fastest of several runs each."""
    paths = {form: folder / f"trace_{form}_{size}" / "trace_view.json" for form in ("list", "object")}
    for form, path in paths.items():
        run([PYTHON, "-m", "bench.make_trace", str(path), str(size), form])
    file_bytes = paths["list"].stat().st_size
    print(f"trace of {file_bytes / 1e6:.1f} MB", flush=True)
    reads, ingests = [], {}
    for _ in range(repeat):
        target = paths["list"].with_name("read.duckdb")
        target.unlink(missing_ok=True)
        reads.append(run([PYTHON, "-m", "bench.traces", "read", str(paths["list"]), str(target)]))
        target.unlink()
    for form, path in paths.items():
        target = path.with_name("npu_roofline.duckdb")
        command = [PYTHON, "-m", "npu_roofline", "ingest", str(path), "--db", str(target), "--replace"]
        ingests[form] = best(command, repeat)
    found = TraceFigures(file_bytes, fastest(reads), ingests)
    figures = {"DuckDB reading the list": found.read} | {
        f"ingest, {form}": each for form, each in ingests.items()
    }
    for name, each in figures.items():
        memory = f"{each.peak_bytes / 1e6:8.0f} MB"
        print(f"  {name:<24} {each.seconds:8.2f} s {each.cpu_seconds:8.2f} s cpu {memory}", flush=True)
    return found


def read(path: Path, target: Path) -> None:
    """What it costs to get the fields that the tool reads into a DuckDB table at all."""
    import duckdb
    from npu_roofline.ingest.trace_events import trace_data

    args = ", ".join(
        f'"{spelling}" {row["type"]}'
        for row in trace_data()["args"].values()
        for spelling in row["spellings"]
    )
    members = {"ph": "VARCHAR", "name": "VARCHAR", "cat": "VARCHAR", "pid": "BIGINT", "tid": "BIGINT"}
    members |= {"ts": "VARCHAR", "dur": "DOUBLE", "id": "VARCHAR", "args": f"STRUCT({args})"}
    con = duckdb.connect(str(target))
    con.execute(
        "CREATE TABLE events AS SELECT * EXCLUDE (args), unnest(args) "
        "FROM read_json(?, format = 'array', columns = ?)",
        [str(path), members],
    )
    con.close()


if __name__ == "__main__":
    what, first, second = sys.argv[1:]
    assert what == "read"
    read(Path(first), Path(second))
