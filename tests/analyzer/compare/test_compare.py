"""Whole comparisons of small captures, each worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from npu_roofline.analyzer.answer import Answer, CompareRow
from npu_roofline.analyzer.compare import Side, compare, regressions
from npu_roofline.analyzer.compare.streams import spread_evenly
from npu_roofline.analyzer.session import Session
from npu_roofline.reports.tables import table

from tests.analyzer.compare.made import Op, run

GEMM = ("4,64;64,128", "FLOAT16", "4,128")
OTHER_BATCH = ("8,64;64,128", "FLOAT16", "8,128")
# Step to step the device is never exactly as fast: +-0.2 % on every kernel, the same pattern on every side.
DRIFT = (1.0, 1.002, 0.998, 1.001, 0.999)


def layer(gemm_us: float = 20.0, gemm: str = "MatMulV2", shapes: tuple[str, str, str] = GEMM) -> list[Op]:
    """Four kernels of 3 + gemm + 6 + 8 us, the last one a collective on its own stream."""
    return [
        Op("RmsNorm", 3.0),
        Op(gemm, gemm_us, core="AI_CORE", shapes=shapes),
        Op("SwiGlu", 6.0),
        Op("AllReduce", 8.0, core="COMMUNICATION", stream=9),
    ]


def step(layers: int = 4, **changes: object) -> list[Op]:
    """A gather of 5 us, the layers, an arg max of 12 us."""
    ops = [Op("Gather", 5.0)]
    for _ in range(layers):
        ops += layer(**changes)  # type: ignore[arg-type]
    return [*ops, Op("ArgMax", 12.0)]


def capture(ops: list[Op], name: str, steps: int = 5) -> Session:
    """The step repeated with a drift of its own each time."""
    return run(
        [[replace(op, us=op.us * drift) for op in ops] for drift in (DRIFT * 10)[:steps]],
        name,
    )


def row_of(answer: Answer, type_name: str) -> CompareRow:
    """The only row of a type."""
    (row,) = [row for row in answer.rows if row.type == type_name]
    return row


def test_a_run_against_itself_has_no_difference() -> None:
    """Every row is 'same', every change zero, and the first line says so."""
    session = capture(step(), "a")
    answer = compare(session, session)
    assert {row.change for row in answer.rows} == {"same"}
    assert all(row.delta_us == 0 and row.delta_step_us == 0 for row in answer.rows)
    assert answer.extras["sentence"].startswith("No difference")
    assert answer.extras["regressions"] == ()


def test_one_faster_kernel_is_found_and_nothing_else() -> None:
    """The matmul goes from 20 to 18 us in 4 layers: 2 us a call, 8 us a step, the step 165 -> 157 us.

    A step is 5 + 4 x (3 + 20 + 6 + 8) + 12 = 165 us before. The drift cancels in the medians.
    """
    answer = compare(capture(step(), "a"), capture(step(gemm_us=18.0), "b"))
    row = row_of(answer, "MatMulV2")
    assert (row.change, row.part, row.layers, row.n_before, row.n_after) == ("faster", "layer", 4, 20, 20)
    assert row.delta_us == pytest.approx(-2.0)
    assert row.delta_pct == pytest.approx(-10.0)
    assert row.delta_step_us == pytest.approx(-8.0)
    assert {other.change for other in answer.rows if other is not row} <= {"same", "inconclusive"}
    change = answer.extras["step"]
    assert (change.before.wall_us, change.after.wall_us) == (pytest.approx(165.0), pytest.approx(157.0))
    assert change.wall_change == "faster"
    assert "MatMulV2 2.0 us faster a call (-8.0 us a step)" in answer.extras["sentence"]


def test_the_step_is_the_rows_and_the_residuals() -> None:
    """With a new kernel, a slower one and more waiting, everything adds up to the change of the step.

    After: 4 x (1.5 new + 1 slower + 2 waited) = 18 us more.
    """
    after = [op for each in step(gemm_us=21.0) for op in _with_cast(each)]
    answer = compare(capture(step(), "a"), capture(after, "b"))
    change = answer.extras["step"]
    overlap, idle, median = answer.extras["residual"]
    rows = sum(row.delta_step_us for row in answer.rows)
    assert rows == pytest.approx(4 * 2.5)
    assert idle.delta_us == pytest.approx(4 * 2.0, abs=0.01)  # starts are whole ns
    assert overlap.delta_us == pytest.approx(0.0, abs=0.05)  # rounding of ends to ns
    assert rows + overlap.delta_us + idle.delta_us == pytest.approx(
        change.after.wall_mean_us - change.before.wall_mean_us
    )
    assert rows + overlap.delta_us + idle.delta_us + median.delta_us == pytest.approx(change.wall_delta_us)
    assert row_of(answer, "Cast").change == "new"
    (waited, *_) = answer.extras["waits"]
    assert (waited.type, waited.delta_step_us) == ("SwiGlu", pytest.approx(8.0, abs=0.01))


def _with_cast(op: Op) -> list[Op]:
    return [Op("Cast", 1.5), replace(op, wait=2.0)] if op.type == "SwiGlu" else [op]


def test_waiting_for_the_host_is_told_apart_from_slower_kernels() -> None:
    """Kernels 2 us x 4 faster, 5 us x 4 more waiting: the step rose by 12 us because the device waited."""
    after = [replace(op, wait=5.0 if op.type == "RmsNorm" else 0.0) for op in step(gemm_us=18.0)]
    answer = compare(capture(step(), "a"), capture(after, "b"))
    change = answer.extras["step"]
    assert change.wall_delta_us == pytest.approx(12.0)
    assert (change.busy_delta_us, change.idle_delta_us) == (pytest.approx(-8.0), pytest.approx(20.0))
    said = answer.extras["sentence"]
    assert "it rose because the device waited 20.0 us longer (for the host" in said
    assert "while kernels ran 8.0 us less" in said
    assert any("waiting only moved" in signal for signal in answer.extras["verdict"].failure_signals)


def test_swapping_the_runs_negates_every_row() -> None:
    """Rows keep their key; changes per call and per step change sign, labels their direction."""
    a = capture(step(), "a")
    b = capture([*step(gemm_us=18.0)[:-1], Op("Cast", 2.0), Op("ArgMax", 13.0)], "b")
    forward, backward = compare(a, b), compare(b, a)
    opposite = {"faster": "slower", "slower": "faster", "new": "gone", "gone": "new"}
    other = {row.key: row for row in backward.rows}
    assert set(other) == {row.key for row in forward.rows}
    for row in forward.rows:
        assert other[row.key].delta_step_us == -row.delta_step_us
        assert other[row.key].delta_us == (None if row.delta_us is None else -row.delta_us)
        assert other[row.key].change == opposite.get(row.change, row.change)


def test_another_batch_pairs_by_place() -> None:
    """Every matmul has other shapes: the row says from what to what, and is compared."""
    answer = compare(capture(step(), "a"), capture(step(gemm_us=30.0, shapes=OTHER_BATCH), "b"))
    row = row_of(answer, "MatMulV2")
    assert (row.change, row.paired_by) == ("slower", "shapes")
    assert row.note == "shapes 4,64;64,128 became 8,64;64,128"


def test_a_renamed_operator_is_compared_with_itself() -> None:
    """MatMulV2 before and MatMulV3 after at one place is one row: 20 -> 18 us."""
    answer = compare(capture(step(), "a"), capture(step(gemm_us=18.0, gemm="MatMulV3"), "b"))
    row = row_of(answer, "MatMulV2")
    assert (row.paired_by, row.note) == ("renamed", "MatMulV2 became MatMulV3")
    assert row.delta_us == pytest.approx(-2.0)
    assert not [each for each in answer.rows if each.change in ("new", "gone")]


def test_fewer_layers_are_seen_in_the_calls_not_in_the_pairs() -> None:
    """4 layers before, 3 after: 4 rows of 20 and 15 calls, nothing new or gone, 37 us a step less."""
    answer = compare(capture(step(), "a"), capture(step(layers=3), "b"))
    in_layers = [row for row in answer.rows if row.part == "layer"]
    assert {(row.n_before, row.n_after) for row in in_layers} == {(20, 15)}
    assert sum(row.delta_step_us for row in answer.rows) == pytest.approx(-37.0)


def test_one_step_a_side_gives_numbers_but_no_verdict() -> None:
    """A single step has no noise: the change is shown, nothing is called, and the notes say what to do."""
    answer = compare(capture(step(), "a", 1), capture(step(gemm_us=10.0), "b", 1))
    row = row_of(answer, "MatMulV2")
    assert (row.delta_us, row.change, row.ci_low_us) == (pytest.approx(-10.0), "inconclusive", None)
    assert answer.extras["step"].wall_change == "inconclusive"
    assert answer.extras["verdict"].outcome == "inconclusive"
    assert any("one step on a side" in note for note in answer.notes)


def test_two_steps_a_side_leave_the_step_time_open() -> None:
    """Two steps cannot show which of them is the odd one: the step is inconclusive, a kernel may be told."""
    answer = compare(capture(step(), "a", 2), capture(step(gemm_us=10.0), "b", 2))
    assert row_of(answer, "MatMulV2").change == "faster"
    assert answer.extras["step"].wall_change == "inconclusive"
    assert "2 and 2 usable steps, 3 a side are needed" in answer.extras["step"].why


def test_a_slow_step_is_named_and_moves_no_median() -> None:
    """One step of six holds a collective of 500 us instead of 8: named, set aside, medians as before."""
    slow = [replace(op, us=500.0) if op.type == "AllReduce" else op for op in step()]
    before = run([slow, *[step() for _ in range(5)]], "a")
    answer = compare(before, capture(step(), "b", 6))
    change = answer.extras["step"]
    assert change.before.wall_us == pytest.approx(165.0)
    assert change.before.usable_steps == 5
    assert any("step 1 of a takes 2.1 ms, the median is 165.0 us" in note for note in answer.notes)
    assert {row.change for row in answer.rows} <= {"same", "inconclusive"}


def test_a_slow_call_of_one_step_stands_behind_what_changed() -> None:
    """The 500 us of one step are 328 us of the mean step, the matmul's real 2 us x 4 only 8: it is first."""
    slow = [replace(op, us=500.0) if op.type == "AllReduce" else op for op in step()]
    before = run([slow, *[[replace(op, us=op.us * d) for op in step()] for d in DRIFT]], "a")
    rows = compare(before, capture(step(gemm_us=18.0), "b", 6)).rows
    assert (rows[0].type, rows[0].change) == ("AllReduce", "inconclusive")
    shown = table("compare", "rows", rows).rows
    assert [[cell.text for cell in row[:2]] for row in shown[:2]] == [
        ["faster", "MatMulV2"],
        ["inconclusive", "AllReduce"],
    ]


