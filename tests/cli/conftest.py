"""A database of sample profiles, ingested through the command line itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from npu_roofline.cli.main import run
from npu_roofline.sample_profiles.generate import write_samples


@dataclass(frozen=True)
class Samples:
    """The sample profiles by name, and the database that holds some of them as runs of the same name."""

    profiles: dict[str, Path]
    database: Path


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    """All sample profiles; before, after and level0 are ingested, `moe_decode_before` the latest."""
    home = tmp_path_factory.mktemp("samples")
    profiles = write_samples(home / "profiles")
    database = home / "runs.duckdb"
    for name in ("level0", "moe_decode_after", "moe_decode_before"):
        assert run(["ingest", str(profiles[name]), "--run", name, "--db", str(database)]) == 0
    return Samples(profiles, database)
