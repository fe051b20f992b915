"""Fixtures of the ingest tests: a staged run as rows, without landing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from npu_roofline.ingest.stage import Staging, stage

Rows = list[tuple[Any, ...]]


@pytest.fixture
def staged() -> Iterator[Callable[..., Staging]]:
    """A function that stages paths; everything staged is removed at the end of the test."""
    with ExitStack() as stack:
        yield lambda *paths, **options: stack.enter_context(stage([Path(path) for path in paths], **options))


@pytest.fixture
def rows(staged: Callable[..., Staging]) -> Callable[..., Rows]:
    """A function that stages one path and answers a query on it."""

    def answer(path: Path, query: str) -> Rows:
        return staged(path).con.execute(query).fetchall()

    return answer
