"""summary: totals by bound, type, stream, rank and step, each adding up to the time of the selection."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.summary import BY, other_engines, summary
from npu_roofline.errors import WrongUsage

from tests.analyzer.tiny_run import Kernel, session_of

KERNELS = [
    *(Kernel(0, 30, step=1), Kernel(40, 10, "Mul", step=1, stream=3)),
    *(Kernel(100, 30, step=2), Kernel(110, 10, "Mul", step=2, stream=3)),
    Kernel(200, 30, step=3),
    Kernel(240, 100, "hcom_allReduce_", "COMMUNICATION", step=3, stream=None),
    Kernel(300, 4, "Cumsum", "AI_CPU", step=3),
]


# Links add up what the profiler measured of transfers, not kernels (test_links.py).
@pytest.mark.parametrize("by", [by for by in BY if by != "link"])
def test_every_view_adds_up_to_the_same_time(by: str) -> None:
    """However the time is divided, 110 us of AI core and 100 us of communication are all of it."""
    rows = summary(session_of(KERNELS), by=by).rows
    assert sum(row.total_us for row in rows) == pytest.approx(210)
    assert sum(row.aicore_us for row in rows) == pytest.approx(110)
    assert sum(row.kernels for row in rows) == 6
    assert sum(row.share for row in rows) == pytest.approx(1)


def test_by_type_gives_the_median_step() -> None:
    """Mul runs 10, 10 and 0 us in the three steps: median 10; the all-reduce 0, 0 and 100: median 0."""
    rows = {row.key: row for row in summary(session_of(KERNELS), by="type").rows}
    assert {key: row.step_us for key, row in rows.items()} == {
        "Add": 30.0,
        "Mul": 10.0,
        "hcom_allReduce_": 0.0,
    }


def test_a_share_is_of_the_median_step() -> None:
    """Add 30 us in each of three steps, Mul 10, 10 and 0, the all-reduce 100 us once: in a step 30, 10 and 0
    of 40. Of the totals 90, 20 and 100 it would be the longest, with 48 %, and contradict the headline.
    """
    rows = summary(session_of(KERNELS), by="type").rows
    assert [(row.key, row.share) for row in rows] == [("Add", 0.75), ("Mul", 0.25), ("hcom_allReduce_", 0.0)]


def test_by_stream_tells_busy_time() -> None:
    """Stream 2 is busy for 30 us in each of three steps; rows without a stream are named so."""
    rows = {row.key: row for row in summary(session_of(KERNELS), by="stream").rows}
    assert (rows["stream 2"].busy_us, rows["stream 3"].total_us) == (90.0, 20.0)
    assert any(key.startswith("no stream") for key in rows)


def test_by_step_tells_wall_and_busy() -> None:
    """In step 2 the Mul runs inside the Add: 40 us of kernels, 30 us busy, 30 us wall."""
    row = summary(session_of(KERNELS), by="step").rows[1]
    assert (row.key, row.total_us, row.busy_us, row.wall_us) == ("step 2", 40.0, 30.0, 30.0)


def test_by_rank_puts_the_slowest_first() -> None:
    """Ranks with walls of 10, 12 and 30 us: rank 2 leads, with its distance to the median rank."""
    kernels = [Kernel(0, us, rank=rank) for rank, us in ((0, 10), (1, 12), (2, 30))]
    rows = summary(session_of(kernels), by="rank").rows
    assert [(row.key, row.wall_us) for row in rows] == [("rank 2", 30.0), ("rank 1", 12.0), ("rank 0", 10.0)]
    assert rows[0].note == "+150.0 % against the median rank"


def test_other_engines_are_listed_apart() -> None:
    """The AI_CPU row is in no total and has a table of its own."""
    session = session_of(KERNELS)
    assert [(row.type, row.kernels, row.total_us) for row in other_engines(session)] == [("Cumsum", 1, 4.0)]
    assert summary(session).extras["other_engines"] == other_engines(session)


def test_what_another_engine_can_cost_is_what_meets_idle_time() -> None:
    """Busy 0-10, 30-40 us: of an AI_CPU row from 5 to 25 the part from 10 to 25 meets idle time, and the
    MatMul starts 5 us behind its end; one from 31 to 39 is hidden and nothing starts after it.
    """
    session = session_of(
        [
            Kernel(0, 10),
            Kernel(5, 20, "Cumsum", "AI_CPU", stream=46),
            Kernel(30, 10, "MatMul", "AI_CORE"),
            Kernel(31, 8, "Tiling", "AI_CPU", stream=46),
        ]
    )
    cumsum, tiling = other_engines(session)
    assert (cumsum.type, cumsum.idle_us, cumsum.next_type) == ("Cumsum", 15.0, "MatMul")
    assert (cumsum.next_times, cumsum.next_after_us) == (1, 5.0)
    assert (tiling.idle_us, tiling.next_type, tiling.next_times) == (0.0, None, 0)
    [note] = [each for each in summary(session).notes if each.startswith("AI_CPU runs")]
    assert "28.0 us a step on average, 15.0 us of it while the device is idle" in note
    assert "Cumsum ends in idle time and MatMul starts 5.0 us later" in note


def test_another_view_is_wrong_usage() -> None:
    """A view that does not exist is refused with the ones that do."""
    with pytest.raises(WrongUsage) as caught:
        summary(session_of(KERNELS), by="layer")
    assert "bound" in caught.value.hint


def test_the_idle_share_is_said() -> None:
    """Step walls 50, 30 and 140 us with 10, 0 and 10 us idle: the median step waits 7 % of its time."""
    notes = summary(session_of(KERNELS)).notes
    assert any(note.startswith("the device is idle for 7.1 % of a step") for note in notes)
