"""Where text leaves the program: the terminal, or a file that may be written."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputMissing, WrongUsage

if TYPE_CHECKING:
    from ..analyzer.answer import Answer

# Columns where no terminal says how many there are, so that pipes and files get the same lines everywhere.
WIDTH_WITHOUT_TERMINAL = 120
# How a report of ours begins, by form: what a file must show before it is replaced. A CSV has no place
# for a mark; it is known by its header line.
MARKS = {
    "json": b'{\n  "schema": "npu-roofline.',
    "html": b'<meta name="generator" content="npu-roofline ',
    "md": b"<!-- npu-roofline ",
    "table": b"npu-roofline ",
}
_MARKS_OF_TEXT = (MARKS["json"], MARKS["md"], MARKS["table"])
MARK_BYTES = 4096


def show(
    answer: Answer, format: str | None, file: Path | None, top: int | None = None, lang: str = "en"
) -> None:
    """Render the answer in the form asked for, to the terminal or to the file.

    `top`: rows of the main table in a terminal, 0 = everything. `lang`: language of an HTML page.
    """
    from ..reports.render import format_for, render

    if file is None:
        print(render(answer, format or "table", width=terminal_width(), color=_color(), top=top), end="")
        return
    chosen = format or format_for(file)
    text = render(answer, chosen, width=WIDTH_WITHOUT_TERMINAL, top=top, lang=lang)
    write(_heading(answer.command, chosen) + text, file)


def write_document(command: str, text: str, file: Path | None) -> None:
    """Write a Markdown document with its mark to the file, or print it."""
    if file is None:
        print(text, end="")
    else:
        write(_heading(command, "md") + text, file)


def say(line: str) -> None:
    """Tell the person at the terminal what was done; on stderr, so that stdout holds answers only."""
    print(line, file=sys.stderr)


def write(text: str, file: Path) -> None:
    """Write a report, whole or not at all, and say so.

    An existing file is replaced only when this tool wrote it, which its first bytes tell: never a
    database, an export or a text of yours. Raises WrongUsage for such a file or a place that cannot be
    written.
    """
    from ..reports.render import write as write_whole

    target = file.resolve()
    try:
        if target.exists() and not (target.is_file() or target.is_dir()):
            target.write_text(text, encoding="utf-8")  # a device or a pipe, such as /dev/stdout
            return
    except OSError as error:
        raise InputMissing(f"cannot write {file}: {error.strerror}", "choose another place for -o") from error
    header = text.encode().split(b"\n")[0] if target.suffix == ".csv" else None
    refuse_foreign(file, _MARKS_OF_TEXT, "-o", header)
    write_whole(text, target)
    say(f"wrote {file}")


def refuse_foreign(file: Path, marks: Iterable[bytes], option: str, header: bytes | None = None) -> None:
    """WrongUsage when the file is a folder, or is there and does not begin as what this tool writes.

    `marks` are the beginnings that are ours; `header` is the header line that a CSV of ours has instead.
    """
    target = file.resolve()
    try:
        if target.exists() and not target.is_dir():
            if not target.is_file():
                return  # a device or a pipe
            with target.open("rb") as opened:
                head = opened.read(MARK_BYTES)
            ours = not head or MARKS["html"] in head or any(head.startswith(mark) for mark in marks)
            if ours or (header is not None and head.split(b"\n")[0] == header):
                return
        elif not target.exists():
            return
    except OSError as error:
        raise InputMissing(
            f"cannot write {file}: {error.strerror}", f"choose another place for {option}"
        ) from error
    raise WrongUsage(
        f"{file} exists and is not a report that npu-roofline wrote; it is left as it is",
        f"choose another name for {option}, or remove the file first",
    )


def terminal_width() -> int:
    """Columns of the terminal; COLUMNS overrides, and a pipe gets a fixed width."""
    return shutil.get_terminal_size((WIDTH_WITHOUT_TERMINAL, 24)).columns


def _heading(command: str, format: str) -> str:
    """The mark of the forms whose text does not carry one by itself; it tells a reader the command too."""
    return {"md": f"<!-- npu-roofline {command} -->\n\n", "table": f"npu-roofline {command}\n\n"}.get(
        format, ""
    )


def _color() -> bool:
    """Colour only where a person looks at it and has not refused it (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
