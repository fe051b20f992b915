"""-o writes reports whole, and never over anything that is not a report of ours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.cli.output import show, write
from npu_roofline.errors import WrongUsage


@pytest.fixture
def answer() -> Answer:
    """A small answer without a run."""
    return Answer("query", None, None, None, ({"type": "MatMul", "total_us": 12.5},), ("a note",))


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.md", "a.txt", "a.html"])
def test_a_report_of_ours_can_be_written_again(answer: Answer, name: str, tmp_path: Path) -> None:
    """Each form is recognised when it is written a second time, and the second text replaces the first."""
    file = tmp_path / name
    show(answer, None, file)
    first = file.read_text()
    show(Answer("query", None, None, None, ({"type": "Cast", "total_us": 1.0},)), None, file)
    assert file.read_text() != first
    assert "Cast" in file.read_text()
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("kernel_details.csv", "Name,Type,Duration(us)\nmatmul_1,MatMul,3.0\n"),
        ("npu_roofline.duckdb", "\0\0\0\0\0\0\0\0DUCK\0"),
        ("trace_view.json", '[{"name": "npu-roofline"}]'),
        ("README.md", "# About npu-roofline \n"),
        ("index.html", "<!DOCTYPE html><title>npu-roofline</title>"),
    ],
)
def test_a_file_that_is_not_ours_is_left_alone(
    answer: Answer, name: str, content: str, tmp_path: Path
) -> None:
    """An export, a database or a text of the user's is refused and keeps every byte."""
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(WrongUsage, match="not a report that npu-roofline wrote"):
        show(answer, "json", file)
    assert file.read_text() == content


def test_a_link_is_followed_to_what_it_protects(answer: Answer, tmp_path: Path) -> None:
    """A symbolic link to an export is refused like the export itself."""
    export = tmp_path / "kernel_details.csv"
    export.write_text("Name\nx\n")
    link = tmp_path / "out.csv"
    link.symlink_to(export)
    with pytest.raises(WrongUsage):
        show(answer, None, link)
    assert export.read_text() == "Name\nx\n"


def test_an_empty_file_may_be_filled(answer: Answer, tmp_path: Path) -> None:
    """A file without content, as mktemp makes, has nothing to lose."""
    file = tmp_path / "out.json"
    file.touch()
    show(answer, None, file)
    assert file.read_text().startswith('{\n  "schema": "npu-roofline.query/1"')


def test_a_suffix_that_names_no_form_is_refused(answer: Answer, tmp_path: Path) -> None:
    """An unknown suffix is wrong usage, unless --format says what to write."""
    with pytest.raises(WrongUsage):
        show(answer, None, tmp_path / "out.xyz")
    show(answer, "json", tmp_path / "out.xyz")
    assert (tmp_path / "out.xyz").is_file()


@pytest.mark.parametrize("place", ["missing/out.json", "."])
def test_a_place_that_cannot_be_written_is_named(answer: Answer, place: str, tmp_path: Path) -> None:
    """A missing folder, or a folder in place of a file, is an error that names it."""
    with pytest.raises(WrongUsage, match=r"out\.json|not a report"):
        show(answer, "json", tmp_path / place)


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """-o /dev/stdout and the like get the text and stay what they are."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write("text\n", pipe)
    assert os.read(reader, 100) == b"text\n"
    os.close(reader)
    assert pipe.is_fifo()
