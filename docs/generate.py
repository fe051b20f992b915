"""Writes what the documentation takes from the tool: the reference pages and the output in console blocks.

python docs/generate.py            write everything anew
python docs/generate.py --check    write nothing; exit 1 and name the pages that are out of date
"""

from __future__ import annotations

import sys
from pathlib import Path

if __package__ in (None, ""):  # run as a script: make the sibling modules importable as a package
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from docs.console_blocks import ROOT, reader_folders, updated
from docs.generated_pages import PAGES, generated


def console_pages() -> list[Path]:
    """The pages that may hold console blocks, in the order in which a reader meets them."""
    written = sorted(set((ROOT / "docs").rglob("*.md")) - set(PAGES))
    return [ROOT / "README.md", *written]


def wanted() -> dict[Path, str]:
    """The text that every page must have now."""
    texts = {page: generated(page) for page in PAGES}
    with reader_folders() as new_folder:
        for page in console_pages():
            texts[page] = updated(page.read_text(encoding="utf-8"), new_folder())
    return texts


def main(arguments: list[str]) -> int:
    """Write or check all pages; the number of stale pages decides the exit code of --check."""
    stale = [
        (page, text)
        for page, text in wanted().items()
        if not page.exists() or page.read_text(encoding="utf-8") != text
    ]
    for page, text in stale:
        print(("stale: " if arguments else "wrote ") + str(page.relative_to(ROOT)))
        if not arguments:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
    return 1 if arguments and stale else 0


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: python docs/generate.py [--check]")
    sys.exit(main(sys.argv[1:]))
