"""Idle stretches: gaps joined over short busy pieces, the largest first, with their neighbours."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from npu_roofline.analyzer.idle import gaps_between_steps, idle_stretches
from npu_roofline.analyzer.options import AnalysisOptions
from npu_roofline.analyzer.step_times import step_rows

from tests.analyzer.tiny_run import Kernel, session_of


def test_a_gap_stands_between_its_neighbours() -> None:
    """MatMul ends at 100, Cast starts at 130: a stretch of 30 us between the two."""
    session = session_of([Kernel(0, 100, type="MatMul"), Kernel(130, 200, type="Cast")])
    [row] = idle_stretches(session)
    assert (row.start_us, row.span_us, row.idle_us, row.busy_us, row.kernels) == (100.0, 30.0, 30.0, 0.0, 0)
    assert row.before is not None
    assert row.after is not None
    assert (row.before.type, row.after.type) == ("MatMul", "Cast")
    assert row.share_of_step == 30 / 330


def test_short_kernels_inside_a_stretch_do_not_split_it() -> None:
    """Gaps of 40 and 50 us around a kernel of 5 us are one stretch of 95 us, 90 us of it idle."""
    session = session_of([Kernel(0, 200), Kernel(240, 5), Kernel(295, 200)])
    [row] = idle_stretches(session)
    assert (row.span_us, row.idle_us, row.busy_us, row.kernels) == (95.0, 90.0, 5.0, 1)


def test_real_work_between_two_gaps_keeps_them_apart() -> None:
    """A kernel of 60 us is longer than the 20 us gap on its right: two stretches, the larger first."""
    session = session_of([Kernel(0, 200), Kernel(300, 60, "Mul"), Kernel(380, 200)])
    assert [(row.start_us, row.idle_us) for row in idle_stretches(session)] == [(200.0, 100.0), (360.0, 20.0)]


def test_a_joined_stretch_is_judged_as_a_whole() -> None:
    """The piece of 30 us between 25 + 25 us (joined over 2 us) and 100 us is absorbed in the second round."""
    session = session_of([Kernel(0, 500), Kernel(525, 2), Kernel(552, 30), Kernel(682, 500)])
    [row] = idle_stretches(session)
    assert (row.start_us, row.idle_us, row.busy_us) == (500.0, 150.0, 32.0)


def test_a_short_start_of_a_step_after_a_gap_belongs_to_the_stretch() -> None:
    """Step 2 begins with 5 us of kernels after 100 us between steps, then waits 50 us: the stretch
    starts with it.
    """
    session = session_of([Kernel(0, 300, step=1), Kernel(400, 5, step=2), Kernel(455, 300, step=2)])
    [row] = idle_stretches(session)
    assert (row.step_id, row.start_us, row.span_us, row.before) == (2, 0.0, 55.0, None)


def test_short_gaps_are_launch_gaps_and_no_stretch() -> None:
    """9 us is below the threshold of 10 us: no stretch, and counted as short gaps of the step."""
    session = session_of([Kernel(0, 100), Kernel(109, 100)])
    assert idle_stretches(session) == ()
    assert step_rows(session)[0].short_gaps_us == 9.0


def test_gaps_between_steps_are_told_apart() -> None:
    """The 100 us between two steps are no step's idle time but a row of their own."""
    session = session_of([Kernel(0, 300, step=1), Kernel(400, 300, step=2)])
    assert idle_stretches(session) == ()
    [row] = gaps_between_steps(step_rows(session))
    assert (row.kind, row.step_id, row.following_step, row.idle_us) == ("between", None, 2, 100.0)


def test_other_engines_inside_a_stretch_are_told() -> None:
    """An AI_CPU row from 110 to 150 inside a gap of 100-140 us runs 30 us of it."""
    session = session_of([Kernel(0, 100), Kernel(110, 40, core="AI_CPU"), Kernel(140, 100)])
    [row] = idle_stretches(session)
    assert (row.idle_us, row.other_engine_us) == (40.0, 30.0)


def test_a_place_that_recurs_is_one_row() -> None:
    """Three steps wait 60, 50 and 90 us between Add and Mul: one row, the middle one of 60 us in step 1,
    200 us in all; it leads a single stretch of 110 us between Mul and Cast.
    """
    session = session_of(
        [
            *(Kernel(0, 100, "Add", step=1), Kernel(160, 100, "Mul", step=1)),
            *(Kernel(300, 100, "Add", step=2), Kernel(450, 100, "Mul", step=2)),
            *(Kernel(600, 100, "Add", step=3), Kernel(790, 100, "Mul", step=3)),
            Kernel(1000, 200, "Cast", step=3),
        ]
    )
    rows = [
        (row.step_id, row.idle_us, row.in_steps, row.occurrences, row.place_idle_us)
        for row in idle_stretches(session)
    ]
    assert rows == [(1, 60.0, 3, 3, 200.0), (3, 110.0, 1, 1, 110.0)]


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 40)), min_size=1, max_size=40))
def test_stretches_are_mostly_idle_and_hold_every_long_gap(pairs: list[tuple[int, int]]) -> None:
    """For kernels and gaps of any length: stretches are disjoint, more idle than busy, and lose no gap
    of 10 us.
    """
    kernels, clock = [], 0
    for place, (duration, gap) in enumerate(pairs):
        # A type of its own for each kernel makes each stretch a place of its own, so that all are shown.
        kernels.append(Kernel(clock, duration, f"Op{place}"))
        clock += duration + gap
    session = session_of(kernels, options=AnalysisOptions(idle_rows=1000))
    rows = sorted(idle_stretches(session), key=lambda row: row.start_us)
    assert all(row.idle_us > row.busy_us for row in rows)
    assert all(a.start_us + a.span_us <= b.start_us for a, b in pairwise(rows))
    long_gaps = sum(gap for _, gap in pairs[:-1] if gap >= 10)
    assert sum(row.idle_us for row in rows) >= long_gaps
    assert sum(row.idle_us for row in rows) <= step_rows(session)[0].idle_us
