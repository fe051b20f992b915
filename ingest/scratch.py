"""A folder that lives as long as the process that made it: what a killed one leaves, the next one removes.

The owner holds a lock on a file inside. The system gives the lock back when a process ends, however it ends,
and the lock is seen across containers that share the folder, where a process number means nothing.
"""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # no such locks on Windows; there, what a killed process leaves stays
    fcntl = None

_LOCK = "in-use"
# A folder without a lock was made on a file system without locks, or its owner was killed in the moment
# between making it and locking it. An ingest takes minutes: after a day nobody works in it.
_OLD_S = 86_400.0


@contextmanager
def scratch_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Make a folder, in `parent` or the system's temporary folder; remove it at the end with what is in it.

    First removes those of the same prefix whose owner is gone. Raises OSError where no folder can be made.
    """
    home = Path(tempfile.gettempdir()) if parent is None else parent
    remove_abandoned(home, prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=home))
    held = _hold(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if held is not None:
            os.close(held)


def _hold(folder: Path) -> int | None:
    """Lock the folder; the lock file gets its name only when it is locked, so nobody finds it unlocked."""
    if fcntl is None:
        return None
    unnamed = folder / f"{_LOCK}.new"
    held = os.open(unnamed, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unnamed.rename(folder / _LOCK)
    except OSError:  # a file system without locks
        os.close(held)
        return None
    return held


def remove_abandoned(home: Path, prefix: str) -> None:
    """Remove the scratch folders whose owner is gone; what cannot be looked at or removed stays."""
    if fcntl is None:
        return
    with suppress(OSError):
        for folder in sorted(home.glob(f"{glob.escape(prefix)}*")):
            with suppress(OSError):
                if not folder.is_symlink() and folder.is_dir() and folder.stat().st_uid == os.geteuid():
                    _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    lock = folder / _LOCK
    if fcntl is None or not lock.is_file():
        if time.time() - folder.stat().st_mtime > _OLD_S:
            shutil.rmtree(folder, ignore_errors=True)
        return
    held = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: its owner is at work
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(held)
