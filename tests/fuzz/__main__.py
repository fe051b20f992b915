"""`python -m tests.fuzz [CASES] [FIRST]`: damaged exports in quantity; prints each fault with its seed."""

from __future__ import annotations

import faulthandler
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.fuzz.judge import group_faults

CASES = 10_000
GROUP = 50
# A group takes seconds, its cases one by one minutes, and a busy machine takes ten times as long.
HANG_S = 3600.0


def judge(first: int) -> list[str]:
    """The faults of the cases from `first` on; a group that hangs ends the process and shows where."""
    faulthandler.dump_traceback_later(HANG_S, exit=True)
    with tempfile.TemporaryDirectory() as folder:
        return group_faults(range(first, first + GROUP), Path(folder))


def main() -> int:
    """Judges the cases on all cores; the exit code is 1 when one has a fault."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    bad = 0
    with ProcessPoolExecutor() as pool:
        for done, found in enumerate(pool.map(judge, range(first, first + count, GROUP)), start=1):
            bad += len(found)
            for fault in found:
                print(fault, flush=True)
            if sys.stderr.isatty():
                print(f"\r{done * GROUP} cases, {bad} faults", end="", file=sys.stderr)
            elif done * GROUP % 1000 == 0:
                print(f"{done * GROUP} cases, {bad} faults", flush=True)
    print(f"{count} damaged exports, {bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
