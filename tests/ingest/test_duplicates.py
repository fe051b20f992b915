"""A collective that is listed twice is kept twice and counted once; nothing else is merged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .kernel_csv import row, starts, table, write

FIRST, SECOND = starts(2)
KERNEL = row(name="AivKernel", type="HcomAllReduce", core="COMMUNICATION", stream="164")
LISTED = row(
    name="HcomAllReduce_612_0_1", type="HcomAllReduce", core="COMMUNICATION", stream="N/A", task="N/A"
)
FOUND = "SELECT kernel_id, stream_id, duplicate_of FROM kernels ORDER BY kernel_id"


def test_the_row_with_the_stream_is_counted(tmp_path: Path, rows: Callable) -> None:
    """Both rows are kept; the one without a stream points at the other, whichever comes first in the file."""
    cells = [
        LISTED | {"start": FIRST},
        KERNEL | {"start": FIRST},
        KERNEL | {"start": SECOND},
        LISTED | {"start": SECOND},
    ]
    assert rows(write(tmp_path, table(cells)), FOUND) == [
        (0, None, 1),
        (1, 164, None),
        (2, 164, None),
        (3, None, 2),
    ]


def test_a_step_counts_the_collective_once(tmp_path: Path, rows: Callable) -> None:
    """The step holds one kernel of 40 us, not two."""
    profile = write(tmp_path, table([LISTED | {"start": FIRST}, KERNEL | {"start": FIRST}]))
    assert rows(profile, "SELECT kernels, wall_us FROM steps") == [(1, 40.0)]


def test_two_compute_kernels_that_start_together_are_two(tmp_path: Path, rows: Callable) -> None:
    """Equal start and duration on two streams, or without one, are two kernels when they compute."""
    cells = [row(start=FIRST, stream="2"), row(start=FIRST, stream="N/A"), row(start=FIRST, stream="3")]
    assert [again for *_, again in rows(write(tmp_path, table(cells)), FOUND)] == [None, None, None]


def test_a_collective_beside_a_compute_kernel_is_not_its_duplicate(tmp_path: Path, rows: Callable) -> None:
    """A collective without stream and a compute kernel with one may start together by chance."""
    profile = write(tmp_path, table([LISTED | {"start": FIRST}, row(start=FIRST)]))
    assert [again for *_, again in rows(profile, FOUND)] == [None, None]


def test_collectives_without_any_stream_are_all_counted(tmp_path: Path, rows: Callable) -> None:
    """Older exports list collectives without a stream: two that start together are two groups at work."""
    profile = write(tmp_path, table([LISTED | {"start": FIRST}, LISTED | {"start": FIRST, "name": "other"}]))
    assert [again for *_, again in rows(profile, FOUND)] == [None, None]


def test_a_different_duration_is_a_different_collective(tmp_path: Path, rows: Callable) -> None:
    """Only an identical duration makes a pair."""
    profile = write(
        tmp_path, table([LISTED | {"start": FIRST, "duration": "40.001"}, KERNEL | {"start": FIRST}])
    )
    assert [again for *_, again in rows(profile, FOUND)] == [None, None]


def test_two_pairs_at_one_time_stay_two_pairs(tmp_path: Path, rows: Callable) -> None:
    """Two collectives of equal start and duration, each listed twice: each duplicate has its own row."""
    cells = [LISTED, LISTED, KERNEL, KERNEL | {"stream": "165"}]
    found = rows(write(tmp_path, table([cell | {"start": FIRST} for cell in cells])), FOUND)
    assert found == [(0, None, 2), (1, None, 3), (2, 164, None), (3, 165, None)]
