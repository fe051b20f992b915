"""Profiler databases: real ones by their facts, made ones by what is hard about them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from npu_roofline.errors import NpuRooflineError, UnsupportedExport
from npu_roofline.ingest.stage import Staging
from npu_roofline.sample_profiles.generate import KERNELS, sample_texts

from tests.ingest.profiler_database import NEW, OLD, write_database

Stage = Callable[..., Staging]
NAME = "ascend_pytorch_profiler_0.db"


@pytest.fixture(scope="module")
def table() -> str:
    """The first twenty rows of the dense decode, as text."""
    return "".join(sample_texts("dense_decode")[KERNELS].splitlines(keepends=True)[:21])


@pytest.fixture
def database(tmp_path: Path, table: str) -> Path:
    """A small database of twenty kernels."""
    return write_database(tmp_path / "rank_0" / NAME, table)


def change(path: Path, *statements: str) -> None:
    """Run statements on a database and close it."""
    con = sqlite3.connect(path)
    for statement in statements:
        con.execute(statement)
    con.commit()
    con.close()


def one(staging: Staging, query: str) -> Any:
    """The single row of a query."""
    return staging.con.execute(query).fetchall()[0]


def notes_of(staging: Staging) -> str:
    """What the file of the kernels says about itself."""
    return one(staging, "SELECT note FROM files WHERE kind = 'profiler_database'")[0] or ""


def test_d05_kernels_and_counters(shared_profiles: Path, staged: Stage) -> None:
    """187 kernels and 4 collectives, 185 with PMU (2 DSA have none); aic_mac_time 52,072.3 ns is 52.07 us.

    The longest MatMulV2 takes 358.247 us; its core time is 345.511 us of 9,950,724 cycles on 16 blocks:
    9,950,724 / (345.51125 x 16) = 1,800 MHz.
    """
    staging = staged(shared_profiles / "d05_db_level1_insight_touched")
    assert one(staging, "SELECT rows_read, rows_kept, rows_rejected FROM runs") == (191, 191, 0)
    assert one(staging, "SELECT count(*), count(aic_mac_ratio) FROM kernels") == (191, 185)
    longest = one(
        staging,
        "SELECT k.duration_us, k.aic_mac_time_us, k.aicore_time_us, k.aic_total_cycles, k.block, k.wait_us "
        "FROM kernels k JOIN signatures USING (signature_id) WHERE type = 'MatMulV2' ORDER BY 1 DESC LIMIT 1",
    )
    assert longest == (358.247, pytest.approx(52.0723, abs=1e-4), 345.51125, 9950724, 16, 1102.583)
    classes = dict(staging.con.execute("SELECT kernel_class, count(*) FROM kernels GROUP BY 1").fetchall())
    assert classes == {"aicore": 185, "dsa": 2, "communication": 4}
    assert "always 0, not kept: aiv_mac_ratio" in notes_of(staging)


def test_d05_chip_bounds_steps_and_samples(shared_profiles: Path, staged: Stage) -> None:
    """Bounds: 24 blocks in one round of cube cores; 256 blocks in 6 rounds of vector cores, at most 51.

    The step is as long as the exporter's own Stage, 132,233.522 us, from analysis.db. HBM: the busiest
    interval, 2 x 4 units together.
    """
    staging = staged(shared_profiles / "d05_db_level1_insight_touched")
    bounds = one(
        staging,
        "SELECT aic_mhz, aiv_mhz, cube_cores_mhz, cube_cores, cube_cores_min, cube_cores_max, "
        "vector_cores_min, vector_cores_max BETWEEN 48 AND 51, clock_min_mhz, clock_max_mhz, "
        "device_id FROM ranks",
    )
    assert bounds == (1800, 1800, None, None, 24, None, 48, True, 1800, 1800, 0)
    step = one(staging, "SELECT step_id, wall_us, trace_stage_us, trace_computing_us FROM steps")
    assert step == (50, 132233.522, 132233.522, 8903.431)
    samples = dict(staging.con.execute("SELECT counter, count(*) FROM counters GROUP BY 1").fetchall())
    assert samples["hbm_read"] == samples["hbm_write"] == 52  # 104 rows of HBM
    assert samples["llc_hit_rate_read"] == 26
    assert samples["aic_clock"] == 3
    peak = one(staging, "SELECT hbm_peak_gb_s FROM ranks")[0]
    # The largest read of each unit, then the largest write, in GB/s.
    highest = 27.00561697 + 27.001323683 + 26.938486448 + 26.858412178
    highest += 16.179976241 + 16.156014973 + 16.11579416 + 16.076809583
    assert peak == pytest.approx(highest, abs=1e-6)


def test_d04_level_0_is_typed_from_names_and_tasks(shared_profiles: Path, staged: Stage) -> None:
    """All 187 kernels are typed by name; 149 AIVEC tasks are vector kernels, 2 STARS tasks are DSA."""
    staging = staged(shared_profiles / "d04_db_level0")
    rows = staging.con.execute(
        "SELECT core, count(*) FROM kernels JOIN signatures USING (signature_id) GROUP BY 1 ORDER BY 2 DESC"
    ).fetchall()
    assert dict(rows) == {
        "AI_VECTOR_CORE": 149,
        "AI_CORE": 23,
        None: 8,  # KERNEL_AICORE tasks with a context: parts of mixed kernels
        "MIX_AIV": 5,
        "COMMUNICATION": 4,
        "DSA_SQE": 2,
    }
    assert one(staging, "SELECT count(*) FROM signatures WHERE type_source = 'name'")[0] > 20
    assert one(staging, "SELECT count(*) FROM signatures WHERE input_shapes IS NOT NULL") == (0,)
    assert one(staging, "SELECT aic_mhz, clock_max_mhz, cube_cores_min FROM ranks") == (None, 1800, None)


def test_nothing_of_the_users_folder_changes(shared_profiles: Path, staged: Stage, tmp_path: Path) -> None:
    """Neither the database nor its leftover -wal and -shm change, and no file appears beside them."""
    copy = tmp_path / "copy"
    shutil.copytree(shared_profiles / "d05_db_level1_insight_touched", copy)
    before = {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in copy.rglob("*") if path.is_file()
    }
    staged(copy)
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in copy.rglob("*") if path.is_file()}
    assert after == before


def test_changes_in_a_wal_are_said_not_to_be_read(staged: Stage, database: Path) -> None:
    """A row that stands only in the -wal is not there for an immutable reader, and the note says so."""
    con = sqlite3.connect(database)
    con.execute("PRAGMA journal_mode = wal")
    con.execute("PRAGMA wal_autocheckpoint = 0")
    con.execute("DELETE FROM COMPUTE_TASK_INFO WHERE globalTaskId = 0")
    con.commit()
    staging = staged(database.parent)  # while the writer still holds it: nothing is locked
    con.close()
    assert one(staging, "SELECT rows_kept FROM runs") == (20,)
    assert f"{NAME}-wal beside it holds changes" in notes_of(staging)


def test_text_counts_and_the_database_gives_its_samples(staged: Stage, database: Path, table: str) -> None:
    """With both forms the kernels are counted once, from text; the clock still comes from the database."""
    change(
        database,
        "CREATE TABLE AICORE_FREQ (deviceId INTEGER, timestampNs NUMERIC, freq INTEGER)",
        "INSERT INTO AICORE_FREQ SELECT 0, min(startNs), 1400 FROM TASK",
    )
    (database.parent / "kernel_details.csv").write_bytes(table.encode())
    staging = staged(database.parent)
    assert one(staging, "SELECT rows_read, rows_kept FROM runs") == (20, 20)
    files = staging.con.execute("SELECT kind, status, rows_read FROM files ORDER BY kind").fetchall()
    assert files == [("kernel_details", "read", 20), ("profiler_database", "read", None)]
    assert "kernel_details.csv has the kernels" in notes_of(staging)


def test_a_damaged_database_beside_text_costs_only_its_samples(
    staged: Stage, database: Path, table: str
) -> None:
    """The rank lands from its text; the database is a failed file with the reason."""
    database.write_bytes(database.read_bytes()[:3000])
    (database.parent / "kernel_details.csv").write_bytes(table.encode())
    staging = staged(database.parent)
    assert one(staging, "SELECT rows_kept FROM runs") == (20,)
    assert one(staging, "SELECT status FROM files WHERE kind = 'profiler_database'") == ("failed",)
    assert one(staging, "SELECT count(*) FROM counters") == (0,)


def test_bad_rows_are_rejected_with_their_reason(staged: Stage, database: Path) -> None:
    """Five kernels that cannot be believed, each for its reason; rows in = kept + rejected: 20 = 15 + 5."""
    change(
        database,
        "UPDATE TASK SET endNs = startNs - 1 WHERE globalTaskId = 0",
        "DELETE FROM TASK WHERE globalTaskId = 1",
        "UPDATE COMPUTE_TASK_INFO SET name = 999999 WHERE globalTaskId = 2",
        "UPDATE TASK SET startNs = 'soon' WHERE globalTaskId = 3",
        "UPDATE TASK SET startNs = -5 WHERE globalTaskId = 4",
    )
    staging = staged(database)
    assert one(staging, "SELECT rows_read, rows_kept, rows_rejected FROM runs") == (20, 15, 5)
    rejects = staging.con.execute("SELECT line, reason FROM rejects ORDER BY line").fetchall()
    assert rejects == [
        (0, "end precedes start"),
        (1, "no row of TASK has its globalTaskId"),
        (2, "its name is not in STRING_IDS"),
        (3, "no start time"),
        (4, "start time is negative"),
    ]


def test_times_of_early_writers_are_us(staged: Stage, database: Path) -> None:
    """Writers of early 2024 wrote us under the same names: 1,800 cycles per unit of core time tell."""
    want = staged(database).con.execute("SELECT aicore_time_us FROM kernels ORDER BY kernel_id").fetchall()
    change(
        database,
        "UPDATE TASK_PMU_INFO SET value = value / 1000.0 WHERE name IN "
        "(SELECT id FROM STRING_IDS WHERE value LIKE '%\\_time' ESCAPE '\\')",
    )
    staging = staged(database)
    rows = staging.con.execute("SELECT aicore_time_us FROM kernels ORDER BY kernel_id").fetchall()
    assert rows == want
    assert "core times of this writer are in us" in notes_of(staging)


def test_a_counter_twice_is_no_counter(staged: Stage, database: Path) -> None:
    """Two values for one counter of one task: nothing says which is right, so that task has none."""
    change(
        database,
        "INSERT INTO TASK_PMU_INFO SELECT globalTaskId, name, value + 1 FROM TASK_PMU_INFO "
        "WHERE globalTaskId = 0",
    )
    staging = staged(database)
    assert one(staging, "SELECT count(*) FROM kernels WHERE aiv_time_us IS NULL") == (1,)
    assert "1 kernels have a counter twice" in notes_of(staging)


def test_a_task_that_ran_twice_has_counters_by_time(staged: Stage, tmp_path: Path, table: str) -> None:
    """Newer writers give one globalTaskId to several runs: each gets the counters of its own time."""
    path = write_database(tmp_path / NAME, table, NEW)
    change(
        path,
        "UPDATE TASK SET globalTaskId = 0 WHERE globalTaskId = 1",
        "DELETE FROM COMPUTE_TASK_INFO WHERE globalTaskId = 1",
        "UPDATE TASK_PMU_INFO SET globalTaskId = 0 WHERE globalTaskId = 1",
    )
    with_times = staged(path)
    old = write_database(tmp_path / "old" / NAME, table, OLD)
    expected = staged(old).con.execute("SELECT aiv_time_us FROM kernels ORDER BY start_ns").fetchall()
    assert with_times.con.execute("SELECT aiv_time_us FROM kernels ORDER BY start_ns").fetchall() == expected
    change(
        old,
        "UPDATE TASK SET globalTaskId = 0 WHERE globalTaskId = 1",
        "DELETE FROM COMPUTE_TASK_INFO WHERE globalTaskId = 1",
    )
    without = staged(old)
    assert one(without, "SELECT count(*) FROM kernels WHERE aiv_time_us IS NULL") == (2,)
    assert "2 kernels share a globalTaskId" in notes_of(without)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_bytes(b"not a database at all, whatever its name says"), "is not an SQLite"),
        (lambda path: path.write_bytes(path.read_bytes()[:5000]), "is damaged"),
        (lambda path: change(path, "DROP TABLE TASK"), "no table TASK"),
        (
            lambda path: change(path, "ALTER TABLE TASK RENAME COLUMN startNs TO begun"),
            "has no column startNs",
        ),
        (
            lambda path: change(path, "DELETE FROM COMPUTE_TASK_INFO", "DELETE FROM COMMUNICATION_OP"),
            "holds no kernels",
        ),
        (lambda path: change(path, "UPDATE TASK SET deviceId = globalTaskId % 2"), "several devices"),
        (lambda path: change(path, "UPDATE TASK SET endNs = NULL"), "no end time"),
        (
            lambda path: change(
                path,
                "DROP TABLE TASK",
                "CREATE VIEW TASK AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL "
                "SELECT x + 1 FROM n) SELECT x AS globalTaskId, x AS startNs, x AS endNs FROM n",
            ),
            "no table TASK",
        ),
    ],
)
def test_a_bad_database_is_a_clear_error_and_costs_no_other_rank(
    staged: Stage, tmp_path: Path, database: Path, table: str, damage: Callable[[Path], Any], said: str
) -> None:
    """Alone it is refused with the reason; beside a good rank it is a failed file and the other one lands."""
    damage(database)
    with pytest.raises(NpuRooflineError, match=said):
        staged(database.parent)
    write_database(tmp_path / "rank_1" / NAME.replace("0", "1"), table)
    staging = staged(tmp_path)
    assert one(staging, "SELECT rows_read, rows_kept FROM runs") == (20, 20)
    status, note = one(staging, "SELECT status, note FROM files WHERE path LIKE '%rank_0%'")
    assert status == "failed"
    assert said in note


def test_a_database_of_another_tool_is_named_by_its_tables(staged: Stage, tmp_path: Path) -> None:
    """A renamed database of another tool is refused, and the hint lists what it holds."""
    path = tmp_path / "history.db"
    change(path, "CREATE TABLE urls (id INTEGER, url TEXT)")
    with pytest.raises(UnsupportedExport, match="no table") as caught:
        staged(path)
    assert "urls" in caught.value.hint


def test_unknown_columns_and_counters_are_named(staged: Stage, database: Path) -> None:
    """A column or counter that nobody knows is listed for the rank; text that is no UTF-8 loses no kernel."""
    change(
        database,
        "ALTER TABLE TASK ADD COLUMN energyPj INTEGER",
        "UPDATE STRING_IDS SET value = 'aic_new_ratio' WHERE value = 'aiv_mac_ratio'",
        "UPDATE TASK_PMU_INFO SET value = 1 WHERE name = "
        "(SELECT id FROM STRING_IDS WHERE value = 'aic_new_ratio')",
        "UPDATE STRING_IDS SET value = CAST(x'ff61' AS TEXT) WHERE id = "
        "(SELECT min(name) FROM COMPUTE_TASK_INFO)",
    )
    staging = staged(database)
    unknown = one(staging, "SELECT unknown_columns FROM ranks")[0]
    assert unknown == ["TASK.energyPj", "TASK_PMU_INFO: aic_new_ratio"]
    assert one(staging, "SELECT rows_kept FROM runs") == (20,)


def test_the_rank_is_the_one_the_database_says(staged: Stage, tmp_path: Path, table: str) -> None:
    """RANK_DEVICE_MAP says rank 7 on device 3; a name with a number says the rank where the map is absent."""
    mapped = write_database(tmp_path / "a" / "msprof_20260101120000.db", table)
    change(
        mapped,
        "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER)",
        "INSERT INTO RANK_DEVICE_MAP VALUES (7, 3)",
    )
    write_database(tmp_path / "b" / "ascend_mindspore_profiler_5.db", table)
    rows = staged(tmp_path).con.execute("SELECT rank_id FROM ranks ORDER BY 1").fetchall()
    assert rows == [(5,), (7,)]