def test_of_two_unlike_steps_neither_is_the_odd_one() -> None:
    """165 us and 2.1 ms: both are set aside, and it is said that either may be the odd one."""
    slow = [replace(op, us=500.0) if op.type == "AllReduce" else op for op in step()]
    side = compare(run([slow, step()], "a"), capture(step(), "b")).extras["step"].before
    assert side.usable_steps == 0
    assert side.set_aside == (
        "step 1 of a takes 2.1 ms, the only other one 165.0 us: which of them is the odd one is open",
        "step 2 of a takes 165.0 us, the only other one 2.1 ms: which of them is the odd one is open",
    )


def test_one_slow_step_makes_no_place_wait() -> None:
    """The device waits 400 us in one step of five: the median wait there is what it was, and not listed."""
    ops = step()
    late = [*ops[:-1], replace(ops[-1], wait=400.0)]
    answer = compare(run([late, *[ops] * 4], "a"), run([ops] * 5, "b"))
    assert answer.extras["waits"] == ()
    always = compare(run([late] * 5, "a"), run([ops] * 5, "b")).extras["waits"]
    assert [(each.type, each.delta_step_us) for each in always] == [("ArgMax", pytest.approx(-400.0))]


def test_a_prefix_of_a_step_is_set_aside_as_incomplete() -> None:
    """A capture that starts in the middle of a step: its first step has half of the kernels, and is named."""
    before = run([step()[9:], *[step() for _ in range(4)]], "a")
    answer = compare(before, capture(step(), "b", 5))
    (reason,) = answer.extras["step"].before.set_aside
    assert "holds 9 kernels, the median is 18" in reason


