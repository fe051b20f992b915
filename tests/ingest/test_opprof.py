"""Operators that `msprof op` measured: sums over blocks, a rank of their own, or evidence beside a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from npu_roofline.errors import UnsupportedExport
from npu_roofline.ingest.stage import Staging

from .kernel_csv import row, starts, table, write
from .opprof_files import write_blocks, write_operator

NAME = "MatMulV2_0123456789abcdef0123456789abcdef_1"
# Two cubes: 4 and 6 us of core time at 1,800 MHz, mte2 busy for 2 and 5 us of it; bytes and L2 requests.
CUBES = {
    (0, "cube0"): {
        "aic_time(us)": 4.0,
        "aic_total_cycles": 7200,
        "aic_mte2_time(us)": 2.0,
        "aic_mte2_ratio": 0.1,
    },
    (1, "cube0"): {
        "aic_time(us)": 6.0,
        "aic_total_cycles": 10800,
        "aic_mte2_time(us)": 5.0,
        "aic_mte2_ratio": 0.2,
    },
}
PIPES = ("aic_time(us)", "aic_total_cycles", "aic_mte2_time(us)", "aic_mte2_ratio")
MEMORY = {
    (0, "cube0"): {"read_main_memory_datas(KB)": 100.0, "write_main_memory_datas(KB)": 8.0},
    (1, "cube0"): {"read_main_memory_datas(KB)": 300.0, "write_main_memory_datas(KB)": 8.0},
}
L2 = {
    (0, "cube0"): {
        "aic_r0_read_cache_hit": 600,
        "aic_r0_read_cache_miss_allocate": 100,
        "aic_r1_read_cache_hit": 100,
    },
    (1, "cube0"): {"aic_r0_read_cache_hit": 2000, "aic_r0_read_cache_miss_allocate": 400},
}


def measured(folder: Path, **changes: object) -> Path:
    """One MatMul on two cubes with pipes, bytes and L2 requests."""
    write_operator(folder, **changes)  # type: ignore[arg-type]
    write_blocks(folder, "PipeUtilization", CUBES, PIPES)
    write_blocks(folder, "Memory", MEMORY, ("read_main_memory_datas(KB)", "write_main_memory_datas(KB)"))
    columns = ("aic_r0_read_cache_hit", "aic_r0_read_cache_miss_allocate", "aic_r1_read_cache_hit")
    write_blocks(folder, "L2Cache", L2, columns)
    return folder


def test_an_operator_alone_is_a_kernel_with_the_sums_of_its_blocks(tmp_path: Path, rows: Callable) -> None:
    """Times are means (5 us), cycles and bytes sums; mte2 is 7 us of 10, not the exported ratio."""
    columns = "name, duration_us, block, aicore_time_us, aic_total_cycles, aic_mte2_ratio"
    columns += ", aic_read_main_memory_datas_kb, aic_r0_read_cache_hit, aic_r0_read_cache_miss_allocate"
    found = rows(measured(tmp_path / "OPPROF_1"), f"SELECT {columns} FROM kernels")
    assert found == [(NAME, 40.0, 2, 5.0, 18000.0, 0.7, 400.0, 2600.0, 500.0)]


def test_the_type_is_in_front_of_the_hash_and_the_engine_in_op_type(tmp_path: Path, rows: Callable) -> None:
    """A mixed kernel led by the vector cores says so at the end of its name; its type is its first word."""
    name = "SparseFlashMla_3c28573c57336785d951119c50c861fa_1090_mix_aiv"
    folder = write_operator(tmp_path / "OPPROF_1", name=name, kind="mix")
    assert rows(folder, "SELECT type, type_source, core FROM signatures") == [
        ("SparseFlashMla", "name", "MIX_AIV")
    ]


def test_a_name_without_a_type_is_the_type(tmp_path: Path, rows: Callable) -> None:
    """A custom kernel has no operator type: msprof exports its name as type, and so does this."""
    folder = write_operator(tmp_path / "OPPROF_1", name="clamped_swiglu_kernel", kind="vector")
    assert rows(folder, "SELECT type, core FROM signatures") == [("clamped_swiglu_kernel", "AI_VECTOR_CORE")]


def test_every_launch_is_one_kernel_behind_the_other(tmp_path: Path, rows: Callable) -> None:
    """Folders <kernel>/<n> with times in the names: launch n is step n, and starts when the last one ends."""
    for number, time in enumerate(("_20260101", "_20260102")):
        write_operator(tmp_path / "OPPROF_1" / "MatMulV2" / str(number), time=time)
    found = rows(tmp_path, "SELECT start_ns, duration_us, step_id FROM kernels ORDER BY start_ns")
    assert found == [(0, 40.0, 1), (40_000, 40.0, 2)]


def test_block_times_that_may_be_of_several_rounds_give_no_core_time(tmp_path: Path, rows: Callable) -> None:
    """30 blocks of 10 us in 40 us may be two rounds of 15 cubes or one of 30: the core time stays unknown."""
    folder = write_operator(tmp_path / "OPPROF_1", block=30)
    blocks = {(block, "cube0"): {"aic_time(us)": 10.0, "aic_total_cycles": 18000} for block in range(30)}
    write_blocks(folder, "PipeUtilization", blocks, ("aic_time(us)", "aic_total_cycles"))
    assert rows(folder, "SELECT aicore_time_us, aic_total_cycles FROM kernels") == [(None, 540000.0)]


def run_with_matmuls(folder: Path, durations: tuple[str, ...] = ("40.000", "42.000")) -> Path:
    """A profile with one MatMul per duration, all of one signature with 24 blocks."""
    cells = [
        row(start=start, duration=duration) for start, duration in zip(starts(9), durations, strict=False)
    ]
    return write(folder, table(cells))


def test_beside_a_run_it_is_evidence_for_the_kernel_it_is(
    tmp_path: Path, staged: Callable[..., Staging]
) -> None:
    """Same type, engine, blocks and about the duration: matched, and no kernel of the run is added."""
    run_with_matmuls(tmp_path / "run_ascend_pt")
    measured(tmp_path / "OPPROF_1", block=24)
    con = staged(tmp_path).con
    columns = "type, rank_id, read_bytes, write_bytes, read_hits, read_misses, signature_id IS NOT NULL"
    found = con.execute(f"SELECT {columns} FROM operator_measurements").fetchall()
    # (100 + 300) x 1,024; hits 600 + 100 + 2,000
    assert found == [("MatMulV2", None, 409_600.0, 16_384.0, 2700.0, 500.0, True)]
    assert con.execute("SELECT count(*) FROM kernels").fetchone() == (2,)
    assert con.execute("SELECT rows_read, rows_kept FROM runs").fetchone() == (2, 2)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"block": 8}, "other numbers of blocks"),
        ({"block": 24, "duration_us": 400.0}, "durations too far off"),
        ({"name": "Add_0123456789abcdef0123456789abcdef_1"}, "no kernel of the run"),
    ],
)
def test_another_operator_is_no_evidence_and_says_why(
    tmp_path: Path, staged: Callable[..., Staging], changes: dict, why: str
) -> None:
    """Other blocks, ten times the duration, another type: not matched, and the run's notes say so."""
    run_with_matmuls(tmp_path / "run_ascend_pt")
    measured(tmp_path / "OPPROF_1", **changes)
    con = staged(tmp_path).con
    assert con.execute("SELECT signature_id FROM operator_measurements").fetchall() == [(None,)]
    ((notes,),) = con.execute("SELECT notes FROM runs").fetchall()
    assert any(why in note for note in notes)


