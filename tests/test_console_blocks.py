"""What the README and the guides show is what the tool prints: their console blocks run for real."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from docs.console_blocks import blocks, kept, reader_folders, run, updated
from docs.generate import console_pages
from tests.repository import ROOT, name_of

PAGES_WITH_BLOCKS = [page for page in console_pages() if blocks(page.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def new_folder() -> Iterator[Callable[[], Path]]:
    """Makes folders in which a reader has run the demo."""
    with reader_folders() as made:
        yield made


@pytest.mark.parametrize("page", PAGES_WITH_BLOCKS, ids=name_of)
def test_a_page_shows_what_the_tool_prints(page: Path, new_folder: Callable[[], Path]) -> None:
    """Every command of the page runs, and prints exactly what stands below it."""
    text = page.read_text(encoding="utf-8")
    assert updated(text, new_folder()) == text


def test_the_readme_is_among_the_pages() -> None:
    """The README's commands are run too, the one that a newcomer types first among them."""
    assert ROOT / "README.md" in PAGES_WITH_BLOCKS
    commands = [step.command for block in blocks((ROOT / "README.md").read_text()) for step in block]
    assert commands[0] == "make demo"


def test_a_stale_output_is_found(tmp_path: Path) -> None:
    """The check goes red when a command prints something else than the page shows."""
    page = "```console\n$ echo one\ntwo\n```\n"
    assert updated(page, tmp_path) == "```console\n$ echo one\none\n```\n"


def test_no_command_of_a_page_fails_by_accident(tmp_path: Path) -> None:
    """An error in a block is shown on purpose only: where the command prints its exit code."""
    accidents = [
        f"{name_of(page)}: {step.command}"
        for page in PAGES_WITH_BLOCKS
        for block in blocks(page.read_text(encoding="utf-8"))
        for step in block
        if "error: " in step.output and "echo" not in step.command
    ]
    assert accidents == []
    assert run("npu-roofline --version", tmp_path).startswith("npu-roofline ")


def test_paragraphs_that_a_page_leaves_out_stay_out() -> None:
    """A page that shows two of four paragraphs keeps those two, with what is printed in them now."""
    page = "Title one\nold\n\n[…]\n\nTitle three\nold\n"
    printed = "Title one\nnew 1\n\nTitle two\nnew 2\n\nTitle three\nnew 3\n\nTitle four\nnew 4\n"
    assert kept(page, printed) == "Title one\nnew 1\n\n[…]\n\nTitle three\nnew 3\n"
    assert kept("Title one\n[…]\n", "Title one\nrow\nrow\n\nTitle two\n") == "Title one\n[…]\n"


def test_a_paragraph_that_is_gone_is_an_error() -> None:
    """A page cannot go on showing a paragraph that the tool no longer prints."""
    with pytest.raises(ValueError, match="no paragraph begins 'Title three'"):
        kept("[…]\n\nTitle three\nold\n", "Title one\nnew\n")
