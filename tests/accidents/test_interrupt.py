"""Ctrl-C before the first command line is read: the program ends without a word."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

# Interrupts itself when the given module is imported, however fast the machine is.
_INTERRUPTED = """
import os, signal, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, {handler})
sys.meta_path.insert(0, Interrupt())
sys.argv = ["npu-roofline", "--version"]
from npu_roofline.cli.entry import main
main()
"""


def started(module: str, handler: str) -> subprocess.CompletedProcess[str]:
    """The program, interrupted while it imports `module`."""
    code = _INTERRUPTED.format(module=module, handler=handler)
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("module", ["typer", "npu_roofline.cli.main", "npu_roofline.cli.summary"])
def test_ctrl_c_while_the_commands_are_loaded(module: str) -> None:
    """The process ends by the signal, as `sleep` would, and shows no traceback."""
    ended = started(module, "signal.default_int_handler")
    assert ended.returncode == -signal.SIGINT
    assert (ended.stdout, ended.stderr) == ("", "")


def test_an_ignored_interrupt_stays_ignored() -> None:
    """A program started in the background of a script ignores Ctrl-C, and goes on."""
    ended = started("typer", "signal.SIG_IGN")
    assert ended.returncode == 0
    assert ended.stdout.startswith("npu-roofline ")
