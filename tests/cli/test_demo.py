"""The demo tells the whole story, again and again, and never in a folder that is somebody else's."""

from __future__ import annotations

from pathlib import Path

import pytest
from npu_roofline.cli.main import run


def test_the_demo_can_be_run_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second demo replaces the first, also when the first was made by another version of the tool."""
    folder = tmp_path / "demo_out"
    assert run(["demo", "--folder", str(folder)]) == 0
    first = capsys.readouterr().out
    (folder / "npu_roofline.duckdb").write_bytes(b"a database of another version")
    assert run(["demo", "--folder", str(folder)]) == 0
    assert capsys.readouterr().out == first
    for line in ("where the time goes: ", "what to prefetch: ", "did it help: "):
        assert line in first
    made = {path.name for path in folder.iterdir()}
    assert {"roofline.html", "compare.html", "candidates.md", "npu_roofline.duckdb", "profiles"} <= made


def test_the_demo_leaves_other_folders_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder with files that no demo wrote is refused, and keeps them as they are."""
    (tmp_path / "npu_roofline.duckdb").write_bytes(b"precious")
    assert run(["demo", "--folder", str(tmp_path)]) == 2
    assert "was not written by" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["npu_roofline.duckdb"]
    assert (tmp_path / "npu_roofline.duckdb").read_bytes() == b"precious"
