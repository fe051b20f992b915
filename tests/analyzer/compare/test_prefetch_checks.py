"""What traces say of the prefetches: in time, beside the window, once, within L2; worked by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from npu_roofline.analyzer.answer import Answer, PrefetchCheck
from npu_roofline.analyzer.compare import Side, compare
from npu_roofline.analyzer.compare.pairing import Pair, Place
from npu_roofline.analyzer.compare.prefetch_checks import (
    PrefetchEvidence,
    prefetch_evidence,
    prefetch_rows,
)
from npu_roofline.analyzer.compare.signals import fitting
from npu_roofline.analyzer.compare.verdict import verdict
from npu_roofline.analyzer.session import Session

from tests.analyzer.compare.made import Op, run
from tests.analyzer.compare.test_sentence import change
from tests.analyzer.compare.test_verdict import evidence, target
from tests.analyzer.traced import Task, add_trace

MIB = 2**20
LAYERS, STEPS, LAYER_US, STEP_US = 4, 3, 37.0, 5.0 + 4 * 37.0 + 12.0
SHAPES = ("4,64;64,128", "FLOAT16", "4,128")


def step() -> list[Op]:
    """Layers of 37 us: dependency 5-15, window Norm and Gelu 15-22, target 22-42 in the first of them."""
    ops = [Op("Gather", 5.0)]
    for _ in range(LAYERS):
        ops += [Op("Dep", 10.0), Op("Norm", 3.0), Op("Gelu", 4.0), Op("MatMulV2", 20.0, shapes=SHAPES)]
    return [*ops, Op("ArgMax", 12.0)]


def traced(prefetches: Iterable[Task] | None) -> Session:
    """Three steps, 1000 us apart; these prefetches in every layer of each; None = no trace."""
    session = run([step()] * STEPS)
    if prefetches is None:
        return session
    moved = [
        replace(task, start=task.start + shift, end=task.end + shift)
        for number in range(STEPS)
        for layer in range(LAYERS)
        for shift in [number * (STEP_US + 1000.0) + layer * LAYER_US]
        for task in prefetches
    ]
    return add_trace(session, moved)


def place(session: Session, kind: str) -> Place:
    """Where kernels of a type stand in the layer."""
    part, position, signature = session.con.execute(
        "SELECT any_value(k.part), any_value(k.position), any_value(k.signature_id) "
        "FROM selected_kernels AS k JOIN selected_signatures AS s USING (signature_id) WHERE s.type = ?",
        [kind],
    ).fetchall()[0]
    assert part == "layer"
    return Place(0, 0, part, position, kind, signature, float(LAYERS))


def found(
    after: Sequence[Task] | None, before: Sequence[Task] | None = (), weight_bytes: int | None = 20 * MIB
) -> PrefetchEvidence:
    """The evidence of two such captures for the target and its window of Norm and Gelu."""
    sessions = (traced(before), traced(after))
    kinds = ("MatMulV2", "Norm", "Gelu")
    pairs = [Pair(*((place(each, kind),) for each in sessions), "same") for kind in kinds]
    aimed = replace(
        target("faster", 1.0), key="MatMulV2", window_keys=("Norm", "Gelu"), weight_bytes=weight_bytes
    )
    return prefetch_evidence((Side.of(sessions[0]), Side.of(sessions[1])), pairs, kinds, aimed)


def holding(evidence: PrefetchEvidence) -> set[str]:
    """The facts that hold."""
    return {name for name, holds in evidence.facts().items() if holds}


def check(evidence: PrefetchEvidence, name: str) -> PrefetchCheck:
    """The check of this name."""
    (row,) = [row for row in prefetch_rows(evidence) if row.name == name]
    return row


def test_a_prefetch_in_time() -> None:
    """15.5-20.5 on stream 11: 4 and 20 us a step; 5 us beside the window, done before 22: all is well."""
    known = found([Task("prefetch", 11, 15.5, 20.5)])
    after = known.after
    assert (after.tasks, after.steps, after.calls, after.with_task, after.in_window) == (12, 3, 12, 12, 12)
    assert (after.overlap_us, after.late, after.several, after.same_stream) == (5.0, 0, 0, 0)
    assert holding(known) == set()
    rows = {row.name: (row.before, row.after, row.met) for row in prefetch_rows(known)}
    assert rows["prefetch tasks"] == (0.0, 4.0, None)
    assert rows["their time"] == (0.0, 20.0, None)
    assert rows["their bytes"] == (None, None, None)  # not recorded, which is not 0
    assert rows["overlap with the window"] == (None, 5.0, True)
    assert rows["ended after the target had started"] == (0.0, 0.0, True)
    assert rows["in flight for one call"] == (None, 20.0, True)  # one task, at most the whole weight
    assert check(known, "in flight for one call").note.startswith("at most: 1 x the whole weight")


def test_a_prefetch_that_is_late() -> None:
    """15.5-25: it lies 6.5 us beside the window and ends 3 us after the target's start."""
    known = found([Task("prefetch", 11, 15.5, 25.0)])
    assert (known.after.overlap_us, known.after.late, known.after.late_us) == (6.5, 12, 3.0)
    assert holding(known) == {"prefetch_late"}


def test_a_prefetch_outside_its_window() -> None:
    """It starts at 6, before the dependency ends at 15, and is done by 9: no overlap with the window."""
    known = found([Task("prefetch", 11, 6.0, 9.0)])
    assert (known.after.in_window, known.after.overlap_us) == (0, 0.0)
    assert holding(known) == {"prefetch_outside_window"}


