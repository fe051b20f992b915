"""The reference pages say what the sources say, and the documentation leads nowhere that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generated_pages import PAGES, cli_page, generated
from tests.repository import ROOT, name_of

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_generated_page_is_up_to_date(page: Path) -> None:
    """The page is what `make docs` would write now."""
    assert page.read_text(encoding="utf-8") == generated(page)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document: Path) -> None:
    """Every relative link and picture of a document names a file that exists, and a heading in it."""
    assert broken_links(document, document.read_text(encoding="utf-8")) == []


def broken_links(document: Path, text: str) -> list[str]:
    """The targets of a page that do not exist; addresses of the web are not followed."""
    broken = []
    for target in LINK.findall(without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve()
        exists = not path or file.exists()
        there = file.read_text(encoding="utf-8") if path and exists and anchor else text
        if not exists or (anchor and anchor not in anchors(there)):
            broken.append(target)
    return broken


def without_code(text: str) -> str:
    """The text without its code: brackets there are no links."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(text: str) -> set[str]:
    """The anchors that a page's headings get."""
    headings = re.findall(r"^#+ (.*)$", without_code(text), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_a_broken_link_is_found() -> None:
    """The check goes red for a missing file and a missing heading, not for code or the web."""
    text = "# One\n[a](nowhere.md) [b](#one) [c](#two) `[d](x.md)` [e](https://example.org)"
    assert broken_links(ROOT / "README.md", text) == ["nowhere.md", "#two"]


def test_every_command_is_explained_to_a_reader() -> None:
    """Each command of the parser occurs in a page that people wrote, not only in the generated list."""
    commands = re.findall(r"^## npu-roofline (\S.*)$", cli_page(), flags=re.MULTILINE)
    written = "\n".join(page.read_text(encoding="utf-8") for page in DOCUMENTS if page not in PAGES)
    assert len(commands) >= 12
    assert [command for command in commands if f"npu-roofline {command}" not in written] == []


def test_every_page_can_be_reached() -> None:
    """No page of docs/ is an orphan: each is linked from another page or the README."""
    linked = {
        (document.parent / target.partition("#")[0]).resolve()
        for document in DOCUMENTS
        for target in LINK.findall(without_code(document.read_text(encoding="utf-8")))
    }
    assert [
        name_of(page) for page in DOCUMENTS if page.is_relative_to(ROOT / "docs") and page not in linked
    ] == []


def test_the_device_file_of_the_guide_is_one() -> None:
    """The TOML that a reader is told to copy loads as a device, and its peak is 20 x 1650 MHz x 8192."""
    from npu_roofline.roofline.device import load_device_text

    page = (ROOT / "docs" / "how-to" / "add-a-device.md").read_text(encoding="utf-8")
    text = page.split("```toml\n")[1].split("```")[0]
    # 20 cores x 1650e6 cycles/s x 8192 operations = 270.3e12 operations/s
    assert load_device_text(text).cube_peak_ops("fp16") == pytest.approx(270.336e12)


def test_the_operator_row_of_the_guide_is_one() -> None:
    """The row that a reader is told to copy passes the check that every shipped row passes."""
    import tomllib

    from npu_roofline.roofline.registry import _row

    page = (ROOT / "docs" / "how-to" / "add-an-operator.md").read_text(encoding="utf-8")
    (entry,) = tomllib.loads(page.split("```toml\n")[1].split("```")[0])["operator"]
    assert _row(entry).family == "norm"
