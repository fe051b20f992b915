"""The one door to the reports: an answer and the name of a format give text."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..analyzer.answer import Answer
from ..errors import WrongUsage

FORMATS: Final = ("table", "json", "csv", "md", "html")
_SUFFIXES: Final = {
    ".json": "json",
    ".csv": "csv",
    ".md": "md",
    ".markdown": "md",
    ".html": "html",
    ".htm": "html",
    ".txt": "table",
}


def render(
    answer: Answer,
    format: str = "table",
    width: int | None = None,
    color: bool = False,
    top: int | None = None,
    lang: str = "en",
) -> str:
    """The answer in one of FORMATS; `width` (terminal columns, default 80), `color` and `top` (rows of the
    main table, 0 = everything) matter to `table`, `lang` to `html` where a page is written in it.

    Raises WrongUsage for a format that does not exist.
    """
    # Each format is imported where used: a JSON answer does not pay for rich, a table not for jinja2.
    if format == "table":
        from .console import render_console

        return render_console(answer, width or 80, color, top)
    if format == "json":
        from .envelope import render_json

        return render_json(answer)
    if format == "csv":
        from .csv_table import render_csv

        return render_csv(answer)
    if format == "md":
        return _document(answer)
    if format == "html":
        return _page(answer, lang)
    raise WrongUsage(f"unknown format {format!r}", f"the formats are: {', '.join(FORMATS)}")


def _document(answer: Answer) -> str:
    """The Markdown document made for the command, or the tables of the answer."""
    if answer.command == "plan":
        from .plan_document import plan_document

        return plan_document(answer)
    if answer.command == "fuse-ledger":
        from .ledger_document import ledger_document

        return ledger_document(answer)
    from .markdown import render_markdown

    return render_markdown(answer)


def _page(answer: Answer, lang: str) -> str:
    """The page made for the command, or the plain one."""
    if answer.command == "compare":
        from .compare_html import compare_report

        return compare_report(answer, lang=lang)
    if answer.command == "tune":
        from .tune_html import tune_report

        return tune_report(answer)
    from .html_answer import render_html

    return render_html(answer)


def format_for(path: str | Path) -> str:
    """The format that a file's suffix asks for. Raises WrongUsage for a suffix that names none."""
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise WrongUsage(
            f"no format for the suffix of {os.fspath(path)!r}",
            f"use one of {', '.join(sorted(_SUFFIXES))}, or give --format",
        )
    return _SUFFIXES[suffix]


def write(text: str, path: str | Path) -> None:
    """Write the text whole or not at all: nobody sees half a report. Raises WrongUsage where it cannot."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.exists() and not target.is_file():  # a pipe or a terminal is written to, never replaced
            target.write_text(text, encoding="utf-8", newline="")
            return
        part.write_text(text, encoding="utf-8", newline="")
        os.replace(part, target)
    except OSError as problem:
        with suppress(OSError):  # in a folder that cannot be written nothing is to be removed
            part.unlink(missing_ok=True)
        raise WrongUsage(
            f"cannot write {os.fspath(path)!r}: {problem.strerror or problem}",
            "give -o a path in a folder that exists and that you may write to",
        ) from problem
