"""Every failure is two lines on stderr and the right exit code, whatever went wrong."""

from __future__ import annotations

import errno

import pytest
from npu_roofline import errors
from npu_roofline.cli import failures
from npu_roofline.cli.main import run


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["hotspts"], "no such command 'hotspts'", "did you mean hotspots"),
        (["hotspots", "--fromat", "json"], "no such option: --fromat", "did you mean --format?"),
        (
            ["hotspots", "--format", "jsn"],
            "invalid value for '--format': 'jsn' is not one of",
            "did you mean json?",
        ),
        (
            ["hotspots", "--top", "many"],
            "invalid value for '--top': not a whole number",
            "`npu-roofline hotspots --help`",
        ),
        (
            ["hotspots", "--top", "0"],
            "invalid value for '--top': must be greater than or equal to 1",
            "--help",
        ),
        (
            ["candidates", "--eta", "2"],
            "invalid value for '--eta': must be less than or equal to 1",
            "--help",
        ),
        (
            ["candidates", "--hbm-gb-s", "inf"],
            "invalid value for '--hbm-gb-s': must be less than or equal to 1000000",
            "--help",
        ),
        (
            ["candidates", "--cmo-gb-s", "1e308"],
            "invalid value for '--cmo-gb-s': must be less than or equal to 1000000",
            "--help",
        ),
        (
            ["size", "2,2", "--cap-mib", "1e308"],
            "invalid value for '--cap-mib': must be less than or equal to 1000000",
            "--help",
        ),
        (["explain"], "missing argument 'ID'", "`npu-roofline explain --help`"),
        (["runs", "shw"], "no such command 'shw'", "did you mean show? `npu-roofline runs --help`"),
        (["hotspots", "--run"], "option '--run' requires an argument", "--help"),
        (["report", "-o", "page.json"], "a report is an HTML page, and -o names page.json", "ends in .html"),
        (["compare", "one"], "missing argument 'AFTER'", "`npu-roofline compare --help`"),
    ],
)
def test_wrong_usage_says_what_and_what_instead(
    arguments: list[str], error: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong command line exits 2 with one error line and one hint, which names the nearest that exists."""
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == 2
    assert lines[0].startswith(f"error: {error}")
    assert lines[1].startswith("hint: ")
    assert hint in lines[1]


EXIT_CODES = {
    errors.WrongUsage: 2,
    errors.InputMissing: 3,
    errors.UnsupportedExport: 3,
    errors.AlreadyIngested: 3,
    errors.UnknownDevice: 3,
    errors.DatabaseBusy: 3,
    errors.CheckFailed: 1,
    errors.InternalError: 5,
}


@pytest.mark.parametrize("kind", EXIT_CODES)
def test_each_error_has_its_exit_code(
    kind: type[errors.NpuRooflineError], capsys: pytest.CaptureFixture[str]
) -> None:
    """The exception tree and the table of exit codes agree, and the message comes out as it is."""
    assert failures.report_failure(kind("what, where", "what to do")) == EXIT_CODES[kind]
    assert capsys.readouterr().err == "error: what, where\nhint: what to do\n"


def test_every_error_is_in_the_table_above() -> None:
    """No exception class is left out of the test of exit codes."""
    base = errors.NpuRooflineError
    kinds = {each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, base)}
    assert set(EXIT_CODES) == kinds - {base}


def test_an_internal_error_says_how_to_see_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    """An unforeseen exception exits 5 in two lines without a traceback, and the hint names the variable."""
    assert failures.report_failure(ZeroDivisionError("division by zero")) == 5
    err = capsys.readouterr().err
    assert err.splitlines()[0] == "error: internal error: ZeroDivisionError: division by zero"
    assert "NPU_ROOFLINE_DEBUG=1" in err
    assert "Traceback" not in err


def test_debugging_prints_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With NPU_ROOFLINE_DEBUG set, the traceback stands before the two lines."""
    monkeypatch.setenv("NPU_ROOFLINE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError) as raised:
        _ = 1 / 0
    assert failures.report_failure(raised.value) == 5
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert err.splitlines()[-2].startswith("error: internal error")


def test_a_system_error_names_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    """An error of the operating system exits 3 and names the reason and the path."""
    problem = PermissionError(errno.EACCES, "Permission denied", "/data/prof.csv")
    assert failures.report_failure(problem) == 3
    assert capsys.readouterr().err.splitlines()[0] == "error: Permission denied: /data/prof.csv"


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), RuntimeError("Query interrupted")])
def test_an_interrupt_is_no_internal_error(
    interrupt: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C exits 130 and says that nothing was changed, also when DuckDB was at work."""
    assert failures.report_failure(interrupt) == 130
    assert capsys.readouterr().err.startswith("error: interrupted")


def test_an_untrusted_name_in_a_message_is_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    """Line ends and terminal escapes of a file name cannot forge lines or colours on stderr."""
    failures.report_failure(errors.InputMissing("no file a\nhint: run this\x1b[31m", "check"))
    err = capsys.readouterr().err
    assert err.count("\n") == 2
    assert "\x1b" not in err
    assert "\\x1b[31m" in err
