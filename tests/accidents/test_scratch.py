"""Scratch folders: those of killed processes are removed, those of living ones and of others are not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from npu_roofline.ingest import scratch
from npu_roofline.ingest.scratch import scratch_folder

_OWNER = """
import sys, time
from pathlib import Path
from npu_roofline.ingest.scratch import scratch_folder
with scratch_folder("npu-roofline-", Path(sys.argv[1])) as folder:
    (folder / "staging.duckdb").write_text("half a run")
    print(folder, flush=True)
    time.sleep(60)
"""


def owner(home: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that works in a scratch folder, and the folder."""
    process = subprocess.Popen([sys.executable, "-c", _OWNER, str(home)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_process_left_is_removed_and_a_living_one_is_not_touched(tmp_path: Path) -> None:
    """Two owners, one killed: the next scratch folder takes the place of the dead one's, and only of that."""
    (dead, gone), (living, kept) = owner(tmp_path), owner(tmp_path)
    dead.kill()
    dead.communicate()
    try:
        with scratch_folder("npu-roofline-", tmp_path) as mine:
            assert not gone.exists()
            assert (kept / "staging.duckdb").read_text() == "half a run"
            assert mine.is_dir()
        assert sorted(tmp_path.iterdir()) == [kept]
    finally:
        living.kill()
        living.communicate()


def test_a_folder_that_is_in_use_by_this_process_is_kept(tmp_path: Path) -> None:
    """Two ingests of one process, as threads of a service have them, do not remove each other's folder."""
    with (
        scratch_folder("npu-roofline-", tmp_path) as first,
        scratch_folder("npu-roofline-", tmp_path) as second,
    ):
        assert first.is_dir()
        assert second.is_dir()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_nothing_outside_is_ever_removed(tmp_path: Path) -> None:
    """A link with our name in a shared folder, and a folder of another tool, keep what they hold."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "in-use").touch()
    (outside / "precious").touch()
    home = tmp_path / "home"
    home.mkdir()
    (home / "npu-roofline-link").symlink_to(outside)
    (home / "another-tool").mkdir()
    with scratch_folder("npu-roofline-", home):
        pass
    assert sorted(path.name for path in home.iterdir()) == ["another-tool", "npu-roofline-link"]
    assert (outside / "precious").exists()


def test_a_folder_without_a_lock_is_removed_when_it_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a lock nobody knows whether the owner lives: a fresh folder stays, one of two days ago goes."""
    for name, days in (("fresh", 0), ("old", 2)):
        folder = tmp_path / f"npu-roofline-{name}"
        folder.mkdir()
        past = folder.stat().st_mtime - days * 86_400
        os.utime(folder, (past, past))
    with scratch_folder("npu-roofline-", tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["npu-roofline-fresh"]
    monkeypatch.setattr(scratch, "fcntl", None)
    with scratch_folder("npu-roofline-", tmp_path) as folder:
        assert list(folder.iterdir()) == []
