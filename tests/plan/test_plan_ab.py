"""The generated A/B script, run as a user runs it, against a stub of torch and torch_npu."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from npu_roofline.reports.plan_code import ab_script

from tests.plan.conftest import Planned

# What the script imports on the NPU host. The profiler's handler leaves the sample profile of its side; the
# log tells how often a step ran and with which profiler options.
TORCH = """
import numpy, types
class Tensor:
    def __init__(self, values): self.values = values
    def detach(self): return self
    cpu = float = detach
    def is_floating_point(self): return True
    def numpy(self): return self.values
def manual_seed(seed): pass
npu = types.SimpleNamespace(synchronize=lambda: None)
"""
TORCH_NPU = """
import json, os, shutil, types
from contextlib import contextmanager
class _Profiler:
    class ProfilerLevel: Level1 = "Level1"
    class AiCMetrics: PipeUtilization = "PipeUtilization"
    class ProfilerActivity: CPU, NPU = "CPU", "NPU"
    @staticmethod
    def _ExperimentalConfig(**options): return options
    @staticmethod
    def schedule(**options): return options
    @staticmethod
    def tensorboard_trace_handler(folder): return folder
    @staticmethod
    @contextmanager
    def profile(activities, schedule, on_trace_ready, record_shapes, experimental_config):
        steps = []
        yield types.SimpleNamespace(step=lambda: steps.append(1))
        side = "after" if "/on_" in on_trace_ready else "before"
        shutil.copytree(os.environ[side], on_trace_ready)
        told = [side, len(steps), schedule["active"], record_shapes, experimental_config]
        with open(os.environ["LOG"], "a") as log:
            log.write(json.dumps(told) + "\\n")
profiler = _Profiler
"""
MODEL = """
import os, numpy, torch
def build(enable_prefetch, only):
    rounds = []
    def step():
        rounds.append(1)
        with open(os.environ["ROUNDS"], "w") as log:
            log.write(f"{enable_prefetch} {only} {len(rounds)}")
        logits = numpy.arange(8, dtype=numpy.float32)
        return {"logits": torch.Tensor(logits), "state": [torch.Tensor(numpy.ones(2))]}
    return step
"""


@pytest.fixture
def host(planned: Planned, sample_folders: dict[str, Path], tmp_path: Path) -> Path:
    """A folder with the script, a model, and stubs instead of torch and torch_npu."""
    for name, text in {"torch": TORCH, "torch_npu": TORCH_NPU, "my_model": MODEL}.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    answer = planned()
    best = max(answer.rows, key=lambda call: call.predicted_saving_step_us)
    (tmp_path / "prefetch_ab.py").write_text(ab_script(planned(best.id)), encoding="utf-8")
    for side in ("before", "after"):
        (tmp_path / side).symlink_to(sample_folders[f"moe_decode_{side}"])
    return tmp_path


def _run(host: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(host),
        "before": str(host / "before"),
        "after": str(host / "after"),
        "LOG": str(host / "log"),
        "ROUNDS": str(host / "rounds"),
    }
    command = [sys.executable, "prefetch_ab.py", "--entry", "my_model:build", *arguments]
    return subprocess.run(command, cwd=host, env=environment, capture_output=True, text=True, check=False)


def test_the_script_measures_both_sides_and_compares(host: Path):
    """Off and on, 100 rounds of warm-up, level 1 with shapes, outputs kept, and a comparison with a verdict.

    The stub leaves the sample's before and after: the comparison finds the outputs equal and the target
    that the one call was made for.
    """
    tool = f"{shlex.quote(sys.executable)} -m npu_roofline"
    done = _run(host, "--warmup", "100", "--steps", "8", "--repeats", "1", "--npu-roofline", tool)
    assert done.returncode == 0, done.stderr
    log = (host / "log").read_text().splitlines()
    options = '"profiler_level": "Level1", "aic_metrics": "PipeUtilization"'
    assert log == [f'["{side}", 9, 8, true, {{{options}}}]' for side in ("before", "after")]
    assert (host / "rounds").read_text() == "True ['gate_up_proj@17'] 109"
    with np.load(host / "prefetch_ab" / "outputs_on.npz") as outputs:
        assert sorted(outputs.files) == ["logits", "state.0"]
    assert (host / "prefetch_ab" / "compare.html").stat().st_size > 10_000
    assert "Verdict" in done.stdout
    assert "compare.html" in done.stdout


def test_what_measures_nothing_is_refused(host: Path):
    """Too little warm-up, too few steps, an unknown call: an error before anything runs."""
    for arguments in (("--warmup", "99"), ("--steps", "1"), ("--only", "nobody"), ("--repeats", "0")):
        assert _run(host, *arguments).returncode == 2
    assert not (host / "prefetch_ab").exists()
