"""The commands of `fuse` and `ops` from the command line: exit codes, files, one change at a time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from npu_roofline.cli.main import run

from tests.analyzer.fusion.wheels import make_wheel
from tests.analyzer.modelcode.samples import CANN, CONFIGS, write


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with model code, its configuration and a small wheel; indexes are cached in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write(tmp_path, "modeling.py", CANN)
    write(tmp_path, "config.json", json.dumps(CONFIGS["big"]))
    make_wheel(tmp_path / "torch_npu.whl")
    return tmp_path


def start(*more: str) -> int:
    """`fuse ledger start` on the model code alone."""
    return run(
        ["fuse", "ledger", "start", "--no-scan", "--model", "modeling.py", "--wheel", "torch_npu.whl", *more]
    )


def test_model_and_ops_answer_in_every_form(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Table, JSON, CSV and Markdown of each command come out whole, and JSON carries its schema."""
    commands = (
        ["fuse", "model", "modeling.py", "--model-config", "config.json"],
        ["fuse", "rules"],
        ["ops", "list", "--wheel", "torch_npu.whl"],
        ["ops", "show", "npu_swiglu", "--wheel", "torch_npu.whl"],
        ["ops", "search", "attention", "--wheel", "torch_npu.whl"],
    )
    for command in commands:
        for form in ("table", "csv", "md", "json"):
            assert run([*command, "--format", form]) == 0
            out = capsys.readouterr().out
            assert out.strip()
        assert json.loads(out)["schema"] == f"npu-roofline.{command[0]}-{command[1]}/1"
    assert folder.exists()


def test_the_review_fails_until_everything_is_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1 while something is missing, 0 when every candidate has an outcome and every limit a
    reason.
    """
    assert start("--model-config", "config.json") == 0
    assert run(["fuse", "review"]) == 1
    assert "error: the review is not complete" in capsys.readouterr().err
    entries = json.loads((folder / "fuse_ledger.json").read_text(encoding="utf-8"))["entries"]
    assert len(entries) == 3
    for each in entries:
        assert run(["fuse", "ledger", "confirm", each["id"], "--reason", "read"]) == 0
        assert (
            run(["fuse", "ledger", "record", each["id"], "--outcome", "skipped", "--reason", "no time"]) == 0
        )
    assert run(["fuse", "review", "--analysis-only"]) == 0
    assert run(["fuse", "review"]) == 0
    assert run(["fuse", "ledger", "show", "--lang", "zh", "-o", "ledger.md"]) == 0
    assert "跳过" in (folder / "ledger.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["fuse", "review"], 3),
        (["fuse", "ledger", "show"], 3),
        (["fuse", "model", "absent.py"], 3),
        (["fuse", "model", "config.json"], 3),
        (["ops", "list", "--wheel", "modeling.py"], 3),
        (["ops", "show", "npu_nothing", "--wheel", "torch_npu.whl"], 3),
        (["fuse", "ledger", "record", "m-1", "--outcome", "gone"], 2),
        (["fuse", "scan", "--status", "good"], 2),
    ],
)
def test_mistakes_are_two_lines(command: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Missing files, wrong files and unknown words give the exit code, an error and a hint."""
    assert run(command) == code
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert "Traceback" not in err


def test_outputs_that_differ_are_named_with_their_size(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """logits differ by 0.5, float32 may by 1e-05 + 1.3e-06 x its size: kept is refused."""
    assert start("--model-config", "config.json") == 0
    entry = json.loads((folder / "fuse_ledger.json").read_text(encoding="utf-8"))["entries"][0]["id"]
    one = np.array([1.0, 2.0], dtype=np.float32)
    np.savez(folder / "a.npz", logits=one, same=one)
    np.savez(folder / "b.npz", logits=one + np.float32(0.5), same=one)
    command = ["fuse", "ledger", "record", entry, "--outcome", "kept", "--outputs", "a.npz", "b.npz"]
    capsys.readouterr()
    assert run(command) == 2
    error = capsys.readouterr().err
    assert "1 of 2 arrays differs, logits by 0.5 at most; float32 may differ by 1e-05 + 1.3e-06" in error
    assert "--accuracy TEXT" in error
