"""Header names become canonical columns by columns.toml, and the tables have a column for each."""

from __future__ import annotations

import duckdb
import pytest
from npu_roofline.errors import UnsupportedExport
from npu_roofline.ingest.columns import is_kernel_header, kernel_columns, resolve
from npu_roofline.ingest.database import create_schema

KNOWN = ["Name", "Start Time(us)", "Duration(us)"]
PIPES = [
    *(
        f"aic_{pipe}_{what}"
        for pipe in ("mac", "scalar", "mte1", "mte2", "fixpipe")
        for what in ("time(us)", "ratio")
    ),
    *(f"aiv_{pipe}_{what}" for pipe in ("vec", "scalar", "mte2", "mte3") for what in ("time(us)", "ratio")),
    "aic_icache_miss_rate",
    "aiv_icache_miss_rate",
    "cube_utilization(%)",
]
BOTH = ("aic", "aiv")
# Every PMU column of formats.md 3.3, by the metric mode that adds it.
MODES = {
    "pipe_utilization": PIPES,
    "arithmetic_utilization": [
        "aic_mac_fp16_ratio",
        "aic_mac_int8_ratio",
        "aic_cube_fops",
        "aic_vector_fops",
        "aiv_vec_fp32_ratio",
        "aiv_vec_fp16_ratio",
        "aiv_vec_int32_ratio",
        "aiv_vec_misc_ratio",
        "aiv_vector_fops",
        "aiv_cube_fops",
    ],
    "memory": [
        *(f"{place}_{way}_bw(GB/s)" for place in ("aic_l1", "aiv_ub") for way in ("read", "write")),
        *(
            f"{e}_{place}_{way}_bw(GB/s)"
            for e in BOTH
            for place in ("main_mem", "l2")
            for way in ("read", "write")
        ),
    ],
    "memory_l0": [
        *(f"aic_{place}_{way}_bw(GB/s)" for place in ("l0a", "l0b") for way in ("read", "write")),
        "aic_l0c_read_bw_cube(GB/s)",
        "aic_l0c_write_bw_cube(GB/s)",
        "aiv_l0c_read_bw(GB/s)",
        "aiv_l0c_write_bw(GB/s)",
    ],
    "memory_ub": [
        f"{e}_ub_{way}_bw_{pipe}(GB/s)"
        for e in BOTH
        for way in ("read", "write")
        for pipe in ("vector", "scalar")
    ],
    "l2_cache": [
        f"{e}_{what}"
        for e in BOTH
        for what in (
            "write_cache_hit",
            "write_cache_miss_allocate",
            "r0_read_cache_hit",
            "r0_read_cache_miss_allocate",
            "r1_read_cache_hit",
            "r1_read_cache_miss_allocate",
        )
    ],
    "memory_access": [
        f"{e}_{what}_datas(KB)"
        for e in BOTH
        for what in (
            "read_main_memory",
            "write_main_memory",
            "GM_to_L1",
            "L0C_to_L1",
            "L0C_to_GM",
            "GM_to_UB",
            "UB_to_GM",
        )
    ],
    "resource_conflict": [f"aiv_vec_{what}_cflt_ratio" for what in ("bankgroup", "bank", "resc")],
}
ALWAYS = ["aicore_time(us)", "aic_total_cycles", "aiv_time(us)", "aiv_total_cycles"]


@pytest.mark.parametrize("mode", MODES)
def test_every_pmu_column_is_known_and_tells_its_mode(mode: str) -> None:
    """Each column that a metric mode adds is known, and together they name the mode."""
    header = resolve([*KNOWN, *ALWAYS, *MODES[mode]], "kernel", "a file")
    assert header.unknown == ()
    assert header.metric_mode == mode


def test_core_times_alone_are_no_metric_mode() -> None:
    """The columns that every mode has do not say which one it is."""
    assert resolve([*KNOWN, *ALWAYS], "kernel", "a file").metric_mode == "none"


def test_every_pmu_column_of_the_file_is_in_a_mode() -> None:
    """columns.toml knows no PMU column that the lists above do not have."""
    spelled = {spelling for column in kernel_columns() if column.mode for spelling in column.spellings}
    assert spelled - {"aic_time(us)"} == {*ALWAYS, *(name for names in MODES.values() for name in names)}


def test_names_match_without_blanks_and_case() -> None:
    """`cube_utilization( %)`, which some tools write, is the same column as `cube_utilization(%)`."""
    header = resolve(["name", " Start Time (us)", "DURATION(us)", "cube_utilization( %)"], "kernel", "a file")
    names = [column.name if column else None for column in header.fields]
    assert names == ["name", "start", "duration_us", "cube_utilization_pct"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("Block Dim", "Block Num"), ("Duration(us)", "Duration(us)"), ("odd_ratio", "odd_ratio")],
)
def test_a_column_that_occurs_twice_is_refused_by_name(first: str, second: str) -> None:
    """Two fields of one meaning cannot both be right: the error names both, also of unknown columns."""
    with pytest.raises(UnsupportedExport, match=f"twice: .*{first.split('(')[0]}") as caught:
        resolve([*KNOWN, "Block Dim", first, second], "kernel", "a file")
    assert second in caught.value.message


def test_a_missing_column_is_named_with_what_is_there() -> None:
    """The message says which column is missing and the hint what the header has instead."""
    with pytest.raises(UnsupportedExport, match=r"no column Duration\(us\) or Task Duration\(us\)") as caught:
        resolve(["Name", "Start Time(us)", "Elapsed"], "kernel", "a file")
    assert "Elapsed" in caught.value.hint


def test_unknown_columns_are_reported_and_known_ones_without_use_are_not() -> None:
    """A column nobody knows is named; the leading columns of the oldest exports are known and left out."""
    header = resolve(["Model Name", "Infer ID", *KNOWN, "aic_mystery_ratio"], "kernel", "a file")
    assert header.unknown == ("aic_mystery_ratio",)


def test_a_kernel_table_is_recognised_by_its_header() -> None:
    """Both spellings of a kernel table are recognised, other tables are not."""
    assert is_kernel_header(KNOWN)
    assert is_kernel_header(["Op Name", "Task Start Time(us)", "Task Duration(us)"])
    assert not is_kernel_header(["OP Type", "Core Type", "Count", "Total Time(us)"])


def test_the_table_kernels_has_every_column_with_its_type() -> None:
    """Each canonical column is in kernels (or in signatures) with the type that columns.toml says."""
    con = duckdb.connect()
    create_schema(con)
    types = {
        (table, name): type_
        for table, name, type_ in con.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns()"
        ).fetchall()
    }
    for column in kernel_columns():
        if column.name in ("start", "hf32"):  # start becomes start_ns; YES and NO become a BOOLEAN
            continue
        there = types.get(("kernels", column.name)) or types.get(("signatures", column.name))
        assert there == column.type, column.name


def test_every_pmu_column_names_its_header_in_the_schema() -> None:
    """The comment of a PMU column names the spelling it is read from, so that the two files cannot drift."""
    con = duckdb.connect()
    create_schema(con)
    comments = dict(
        con.execute(
            "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'kernels'"
        ).fetchall()
    )
    for column in kernel_columns():
        if column.mode:
            assert column.spellings[0] in comments[column.name], column.name
