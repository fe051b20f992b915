"""The benchmark measures what it says, on input that does not change, and goes red when a limit is missed."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from bench.limits import Check, missed, table
from bench.make_input import write_kernel_table
from bench.measure import run
from tests.repository import ROOT


def test_the_input_has_the_rows_asked_for_and_the_same_bytes(tmp_path: Path) -> None:
    """Any number of rows comes out exactly, 47 columns wide, and twice the same."""
    sums = set()
    for name in ("a.csv", "b.csv"):
        size = write_kernel_table(tmp_path / name, 1234)
        data = (tmp_path / name).read_bytes()
        assert size == len(data)
        lines = data.decode().splitlines()
        assert len(lines) == 1235
        assert lines[0].count(",") == 46
        sums.add(hashlib.sha256(data).hexdigest())
    assert len(sums) == 1


def test_starts_and_steps_only_grow(tmp_path: Path) -> None:
    """Repeating steps shifts them in time: starts ascend over the whole table, step ids by one."""
    write_kernel_table(tmp_path / "rows.csv", 3000)
    rows = [line.split(",") for line in (tmp_path / "rows.csv").read_text().splitlines()[1:]]
    starts = [next(cell for cell in row if cell.endswith("\t")) for row in rows]
    assert starts == sorted(starts)
    steps = [int(row[0]) for row in rows]
    assert sorted(set(steps)) == list(range(3, max(steps) + 1))
    assert steps == sorted(steps)


def test_the_batch_changes_the_shapes(tmp_path: Path) -> None:
    """Steps of another batch have other signatures, in M and in the second dimension behind the heads."""
    write_kernel_table(tmp_path / "rows.csv", 6000)
    text = (tmp_path / "rows.csv").read_text()
    assert '"""1,4096;320,256,16,32;10240"""' in text
    assert '"""2,4096;320,256,16,32;10240"""' in text
    assert '"""8,2,512;8,512,128"""' in text


def test_a_missed_limit_is_found_and_marked() -> None:
    """A number over its limit is missed, one on it is not; a lone failure is enough."""
    good, edge, bad = Check("a", 1.0, 3.0, "x"), Check("b", 3.0, 3.0, "x"), Check("c", 3.01, 3.0, "x")
    assert missed([good, edge]) == []
    assert missed([good, bad, edge]) == [bad]
    assert [line.split()[-1] for line in table([good, bad]).splitlines()[1:]] == ["ok", "MISSED"]


def test_a_process_is_measured_by_itself() -> None:
    """Memory of a child is its own: 200 MB held shows, and the next, small child does not inherit it."""
    # From a small process, as the benchmark is one: a child counts what its parent held when it began.
    program = """
import sys
from bench.measure import best
for held in (200_000_000, 0):
    one = best([sys.executable, "-c", f"b = bytearray({held})"], 2)
    print(one.seconds, one.cpu_seconds, one.peak_bytes)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    large, small = ([float(word) for word in line.split()] for line in done.stdout.splitlines())
    assert large[2] > 200e6 > small[2] > 1e6
    assert all(each > 0 for each in (*large, *small))


def test_a_failing_command_stops_the_benchmark() -> None:
    """A command that fails is no measurement: its error comes through."""
    with pytest.raises(RuntimeError, match="no such thing"):
        run([sys.executable, "-c", "raise SystemExit('no such thing')"])