def test_a_prefetch_on_the_stream_of_the_kernels() -> None:
    """Stream 2 is that of the target: one after the other, no overlap worth the name."""
    known = found([Task("prefetch", 2, 15.5, 20.5)])
    assert known.after.same_stream == 12
    assert holding(known) == {"prefetch_same_stream"}


def test_a_prefetch_issued_twice() -> None:
    """Two tasks where there was none before: one change, two prefetches a call."""
    twice = [Task("prefetch", 11, 15.5, 18.0), Task("prefetch", 11, 18.0, 20.0)]
    known = found(twice)
    assert (known.after.several, known.after.per_call) == (12, 2.0)
    assert holding(known) == {"prefetch_twice"}
    assert "not recorded" in check(known, "calls with more than one prefetch").note


def test_of_two_prefetches_without_a_trace_before_nothing_is_claimed() -> None:
    """They may be of two weights; with equal bytes recorded they are alike, and 2 x 16 MiB are in flight."""
    sizes: tuple[int | None, ...] = (None, 16 * MIB)
    for size, fact in zip(sizes, ("prefetch_several", "prefetch_twice"), strict=True):
        tasks = [Task("prefetch", 11, 15.5, 18.0, size), Task("prefetch", 11, 18.0, 20.0, size)]
        known = found(tasks, None)
        assert holding(known) == {fact}
    assert (known.after.alike, known.in_flight) == (12, 32 * MIB)
    assert check(known, "their bytes").after == 4 * 32.0


def test_more_than_l2_holds() -> None:
    """200 MiB recorded for a call against the 192 MiB of a 910B2; a bound of 200 MiB proves nothing."""
    known = found([Task("prefetch", 11, 15.5, 20.5, 200 * MIB)])
    assert holding(known) == {"prefetch_over_l2"}
    assert check(known, "in flight for one call").met is False
    bound = found([Task("prefetch", 11, 15.5, 20.5)], weight_bytes=200 * MIB)
    assert holding(bound) == set()
    assert check(bound, "in flight for one call").met is None


def test_no_prefetch_and_no_trace_are_two_things() -> None:
    """A trace without a prefetch task says that none ran; without a trace nothing is known."""
    assert holding(found([])) == {"prefetch_missing"}
    assert (
        holding(found([], weight_bytes=None)) == set()
    )  # no candidate: it may be no prefetch that was tried
    assert [(row.name, row.after) for row in prefetch_rows(found([]))] == [("prefetch tasks", 0.0)]
    unknown = found(None, None)
    assert (holding(unknown), prefetch_rows(unknown)) == (set(), ())


@pytest.mark.parametrize(
    ("tasks", "said", "action"),
    [
        ([Task("prefetch", 11, 15.5, 25.0)], "inconclusive", "reduce max_size with the position fixed"),
        ([Task("prefetch", 11, 15.5, 25.0)], "faster", "move the dependency to an earlier window"),
        ([Task("prefetch", 11, 15.5, 20.5)], "faster", "try more with the position fixed"),
        ([Task("prefetch", 2, 15.5, 20.5)], "faster", "issue the prefetch on a side stream"),
        ([Task("prefetch", 11, 6.0, 9.0)], "inconclusive", "move the dependency to an earlier or a later"),
        ([], "inconclusive", "check the switch, the mode and the call"),
        ([], "faster", "find what made the target faster"),
    ],
)
def test_the_next_action_follows_from_the_trace(tasks: list[Task], said: str, action: str) -> None:
    """Too late and not faster: fewer bytes. Too late but faster: earlier. In time and faster: more bytes."""
    judged = verdict(evidence(target=target(said, 1.0), prefetches=found(tasks)))
    assert judged.next_action.startswith(action)
    assert judged.failure_signals == tuple(
        rule.signal
        for rule in fitting({**dict.fromkeys(_all_facts(), False), **dict.fromkeys(judged.facts, True)})
    )


def test_what_one_trace_shows_waits_for_no_more_steps() -> None:
    """One step a side and no outputs: noise is not known, but that nothing was prefetched is."""
    few = change((1_000.0, 900.0), (995.0, 895.0), "inconclusive")
    few = replace(few, before=replace(few.before, usable_steps=1))
    given = {"step": few, "outputs": None, "target": target("inconclusive", None), "rows": ()}
    assert verdict(evidence(**given)).next_action.startswith("capture at least 3 usable steps")
    assert verdict(evidence(**given, prefetches=found([]))).next_action.startswith("check the switch")


def _all_facts() -> set[str]:
    from npu_roofline.analyzer.compare.signals import rules

    return {fact for rule in rules() for fact in rule.facts}


def compared() -> Answer:
    """A whole comparison with a late prefetch after and none before."""
    return compare(traced([]), traced([Task("prefetch", 11, 15.5, 25.0)]), "MatMulV2")


def test_a_comparison_shows_them() -> None:
    """The checks are in the answer; the timeline around the target holds the prefetch, 6.5 us before it."""
    answer = compared()
    rows = {row.name: row.after for row in answer.extras["prefetch"]}
    assert (rows["prefetch tasks"], rows["late by"]) == (4.0, 3.0)
    (_, after) = answer.extras["aligned"].sides
    starts = [each.start_us for each in after.kernels if each.role == "prefetch"]
    assert -6.5 in starts
    assert not any("no trace was ingested" in note for note in answer.notes)
