"""Runs one command as a process of its own and says how long it took and how much memory it held.

The measuring process must be small itself: the system counts what a child held before it became another
program, and that is a copy of its parent.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

# ru_maxrss is kilobytes on Linux and bytes on macOS.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Run:
    """One finished process: wall and processor time in s, peak resident memory in bytes."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def run(command: Sequence[str], allowed: Sequence[int] = (0,)) -> Run:
    """Runs `command` to its end, its output discarded.

    Raises RuntimeError with its stderr when it ends with an exit code that is not `allowed`.
    """
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=_as_installed()
    )
    assert process.stderr is not None
    errors = process.stderr.read()
    # wait4, because getrusage(RUSAGE_CHILDREN) only knows the largest child so far.
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode not in allowed:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{errors}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _RSS_UNIT)


def _as_installed() -> dict[str, str]:
    """The environment in which Python keeps its byte code, as it does for an installed package."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def best(command: Sequence[str], times: int) -> Run:
    """The fastest of several runs with the largest memory of them."""
    return fastest([run(command) for _ in range(times)])


def fastest(runs: Sequence[Run]) -> Run:
    """The smallest times and the largest memory: noise only ever adds time."""
    return Run(
        min(each.seconds for each in runs),
        min(each.cpu_seconds for each in runs),
        max(each.peak_bytes for each in runs),
    )


def others_per_core() -> float:
    """How many processes wait for each core: above about 0.5 wall times are those of a busy machine."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)
