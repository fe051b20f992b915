"""Fixtures that every room's tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED_PROFILES = REPOSITORY.parent / "shared" / "profiles"


@pytest.fixture(scope="session")
def shared_profiles() -> Path:
    """The real exports that stand beside a checkout; tests that need them skip where they are absent."""
    if not SHARED_PROFILES.is_dir():
        pytest.skip(f"real profiles are not beside this checkout ({SHARED_PROFILES.name} is absent)")
    return SHARED_PROFILES
