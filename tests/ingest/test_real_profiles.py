"""Real exports give the numbers that an independent script counted from the same files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from npu_roofline.ingest.availability import availability
from npu_roofline.ingest.naming import type_of_name
from npu_roofline.ingest.stage import Staging
from npu_roofline.ingest.store import Store, land

TABLES = (
    "d01_text_level0/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
    "d02_text_level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
    "d03_text_level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
    "d06_qwen3_train_cann83/rank_0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
    "d07_gpt3_2023_memoryl0/test_rank_1/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
    "d08_advisor_tampered_shapes/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
    "d10_msprof_cli_and_op_910b/reports/PROF_001/mindstudio_profiler_output/op_summary_001.csv",
    "d11_level0_decode_pair/b1q8/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
    "d11_level0_decode_pair/b8q1/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
    "d11_level0_decode_pair/mixed_m16/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
    "longcat_910c_decode/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
)


@pytest.fixture(scope="module")
def expected(shared_profiles: Path) -> dict[str, dict[str, Any]]:
    """What the independent script counted, by path of the kernel table."""
    return json.loads((shared_profiles / "expected.json").read_text())


def test_every_kernel_table_of_the_profiles_is_tested(expected: dict[str, Any]) -> None:
    """The list above is the list of expected.json: no profile is left out."""
    assert {*TABLES} == {*expected}


@pytest.mark.parametrize("table", TABLES)
def test_rows_engines_streams_and_times_agree(
    shared_profiles: Path, expected: dict[str, dict[str, Any]], staged: Callable[..., Staging], table: str
) -> None:
    """Rows, rows per engine, rows per stream and the sum of durations are those of the independent count."""
    facts = expected[table]
    con = staged(shared_profiles / table).con
    bad = len(facts["bad_rows"])
    counts = con.execute("SELECT rows_read, rows_kept, rows_rejected FROM runs").fetchone()
    assert counts == (facts["rows"], facts["rows"] - bad, bad)
    cores = con.execute(
        "SELECT coalesce(core, 'N/A'), count(*) FROM kernels JOIN signatures USING (signature_id) GROUP BY 1"
    ).fetchall()
    old_word = {"HCCL": "COMMUNICATION"}
    assert dict(cores) == {old_word.get(core, core): count for core, count in facts["core_counts"].items()}
    streams = con.execute("SELECT coalesce(stream_id::VARCHAR, 'N/A'), kernels FROM streams").fetchall()
    assert dict(streams) == (facts["streams"] or {"N/A": facts["rows"]})
    (total,) = con.execute("SELECT sum(duration_us) FROM kernels").fetchone() or (None,)
    assert total == pytest.approx(facts["sum_duration_us"], abs=0.001)


def test_longcat_steps_duplicates_and_chip(shared_profiles: Path, staged: Callable[..., Staging]) -> None:
    """The decode capture: five steps of 757 rows, 150 collectives listed twice, 24 cores at 1,800 MHz.

    300 communication rows are 150 pairs, 30 a step: 757 - 30 = 727.
    """
    con = staged(shared_profiles / "longcat_910c_decode").con
    assert con.execute("SELECT step_id, wall_us, kernels FROM steps ORDER BY step_id").fetchall() == [
        (3, 25626.192, 727),
        (4, 10665.893, 727),
        (5, 10718.174, 727),
        (6, 11124.982, 727),
        (7, 10402.628, 727),
    ]
    duplicates = con.execute(
        "SELECT count(*), count(DISTINCT d.duplicate_of), bool_and(d.stream_id IS NULL), "
        "bool_and(c.stream_id IN (164, 165)) "
        "FROM kernels d JOIN kernels c ON c.kernel_id = d.duplicate_of"
    ).fetchone()
    assert duplicates == (150, 150, True, True)
    cores_mhz, spread, mhz, cores, rows = (
        con.execute(
            "SELECT cube_cores_mhz, cube_cores_mhz_spread, aic_mhz, cube_cores, evidence_rows FROM ranks"
        ).fetchone()
        or (None,) * 5
    )
    assert cores_mhz == pytest.approx(43200, abs=0.5)
    assert spread < 0.001
    assert (mhz, cores, rows) == (1800, 24, 1115)
    assert con.execute("SELECT stream_id FROM streams WHERE is_main").fetchall() == [(166,)]
    classes = dict(con.execute("SELECT kernel_class, count(*) FROM kernels GROUP BY 1").fetchall())
    assert classes == {"aicore": 3335, "communication": 300, "ai_cpu": 150}  # 2060 + 560 + 555 + 160 = 3335


@pytest.mark.parametrize(
    ("profile", "cores_mhz", "mhz", "cores"),
    [
        ("d02_text_level1", 43200, 1800, 24),
        ("d03_text_level2", 43200, 1800, 24),
        ("d06_qwen3_train_cann83/rank_0_ascend_pt", 33000, 1650, 20),
        ("d08_advisor_tampered_shapes", 36000, 1800, 20),
    ],
)
def test_the_chip_of_each_profile(
    shared_profiles: Path,
    staged: Callable[..., Staging],
    profile: str,
    cores_mhz: float,
    mhz: float,
    cores: float,
) -> None:
    """cores x MHz, MHz and cores are those of formats.md 11; vector and cube clock agree."""
    found = (
        staged(shared_profiles / profile)
        .con.execute("SELECT cube_cores_mhz, aic_mhz, aiv_mhz, cube_cores FROM ranks")
        .fetchone()
        or (None,) * 4
    )
    assert found[0] == pytest.approx(cores_mhz, abs=0.5)
    assert found[1:] == (mhz, mhz, cores)


def test_d07_gives_a_clock_and_no_cores(shared_profiles: Path, staged: Callable[..., Staging]) -> None:
    """MemoryL0 of 2023: no cube utilization, no AIC cycles; the vector rows say 1,850 MHz."""
    con = staged(shared_profiles / "d07_gpt3_2023_memoryl0").con
    found = con.execute("SELECT label, metric_mode, cube_cores_mhz, aic_mhz, aiv_mhz FROM ranks").fetchall()
    assert found == [("1", "memory_l0", None, None, 1850)]


def test_d06_has_a_rank_without_kernels(shared_profiles: Path, staged: Callable[..., Staging]) -> None:
    """Rank 1 exported communication and step times only: it is there with what it holds."""
    con = staged(shared_profiles / "d06_qwen3_train_cann83").con
    found = con.execute(
        "SELECT rank_id, label, device_id, has_kernels, holds FROM ranks ORDER BY rank_id"
    ).fetchall()
    holds = [
        "analysis_database",
        "communication",
        "communication_matrix",
        "profiler_info",
        "profiler_metadata",
        "step_trace_time",
    ]
    assert found[1] == (1, "1", 1, False, holds)
    assert found[0][:4] == (0, "0", 0, True)
    assert con.execute(
        "SELECT step_id, kernels, trace_computing_us FROM steps WHERE rank_id = 1"
    ).fetchall() == [(13, 0, pytest.approx(230903.72))]
    (distributed,) = con.execute("SELECT distributed FROM ranks WHERE rank_id = 1").fetchone() or ("{}",)
    assert json.loads(distributed)["distributed_args"]["world_size"] == 4


def test_d06_op_statistic_reconciles_with_the_kernels(
    shared_profiles: Path, staged: Callable[..., Staging]
) -> None:
    """The exporter's own sums per type and engine are the sums of our kernels."""
    con = staged(shared_profiles / "d06_qwen3_train_cann83").con
    different = con.execute(
        "SELECT o.type, o.core, o.count, k.n FROM op_statistics o LEFT JOIN ("
        "SELECT s.type, s.core, count(*) AS n, sum(k.duration_us) AS us FROM kernels k "
        "JOIN signatures s USING (signature_id) GROUP BY ALL) k ON k.type = o.type AND k.core = o.core "
        "WHERE o.core <> 'HCCL' AND (k.n IS DISTINCT FROM o.count OR abs(k.us - o.total_us) > 0.01)"
    ).fetchall()
    assert different == []
    assert con.execute("SELECT count(*) FROM op_statistics").fetchone() == (35,)


