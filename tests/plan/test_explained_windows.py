"""`explain` with the options of `candidates` explains the window that `candidates` showed."""

from __future__ import annotations

from pathlib import Path

import pytest
from npu_roofline.analyzer.candidates import candidates
from npu_roofline.analyzer.explain import explain
from npu_roofline.analyzer.load import ingest_run
from npu_roofline.analyzer.session import open_session
from npu_roofline.errors import WrongUsage


def test_the_same_options_explain_the_same_row(sample_folders: dict[str, Path], tmp_path: Path):
    """Every proposed row of each choice of options is the row that explain has; a hotspot refuses them."""
    database = tmp_path / "explained.duckdb"
    ingest_run([sample_folders["moe_decode_before"]], database, name="run")
    with open_session(database) as session:
        shown = {}
        for wishes in ({}, {"allow_comm_windows": True}, {"coefficient": 1.0, "cap_mib": 2.0}):
            rows = [row for row in candidates(session, top=None, **wishes).rows if row.status == "candidate"]
            assert rows
            for row in rows:
                assert explain(session, row.id, **wishes).rows[0].window == row.window
            shown[str(wishes)] = {row.id: row.window for row in rows}
        strict, allowed, _ = shown.values()
        assert any(strict[id] != allowed[id] for id in strict.keys() & allowed.keys())
        with pytest.raises(WrongUsage, match="has no window"):
            explain(session, "k-12345678", eta=0.5)
