"""The critical paths of both sides: rows that add up, refusals, and what they mean for a target."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.compare import Side, compare
from npu_roofline.analyzer.compare.paths import PathEvidence, path_rows, path_sides, together
from npu_roofline.analyzer.compare.verdict import verdict
from npu_roofline.analyzer.critical_path import CriticalPath
from npu_roofline.analyzer.path_walk import KINDS
from npu_roofline.analyzer.session import Session

from tests.analyzer.compare.made import Op, run
from tests.analyzer.compare.test_sentence import change
from tests.analyzer.compare.test_verdict import evidence, target
from tests.analyzer.traced import Task, add_trace

MAIN, COMM = "kernels of the main stream", "communication"
SAME = change((1_000.0, 900.0), (1_000.0, 900.0), "same")
MISSING = CriticalPath("not measured", reason="no trace was ingested")


def path(main_us: float, comm_us: float, steps: int = 1, calls: int = 0, on_path: int = 0) -> CriticalPath:
    """A validated path of two parts."""
    spent = dict.fromkeys(KINDS, 0.0) | {MAIN: main_us, COMM: comm_us}
    return CriticalPath(
        "validated", steps, wall_us=main_us + comm_us, spent_us=spent, calls=calls, calls_on_path=on_path
    )


def test_the_rows_hold_both_sides() -> None:
    """100 + 300 us before, 90 + 300 after: a quarter and 23 % on the main stream, which is 10 us shorter."""
    rows = {row.name: row for row in path_rows(PathEvidence(path(100.0, 300.0), path(90.0, 300.0)))}
    assert set(rows) == {MAIN, COMM}  # kinds without time on either side are left out
    assert (rows[MAIN].before_share, rows[MAIN].delta_us) == (0.25, -10.0)
    assert rows[MAIN].after_share == pytest.approx(90 / 390)
    assert rows[COMM].delta_us == 0.0


def test_a_side_without_a_path_has_no_numbers() -> None:
    """Its cells are not known, never zero, and its row says why."""
    refused = CriticalPath("refused", refused=3, reason="event waits were not recorded")
    found = PathEvidence(path(100.0, 300.0), refused)
    assert [(row.after_us, row.delta_us, row.after_share) for row in path_rows(found)] == [
        (None, None, None)
    ] * 2
    assert [(side.status, side.steps, side.refused, side.reason) for side in path_sides(found)] == [
        ("validated", 1, 0, ""),
        ("refused", 0, 3, "event waits were not recorded"),
    ]
    assert not found.validated
    assert path_sides(PathEvidence(MISSING, MISSING)) == ()


def test_repeats_are_one_side() -> None:
    """One step of 400 us and three of 200: (400 + 3 x 200) / 4 = 250 us, of which (100 + 3 x 60) / 4 = 70."""
    found = together([path(100.0, 300.0, 1, 5, 5), path(60.0, 140.0, 3, 15, 3), MISSING])
    assert (found.status, found.steps, found.wall_us, found.spent_us[MAIN]) == ("validated", 4, 250.0, 70.0)
    assert (found.calls, found.calls_on_path, found.reason) == (20, 8, "no trace was ingested")
    assert together([MISSING, MISSING]).status == "not measured"


def test_a_target_beside_the_path_shortens_no_step() -> None:
    """None of its 12 calls is on the path before: it got faster, the step did not, the signal says why."""
    off = PathEvidence(path(100.0, 300.0, 3, 12, 0), path(100.0, 300.0, 3, 12, 0), with_target=True)
    on = PathEvidence(path(100.0, 300.0, 3, 12, 1), path(100.0, 300.0, 3, 12, 0), with_target=True)
    judged = verdict(evidence(step=SAME, target=target("faster", 1.0), path=off))
    assert judged.failure_signals[0].startswith("no call of the target is on the critical path")
    assert judged.next_action.startswith("choose a target on the critical path")
    other = verdict(evidence(step=SAME, target=target("faster", 1.0), path=on))
    assert other.next_action.startswith("try more with the position fixed")


def test_the_specification_s_check_says_what_it_rests_on() -> None:
    """With a path on both sides the wall time is explained by it; else it is the wall time and no more."""
    known = verdict(evidence(path=PathEvidence(path(100.0, 300.0), path(90.0, 300.0))))
    assert "validated path" in known.two_of_four[1].note
    assert verdict(evidence()).two_of_four[1].note == "taken from the step's wall time"


def traced(gemm_us: float) -> Session:
    """Three steps of two kernels on one stream: no event is needed to know the order."""
    return add_trace(run([[Op("Add", 10.0), Op("MatMulV2", gemm_us), Op("Mul", 5.0)]] * 3))


def test_a_whole_comparison() -> None:
    """10 + 20 + 5 us against 10 + 16 + 5: all of it on the main stream's path, which is 4 us shorter."""
    answer = compare(traced(20.0), traced(16.0), "MatMulV2")
    (row,) = answer.extras["path"]
    assert (row.name, row.before_us, row.after_us, row.delta_us) == (MAIN, 35.0, 31.0, -4.0)
    assert [(each.target_calls, each.target_on_path) for each in answer.extras["path_sides"]] == [(3, 3)] * 2


def test_joined_captures_have_no_path() -> None:
    """One step split over two captures: two traces, no path from one to the other."""
    joined = Side(((traced(20.0), traced(20.0)),))
    answer = compare(joined, joined)
    assert {each.reason for each in answer.extras["path_sides"]} == {
        "a step in several captures has no single path"
    }


def test_without_a_trace_it_is_said_once() -> None:
    """Neither table is there, and one note names what would hold both."""
    plain = run([[Op("Add", 10.0)]] * 3)
    answer = compare(plain, plain)
    assert not {"prefetch", "path", "path_sides"} & set(answer.extras)
    assert sum("no trace was ingested" in note for note in answer.notes) == 1


def test_swapping_the_sides_mirrors_the_path() -> None:
    """The change of (b, a) is minus that of (a, b), a collective with its event among it."""
    events = [
        Task("event_record", 2, 10.0, 10.02),
        Task("event_wait", 4, 0.0, 10.4),
        Task("sdma", 4, 11.0, 14.0),
    ]
    one, other = add_trace(run([[Op("Add", 10.0), Op("Mul", 5.0)]]), events), traced(20.0)
    there, back = (compare(*sides).extras["path"] for sides in ((one, other), (other, one)))
    assert {row.name: row.delta_us for row in there} == {row.name: -row.delta_us for row in back}
