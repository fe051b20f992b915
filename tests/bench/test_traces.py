"""The trace that the benchmark reads is one: every launch arrives with its kernel, operator and line."""

from __future__ import annotations

import hashlib
from pathlib import Path

from npu_roofline.ingest.stage import stage

from bench.make_trace import write_trace
from bench.measure import Run
from bench.traces import TraceFigures


def test_every_launch_of_the_trace_is_a_kernel_with_its_line(tmp_path: Path) -> None:
    """As many kernels as launches, in steps of 750, in both forms; each knows its operator and line."""
    for form in ("list", "object"):
        path = tmp_path / form / "trace_view.json"
        launches = write_trace(path, 3_000_000, form)
        with stage([path]) as staging:
            kernels, steps, origins, sources = staging.con.execute(
                "SELECT count(*), count(DISTINCT step_id), count(torch_op), count(source) FROM kernels "
                "LEFT JOIN kernel_origins USING (rank_id, kernel_id)"
            ).fetchall()[0]
            assert (kernels, steps, origins, sources) == (launches, -(-launches // 750), launches, launches)
            first = staging.con.execute(
                "SELECT torch_op, launch_op, module, source FROM kernel_origins WHERE kernel_id = 0"
            ).fetchall()
            line = "/work/model/layers.py(100): forward"
            assert first == [("aten::linear", "aclnnAddmm", "nn.Module: Linear_0", line)]


def test_the_trace_has_the_same_bytes_every_time(tmp_path: Path) -> None:
    """Two measurements read the same."""
    sums = set()
    for name in ("a", "b"):
        write_trace(tmp_path / name / "trace_view.json", 200_000)
        sums.add(hashlib.sha256((tmp_path / name / "trace_view.json").read_bytes()).hexdigest())
    assert len(sums) == 1


def test_the_slower_form_is_held_against_the_limit() -> None:
    """List 2 s, object 6 s, reading 3 s: the ratio is 2, and the memory that of the larger peak."""
    figures = TraceFigures(100, Run(3.0, 3.0, 50), {"list": Run(2.0, 2.0, 120), "object": Run(6.0, 6.0, 140)})
    assert (figures.ratio, figures.memory_ratio) == (2.0, 1.4)
