"""Ctrl-C while modules are loaded waits until they are: an import that is cut short leaves its lock held, a
class half made, or ends the process in an extension's own way.
"""

from __future__ import annotations

import signal
from types import FrameType

_AGAIN_S = 0.01
_IMPORTING = "<frozen importlib._bootstrap>"
_waits = False


def handle() -> None:
    """Raise KeyboardInterrupt on Ctrl-C, but never inside an import; a second Ctrl-C does not wait."""
    signal.signal(signal.SIGALRM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)


def stop() -> None:
    """Forget a Ctrl-C that still waits: the program has ended."""
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _waits
    first = number == signal.SIGALRM or not _waits
    _waits = first and _imports(frame)
    if not _waits:
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise KeyboardInterrupt
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)


def _imports(frame: FrameType | None) -> bool:
    """Whether an import is under way where the signal arrived."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:
            return True
        frame = frame.f_back
    return False