def test_two_captures_that_make_up_one_step_are_added() -> None:
    """Before: two graphs run one after the other (165 and 91 us); after: one of 300 us.

    91 = 5 + 2 x (3 + 20 + 6 + 8) + 12 - ... = 5 + 74 + 12.
    """
    one, two = capture(step(), "a", 1), capture(step(layers=2), "b", 1)
    answer = compare(Side(((one, two),)), capture(step(layers=6), "c", 1))
    assert answer.extras["step"].before.wall_us == pytest.approx(165.0 + 91.0)
    matmul = next(group for group in answer.extras["groups"] if group.name == "matmul")
    assert (matmul.before_step_us, matmul.after_step_us) == (pytest.approx(120.0), pytest.approx(120.0))
    assert (matmul.kernels_before, matmul.kernels_after) == (6.0, 6.0)
    assert any("joined with +" in note for note in answer.notes)


def test_repeats_are_more_steps_of_the_same_side() -> None:
    """Two runs of two steps before are four steps: the step time can be judged."""
    repeats = Side(((capture(step(), "a1", 2),), (capture(step(), "a2", 2),)))
    answer = compare(repeats, capture(step(gemm_us=18.0), "b", 4))
    assert answer.extras["step"].before.steps == 4
    assert answer.extras["step"].wall_change == "faster"
    assert row_of(answer, "MatMulV2").n_before == 16


