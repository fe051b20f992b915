"""--help answers at once: it loads nothing that only the questions need."""

from __future__ import annotations

import subprocess
import sys

import pytest
from npu_roofline.cli.main import COMMANDS, app_with, run
from typer.main import get_command

# pydantic is not among them: typer itself checks the values of options with it.
HEAVY = ("duckdb", "pandas", "polars", "plotly", "rich", "pyarrow", "numpy", "jinja2", "libcst", "yaml")


def outcome(arguments: list[str]) -> tuple[int, set[str]]:
    """The exit code of a command line, and the top-level modules that a fresh process has loaded after it."""
    code = (
        "import sys; from npu_roofline.cli.main import run; code = run(sys.argv[1:]);"
        "print('MODULES', code, *sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    exit_code, *modules = done.stderr.split("MODULES")[1].split()
    return int(exit_code), set(modules)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["hotspots", "--help"],
        ["runs", "show", "--help"],
        ["fuse", "scan", "--help"],
        ["ops", "show", "--help"],
        ["fuse", "ledger", "record", "--help"],
    ],
)
def test_help_loads_no_heavy_library(arguments: list[str]) -> None:
    """No database, frame, figure or template library is loaded to print a help page."""
    exit_code, modules = outcome(arguments)
    assert exit_code == 0
    assert modules & set(HEAVY) == set()


def test_a_heavy_library_would_be_seen() -> None:
    """The check can go red: a command that opens a database does show among the loaded modules."""
    exit_code, modules = outcome(["runs", "list", "--db", "/nowhere/at/all.duckdb"])
    assert exit_code == 3
    assert "duckdb" in modules


def test_every_command_has_a_place_and_a_help() -> None:
    """Each command is in the order of questions, says what it does, and explains its options."""
    group = get_command(app_with())
    assert sorted(group.commands) == sorted(COMMANDS)
    commands = dict(group.commands)
    for name in ("runs", "fuse", "ops", "devices"):
        commands |= {f"{name} {sub}": command for sub, command in group.commands[name].commands.items()}
    ledger = commands["fuse ledger"].commands
    commands |= {f"fuse ledger {sub}": command for sub, command in ledger.items()}
    unexplained = [
        f"{name} {parameter.name}"
        for name, command in commands.items()
        for parameter in command.params
        if not parameter.help
    ]
    assert unexplained == []
    assert [
        name for name, command in commands.items() if not (command.help or "").split("\n")[0].endswith(".")
    ] == []


def test_version_prints_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    """--version prints name and version on stdout and ends well."""
    from npu_roofline import __version__

    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"npu-roofline {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["runs"], ["devices"]])
def test_a_bare_command_shows_its_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """What everybody types first prints the help, line by line on stdout, and is no error."""
    assert run(arguments) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Usage: npu-roofline")
    assert "\nCommands:\n" in out
    assert err == ""
