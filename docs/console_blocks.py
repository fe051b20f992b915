"""Runs the ```console blocks of a page, so that what a reader sees is what the tool prints.

In such a block a line that starts with `$ ` is a command, and what follows is its output, stdout and stderr
as a terminal shows them. Each page runs in a folder of its own, in which `npu-roofline demo` has run before;
`make` lines run in the checkout.
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
# Narrow enough for a page; the tables choose their columns by it.
COLUMNS = "110"
SECONDS = 300


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
    return kept | {"PATH": path, "COLUMNS": COLUMNS, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}


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
    return "".join(f"$ {step.command}\n{run(step.command, folder)}" for step in _steps(block))
