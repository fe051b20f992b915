"""Real exports, each ingested once for all tests of the analyzer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from npu_roofline.analyzer.load import ingest_run
from npu_roofline.analyzer.session import Session, open_session

# What a test calls: a profile folder below ../shared/profiles, and what open_session takes.
OpenReal = Callable[..., AbstractContextManager[Session]]


@pytest.fixture(scope="session")
def real_database(shared_profiles: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The database with one real profile in it, by the profile's folder."""
    folder = tmp_path_factory.mktemp("real")

    def database(profile: str) -> Path:
        path = folder / f"{profile.replace('/', '_')}.duckdb"
        if not path.exists():
            ingest_run([shared_profiles / profile], path)
        return path

    return database


@pytest.fixture(scope="session")
def real_session(real_database: Callable[[str], Path]) -> OpenReal:
    """A session over one real profile: `with real_session("longcat_910c_decode", steps="4") as session`."""

    @contextmanager
    def opened(profile: str, **selection: Any) -> Iterator[Session]:
        with open_session(real_database(profile), **selection) as session:
            yield session

    return opened
