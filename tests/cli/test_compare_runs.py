"""`compare` names its runs itself: --run would be a third one."""

from __future__ import annotations

import pytest
from npu_roofline.cli.main import run

from tests.cli.conftest import Samples

PAIR = ("moe_decode_before", "moe_decode_after")


@pytest.mark.parametrize("command", [["compare"], ["tune", "record"]], ids=" ".join)
def test_run_beside_two_runs_is_refused(
    command: list[str], samples: Samples, capsys: pytest.CaptureFixture[str]
) -> None:
    """--run ends with exit 2, whether the run is there or not, and says where runs are named."""
    if command[0] == "tune":
        assert run(["tune", "start", "w", "--weight", "1MiB", "--db", str(samples.database)]) == 0
    for name in ("level0", "nope"):
        capsys.readouterr()
        assert run([*command, *PAIR, "--run", name, "--db", str(samples.database)]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(f"error: --run {name} names a run")
        assert "BEFORE and AFTER" in err


@pytest.mark.parametrize("more", [[], ["--format", "json"], ["-o", "x.md"]], ids=" ".join)
def test_a_language_is_for_documents(
    more: list[str], samples: Samples, capsys: pytest.CaptureFixture[str]
) -> None:
    """--lang zh on a table, JSON or a Markdown table is refused, not ignored."""
    capsys.readouterr()
    assert run(["compare", *PAIR, "--lang", "zh", *more, "--db", str(samples.database)]) == 2
    assert "is for documents" in capsys.readouterr().err


def test_a_report_of_some_steps_says_which(samples: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    """Steps of one run against later ones: the title and the command to run again hold both sides as written;
    `candidates --run` takes the run's name alone.
    """
    sides = ("moe_decode_before@3-6", "moe_decode_before@7-10")
    capsys.readouterr()
    assert run(["compare", *sides, "--document", "--format", "md", "--db", str(samples.database)]) == 0
    text = capsys.readouterr().out.replace("\\", "")
    assert text.split("# ", 1)[1].splitlines()[0].count("moe_decode_before@") == 2
    assert f"npu-roofline compare {sides[0]} {sides[1]} " in text
    assert "npu-roofline candidates --run moe_decode_before`" in text
