"""Step times: wall = union busy + idle, other engines apart, outliers and foreign step traces named."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from npu_roofline.analyzer.step_times import step_notes, step_rows, step_spread

from tests.analyzer.tiny_run import Kernel, session_of


def test_busy_is_the_union_over_streams() -> None:
    """Overlapping kernels count once: 0-10 and 4-12 are 12 us busy, 20-25 is 5 more, 8 of 25 us idle."""
    rows = step_rows(
        session_of([Kernel(0, 10), Kernel(4, 8, stream=3), Kernel(20, 5, core="COMMUNICATION", stream=None)])
    )
    assert [(row.wall_us, row.busy_us, row.idle_us) for row in rows] == [(25.0, 17.0, 8.0)]
    assert (rows[0].aicore_us, rows[0].communication_us) == (18.0, 5.0)


def test_other_engines_are_in_no_busy_total() -> None:
    """An AI_CPU row inside a gap leaves the gap idle and is listed apart."""
    row = step_rows(session_of([Kernel(0, 10), Kernel(12, 5, core="AI_CPU"), Kernel(20, 10)]))[0]
    assert (row.busy_us, row.idle_us, row.other_engine_us, row.kernels) == (20.0, 10.0, 5.0, 2)


def test_duplicates_are_counted_once() -> None:
    """A row that the profiler lists twice adds neither time nor a kernel."""
    row = step_rows(
        session_of(
            [
                Kernel(0, 10, core="COMMUNICATION", stream=164),
                Kernel(0, 10, type="hcom", core="COMMUNICATION", stream=None, duplicate=True),
            ]
        )
    )[0]
    assert (row.kernels, row.communication_us, row.busy_us) == (1, 10.0, 10.0)


def test_one_slow_step_does_not_move_the_medians_and_is_named() -> None:
    """Walls of 10, 10 and 30 us: the median is 10, and the step of 30 us is an outlier with its longest
    kernel.
    """
    session = session_of(
        [
            Kernel(0, 10, step=1),
            Kernel(20, 10, step=2),
            Kernel(40, 5, step=3),
            Kernel(45, 25, type="hcom_allReduce", core="COMMUNICATION", step=3),
        ]
    )
    rows = step_rows(session)
    spread = step_spread(rows)
    assert spread is not None
    assert (spread.wall_us, spread.outlier_steps) == (10.0, (3,))
    assert step_notes(rows) == [
        "step 3 is an outlier: 30.0 us against a median of 10.0 us; "
        "its longest kernel is hcom_allReduce with 25.0 us"
    ]


def test_a_step_that_waited_is_not_blamed_on_a_kernel() -> None:
    """Step 3 runs the same 10 us as the others and waits 20 us between them: idle is what is named."""
    rows = step_rows(
        session_of(
            [Kernel(0, 10, step=1), Kernel(20, 10, step=2), Kernel(40, 4, step=3), Kernel(64, 6, step=3)]
        )
    )
    assert step_notes(rows) == [
        "step 3 is an outlier: 30.0 us against a median of 10.0 us; it is idle for 20.0 us against 0.0 ns"
    ]


def test_the_gap_before_a_step_reaches_to_the_step_before_it() -> None:
    """The gap before step 3 is measured from the end of step 2, also when only step 3 is selected."""
    kernels = [Kernel(0, 10, step=1), Kernel(15, 5, step=2), Kernel(27, 5, step=3)]
    assert [row.gap_before_us for row in step_rows(session_of(kernels))] == [None, 5.0, 7.0]
    assert [row.gap_before_us for row in step_rows(session_of(kernels, steps=(3,)))] == [7.0]


def test_a_step_trace_of_another_extent_is_noticed() -> None:
    """Computing 90 + communication 5 + free 5 = 100 us against a wall of 25 us is another capture."""
    rows = step_rows(session_of([Kernel(0, 25)], trace={1: (90.0, 5.0, 5.0)}))
    assert (rows[0].trace_wall_us, rows[0].difference_us, rows[0].trace_agrees) == (100.0, 75.0, False)
    assert "is not believed" in step_notes(rows)[0]


def test_a_step_trace_of_the_same_extent_agrees() -> None:
    """20 + 0 + 5.1 = 25.1 us against 25 us is within 2 %."""
    row = step_rows(session_of([Kernel(0, 20), Kernel(24, 1)], trace={1: (20.0, 0.0, 5.1)}))[0]
    assert row.trace_agrees is True


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.tuples(st.integers(0, 500), st.integers(0, 60), st.sampled_from([2, 3, None])),
        min_size=1,
        max_size=40,
    )
)
def test_wall_is_busy_plus_idle_for_any_kernels(rows: list[tuple[int, int, int | None]]) -> None:
    """Whatever overlaps, busy (from a count over every ns) and idle add up to the wall."""
    session = session_of([Kernel(start, length, stream=stream) for start, length, stream in rows])
    step = step_rows(session)[0]
    busy = {tick for start, length, _ in rows for tick in range(start, start + length)}
    assert step.busy_us == len(busy)
    assert step.busy_us + step.idle_us == step.wall_us
    assert step.wall_us == max(s + d for s, d, _ in rows) - min(s for s, _, _ in rows)
