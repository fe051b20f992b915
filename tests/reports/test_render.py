"""The door to the reports: formats by name and suffix, files whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from npu_roofline.errors import WrongUsage
from npu_roofline.reports.render import format_for, render, write

from tests.reports.answers import hotspots_answer


def test_the_suffix_names_the_format() -> None:
    """-o x.JSON is JSON, whatever the case; a suffix without a format is refused with those that have one."""
    assert [format_for(f"a/b.{suffix}") for suffix in ("JSON", "csv", "md", "html", "txt")] == [
        "json",
        "csv",
        "md",
        "html",
        "table",
    ]
    with pytest.raises(WrongUsage) as caught:
        format_for("out.xlsx")
    assert ".csv" in caught.value.hint


def test_an_unknown_format_is_wrong_usage() -> None:
    """A format that does not exist ends in a message with those that do, not in a traceback."""
    with pytest.raises(WrongUsage, match="yaml"):
        render(hotspots_answer(), "yaml")


def test_a_report_replaces_the_old_one_whole(tmp_path: Path) -> None:
    """The file holds the new text, no part file is left, and others may read it as the umask says."""
    target = tmp_path / "r.html"
    target.write_text("old")
    write("new é\n", target)
    assert target.read_bytes() == "new é\n".encode()
    assert os.listdir(tmp_path) == ["r.html"]
    assert stat.S_IMODE(target.stat().st_mode) & 0o400


def test_a_folder_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    """The message says the path and the reason, the hint what to do."""
    with pytest.raises(WrongUsage, match="No such file") as caught:
        write("x", tmp_path / "absent" / "r.html")
    assert "folder" in caught.value.hint


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """-o /dev/stdout and named pipes stay what they are."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write("through", pipe)
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
