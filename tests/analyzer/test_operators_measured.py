"""What `msprof op` measured reaches labels and `explain`: bytes, hit rate, and how even the blocks were."""

from __future__ import annotations

from pathlib import Path

import pytest
from npu_roofline.analyzer.compare.difference import compare
from npu_roofline.analyzer.explain import explain
from npu_roofline.analyzer.hotspots import hotspots
from npu_roofline.analyzer.load import ingest_run
from npu_roofline.analyzer.session import open_session
from npu_roofline.ingest.availability import availability

from tests.ingest.kernel_csv import row, starts, table, write
from tests.ingest.opprof_files import write_blocks, write_operator

MEASURED_BYTES = "measured bytes of a kernel"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Two MatMuls of 13.6 MB in 40 us, and the same kernel measured alone on 24 cubes, one of them slow."""
    write(tmp_path / "run_ascend_pt", table([row(start=start) for start in starts(2)]))
    folder = write_operator(tmp_path / "OPPROF_1", block=24, duration_us=41.0)
    times = {(block, "cube0"): {"aic_time(us)": 36.0 if block == 7 else 12.0} for block in range(24)}
    write_blocks(folder, "PipeUtilization", times, ("aic_time(us)",))
    read = {key: {"read_main_memory_datas(KB)": 512.0} for key in times}
    write_blocks(folder, "Memory", read, ("read_main_memory_datas(KB)",))
    hits = {key: {"aic_r0_read_cache_hit": 1024, "aic_r0_read_cache_miss_allocate": 3072} for key in times}
    write_blocks(folder, "L2Cache", hits, ("aic_r0_read_cache_hit", "aic_r0_read_cache_miss_allocate"))
    path = tmp_path / "db.duckdb"
    ingest_run([tmp_path], path, device="910B2")
    return path


def test_explain_shows_measured_bytes_and_the_slow_block(database: Path) -> None:
    """24 x 512 KiB read, 3,072 of 4,096 requests missed; one block of 36 us against a mean of 13 us."""
    with open_session(database) as session:
        (hotspot,) = hotspots(session).rows
        answer = explain(session, hotspot.id)
        assert availability(session.con, 1)
    steps = {step.what: step for step in answer.extras["steps"]}
    bytes_ = steps["What msprof op measured"]
    assert bytes_.numbers["read_bytes"] == 24 * 512 * 1024
    assert bytes_.numbers["beyond_l2_bytes"] == 24 * 3072 * 128
    assert bytes_.numbers["l2_hit_rate"] == 0.25
    assert bytes_.numbers["hbm_gb_s"] == pytest.approx(24 * 3072 * 128 / 40e-6 / 1e9)
    assert "by type MatMulV2, 24 blocks" in bytes_.verdict
    blocks = steps["How even the cube blocks were"]
    assert (blocks.numbers["median_us"], blocks.numbers["longest_us"]) == (12.0, 36.0)
    assert blocks.verdict == "the slowest, block 7 cube0, ran 177 % longer than the mean of 24 cube blocks"
    assert any("12.6 MB (msprof op, 1 launch), 9.4 MB of it beyond L2" in note for note in hotspot.notes)


def test_measured_bytes_are_there_to_answer_from(database: Path) -> None:
    """Both kernels are of the measured kind, so the question is answered."""
    with open_session(database) as session:
        found = {each.question: each.status for each in availability(session.con, 1)}
    assert found[MEASURED_BYTES] == "yes"


def test_the_real_operator_alone_answers(shared_profiles: Path, tmp_path: Path) -> None:
    """d10's OPPROF folder: one hotspot of 5.74 us, 2.875 + 6.375 KB read, and its blocks."""
    path = tmp_path / "db.duckdb"
    folder = shared_profiles / "d10_msprof_cli_and_op_910b" / "reports" / "OPPROF_001"
    answer = ingest_run([folder], path, device="910B3")
    assert answer.rejected == 0
    assert {file.status for file in answer.rows} == {"read"}
    with open_session(path) as session:
        (hotspot,) = hotspots(session).rows
        steps = {step.what: step for step in explain(session, hotspot.id).extras["steps"]}
    assert hotspot.median_us == 5.740459
    assert steps["What msprof op measured"].numbers["read_bytes"] == (2.875 + 6.375) * 1024
    assert steps["How even the vector blocks were"].numbers["blocks"] == 2


@pytest.mark.parametrize(
    ("rate", "bound"), [("0.9", "memory/mte2"), ("0.1", "memory/hbm"), ("N/A", "memory/mte2")]
)
def test_a_hit_rate_of_the_export_reaches_the_label(tmp_path: Path, rate: str, bound: str) -> None:
    """A load pipe of .98 at 21 % of HBM: l2_cache.csv says whether L2 or HBM is waited for, and notes it."""
    pipes = {"aic_mac_ratio": "0.2", "aic_mte2_ratio": "0.98", "aic_scalar_ratio": "0.1"}
    cells = [row(start=start, **pipes) for start in starts(2)]
    write(tmp_path, table(cells, pmu=tuple(pipes)))
    name = "aclnnMatmul_MatMulCommon_MatMulV2"
    text = f"Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\n2,11,{rate},0.1,{name}\n"
    write(tmp_path, text, "l2_cache.csv")
    ingest_run([tmp_path], tmp_path / "db.duckdb", device="910B2")
    with open_session(tmp_path / "db.duckdb") as session:
        (hotspot,) = hotspots(session).rows
    assert f"{hotspot.bound}/{hotspot.limiter}" == bound
    assert any("L2 hit rate" in note for note in hotspot.notes) == (rate != "N/A")


def test_launches_of_one_operator_are_compared_as_steps(tmp_path: Path) -> None:
    """Five launches of 40 us before, five of 30 after: the operator is faster beyond noise."""
    for side, duration in (("before", 40.0), ("after", 30.0)):
        for launch in range(5):
            folder = tmp_path / side / "OPPROF_1" / "MatMulV2" / str(launch)
            write_operator(folder, duration_us=duration + launch * 0.01, time=f"_2026010{launch}")
        ingest_run([tmp_path / side], tmp_path / "db.duckdb", name=side, device="910B2")
    database = tmp_path / "db.duckdb"
    with open_session(database, run="before") as one, open_session(database, run="after") as other:
        answer = compare(one, other)
    assert [(row.type, row.change) for row in answer.rows] == [("MatMulV2", "faster")]
