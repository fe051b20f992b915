"""Single calls of a comparison: how they are spread, and what runs around one of them on both sides."""

from __future__ import annotations

from dataclasses import replace

import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.analyzer.compare import compare

from tests.analyzer.compare.made import Op, run
from tests.analyzer.compare.test_compare import DRIFT, capture, layer, step


@pytest.fixture(scope="module")
def answer() -> Answer:
    """The matmul of four layers goes from 20 to 18 us over five steps."""
    return compare(capture(step(), "a"), capture(step(gemm_us=18.0), "b"), target="MatMulV2")


def test_both_sides_are_aligned_on_the_target(answer: Answer) -> None:
    """Zero is the start of the matmul; the norm of 3 us runs from -3 on both sides, the SwiGlu follows it."""
    aligned = answer.extras["aligned"]
    assert aligned.type == "MatMulV2"
    for side, us in zip(aligned.sides, (20.0, 18.0), strict=True):
        assert side.call_us == pytest.approx(us, rel=0.003)
        (target,) = [each for each in side.kernels if each.role == "target"]
        assert (target.start_us, target.duration_us) == (0.0, side.call_us)
        before = max((each for each in side.kernels if each.start_us < 0), key=lambda each: each.start_us)
        assert (before.type, before.start_us) == ("RmsNorm", pytest.approx(-3.0, rel=0.003))
        after = min((each for each in side.kernels if each.start_us > 0), key=lambda each: each.start_us)
        assert (after.type, after.start_us) == ("SwiGlu", pytest.approx(side.call_us))


def test_the_spread_of_the_target_stands_first(answer: Answer) -> None:
    """20 calls a side; the median of the drift is 1, so 20 and 18 us; quantiles rise from 99.8 to 100.2 %."""
    before, after = answer.extras["distributions"][:2]
    assert (before.side, before.calls, after.side, after.calls) == ("before", 20, "after", 20)
    assert (before.median_us, after.median_us) == (20.0, 18.0)
    values = [before.p5_us, before.p25_us, before.median_us, before.p75_us, before.p95_us]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (
        pytest.approx(20 * 0.998, abs=0.01),
        pytest.approx(20 * 1.002, abs=0.01),
    )


def test_one_slow_call_in_ten_is_in_the_whiskers() -> None:
    """One of ten matmuls takes 60 us in the run after: the median stays, the upper whisker does not."""
    calm = [[replace(op, us=op.us * d) for op in [o for _ in range(10) for o in layer()]] for d in DRIFT]
    wild = [[replace(op, us=60.0 if at == 1 else op.us) for at, op in enumerate(ops)] for ops in calm]
    spreads = compare(run(calm, "a"), run(wild, "b"), target="MatMulV2").extras["distributions"]
    before, after = spreads[:2]
    assert before.median_us == pytest.approx(after.median_us, rel=0.01)
    assert before.p95_us == pytest.approx(20.0, rel=0.01)
    assert after.p95_us > 30


def test_nothing_to_align_on_is_no_picture() -> None:
    """Nothing changed and no target was named: no timeline, but the largest places are spread."""
    same = capture(step(), "a")
    answer = compare(same, same)
    assert answer.extras["aligned"] is None
    assert len(answer.extras["distributions"]) == 2 * len({row.key for row in answer.rows})
    gone = compare(capture([*step(), Op("Cast", 2.0)], "a"), capture(step(), "b"), target="Cast")
    assert gone.extras["aligned"] is None
