"""Runs the ```console blocks of a page, so that what a reader sees is what the tool prints.

In such a block a line that starts with `$ ` is a command, and what follows is its output, stdout and stderr
as a terminal shows them. A paragraph `[…]` stands for paragraphs that the page leaves out, a line `[…]` at
the end of a paragraph for its other lines. Each page runs in a folder of its own, in which the demo has run
before; `make` lines run in the checkout.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Narrow enough for a page, and for no table to show when a run was ingested.
COLUMNS = "118"
SECONDS = 300
LEFT_OUT = "[…]"


@dataclass(frozen=True)
class Step:
    """One command of a block and the output that the page claims for it."""

    command: str
    output: str


@contextmanager
def reader_folders() -> Iterator[Callable[[], Path]]:
    """Gives a function that makes a new folder in which the demo has run; all are removed in the end."""
    with tempfile.TemporaryDirectory() as home:
        first = Path(home, "demo")
        first.mkdir()
        printed = run("npu-roofline demo --folder demo_out", first)
        if not (first / "demo_out" / "compare.html").is_file():
            raise RuntimeError(f"the demo did not run:\n{printed}")

        def new_folder() -> Path:
            return Path(shutil.copytree(first, Path(tempfile.mkdtemp(dir=home)) / "reader"))

        yield new_folder


def blocks(page: str) -> list[list[Step]]:
    """The console blocks of a page, each as its steps in order."""
    return [_steps(match.group(1)) for match in BLOCK.finditer(page)]


def updated(page: str, folder: Path) -> str:
    """The page with the output of every step as it is now."""
    return BLOCK.sub(lambda match: f"```console\n{_run_block(match.group(1), folder)}```", page)


def run(command: str, folder: Path) -> str:
    """Run one command line in a shell and return what a terminal would show, without trailing blanks."""
    scripts = Path(sys.executable).parent
    is_make = command.startswith("make ")
    if is_make:
        # The environment that runs this is installed already, wherever it is: make need not make another.
        command = command.replace("make ", f"make -o .venv/.installed BIN={scripts} ", 1)
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT if is_make else folder,
        env=_environment(scripts),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def _environment(scripts: Path) -> dict[str, str]:
    """The variables of a reader who activated the environment: none of ours, none of a make that runs us."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("NPU_ROOFLINE_") and name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    return kept | {
        "PATH": path,
        "COLUMNS": COLUMNS,
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
    }


def _steps(block: str) -> list[Step]:
    steps: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append(Step(line.removeprefix("$ "), ""))
        elif steps:
            steps[-1] = Step(steps[-1].command, f"{steps[-1].output}{line}\n")
        else:
            raise ValueError(f"a console block begins with output, not with a command: {line!r}")
    return steps


def _run_block(block: str, folder: Path) -> str:
    parts = []
    for step in _steps(block):
        parts.append(f"$ {step.command}\n{kept(step.output, run(step.command, folder))}")
    return "".join(parts)


def kept(page: str, printed: str) -> str:
    """What a page shows of an output: all of it, or the paragraphs that it showed before.

    A paragraph is found again by the first words of its first line. Raises ValueError for one that is no
    longer printed.
    """
    if LEFT_OUT not in page:
        return printed
    shown, there = page.strip("\n").split("\n\n"), printed.strip("\n").split("\n\n")
    found: list[str] = []
    at = 0
    for paragraph in shown:
        if paragraph == LEFT_OUT:
            found.append(LEFT_OUT)
            continue
        same = [place for place in range(at, len(there)) if _beginning(there[place]) == _beginning(paragraph)]
        if not same:
            begins = " ".join(_beginning(paragraph))
            raise ValueError(f"no paragraph begins {begins!r} in what was printed:\n{printed}")
        found.append(_cut_alike(paragraph, there[same[0]]))
        at = same[0] + 1
    return "\n\n".join(found) + "\n"


def _cut_alike(shown: str, printed: str) -> str:
    """The printed paragraph, cut after as many lines as the page shows where the page cuts it."""
    lines = shown.splitlines()
    if lines[-1] != LEFT_OUT:
        return printed
    return "\n".join([*printed.splitlines()[: len(lines) - 1], LEFT_OUT])


def _beginning(paragraph: str) -> list[str]:
    return paragraph.splitlines()[0].split()[:2]
