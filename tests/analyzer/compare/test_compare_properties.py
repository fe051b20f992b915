"""Whatever two captures hold: everything adds up, swapping negates, and nothing differs from itself."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from npu_roofline.analyzer.compare import compare

from tests.analyzer.compare.made import Op, run

OPPOSITE = {"faster": "slower", "slower": "faster", "new": "gone", "gone": "new"}

ops = st.builds(
    Op,
    type=st.sampled_from(["MatMulV2", "MatMulV3", "Add"]),
    us=st.floats(0.0, 100.0),
    wait=st.sampled_from([0.0, 0.0, 1.0, 50.0]),
    core=st.sampled_from(["AI_CORE", "AI_CORE", "COMMUNICATION", "AI_CPU"]),
    stream=st.sampled_from([2, 2, 9]),
    at=st.sampled_from([None, None, None, 0.0]),
)


@st.composite
def captures(draw: st.DrawFn) -> list[list[Op]]:
    """Steps of a head and repeated layers; single steps may miss their head or hold something else."""
    head, layer = draw(st.lists(ops, max_size=3)), draw(st.lists(ops, min_size=1, max_size=4))
    step = head + layer * draw(st.integers(1, 4))
    other = draw(st.lists(ops, min_size=1, max_size=4))
    return [
        draw(st.sampled_from([step, step, step[1:] or step, other])) for _ in range(draw(st.integers(1, 5)))
    ]


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(captures(), captures())
def test_any_comparison_reconciles_and_is_the_reverse_of_its_swap(
    before: list[list[Op]], after: list[list[Op]]
) -> None:
    """The checks of the code raise on a sum that does not reconcile; keys are unique and survive the swap."""
    one, other = run(before, "one"), run(after, "other")
    forward, backward = compare(one, other), compare(other, one)
    swapped = {row.key: row for row in backward.rows}
    assert len(swapped) == len(backward.rows) == len(forward.rows)
    for row in forward.rows:
        assert swapped[row.key].delta_step_us == -(row.delta_step_us or 0.0)
        assert swapped[row.key].change == OPPOSITE.get(row.change, row.change)
    itself = compare(one, one)
    assert {row.change for row in itself.rows} <= {"same"}
    assert itself.extras["sentence"].startswith("No difference")


def test_equally_good_pairings_are_settled_alike_both_ways() -> None:
    """One matmul a step among collectives against three in one step: once paired otherwise when swapped."""
    cube = Op(type="MatMulV2", us=0.0, wait=0.0, core="AI_CORE", stream=2, at=None)
    link = Op(type="MatMulV2", us=0.0, wait=0.0, core="COMMUNICATION", stream=2, at=None)
    before = run([[cube], [link, cube, link], [cube, link], [link, cube, link]], "one")
    after = run([[cube, cube, cube]], "other")
    assert len(compare(before, after).rows) == len(compare(after, before).rows)
