"""A labelled trace as a file that Perfetto, chrome://tracing and MindStudio Insight open.

`traceEvents` comes first, because Perfetto reads no further than a name that it does not know; what is said
about the trace comes last.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from .. import __version__
from ..analyzer.session import Session
from ..analyzer.trace_out import LabelledTrace, labelled_trace
from ..errors import WrongUsage
from .escape import NOTE_CHARACTERS, shown

# How a trace of ours begins: what a file must show before it is replaced.
MARK: Final = b'{"traceEvents":[\n{"name":"process_name","pid":1,"tid":0,"args":{"name":"npu-roofline: '


def write_trace(session: Session, file: Path, whole: bool) -> LabelledTrace:
    """Write the selection as a trace, whole or not at all, a piece at a time; returns what it shows.

    `whole` draws every selected step, however many there are. Raises WrongUsage where the file cannot be
    written, and what labelled_trace raises.
    """
    trace = labelled_trace(session, shown, whole)
    if file.exists() and not file.is_file():  # a device or a pipe is written to, never replaced
        _write(trace, file)
        return trace
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        _write(trace, part)
        os.replace(part, file)
    except OSError as problem:
        raise WrongUsage(
            f"cannot write {file}: {problem.strerror or problem}",
            "give --trace a path in a folder that exists, has room, and that you may write to",
        ) from problem
    finally:
        with suppress(OSError):  # in a folder that cannot be written nothing is to be removed
            part.unlink(missing_ok=True)
    return trace


def _write(trace: LabelledTrace, file: Path) -> None:
    about = {
        "tool": f"npu-roofline {__version__}",
        "steps": list(trace.steps),
        "notes": [shown(note, NOTE_CHARACTERS) for note in trace.notes],
    }
    with file.open("w", encoding="utf-8", newline="") as text:
        between = '{"traceEvents":[\n'
        for events in trace.events:
            text.write(between)
            text.write(events)
            between = ",\n"
        text.write(f'\n],"displayTimeUnit":"ns","otherData":{json.dumps(about)}}}\n')
