"""op_statistic.csv and the kernels are held against each other, type by type."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .kernel_csv import row, starts, table, write

HEADER = "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
TWO = table([row(start=start) for start in starts(2)])  # two MatMulV2 of 40 us


@pytest.mark.parametrize(
    ("listed", "file_note", "rank_note"),
    [
        ("MatMulV2,AI_CORE,2,80.004,40,40,40,100", "agrees with the kernels in all 1 types", ""),
        (
            "MatMulV2,AI_CORE,3,120,40,40,40,100",
            "differs",
            "3 calls, 120.0 us listed; 2 calls, 80.0 us in the",
        ),
        ("MatMulV2,AI_CORE,2,81,40,40,40,100", "differs", "2 calls, 81.0 us listed; 2 calls, 80.0 us in the"),
        ("MatMulV3,AI_CORE,2,80,40,40,40,100", "differs from the kernels in 2 of 2", "none in the table"),
    ],
)
def test_differences_are_told(
    tmp_path: Path, rows: Callable, listed: str, file_note: str, rank_note: str
) -> None:
    """0.004 of 80 us is rounding; a call more, 1 us more or another type is a difference."""
    folder = write(write(tmp_path, TWO), HEADER + listed + "\n", "op_statistic.csv")
    ((note,),) = rows(folder, "SELECT note FROM files WHERE kind = 'op_statistic'")
    assert file_note in note
    ((notes,),) = rows(folder, "SELECT notes FROM ranks")
    assert bool(notes) == bool(rank_note)
    assert rank_note in "".join(notes)


def test_collectives_and_a_level_without_types_take_no_part(tmp_path: Path, rows: Callable) -> None:
    """HCCL rows stand twice in some tables, and level 0 has no types: neither is a difference."""
    folder = write(tmp_path, table([row(type="N/A", core="N/A")], "level0"))
    write(folder, HEADER + "hcom_allReduce_,HCCL,4,1,1,1,1,1\n", "op_statistic.csv")
    assert (
        rows(folder, "SELECT notes FROM ranks, (SELECT note FROM files WHERE kind = 'op_statistic')")[0][0]
        == []
    )


@pytest.mark.parametrize(
    ("profile", "types"), [("d02_text_level1", 33), ("d03_text_level2", 33), ("d06_qwen3_train_cann83", 35)]
)
def test_real_captures_agree(shared_profiles: Path, rows: Callable, profile: str, types: int) -> None:
    """Every type of three real captures has equal calls and, within 0.1 %, equal time."""
    ((note,),) = rows(shared_profiles / profile, "SELECT note FROM files WHERE kind = 'op_statistic'")
    assert note == f"agrees with the kernels in all {types} types: equal calls, times within 0.1 %"
