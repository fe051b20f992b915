"""The answers to a profiler database are those to the text export of the same capture, on the same chip."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from npu_roofline.analyzer.candidates import candidates
from npu_roofline.analyzer.hotspots import hotspots
from npu_roofline.analyzer.load import ingest_run
from npu_roofline.analyzer.session import open_session
from npu_roofline.analyzer.summary import summary
from npu_roofline.sample_profiles.generate import KERNELS, sample_texts

from tests.ingest.profiler_database import NEW, write_database

# The measured share of the cube (cube_utilization) is in no database, and it is what raises confidence.
LESS_SURE = ("confidence", "reason")
COLLECTIVES = ("communication",)


def database_of_both(folder: Path, sample: str, device: str) -> Path:
    """A database with the runs `text` and `database` of one sample, both said to be of one chip."""
    table = sample_texts(sample)[KERNELS]
    text = folder / "text" / "kernel_details.csv"
    text.parent.mkdir()
    text.write_bytes(table.encode())
    other = write_database(folder / "db" / "ascend_pytorch_profiler_0.db", table, NEW)
    target = folder / "runs.duckdb"
    ingest_run([text], target, name="text", device=device)
    ingest_run([other], target, name="database", device=device)
    return target


def answers(target: Path, run: str, question: Any) -> list[dict[str, Any]]:
    """The rows of one question, without what only text can answer."""
    with open_session(target, run=run) as session:
        rows = [asdict(row) for row in question(session).rows]
    return [
        {name: value for name, value in row.items() if name not in LESS_SURE and name != "id"}
        for row in rows
        if row.get("bound") not in COLLECTIVES
    ]


@pytest.mark.parametrize(
    ("sample", "device"), [("moe_decode_before", "910B2"), ("dense_decode", "910B3"), ("prefill", "910B2")]
)
def test_hotspots_and_candidates_of_both_forms_agree(tmp_path: Path, sample: str, device: str) -> None:
    """Every number of every kernel group and of every prefetch candidate is the same in both forms."""
    target = database_of_both(tmp_path, sample, device)
    for question in (hotspots, summary, candidates):
        text, database = (answers(target, run, question) for run in ("text", "database"))
        assert database == text
    assert len(answers(target, "database", hotspots)) > 10


def test_candidates_of_a_database_are_there(tmp_path: Path) -> None:
    """The comparison above is not one of nothing with nothing: the dense decode has candidates."""
    target = database_of_both(tmp_path, "dense_decode", "910B3")
    assert answers(target, "database", candidates)