def test_other_engines_are_listed_apart_from_every_sum() -> None:
    """AI_CPU rows are compared, but in no row, no busy time and no residual."""
    with_cpu = [*step(), Op("Cumsum", 70.0, core="AI_CPU", stream=7, at=1.0)]
    slower = [*step(), Op("Cumsum", 90.0, core="AI_CPU", stream=7, at=1.0)]
    answer = compare(capture(with_cpu, "a"), capture(slower, "b"))
    assert not [row for row in answer.rows if row.type == "Cumsum"]
    (cpu,) = answer.extras["other_engines"]
    assert (cpu.type, cpu.change) == ("Cumsum", "slower")
    assert answer.extras["step"].wall_delta_us == pytest.approx(0.0)


def test_a_longer_tail_on_another_stream_is_named() -> None:
    """Stream 9 runs 50 us alone after the main stream has ended; before it ended with it."""
    before = [*step(), Op("Copy", 10.0, stream=9, at=150.0)]
    after = [*step(), Op("Copy", 60.0, stream=9, at=155.0)]
    answer = compare(capture(before, "a"), capture(after, "b"))
    (side,) = [stream for stream in answer.extras["streams"] if not stream.is_main]
    assert "ends later after the main stream: +50.0 us" in side.note
    assert any("longer tail" in signal for signal in answer.extras["verdict"].failure_signals)


def test_regressions_are_one_line_each_and_obey_the_threshold() -> None:
    """Step and matmul got slower: two lines; above 20 % only the matmul (30 -> 39 us = +30 %)."""
    answer = compare(capture(step(gemm_us=30.0), "a"), capture(step(gemm_us=39.0), "b"))
    lines = answer.extras["regressions"]
    assert len(lines) == 2
    assert lines[0].startswith("step: 205.00 → 241.00 us (+17.6 %)")
    assert lines[1].startswith("MatMulV2 4,64;64,128 at layer 1 MatMulV2: 30.00 -> 39.00 us (+30.0 %)")
    assert regressions(answer.rows, answer.extras["step"], 20.0) == lines[1:]


def test_a_step_trace_of_another_extent_is_not_believed() -> None:
    """step_trace_time.csv says 7 ms where the kernels span 165 us: named, and no time of it is used."""
    trace = {1: (5000.0, 0.0, 2000.0)}
    answer = compare(run([step()], "a", trace=trace), capture(step(), "b", 1))
    assert any("another extent" in note for note in answer.notes)
    assert answer.extras["step"].before.wall_us == pytest.approx(165.0)


def test_streams_of_long_captures_are_measured_on_some_steps() -> None:
    """Of 1000 steps 100 are taken, evenly, the first and the last among them; of few steps all are."""
    chosen = spread_evenly(range(1000), 100)
    assert (len(chosen), chosen[0], chosen[-1]) == (100, 0, 999)
    assert {b - a for a, b in pairwise(chosen)} == {10, 11}
    assert spread_evenly((3, 4, 5), 100) == (3, 4, 5)
