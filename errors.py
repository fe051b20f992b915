"""The exceptions that reach the user, each with its exit code.

Every message answers three questions: what went wrong, where, and what to do about it.
"""

from __future__ import annotations


class NpuRooflineError(Exception):
    """Something the user can act on: `message` says what and where, `hint` says what to do."""

    exit_code = 5

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class WrongUsage(NpuRooflineError):
    """The command line, an option or a query is not valid."""

    exit_code = 2


class InputMissing(NpuRooflineError):
    """A path, a run, a database or a table that the question needs is not there."""

    exit_code = 3


class UnsupportedExport(NpuRooflineError):
    """The file is there, but it is not an export that this version can read."""

    exit_code = 3


class AlreadyIngested(NpuRooflineError):
    """The same content, or a run of the same name, is in the database already."""

    exit_code = 3


class UnknownDevice(NpuRooflineError):
    """The device cannot be inferred, or its description is not valid."""

    exit_code = 3


class DatabaseBusy(NpuRooflineError):
    """Another process holds the database for writing."""

    exit_code = 3


class CheckFailed(NpuRooflineError):
    """The answer is a failed check (a regression, an incomplete review)."""

    exit_code = 1


class InternalError(NpuRooflineError):
    """A conservation check of the tool itself failed: its numbers must not be believed."""

    exit_code = 5
