"""Plans of the sample MoE decode profile, one per mode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.analyzer.load import ingest_run
from npu_roofline.analyzer.plan import plan
from npu_roofline.analyzer.session import open_session
from npu_roofline.sample_profiles.generate import write_samples

Planned = Callable[..., Answer]


@pytest.fixture(scope="session")
def sample_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sample profiles by name."""
    return write_samples(tmp_path_factory.mktemp("plan_samples"))


@pytest.fixture(scope="session")
def planned(sample_folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """`planned("c-...", mode="eager")`: a plan of the MoE decode sample, or of the run named by `run`."""
    database = tmp_path_factory.mktemp("plan") / "plan.duckdb"
    for name in ("prefill", "dense_decode", "moe_decode_before"):
        ingest_run([sample_folders[name]], database, name=name)

    known: dict[str, Answer] = {}

    def ask(*ids: str, run: str = "moe_decode_before", **wishes) -> Answer:
        key = repr((ids, run, wishes))
        if key not in known:
            with open_session(database, run=run) as session:
                known[key] = plan(session, ids, **wishes)
        return known[key]

    return ask
