"""The walk back and its windows, on steps written out by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.analyzer.options import AnalysisOptions
from npu_roofline.analyzer.walk import accepted, judge
from npu_roofline.analyzer.windows import BlockingKernels, walk_back, windows_of

from tests.analyzer.kernels import RATES, back_to_back, kernel, sequence

OPTIONS = AnalysisOptions()
W = 18_874_368
REDUCE = kernel("HcomAllReduce", 9.0, None, "communication", "communication", "link", position=0)
NORM = kernel("AddRmsNorm", 4.0, 1_000_000, position=1)
GATE_UP = kernel("gate_up", 30.0, 2 * W, "matmul", "memory", "hbm", weights=[2 * W], position=2)
SWIGLU = kernel("DequantSwigluQuant", 7.0, 2_000_000, "activation", position=3)
DOWN = kernel("down", 20.0, W, "matmul", "memory", "mte2", weights=[W], single_pass=True, position=4)
PLACES = (REDUCE, NORM, GATE_UP, SWIGLU, DOWN)
LAYER = [(0, 9.0), (1, 4.0), (2, 30.0), (3, 7.0), (4, 20.0)]
ACHIEVABLE = 0.85 * 1.6e6  # B/us


def _walk(kernels, target, comm=False, unsafe=False, depth=64):
    return walk_back(
        kernels,
        np.flatnonzero(kernels.place == target),
        lambda place: judge(kernels.places[place], RATES, OPTIONS),
        lambda verdict: accepted(verdict.kind, comm, unsafe),
        depth,
        OPTIONS,
    )


def _windows(kernels, walk, comm=False):
    judged = lambda place: judge(kernels.places[place], RATES, OPTIONS)  # noqa: E731
    blocking = BlockingKernels.of(
        kernels, judged, lambda verdict: not accepted(verdict.kind, comm, False), OPTIONS
    )
    return windows_of(kernels, walk, blocking, RATES, OPTIONS)


def test_the_walk_stops_at_the_first_kernel_that_may_not_be_inside():
    """From down: swiglu may be inside; gate_up is memory-bound, so it is the last dependency."""
    kernels = sequence(PLACES, [back_to_back(LAYER * 3)])
    walk = _walk(kernels, target=4)
    assert [each.place for each in walk.predecessors] == [3, 2]
    assert "gate_up may not be inside" in walk.stopped


def test_a_window_is_the_kernels_after_its_dependency_with_the_gaps():
    """Down after gate_up: gap 1 + swiglu 7 + gap 1 = 9 us; after swiglu only the gap of 1 us."""
    kernels = sequence(PLACES, [back_to_back(LAYER * 3)])
    gap, swiglu = _windows(kernels, _walk(kernels, target=4))
    assert (gap.duration_us, [each.place for each in gap.inside]) == (pytest.approx(1.0), [])
    assert (swiglu.duration_us, [each.place for each in swiglu.inside]) == (pytest.approx(9.0), [3])
    # 9 us x 1.36e6 B/us less the 2 MB that swiglu moves = 10,240,000 B
    assert swiglu.spare_bytes == pytest.approx(10_240_000)
    assert swiglu.utilisation == pytest.approx(2_000_000 / (9 * 1.6e6))


def test_a_collective_blocks_unless_it_is_accepted():
    """From gate_up: the norm is inside; the all-reduce only with the user's consent, up to down of the layer
    before.
    """
    kernels = sequence(PLACES, [back_to_back(LAYER * 3)])
    assert [each.place for each in _walk(kernels, target=2).predecessors] == [1, 0]
    assert [each.place for each in _walk(kernels, target=2, comm=True).predecessors] == [1, 0, 4]


def test_the_walk_crosses_into_the_layer_before():
    """The norm and the all-reduce belong to the same layer; down, five places back, to the one before."""
    kernels = sequence(PLACES, [back_to_back(LAYER * 3)])
    walk = _walk(kernels, target=2, comm=True)
    assert [each.previous_layer for each in walk.predecessors] == [False, False, True]


def test_the_first_layer_has_no_layer_before_it():
    """Of three layers only two have a down before their all-reduce; the window counts those."""
    kernels = sequence(PLACES, [back_to_back(LAYER * 3)])
    walk = _walk(kernels, target=2, comm=True)
    assert [len(each.occurrences) for each in walk.predecessors] == [3, 3, 2]


def test_a_walk_never_leaves_its_step():
    """The second step's first norm is not preceded by the first step's last kernel."""
    kernels = sequence(PLACES, [back_to_back(LAYER), back_to_back(LAYER)])
    walk = _walk(kernels, target=0, unsafe=True)
    assert walk.predecessors == ()
    assert "the step begins" in walk.stopped


def test_at_most_one_layer_is_walked():
    """With everything accepted the walk still ends after five kernels, at the target's own place one layer
    back.
    """
    kernels = sequence(PLACES, [back_to_back(LAYER * 6)])
    walk = _walk(kernels, target=4, comm=True, unsafe=True, depth=5)
    assert [each.place for each in walk.predecessors] == [3, 2, 1, 0, 4]


def test_window_length_is_the_tenth_percentile():
    """Eleven steps whose gaps before down are 0..10 us: spans 8..18, p10 = 9, median 13."""
    steps = []
    for extra in range(11):
        step = back_to_back(LAYER)
        place, start, end = step[4]
        step[4] = (place, start + extra - 1, end + extra - 1)  # the gap was 1 us
        steps.append(step)
    kernels = sequence(PLACES, steps)
    window = _windows(kernels, _walk(kernels, target=4))[-1]
    assert window.duration_us == pytest.approx(9.0)
    assert window.median_us == pytest.approx(13.0)


def test_a_kernel_faster_than_the_median_leaves_no_negative_bandwidth():
    """A kernel that fills HBM takes all of its own time and none of the gaps: 2 us x 1.36e6 stay."""
    streaming = kernel("Copy", 10.0, 50_000_000, "move", "memory", "hbm", position=3)
    places = (REDUCE, NORM, GATE_UP, streaming, DOWN)
    kernels = sequence(places, [back_to_back([*LAYER[:3], (3, 10.0), LAYER[4]])])
    window = _windows(kernels, _walk(kernels, target=4, unsafe=True))[1]
    assert window.spare_bytes == pytest.approx(2 * ACHIEVABLE)


def test_a_memory_bound_kernel_of_another_stream_that_still_runs_is_seen():
    """A matmul on a side stream starts before gate_up and ends in the middle of swiglu, in every layer."""
    side = kernel("shared_expert", 60.0, 2 * W, "matmul", "memory", "hbm", weights=[2 * W], part="side")
    places = (*PLACES, side)
    main = back_to_back(LAYER)
    kernels = sequence(places, [main, main], beside=[[(5, 0.0, 49.0)], [(5, 0.0, 49.0)]])
    window = _windows(kernels, _walk(kernels, target=4))[-1]
    assert window.overlapped_by == 5
    assert window.overlapped_share == 1.0


def test_a_kernel_that_ends_before_the_window_does_no_harm():
    """The same side stream, but its kernel is over when gate_up ends; a usable one inside costs its bytes."""
    side = kernel("shared_expert", 40.0, 2 * W, "matmul", "memory", "hbm", weights=[2 * W], part="side")
    small = kernel("Cast", 1.0, 500_000, "move", part="side")
    places = (*PLACES, side, small)
    main = back_to_back(LAYER)  # gate_up ends at 45, down starts at 54
    kernels = sequence(places, [main], beside=[[(5, 0.0, 44.0), (6, 50.0, 51.0)]])
    window = _windows(kernels, _walk(kernels, target=4))[-1]
    assert window.overlapped_by is None
    assert window.busy_bytes == pytest.approx(2_500_000)


def test_a_dependency_that_runs_beside_the_target_is_none():
    """A predecessor that ends after the target started gives no window."""
    overlapping = [(3, 0.0, 50.0), (4, 10.0, 30.0)]
    kernels = sequence(PLACES, [overlapping])
    assert _windows(kernels, _walk(kernels, target=4)) == ()


def test_rare_predecessors_end_the_walk():
    """Before the target runs another kernel in each of three steps: nothing is always there to wait for."""
    places = (NORM, *(kernel(f"k{number}", 3.0, 0, position=number + 10) for number in range(3)), DOWN)
    steps = [back_to_back([(0, 4.0), (1 + number, 3.0), (4, 20.0)]) for number in range(3)]
    walk = _walk(sequence(places, steps), target=4)
    assert walk.predecessors == ()
    assert "from occurrence to occurrence" in walk.stopped


def test_an_accepted_collective_takes_what_its_links_can_carry():
    """9 us at a quarter of 1.6 TB/s are 3.6 MB, the norm moves 1 MB, of 16 us x 1.36e6 B/us."""
    kernels = sequence(PLACES, [back_to_back(LAYER * 3)])
    window = _windows(kernels, _walk(kernels, target=2, comm=True), comm=True)[-1]
    assert [each.place for each in window.inside] == [0, 1]
    assert window.duration_us == pytest.approx(1 + 9 + 1 + 4 + 1)  # with three gaps
    assert window.spare_bytes == pytest.approx(16 * ACHIEVABLE - 3_600_000 - 1_000_000)


KINDS = (
    kernel("Norm", 4.0, 1_000_000, position=0),
    kernel("Swiglu", 7.0, 4_000_000, "activation", position=1),
    kernel("Cast", 2.0, 0, "move", position=2),
    DOWN,
)


@given(
    durations=st.lists(
        st.lists(st.tuples(st.integers(1, 200), st.integers(0, 50)), min_size=3, max_size=3),
        min_size=1,
        max_size=6,
    )
)
def test_longer_windows_hold_the_shorter_ones(durations):
    """Property: one more kernel makes a window longer, holds all of the shorter one, and never has spare
    beyond what HBM gives in its time; p10 is at most the median.
    """
    steps = []
    for step in durations:
        placed, now = [], 0.0
        for place, (length, gap) in enumerate(step):
            placed.append((place, now, now + length / 10))
            now += (length + gap + 1) / 10
        steps.append([*placed, (3, now, now + 20.0)])
    kernels = sequence(KINDS, steps)
    windows = _windows(kernels, _walk(kernels, target=3))
    assert [len(each.inside) for each in windows] == [0, 1, 2]
    for shorter, longer in pairwise(windows):
        assert longer.duration_us > shorter.duration_us
        assert [each.place for each in longer.inside][1:] == [each.place for each in shorter.inside]
        assert longer.busy_bytes >= shorter.busy_bytes
    for each in windows:
        assert each.duration_us <= each.median_us + 1e-9
        assert 0 <= each.spare_bytes <= ACHIEVABLE * each.duration_us + 1e-6
        assert 0 <= each.utilisation <= 1
        assert len(each.occurrences) == len(steps)
