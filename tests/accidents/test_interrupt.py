"""Ctrl-C while modules are loaded: before the first command line is read, and behind it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

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


@pytest.mark.parametrize("module", ["typer", "npu_roofline.cli.main"])
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


# A module of which a class interrupts the process while it is made, and a program that loads it.
_MODULE = """
import os, signal, time
class Field:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGINT)
        {then}
class Case:
    field = Field()
print("loaded")
"""
_LOADING = """
import sys, time
sys.path.insert(0, {folder!r})
from npu_roofline.cli.interrupt import handle, stop
handle()
try:
    import interrupting
    {behind}
except BaseException as error:
    print(type(error).__name__)
stop()
"""


def loading(folder: Path, then: str, behind: str) -> list[str]:
    """Lines of a program that is interrupted while it loads a module."""
    (folder / "interrupting.py").write_text(_MODULE.format(then=then), encoding="utf-8")
    code = _LOADING.format(folder=str(folder), behind=behind)
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.splitlines()


def test_ctrl_c_inside_an_import_waits_for_its_end(tmp_path: Path) -> None:
    """Raised inside, it would come as the RuntimeError of a class: the module is loaded before."""
    assert loading(tmp_path, "sum(range(100))", "time.sleep(30)") == ["loaded", "KeyboardInterrupt"]


def test_a_second_ctrl_c_does_not_wait(tmp_path: Path) -> None:
    """An import that hangs is ended by it."""
    again = "os.kill(os.getpid(), signal.SIGINT); time.sleep(30)"
    assert loading(tmp_path, again, "time.sleep(30)") == ["RuntimeError"]


def test_a_program_that_ends_first_is_not_killed(tmp_path: Path) -> None:
    """Behind the import nothing is left to do: no signal comes after the end."""
    assert loading(tmp_path, "pass", "pass")[0] == "loaded"


def test_an_interrupted_command_ends_at_once() -> None:
    """What is begun when Python is taken apart, here a minute of sleep, is not waited for."""
    code = (
        "import atexit, time; atexit.register(time.sleep, 60); from npu_roofline.cli import main; "
        "main.run = lambda _: main.report_failure(KeyboardInterrupt()); print('so far'); main.main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
    )
    assert (ended.returncode, ended.stdout) == (130, "so far\n")
    assert ended.stderr.startswith("error: interrupted")
