"""Where the program starts: nothing is imported yet that takes long enough to be interrupted."""

from __future__ import annotations

import gc
import signal

# A command is short and makes hardly a cycle; looking for them costs a twentieth of its time.
_GC_THRESHOLD = 50_000


def main() -> None:
    """Entry point of the `npu-roofline` script.

    Loading the commands takes a tenth of a second. Ctrl-C in it ends the process as the system ends one,
    without a traceback; nothing was begun that would have to be put in order.
    """
    handled_by_python = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handled_by_python:  # not where the caller has it ignored, as nohup and `&` in a script do
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(_GC_THRESHOLD)
    from .interrupt import handle, stop
    from .main import main as run_commands

    if handled_by_python:
        handle()
    try:
        run_commands()
    finally:
        stop()