def test_d10_holds_an_operator_measurement_beside_the_kernels(
    shared_profiles: Path, staged: Callable[..., Staging]
) -> None:
    """The OPPROF folder is of no rank and of another kernel; a kernel with 256 blocks gives no clock."""
    con = staged(shared_profiles / "d10_msprof_cli_and_op_910b").con
    found = con.execute("SELECT rank_id, status FROM files WHERE kind LIKE 'opprof%'").fetchall()
    assert found == [(None, "read")] * 4
    found = con.execute("SELECT name, signature_id, matched FROM operator_measurements").fetchall()
    name = "sanitized_operator_kernel"
    assert found == [(name, None, f"no kernel of the run is called {name} or has the type {name}")]
    assert con.execute("SELECT label, aic_mhz, aiv_mhz FROM ranks").fetchall() == [("PROF_001", None, None)]


def test_d11_step_times_are_noticed_as_not_belonging(
    shared_profiles: Path, staged: Callable[..., Staging]
) -> None:
    """The step times beside each excerpt are of the full capture: each of the three ranks says so."""
    con = staged(shared_profiles / "d11_level0_decode_pair").con
    found = con.execute("SELECT label, notes FROM ranks ORDER BY rank_id").fetchall()
    assert [label for label, _ in found] == ["b1q8", "b8q1", "mixed_m16"]
    assert all(any("an excerpt" in note for note in notes) for _, notes in found)


@pytest.mark.parametrize("profile", ["d02_text_level1", "d06_qwen3_train_cann83/rank_0_ascend_pt"])
def test_names_tell_the_type_in_eager_captures(
    shared_profiles: Path, staged: Callable[..., Staging], profile: str
) -> None:
    """In captures that export both, the type found in every distinct name is the exported type."""
    pairs = (
        staged(shared_profiles / profile)
        .con.execute("SELECT DISTINCT name, type FROM kernels JOIN signatures USING (signature_id)")
        .fetchall()
    )
    assert [(name, type_) for name, type_ in pairs if type_of_name(name) != type_] == []
    assert len(pairs) > 50


def test_every_profile_lands_beside_the_others(
    shared_profiles: Path, staged: Callable[..., Staging], tmp_path: Path
) -> None:
    """Three exports in one database keep their counts, and each says which questions it answers."""
    db = tmp_path / "all.duckdb"
    for profile in ("d01_text_level0", "d02_text_level1", "longcat_910c_decode"):
        land(staged(shared_profiles / profile), db)
    with Store.open(db) as store:
        counts = store.con.execute("SELECT run_id, count(*) FROM kernels GROUP BY 1 ORDER BY 1").fetchall()
        assert counts == [(1, 191), (2, 191), (3, 3785)]
        roofline = [availability(store.con, run_id)[0].status for run_id in (1, 2, 3)]
    # d02: 11 of 185 AI-core rows are MemSet without shapes, so 94 % of the kernels have them.
    assert roofline == ["no", "partly", "yes"]
