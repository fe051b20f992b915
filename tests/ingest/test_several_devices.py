"""Databases of several devices become a rank per device; MindSpore exports are read by their own names."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

from npu_roofline.ingest.stage import Staging

from .kernel_csv import row, starts, table, write
from .profiler_database import write_database


def two_devices(folder: Path) -> Path:
    """msprof_*.db with three MatMuls on device 2 and two on device 5."""
    first, second = starts(3), starts(2)
    cells = [row(start=start, device="2", name=f"MatMul_{n}") for n, start in enumerate(first)]
    cells += [row(start=start, device="5", name=f"Other_{n}") for n, start in enumerate(second)]
    path = folder / "PROF_000001" / "mindstudio_profiler_output" / "msprof_20260101000000.db"
    write_database(path, table(cells))
    return path


def test_each_device_is_a_rank_with_its_own_kernels(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """Kernels overlap in time, so as one rank they would be read as one device doing both."""
    two_devices(tmp_path)
    con = staged(tmp_path).con
    columns = "k.rank_id, label, r.device_id, count(*), min(name)"
    query = f"SELECT {columns} FROM kernels k JOIN ranks r USING (rank_id) GROUP BY ALL ORDER BY 1"
    assert con.execute(query).fetchall() == [
        (0, "PROF_000001, device 2", 2, 3, "MatMul_0"),
        (1, "PROF_000001, device 5", 5, 2, "Other_0"),
    ]
    assert con.execute("SELECT rows_read, rows_kept, rows_rejected FROM runs").fetchone() == (5, 5, 0)
    ((notes,),) = con.execute("SELECT notes FROM ranks WHERE rank_id = 0").fetchall()
    assert any("holds devices 2, 5, a rank each" in note for note in notes)


def test_what_names_no_device_is_counted_once(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """A kernel without a row of TASK is a reject of the first rank, not of both."""
    path = two_devices(tmp_path)
    con = sqlite3.connect(path)
    con.execute("DELETE FROM TASK WHERE globalTaskId = 4")
    con.commit()
    con.close()
    staging = staged(tmp_path)
    assert staging.con.execute("SELECT rank_id, count(*) FROM rejects GROUP BY 1").fetchall() == [(0, 1)]
    assert staging.con.execute("SELECT rows_read, rows_kept, rows_rejected FROM runs").fetchone() == (5, 4, 1)


def test_mindspore_folders_and_databases(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """*_ascend_ms: rank 3 by profiler_info of a text export, rank 1 by the name of a database."""
    text = write(tmp_path / "host_1_20260101_ascend_ms", table([row()]))
    (text / "profiler_info_3.json").write_text(json.dumps({"rank_id": 3}))
    output = tmp_path / "host_2_20260101_ascend_ms" / "ASCEND_PROFILER_OUTPUT"
    write_database(output / "ascend_mindspore_profiler_1.db", table([row()]))
    con = sqlite3.connect(output / "communication_analyzer.db")
    con.executescript("""
        CREATE TABLE CommAnalyzerTime (hccl_op_name, group_name, start_timestamp, elapse_time, transit_time,
            wait_time, synchronization_time, idle_time, step, type);
        INSERT INTO CommAnalyzerTime VALUES ('hcom_allReduce__1_0_1', '1', 10.5, 4, 1, 2, 1.5, 1, 'step3',
            'collective');
    """)
    con.close()
    staging = staged(tmp_path)
    query = "SELECT rank_id, label, has_kernels FROM ranks ORDER BY 1"
    assert staging.con.execute(query).fetchall() == [(1, "1", True), (3, "3", True)]
    query = "SELECT rank_id, level, elapse_us FROM communication"
    assert staging.con.execute(query).fetchall() == [(1, "operator", 4000.0)]
