"""Runs the ```console blocks of a page, so that what a reader sees is what the tool prints.

In such a block a line that starts with `$ ` is a command, and what follows is its output, stdout and
stderr as a terminal shows them. All pages run in one folder in which `npu-roofline demo` has run
before; `make` lines run in the checkout.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
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


def prepare(folder: Path) -> None:
    """Put into an empty folder what the pages rely on."""
    done = run("npu-roofline demo --folder demo_out", folder)
    if not (folder / "demo_out").is_dir():
        raise RuntimeError(f"the demo did not run:\n{done}")


def blocks(page: str) -> list[list[Step]]:
    """The console blocks of a page, each as its steps in order."""
    return [_steps(match.group(1)) for match in BLOCK.finditer(page)]


def updated(page: str, folder: Path) -> str:
    """The page with the output of every step as it is now."""
    return BLOCK.sub(lambda match: f"```console\n{_run_block(match.group(1), folder)}```", page)


def run(command: str, folder: Path) -> str:
    """Run one command line in a shell and return what a terminal would show, without trailing blanks."""
    # The scripts of the environment that runs this come first, as they do for a reader who activated it.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NPU_ROOFLINE_")}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT if command.startswith("make ") else folder,
        env=environment | {"PATH": path, "COLUMNS": COLUMNS, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


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
