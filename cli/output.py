"""Where text leaves the program: the terminal, or a file that may be written."""

from __future__ import annotations

import os
import shutil
import sys
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
MARK_BYTES = 4096


def show(answer: Answer, format: str | None, file: Path | None) -> None:
    """Render the answer in the form asked for, to the terminal or to the file."""
    from ..reports.render import format_for, render

    if file is None:
        print(render(answer, format or "table", width=terminal_width(), color=_color()), end="")
        return
    chosen = format or format_for(file)
    text = render(answer, chosen, width=WIDTH_WITHOUT_TERMINAL)
    write(_heading(answer.command, chosen) + text, file)


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
        if target.is_dir() or (target.exists() and not _ours(target, text)):
            raise WrongUsage(
                f"{file} exists and is not a report that npu-roofline wrote; it is left as it is",
                "choose another name for -o, or remove the file first",
            )
    except OSError as error:
        raise InputMissing(f"cannot write {file}: {error.strerror}", "choose another place for -o") from error
    write_whole(text, target)
    say(f"wrote {file}")


def terminal_width() -> int:
    """Columns of the terminal; COLUMNS overrides, and a pipe gets a fixed width."""
    return shutil.get_terminal_size((WIDTH_WITHOUT_TERMINAL, 24)).columns


def _heading(command: str, format: str) -> str:
    """The mark of the forms whose text does not carry one by itself; it tells a reader the command too."""
    return {"md": f"<!-- npu-roofline {command} -->\n\n", "table": f"npu-roofline {command}\n\n"}.get(
        format, ""
    )


def _ours(target: Path, text: str) -> bool:
    """Whether the file is empty, carries one of our marks, or is a CSV with the same header line."""
    with target.open("rb") as file:
        head = file.read(MARK_BYTES)
    if not head or MARKS["html"] in head:
        return True
    if any(head.startswith(MARKS[form]) for form in ("json", "md", "table")):
        return True
    return target.suffix == ".csv" and head.split(b"\n")[0] == text.encode().split(b"\n")[0]


def _color() -> bool:
    """Colour only where a person looks at it and has not refused it (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
