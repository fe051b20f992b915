"""Every profile is ingested once per session; questions are asked through the command line's JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from npu_roofline.cli.main import run
from npu_roofline.sample_profiles.generate import SAMPLES, write_samples

from tests.conftest import SHARED_PROFILES

Command = Callable[..., tuple[int, str, str]]


def command_line(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command line, run in this process."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    return code, out.getvalue(), err.getvalue()


class Profiles:
    """Runs in one database, ingested when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "profiles.duckdb"
        self.ingested: dict[str, tuple[int, dict[str, Any]]] = {}

    def path(self, profile: str) -> Path:
        """Where a sample (written now) or a real profile (skips when absent) lies."""
        if profile in SAMPLES:
            return write_samples(self.folder / "samples", [profile])[profile]
        if not SHARED_PROFILES.is_dir():
            pytest.skip("real profiles are not beside this checkout")
        return SHARED_PROFILES / profile

    def ingest(self, profile: str) -> tuple[int, dict[str, Any]]:
        """Exit code and answer of ingesting the profile under its own name."""
        if profile not in self.ingested:
            arguments = ["ingest", str(self.path(profile)), "--run", profile, "--db", str(self.database)]
            code, out, err = command_line(*arguments, "--format", "json")
            assert code in (0, 4), err
            self.ingested[profile] = code, json.loads(out)
        return self.ingested[profile]

    def ask(self, profile: str, question: str) -> dict[str, Any]:
        """The answer to a command line on the profile; `compare A B` ingests both."""
        words = shlex.split(question)
        if words[0] == "ingest":
            return self.ingest(profile)[1]
        if words[0] == "compare":
            for each in words[1:3]:
                self.ingest(each)
            selected = []
        else:
            self.ingest(profile)
            selected = [profile] if words[:2] == ["runs", "show"] else ["--run", profile]
        code, out, err = command_line(*words, *selected, "--db", str(self.database), "--format", "json")
        assert code == 0, err
        return json.loads(out)


@pytest.fixture(scope="session")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Profiles:
    """The profiles of this session, in one database."""
    return Profiles(tmp_path_factory.mktemp("profiles"))