def test_two_kinds_that_fit_are_not_chosen_between(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """Two shapes of one type, both 24 blocks and about 40 us: the measurement may be of either."""
    first, second = starts(2)
    other = row(start=second, output_shapes='"1024,256"', duration="41.000")
    write(tmp_path / "run_ascend_pt", table([row(start=first), other]))
    measured(tmp_path / "OPPROF_1", block=24)
    found = staged(tmp_path).con.execute("SELECT signature_id, matched FROM operator_measurements").fetchall()
    assert found == [(None, "2 kinds of MatMulV2 with 24 blocks fit; not used")]


def test_every_cell_of_every_block_is_kept(tmp_path: Path, rows: Callable) -> None:
    """8 + 4 + 5 cells with a number in three files; NA has no row."""
    assert rows(measured(tmp_path / "OPPROF_1"), "SELECT count(*) FROM operator_metrics") == [(17,)]


def test_damage_in_a_block_file_costs_its_rows_only(tmp_path: Path, rows: Callable) -> None:
    """A row that is cut short is counted; a file without block_id fails alone; the operator stays."""
    folder = measured(tmp_path / "OPPROF_1")
    with (folder / "Memory.csv").open("a") as file:
        file.write("2,cube0,5\n")
    (folder / "MemoryL0.csv").write_text("a,b\n1,2\n")
    query = "SELECT kind, status, rows_read, rows_kept, rows_rejected FROM files"
    found = rows(folder, f"{query} WHERE path LIKE '%Memory%' ORDER BY path")
    assert found == [("opprof_blocks", "read", 3, 2, 1), ("opprof_blocks", "failed", None, None, None)]
    assert rows(folder, "SELECT count(*) FROM kernels") == [(1,)]


def test_a_folder_without_a_duration_is_refused(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """NA where the duration should be: there is no kernel, and the error says what is missing."""
    write_operator(tmp_path / "OPPROF_1", duration_us="NA")
    with pytest.raises(UnsupportedExport, match="no operator there has a name and a duration"):
        staged(tmp_path)


def test_d10_operator_alone(shared_profiles: Path, rows: Callable) -> None:
    """The real folder: 5.740459 us, a cube and a vector block; 2.875 + 6.375 KB read, by Memory.csv."""
    folder = shared_profiles / "d10_msprof_cli_and_op_910b" / "reports" / "OPPROF_001"
    columns = (
        "name, duration_us, aicore_time_us, aic_read_main_memory_datas_kb, aiv_read_main_memory_datas_kb"
    )
    assert rows(folder, f"SELECT {columns} FROM kernels") == [
        ("sanitized_operator_kernel", 5.740459, 2.288333, 2.875, 6.375)
    ]
    # L2Cache.csv has one block more than Memory.csv (vector1): misses 4+3, 6+6, 7+3; writes 2, 2+8, 2+8.
    columns = "blocks, read_bytes, write_bytes, read_misses, write_hits, write_misses"
    assert rows(folder, f"SELECT {columns} FROM operator_measurements") == [
        (3, 9472.0, 4608.0, 29.0, 6.0, 16.0)
    ]
