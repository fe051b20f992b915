"""The figure of the comparison is of two runs that were taken in, and of the comparison alone."""

from __future__ import annotations

from pathlib import Path

from bench.compare import figure
from tests.samples.conftest import command_line


def test_two_runs_are_compared(tmp_path: Path) -> None:
    """Both runs are in the database, 1,600 and 1,601 kernels of them; the command took time and memory."""
    found = figure(tmp_path, 1600, 1)
    assert found.cpu_seconds > 0
    assert found.peak_bytes > 1e6
    code, out, err = command_line(
        "query", "SELECT count(*) AS n FROM kernels GROUP BY run_id ORDER BY n", "--db",
        str(tmp_path / "npu_roofline.duckdb"), "--format", "csv",
    )  # fmt: skip
    assert code == 0, err
    assert [line for line in out.splitlines() if line.isdigit()] == ["1600", "1601"]
