"""Kernel tables of every exporter generation give the same kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from npu_roofline.ingest.stage import Staging

from .kernel_csv import BLOCK_NUM, KERNEL_DETAILS, MATMUL, OP_SUMMARY, row, starts, table, write

PIPE = {
    "aicore_time(us)": "39.5",
    "aic_total_cycles": "1706400",
    "aic_mac_ratio": "0.9",
    "aiv_time(us)": "0",
    "aiv_total_cycles": "N/A",
    "cube_utilization(%)": "98.75",
}
TWO = [row(start=start, **PIPE) for start in starts(2)]
KERNELS = "SELECT start_ns, end_ns, duration_us, wait_us, name, block FROM kernels ORDER BY kernel_id"
# 1,779,440,805,781,809.542 us is 1,779,440,805,781,809,542 ns; 40.000 us are 40,000 ns; the next starts 50 us
# later.
EXPECTED = [
    (1779440805781809542, 1779440805781849542, 40.0, 0.11, MATMUL["name"], 24),
    (1779440805781859542, 1779440805781899542, 40.0, 0.11, MATMUL["name"], 24),
]


@pytest.mark.parametrize(
    ("generation", "names", "file"),
    [
        ("A", KERNEL_DETAILS, "kernel_details.csv"),
        ("B", KERNEL_DETAILS, "kernel_details.csv"),
        ("C", KERNEL_DETAILS, "kernel_details.csv"),
        ("C", BLOCK_NUM, "kernel_details.csv"),
        ("level0", KERNEL_DETAILS, "kernel_details.csv"),
        ("summary", OP_SUMMARY, "op_summary_0_1_20250102030405.csv"),
        ("summary", OP_SUMMARY | {"start": "Start Time(us)"}, "op_summary_1.csv"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_every_generation_gives_the_same_kernels(
    tmp_path: Path, rows: Callable, generation: str, names: dict[str, str], file: str, line_end: str
) -> None:
    """Old and new spellings, both kinds of file and both line ends are read to the same nanosecond."""
    text = table(TWO, generation, names, tuple(PIPE) if generation != "level0" else (), line_end)
    profile = write(tmp_path / "prof", text, file)
    assert rows(profile, KERNELS) == EXPECTED


def test_pmu_zero_is_a_measurement_and_na_is_not(tmp_path: Path, rows: Callable) -> None:
    """0 stays 0 and N/A becomes NULL; a column that the file does not have is NULL too."""
    profile = write(tmp_path, table(TWO[:1], pmu=tuple(PIPE)))
    columns = "aiv_time_us, aiv_total_cycles, aic_mac_ratio, cube_utilization_pct, aic_mte2_ratio"
    assert rows(profile, f"SELECT {columns} FROM kernels") == [(0.0, None, 0.9, 98.75, None)]


@pytest.mark.parametrize("word", ["N/A", "NA", "NULL", ""])
def test_every_word_for_not_recorded_is_null(tmp_path: Path, rows: Callable, word: str) -> None:
    """The words of all exporters for "not recorded" become NULL, in numbers and in texts."""
    cells = row(stream=word, task=word, context=word, state=word, input_shapes=word, hf32=word, step=word)
    profile = write(tmp_path, table([cells]))
    query = (
        "SELECT stream_id, task_id, context_id, op_state, s.input_shapes, s.hf32 "
        "FROM kernels JOIN signatures s USING (signature_id)"
    )
    assert rows(profile, query) == [(None,) * 6]


@pytest.mark.parametrize(
    ("cell", "start_ns"),
    [
        ("1779440805781809.542\t", 1779440805781809542),
        ("1779440805781809.542", 1779440805781809542),
        ('"1779440805781809.542\t"', 1779440805781809542),
        ("1779440805781809.542000", 1779440805781809542),
        ("1779440805781809.5", 1779440805781809500),
        ("1779440805781809", 1779440805781809000),
        ("1000000.000", 1000000000),
        ("0", 0),
    ],
)
def test_a_start_is_read_to_the_nanosecond(tmp_path: Path, rows: Callable, cell: str, start_ns: int) -> None:
    """With TAB, quotes, no, three or six decimals: float64 would be up to 128 ns off at 1.7e18 ns."""
    assert rows(write(tmp_path, table([row(start=cell)])), "SELECT start_ns FROM kernels") == [(start_ns,)]


def test_texts_are_stored_without_the_quotes_of_the_export(tmp_path: Path, rows: Callable) -> None:
    """Shapes lose their inner quotes, an empty slot keeps its place, an empty quoted cell is a scalar."""
    cells = row(input_shapes='"4,3072;;1"', output_shapes='""')
    query = "SELECT input_shapes, output_shapes FROM signatures"
    assert rows(write(tmp_path, table([cells])), query) == [("4,3072;;1", "")]


def test_steps_come_from_the_step_column(tmp_path: Path, rows: Callable) -> None:
    """A step spans its kernels; a row without step id lies outside every step and is kept.

    Steps 3 (two kernels 50 us apart, 40 us each: 90 us) and 4 (one: 40 us); the last row has no step.
    """
    cells = [row(start=start, step=step) for start, step in zip(starts(4), ["3", "3", "4", ""], strict=True)]
    staging_rows = rows(write(tmp_path, table(cells)), "SELECT step_id, wall_us, kernels, source FROM steps")
    assert staging_rows == [(3, 90.0, 2, "step column"), (4, 40.0, 1, "step column")]


def test_a_capture_without_steps_is_step_0(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """op_summary has no Step Id: everything is step 0, and the rank says so."""
    profile = write(tmp_path, table(TWO, "summary", OP_SUMMARY), "op_summary_1.csv")
    con = staged(profile).con
    assert con.execute("SELECT step_id, wall_us, source FROM steps").fetchall() == [
        (0, 90.0, "whole capture")
    ]
    assert con.execute("SELECT notes FROM ranks").fetchall() == [
        (["the export has no steps: the whole capture is step 0"],)
    ]


def test_slices_are_joined_and_numbered_by_start(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """Slices come in any order; kernel_id follows the start, file_row the line in each file."""
    first, second, third, fourth = starts(4)
    write(
        tmp_path,
        table([row(start=third), row(start=second)], "summary", OP_SUMMARY),
        "op_summary_slice_0_20250102030405.csv",
    )
    write(
        tmp_path,
        table([row(start=fourth), row(start=first)], "summary", OP_SUMMARY),
        "op_summary_slice_1_20250102030405.csv",
    )
    con = staged(tmp_path).con
    found = con.execute(
        "SELECT kernel_id, start_ns % 1000000, file_row FROM kernels ORDER BY kernel_id"
    ).fetchall()
    # Starts end in ...809,542 ns, then 50,000 ns later each; lines 3, 3, 2, 2 of the two files.
    assert found == [(0, 809542, 3), (1, 859542, 3), (2, 909542, 2), (3, 959542, 2)]
    assert con.execute("SELECT rows_read, rows_kept FROM runs").fetchone() == (4, 4)


def test_an_earlier_export_of_the_same_capture_is_not_counted_again(
    tmp_path: Path, staged: Callable[..., Staging]
) -> None:
    """msprof writes the time into the name; exporting twice leaves two files of the same kernels."""
    text = table(TWO, "summary", OP_SUMMARY)
    write(tmp_path, text, "op_summary_20250102030405.csv")
    write(tmp_path, text, "op_summary_20250102040506.csv")
    con = staged(tmp_path).con
    assert con.execute("SELECT count(*) FROM kernels").fetchone() == (2,)
    found = con.execute("SELECT path, status FROM files ORDER BY path").fetchall()
    assert [(Path(path).name, status) for path, status in found] == [
        ("op_summary_20250102030405.csv", "ignored"),
        ("op_summary_20250102040506.csv", "read"),
    ]


def test_unknown_columns_are_named_per_rank(tmp_path: Path, rows: Callable) -> None:
    """A column of a future exporter does no harm and is reported by name."""
    cells = row(aic_mystery_ratio="1")
    profile = write(tmp_path, table([cells], pmu=("aic_mystery_ratio",)))
    assert rows(profile, "SELECT unknown_columns FROM ranks") == [(["aic_mystery_ratio"],)]


def test_a_folder_name_with_pattern_signs_is_only_a_name(tmp_path: Path, rows: Callable) -> None:
    """[, * and ? in a folder do not make DuckDB read other files than the one named."""
    write(tmp_path / "run1", table(TWO))
    profile = write(tmp_path / "run[1]", table(TWO[:1]))
    assert rows(profile, "SELECT count(*) FROM kernels") == [(1,)]
