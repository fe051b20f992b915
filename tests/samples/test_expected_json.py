"""Every matmul group of every real CSV agrees with the facts that an independent script counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from npu_roofline.analyzer.labels import LabelledGroup, labelled_groups
from npu_roofline.analyzer.session import open_session

from tests.conftest import SHARED_PROFILES
from tests.samples.conftest import Profiles

FAMILIES = ("matmul", "grouped_matmul", "mla_prolog")


def expected_profiles() -> list[str]:
    """The CSV files of expected.json; none where the real profiles are absent."""
    path = SHARED_PROFILES / "expected.json"
    return sorted(json.loads(path.read_text())) if path.is_file() else []


def expected(csv: str) -> dict[str, Any]:
    """What expected.json says of one CSV."""
    return json.loads((SHARED_PROFILES / "expected.json").read_text())[csv]


def profile_of(csv: str) -> str:
    """The profile that holds a CSV, as the other tests ingest it: a folder of the real profiles."""
    first, second, *_ = Path(csv).parts
    return f"{first}/{second}" if first == "d11_level0_decode_pair" else first


def products(csv: str, profiles: Profiles) -> dict[tuple[str, str, str, str], LabelledGroup]:
    """The tool's matmul groups by (type, core, input shapes, output shapes)."""
    profile = profile_of(csv)
    profiles.ingest(profile)
    with open_session(profiles.database, run=profile) as session:
        groups = labelled_groups(session)
    return {
        (g.row.type, g.row.core or "", g.row.input_shapes or "", g.row.output_shapes or ""): g
        for g in groups
        if g.work.family in FAMILIES
    }


@pytest.mark.parametrize("csv", expected_profiles() or ["absent"])
def test_matmul_groups_agree(csv: str, shared_profiles: Path, profiles: Profiles) -> None:
    """The same groups on both sides; M, K, N, FLOPs, minimum bytes, counts and sums are equal."""
    assert shared_profiles.is_dir()
    wanted = {
        (g["type"], g["core"], g["input_shapes"], g["output_shapes"]): g
        for g in expected(csv)["matmul_groups"]
    }
    found = products(csv, profiles) if wanted else {}
    assert {key for key in found if key not in wanted} == set()
    assert {key for key in wanted if key not in found} == set()
    assert [line for key, group in wanted.items() for line in group_differences(group, found[key])] == []


def group_differences(wanted: dict[str, Any], found: LabelledGroup) -> list[str]:
    """Every number in which a group differs from the expected one."""
    work, times = found.work, found.statistics
    pairs: dict[str, tuple[Any, Any]] = {
        "count": (wanted["count"], times.count),
        "sum_us": (wanted["sum_us"], round(times.total_us, 3)),
    }
    if wanted.get("unresolved") or "flops" not in wanted:
        pairs["flops"] = (None, work.flops if wanted["type"] != "MlaPrologV3" else None)
    else:
        # M of a grouped product is the padded capacity: FLOPs and bytes of all experts are the upper end.
        grouped = wanted["type"] == "GroupedMatmul"
        pairs["M, K, N"] = ((wanted["M"], wanted["K"], wanted["N"]), (work.m, work.k, work.n))
        pairs["flops"] = (wanted["flops"], work.flops_hi if grouped else work.flops)
        pairs["min_bytes"] = (wanted["min_bytes"], work.bytes_hi if grouped else work.bytes_lo)
    return [
        f"{wanted['input_shapes']}: {name}: {should} expected, {does} found"
        for name, (should, does) in pairs.items()
        if should != does
    ]


@pytest.mark.parametrize("csv", expected_profiles() or ["absent"])
def test_rows_cores_and_sums_agree(csv: str, shared_profiles: Path, profiles: Profiles) -> None:
    """Rows, rows per core and stream, and summed durations of every CSV are those counted by the script."""
    assert shared_profiles.is_dir()
    facts, profile = expected(csv), profile_of(csv)
    _, answer = profiles.ingest(profile)
    assert answer["rows_kept"] == facts["rows"]
    rows = profiles.ask(profile, f'query "{CORES}"')["rows"]
    # The old word for collectives is read as the new one.
    wanted = {"COMMUNICATION" if core == "HCCL" else core: n for core, n in facts["core_counts"].items()}
    assert {row["core"] or "N/A": row["n"] for row in rows} == wanted
    assert sum(row["us"] for row in rows) == pytest.approx(facts["sum_duration_us"], abs=0.01)
    if facts["streams"] is not None:
        streams = profiles.ask(profile, f'query "{STREAMS}"')["rows"]
        assert {str(row["stream"] or "N/A"): row["n"] for row in streams} == facts["streams"]


_OWN = "WHERE (k.run_id, k.rank_id) IN (SELECT run_id, rank_id FROM selection)"
CORES = (
    "SELECT s.core, count(*) AS n, sum(k.duration_us) AS us FROM kernels k "
    f"LEFT JOIN signatures s USING (run_id, signature_id) {_OWN} GROUP BY 1"
)
STREAMS = f"SELECT k.stream_id AS stream, count(*) AS n FROM kernels k {_OWN} GROUP BY 1"
