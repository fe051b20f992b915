"""The command line: which commands there are, and the one place that catches errors."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any

import typer
from typer import TyperException
from typer.core import TyperGroup
from typer.main import get_command

from .. import __version__
from ..errors import WrongUsage
from .failures import EXIT_INTERRUPTED, EXIT_READER_GONE, report_failure
from .groups import spread

HELP_WIDTH = 100

# Every command, in the order in which an engineer needs them. Each is the function of its name, or the group
# `app`, in the module of that name beside this one.
COMMANDS = (
    *("ingest", "runs", "summary", "hotspots", "report", "candidates", "explain", "size", "plan"),
    *("compare", "calibrate", "tune"),
    *("fuse", "ops"),
    *("devices", "query", "demo"),
)


class InOrderOfQuestions(TyperGroup):
    """Lists the commands as COMMANDS does; typer lists sub-groups last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands."""
        return sorted(super().list_commands(ctx), key=COMMANDS.index)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"npu-roofline {__version__}")
        raise typer.Exit


def _about(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """What limits each kernel of an Ascend NPU profile, which weights to prefetch, and whether it helped.

    Start with `npu-roofline ingest FOLDER`, then `summary`, `hotspots` and `candidates`. `npu-roofline
    demo` shows all of it on sample profiles. No NPU and no network is needed.
    """


def app_with(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """The command line with some of its commands; reading the signatures of all takes a while."""
    app = typer.Typer(
        name="npu-roofline",
        # Plain help: it is read in pipes, pasted into tickets, and generated into the reference.
        rich_markup_mode=None,
        add_completion=False,
        no_args_is_help=True,
        cls=InOrderOfQuestions,
        context_settings={"max_content_width": HELP_WIDTH},
        pretty_exceptions_enable=False,
    )
    app.callback()(_about)
    for name in names:
        module = import_module(f".{name}", __package__)
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command()(spread(getattr(module, name)))
    return app


def _asked(arguments: Sequence[str]) -> Sequence[str]:
    """The command that a command line names first; all of them where it names none, as in --help."""
    return arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; every failure ends here as two lines on stderr."""
    try:
        _refuse_empty(arguments)
        # Without standalone mode typer raises its own errors instead of printing them in a style of its own;
        # an Exit comes back as its code, a command that ended well as None.
        command = get_command(app_with(_asked(arguments)))
        code = command.main(list(arguments), prog_name="npu-roofline", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_gone()
    except SystemExit as ended:
        # Typer ends the process so, and only so, when the reader of our output has gone away.
        return _reader_gone() if ended.code == 1 else int(ended.code or 0)
    except (Exception, KeyboardInterrupt) as error:
        return _show_help(error) if _asks_for_help(error) else _failed(error)
    if code == EXIT_INTERRUPTED:
        return report_failure(KeyboardInterrupt())
    return code or 0


def _refuse_empty(arguments: Sequence[str]) -> None:
    """An empty argument would be read as the working folder, or as an option that was not given."""
    for number, argument in enumerate(arguments, 1):
        if not argument.strip() or re.fullmatch(r"--[a-z-]+=\s*", argument):
            said = f" after {arguments[number - 2]}" if number > 1 and not argument.strip() else ""
            what = argument if argument.strip() else f"argument {number}{said}"
            raise WrongUsage(f"{what} is empty", "is it a shell variable that is not set?")


def _asks_for_help(error: BaseException) -> bool:
    """A bare `npu-roofline` or `npu-roofline runs` asks what there is; typer raises the help as an error."""
    return isinstance(error, TyperException) and type(error).__name__ == "NoArgsIsHelpError"


def _show_help(error: BaseException) -> int:
    try:
        print(str(error), flush=True)
    except BrokenPipeError:
        return _reader_gone()
    except OSError as problem:
        return _failed(problem)
    return 0


def _failed(error: BaseException) -> int:
    if isinstance(error, OSError) and error.filename is None:
        _discard_output()
    return report_failure(error)


def _reader_gone() -> int:
    """The reader of our output closed it (`| head`): end as other programs do, without a word."""
    _discard_output()
    return EXIT_READER_GONE


def _discard_output() -> None:
    """Nothing may be flushed at exit into a pipe that is closed or a disk that is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_standard_streams() -> None:
    """A caller may start us with closed streams (`>&-`): the next file opened, a database, must not
    become descriptor 1 or 2.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # as long as we run


def main() -> None:
    """Entry point of the `npu-roofline` script."""
    _open_standard_streams()
    code = run(sys.argv[1:])
    if code == EXIT_INTERRUPTED:
        _end_at_once(code)
    sys.exit(code)


def _end_at_once(code: int) -> None:
    """Without taking Python apart: a database whose query was interrupted can wait there for itself."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)
