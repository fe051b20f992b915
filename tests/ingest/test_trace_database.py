"""A profiler database tells what launched its kernels, with the words of old and new writers."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from npu_roofline.ingest.stage import Staging

from .kernel_csv import row, table, write
from .profiler_database import write_database
from .test_trace_origins import ORIGINS, beside
from .trace_json import BASE_NS, LINEAR, WHOLE, us

Staged = Callable[..., Staging]
NAME = "ascend_pytorch_profiler_0.db"
THREAD = (10 << 32) | 101
OP, QUEUE, RANGE = 50001, 50002, 50003
# (kind, name, start, end, connection of CONNECTION_IDS, sequence, shapes, chain); ns from BASE_NS.
# Connections 10,000 and 10,001 are of the two tasks (write_database), 10,000 of a forward-backward pair too.
CALLS = [
    (OP, "ProfilerStep#3", 0, 90_000, None, None, None, None),
    (RANGE, "nn.Module: Block_0", 500, 40_500, None, None, None, None),
    (RANGE, "nn.Module: Linear_0", 900, 20_900, None, None, None, None),
    (OP, "aten::linear", 1_000, 10_000, 2, 41, "4,8;\r\n8,16", 1),
    (OP, "aclnnAddmm", 3_000, 8_000, 0, None, None, 1),
    (RANGE, "model.py(200): norm", 24_000, 33_000, None, None, None, None),
    (OP, "npu::npu_rms_norm", 25_000, 30_000, None, None, "4,16", None),
    (OP, "aclnnRmsNorm", 26_000, 28_000, 1, None, None, None),
    (OP, "AddmmBackward0", 60_000, 65_000, 2, 41, None, None),
    (QUEUE, "Enqueue", 3_500, 3_600, 3, None, None, None),
    (QUEUE, "Dequeue@aclnnAddmm", 4_000, 4_500, 3, None, None, None),
]
CONNECTIONS = [(0, 10_000), (1, 10_001), (2, 10_000), (3, 7)]
EXPECTED = [
    (0, "aten::linear", "aclnnAddmm", "nn.Module: Linear_0", "/work/model.py(123): forward", "call stack"),
    (1, "npu::npu_rms_norm", "aclnnRmsNorm", "nn.Module: Block_0", "model.py(200): norm", "python function"),
]


def database(folder: Path, text_times: bool, swapped: bool) -> Path:
    """Two kernels and what the host did, as a writer of one generation puts it."""
    kernels = [
        row(start=us(BASE_NS + at), name=name, type=type_, duration="3.0", stream="2", task=task)
        for at, name, type_, task in (
            (50_000, "aclnnAddmm_MatMulCommon_MatMulV2", "MatMulV2", "11"),
            (70_000, "aclnnRmsNorm_RmsNorm_RmsNorm", "RmsNorm", "12"),
        )
    ]
    path = write_database(folder / "ASCEND_PROFILER_OUTPUT" / NAME, table(kernels))
    con = sqlite3.connect(path)
    texts = dict(con.execute("SELECT value, id FROM STRING_IDS").fetchall())

    def text(value: str | None) -> int | None:
        if value is not None and value not in texts:
            texts[value] = max(texts.values()) + 1
            con.execute("INSERT INTO STRING_IDS VALUES (?, ?)", (texts[value], value))
        return None if value is None else texts[value]

    time_type = "TEXT" if text_times else "INTEGER"
    con.execute(
        f"CREATE TABLE PYTORCH_API (startNs {time_type}, endNs {time_type}, globalTid INTEGER, "
        "connectionId INTEGER, name INTEGER, sequenceNumber INTEGER, fwdThreadId INTEGER, "
        "inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, type INTEGER)"
    )
    for kind, name, start, end, connection, sequence, shapes, chain in CALLS:
        operands = (text("float"), text(shapes)) if shapes else (None, None)
        operands = operands[::-1] if swapped else operands
        con.execute(
            "INSERT INTO PYTORCH_API VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                BASE_NS + start,
                BASE_NS + end,
                THREAD,
                connection,
                text(name),
                sequence,
                None,
                *operands,
                chain,
                kind,
            ),
        )
    con.execute("CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER)")
    con.executemany("INSERT INTO CONNECTION_IDS VALUES (?, ?)", CONNECTIONS)
    con.execute("CREATE TABLE PYTORCH_CALLCHAINS (id INTEGER, stack INTEGER, stackDepth INTEGER)")
    for depth, frame in enumerate(LINEAR):
        con.execute("INSERT INTO PYTORCH_CALLCHAINS VALUES (1, ?, ?)", (text(frame), depth))
    con.execute(
        "CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, "
        "connectionId INTEGER PRIMARY KEY, name INTEGER)"
    )
    call = (BASE_NS + 7_000, BASE_NS + 7_500, 10000, THREAD + 2, 10_000, text("launch"))
    con.execute("INSERT INTO CANN_API VALUES (?, ?, ?, ?, ?, ?)", call)
    con.commit()
    con.close()
    return folder


@pytest.mark.parametrize("text_times", [True, False])
@pytest.mark.parametrize("swapped", [True, False])
def test_origins_of_a_database_by_hand(
    tmp_path: Path, staged: Staged, text_times: bool, swapped: bool
) -> None:
    """Times as text or numbers, shapes and types swapped or not: the same origins, shapes and arrows."""
    con = staged(database(tmp_path, text_times, swapped)).con
    assert con.execute(ORIGINS).fetchall() == EXPECTED
    shapes = con.execute(
        "SELECT t.input_dims, t.input_types FROM kernel_origins "
        "JOIN torch_ops AS t USING (op_id) ORDER BY kernel_id"
    ).fetchall()
    assert shapes == [("4,8;8,16", "float"), ("4,16", "float")]
    flows = con.execute("SELECT category, count(*) FROM trace_flows GROUP BY 1 ORDER BY 1").fetchall()
    assert flows == [("HostToDevice", 1), ("async_npu", 2), ("async_task_queue", 1), ("fwdbwd", 1)]
    calls = con.execute("SELECT level, name, thread_id, connection_id FROM api_calls").fetchall()
    assert calls == [("node", "launch", 103, 10_000)]
    notes = con.execute("SELECT notes FROM ranks").fetchall()[0][0]
    assert any(note.startswith("of 2 kernels 2 (100.0%) are tasks of the database") for note in notes)


def test_a_database_beside_a_kernel_table_tells_the_origins(tmp_path: Path, staged: Staged) -> None:
    """The text has the kernels, the database what launched them; two kernels, not four."""
    database(tmp_path, text_times=True, swapped=False)
    cells = [
        row(start=us(BASE_NS + at), name=name, stream="2", task=task)
        for at, name, task in (
            (50_000, "aclnnAddmm_MatMulCommon_MatMulV2", "11"),
            (70_000, "aclnnRmsNorm_RmsNorm_RmsNorm", "12"),
        )
    ]
    con = staged(write(tmp_path, table(cells))).con
    assert con.execute("SELECT count(*) FROM kernels").fetchall() == [(2,)]
    assert con.execute(ORIGINS).fetchall() == EXPECTED


def test_a_trace_takes_the_place_of_the_database(tmp_path: Path, staged: Staged) -> None:
    """With kernel table, database and trace of one capture, each operator is listed once, by the trace."""
    database(tmp_path, text_times=True, swapped=False)
    con = staged(beside(tmp_path, WHOLE)).con
    names = con.execute("SELECT count(*), count(DISTINCT name) FROM torch_ops").fetchall()
    assert names == [(6, 6)]
    assert con.execute("SELECT count(*) FROM kernels").fetchall() == [(2,)]


def test_kernels_of_a_database_do_not_need_its_calls(tmp_path: Path, staged: Staged) -> None:
    """A table of calls without the columns it should have is reported; the kernels are there."""
    folder = database(tmp_path, text_times=True, swapped=False)
    con = sqlite3.connect(folder / "ASCEND_PROFILER_OUTPUT" / NAME)
    con.execute("DROP TABLE PYTORCH_API")
    con.execute("CREATE TABLE PYTORCH_API (x INTEGER)")
    con.commit()
    con.close()
    staging = staged(folder)
    assert staging.con.execute("SELECT count(*) FROM kernels").fetchall() == [(2,)]
    assert staging.con.execute("SELECT count(*) FROM torch_ops").fetchall() == [(0,)]
    notes = staging.con.execute("SELECT notes FROM ranks").fetchall()[0][0]
    assert any("the calls of the host were not read" in note for note in notes)
