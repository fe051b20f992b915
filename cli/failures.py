"""The one place where an exception becomes two lines on stderr and an exit code."""

from __future__ import annotations

import difflib
import os
import re
import sys
import traceback
from dataclasses import dataclass
from typing import Any

from typer import TyperException

from ..errors import NpuRooflineError

DEBUG_VARIABLE = "NPU_ROOFLINE_DEBUG"
EXIT_WRONG_USAGE = 2
EXIT_INPUT_MISSING = 3
EXIT_INTERNAL = 5
# The shell's own numbers for a process ended by SIGINT and by SIGPIPE.
EXIT_INTERRUPTED = 130
EXIT_READER_GONE = 141


@dataclass(frozen=True)
class Failure:
    """What the user reads, and what the shell gets."""

    message: str
    hint: str
    exit_code: int


def failure_of(error: BaseException) -> Failure:
    """Say what an exception means to the user: what and where, what to do, and the exit code of DESIGN 5."""
    if isinstance(error, NpuRooflineError):
        return Failure(error.message, error.hint, error.exit_code)
    if isinstance(error, TyperException):
        return _usage_failure(error)
    if isinstance(error, KeyboardInterrupt) or _is_interrupted_query(error):
        return Failure(
            "interrupted; the database is as it was before", "run the command again", EXIT_INTERRUPTED
        )
    if isinstance(error, OSError) and error.filename is not None:
        what = f"{error.strerror or 'cannot be used'}: {os.fsdecode(error.filename)}"
        return Failure(what, "check that the path exists and that you may use it", EXIT_INPUT_MISSING)
    if isinstance(error, OSError) and error.errno is not None:  # without a name it is a stream of ours
        what = f"the output cannot be written: {error.strerror or error}"
        return Failure(what, "send it to another place, or write it to a file with -o", EXIT_INPUT_MISSING)
    if isinstance(error, MemoryError):
        return Failure(
            "out of memory", "select less: --rank or --steps, or ingest fewer ranks at a time", EXIT_INTERNAL
        )
    return Failure(
        f"internal error: {type(error).__name__}: {error}",
        f"this is a fault of the tool; set {DEBUG_VARIABLE}=1 and run again to see the traceback to report",
        EXIT_INTERNAL,
    )


def _is_interrupted_query(error: BaseException) -> bool:
    """Ctrl-C inside a query reaches us as this exception of DuckDB, not as KeyboardInterrupt."""
    return isinstance(error, RuntimeError) and str(error) == "Query interrupted"


def report_failure(error: BaseException) -> int:
    """Print the failure on stderr (with the traceback when debugging was asked for); return the exit code."""
    failure = failure_of(error)
    if os.environ.get(DEBUG_VARIABLE) and not isinstance(error, TyperException):
        traceback.print_exception(error, file=sys.stderr)
    lines = [f"error: {_one_line(failure.message)}"]
    if failure.hint:
        lines.append(f"hint: {_one_line(failure.hint)}")
    print("\n".join(lines), file=sys.stderr)
    return failure.exit_code


def _usage_failure(error: TyperException) -> Failure:
    """Typer's own usage errors, told in the style of all others."""
    context: Any = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "npu-roofline"
    message = _plain(error.format_message())
    guess = _did_you_mean(error, message)
    hint = f"did you mean {guess}? " if guess else ""
    return Failure(message, f"{hint}`{command} --help` lists what it takes", EXIT_WRONG_USAGE)


# Phrases of the parser and of its value checks that read oddly to a person, and what stands there instead.
_PLAINER = (
    (r"Value error, ", ""),
    (r"Input should be a valid integer, unable to parse string as an integer", "not a whole number"),
    (r"Input should be a valid number, unable to parse string as a number", "not a number"),
    (r"Input should be (greater|less) than or equal to (\S+)", r"must be \1 than or equal to \2"),
    (r" Did you mean .*\?$", ""),
    (r" \(Possible options: .*\)$", ""),
    (r"\.$", ""),
)


def _plain(message: str) -> str:
    for pattern, replacement in _PLAINER:
        message = re.sub(pattern, replacement, message)
    return message[:1].lower() + message[1:]


def _did_you_mean(error: TyperException, message: str) -> str:
    """The nearest option, command or choice to what was typed; empty when nothing is near."""
    possibilities = getattr(error, "possibilities", None)
    if possibilities:
        return " or ".join(sorted(possibilities))
    suggested = re.search(r"Did you mean (.*)\?$", error.format_message())
    if suggested:
        return suggested.group(1).replace("'", "")
    choice = re.search(r"'([^']*)' is not one of (.*)$", message)
    if choice:
        near = difflib.get_close_matches(choice.group(1), re.findall(r"'([^']*)'", choice.group(2)), n=1)
        return near[0] if near else ""
    return ""


def _one_line(text: str) -> str:
    """One harmless line, whatever a file name or an exported string in it holds."""
    from ..reports.escape import visible

    return visible(" ".join(text.split()))
