"""Real traces and databases, held against counts by the json and sqlite3 modules."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from npu_roofline.ingest.stage import Staging

Staged = Callable[..., Staging]
TEXT = ("d01_text_level0", "d02_text_level1", "d03_text_level2")
DATABASES = ("d04_db_level0", "d05_db_level1_insight_touched")
# Of 191 kernels (187 tasks and 4 collectives) each is joined; operators of the backward pass without an arrow
# (AccumulateGrad, gradient buckets, all-reduce) have no line: 72 have their own, 89 that of the forward one.
SOURCES = {"call stack": 72, "forward operator": 89, None: 30}


def output(profiles: Path, name: str) -> Path:
    """The folder with the exports of a profile."""
    return profiles / name / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"


def events_of(folder: Path) -> list[dict[str, Any]]:
    """The trace by the json module."""
    return json.loads((folder / "trace_view.json").read_text(encoding="utf-8"))


def ns(text: str) -> int:
    """us with decimals as whole ns."""
    return int(Decimal(text.strip()) * 1000)


@pytest.mark.parametrize("name", TEXT)
def test_a_real_trace_is_counted_as_json_counts_it(shared_profiles: Path, staged: Staged, name: str) -> None:
    """Operators, ranges, calls, tasks and arrows: as many as the json module finds, each kind by itself."""
    events = events_of(output(shared_profiles, name))
    con = staged(shared_profiles / name).con
    spans = [event for event in events if event["ph"] == "X"]
    kinds = Counter(event.get("cat") for event in spans)
    hardware = [event for event in spans if "Task Type" in event.get("args", {})]
    calls = [event for event in spans if "level" in event.get("args", {})]
    collectives = [event for event in spans if event["name"].startswith("hcom_")]
    counts = con.execute(
        "SELECT (SELECT count(*) FROM torch_ops), (SELECT count(*) FROM api_calls), "
        "(SELECT count(*) FROM trace_tasks), (SELECT count(*) FROM trace_flows), "
        "(SELECT count(*) FROM trace_ranges WHERE kind IN ('module', 'python')), "
        "(SELECT count(*) FROM trace_ranges WHERE kind = 'queue')"
    ).fetchall()[0]
    assert counts == (
        kinds["cpu_op"],
        len(calls),
        len(hardware) + len(collectives),
        sum(event["ph"] == "f" for event in events),
        kinds["python_function"],
        kinds["enqueue"] + kinds["dequeue"],
    )
    read = con.execute(
        "SELECT rows_read, rows_kept, rows_rejected FROM files WHERE kind = 'trace_view'"
    ).fetchall()
    assert read == [(len(events), len(events), 0)]


@pytest.mark.parametrize("name", TEXT)
def test_every_real_kernel_finds_its_task_and_operator(
    shared_profiles: Path, staged: Staged, name: str
) -> None:
    """191 of 191: by start, and by stream and task where the table has them; none is added."""
    con = staged(shared_profiles / name).con
    assert con.execute("SELECT count(*) FROM kernels").fetchall() == [(191,)]
    assert con.execute("SELECT count(*), count(DISTINCT kernel_id) FROM kernel_origins").fetchall() == [
        (191, 191)
    ]
    sources = dict(con.execute("SELECT source_from, count(*) FROM kernel_origins GROUP BY 1").fetchall())
    assert sources == SOURCES


def test_real_arrows_lead_where_json_says(shared_profiles: Path, staged: Staged) -> None:
    """Arrow by arrow with the json module: the operator that starts where it starts launched the kernel."""
    folder = output(shared_profiles, "d02_text_level1")
    events = events_of(folder)
    tails = {event["id"]: event for event in events if event["ph"] == "s" and event["cat"] == "async_npu"}
    starts = {(event["tid"], event["ts"]): event["name"] for event in events if event.get("cat") == "cpu_op"}
    heads = {
        ns(event["ts"]): starts[tails[event["id"]]["tid"], tails[event["id"]]["ts"]]
        for event in events
        if event["ph"] == "f" and event["cat"] == "async_npu"
    }
    with (folder / "kernel_details.csv").open(encoding="utf-8", newline="") as file:
        table = {row["Name"]: ns(row["Start Time(us)"]) for row in csv.DictReader(file)}
    expected = {name: heads.get(at, heads.get(at + 1)) for name, at in table.items()}
    found = staged(shared_profiles / "d02_text_level1").con.execute(
        "SELECT k.name, arg_max(o.launch_op, k.start_ns) FROM kernels AS k "
        "JOIN kernel_origins AS o USING (rank_id, kernel_id) GROUP BY k.name"
    )
    assert dict(found.fetchall()) == expected


@pytest.mark.parametrize("name", DATABASES)
def test_a_real_database_tells_what_its_tables_hold(shared_profiles: Path, staged: Staged, name: str) -> None:
    """Counts by sqlite3, and the same origins as the traces of the same model."""
    path = output(shared_profiles, name) / "ascend_pytorch_profiler_0.db"
    source = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    ops, ranges = (
        source.execute(f"SELECT count(*) FROM PYTORCH_API WHERE type {which} 50001").fetchall()[0][0]
        for which in ("=", "<>")
    )
    calls, tasks = (
        source.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in ("CANN_API", "TASK")
    )
    source.close()
    con = staged(shared_profiles / name).con
    counts = con.execute(
        "SELECT (SELECT count(*) FROM torch_ops), (SELECT count(*) FROM trace_ranges WHERE kind <> 'step'), "
        "(SELECT count(*) FROM api_calls), (SELECT count(*) FROM trace_tasks WHERE kind <> 'collective')"
    ).fetchall()[0]
    assert counts == (ops, ranges, calls, tasks)
    flows = dict(con.execute("SELECT category, count(*) FROM trace_flows GROUP BY 1").fetchall())
    assert (flows["async_task_queue"], flows["fwdbwd"]) == (159, 27)
    sources = dict(con.execute("SELECT source_from, count(*) FROM kernel_origins GROUP BY 1").fetchall())
    assert sources == SOURCES


def test_shapes_of_the_database_are_shapes(shared_profiles: Path, staged: Staged) -> None:
    """Writers of early 2025 put shapes into the column of the types: they are told apart by what they are."""
    con = staged(shared_profiles / "d05_db_level1_insight_touched").con
    rows = con.execute(
        "SELECT input_dims, input_types FROM torch_ops WHERE name = 'aten::linear' ORDER BY start_ns LIMIT 1"
    ).fetchall()
    assert rows == [("32,9216;4096,9216;4096", "float;float;float")]


def test_the_trace_of_one_capture_answers_like_its_table(
    shared_profiles: Path, tmp_path: Path, staged: Staged
) -> None:
    """The trace alone gives the kernels of the table beside it: same names, starts and durations."""
    folder = output(shared_profiles, "d03_text_level2")
    alone = tmp_path / "trace_view.json"
    alone.write_bytes((folder / "trace_view.json").read_bytes())
    query = (
        "SELECT name, start_ns, round(duration_us, 1) FROM kernels "
        "WHERE kernel_class <> 'communication' ORDER BY ALL"
    )
    from_trace = staged(alone).con.execute(query).fetchall()
    from_table = staged(shared_profiles / "d03_text_level2").con.execute(query).fetchall()
    assert len(from_trace) == 187
    assert from_trace == from_table
