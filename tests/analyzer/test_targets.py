"""Which kernels are prefetch targets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from npu_roofline.analyzer.options import AnalysisOptions
from npu_roofline.analyzer.targets import is_weighted, judge_target

from tests.analyzer.kernels import kernel

OPTIONS = AnalysisOptions()
LOADS = {"aic_mac": 0.10, "aic_mte1": 0.2, "aic_mte2": 0.40, "aic_fixpipe": 0.1, "aic_scalar": 0.65}
BALANCED = {"aic_mac": 0.50, "aic_mte1": 0.2, "aic_mte2": 0.55, "aic_fixpipe": 0.1}
FIXPIPE = {"aic_mac": 0.10, "aic_mte1": 0.2, "aic_mte2": 0.40, "aic_fixpipe": 0.6}
W = 18_874_368


@pytest.mark.parametrize(
    ("group", "eligible"),
    [
        (kernel("gate_up", 29.7, W, "matmul", "memory", "hbm", weights=[W]), True),
        (kernel("down", 20.5, W, "matmul", "memory", "mte2", weights=[W], single_pass=True), True),
        (kernel("train", 187.5, W, "matmul", "memory", "mte2", weights=[W]), False),  # tiles are read again
        # scalar is control, not a data pipe: .65 on w2 does not count against mte2 .40
        (
            kernel("w2", 22.0, W, "grouped_matmul", "latency", "pipeline", weights=[W], ratios=LOADS, m=384),
            True,
        ),
        (kernel("mla", 31.3, W, "mla_prolog", "latency", "pipeline", weights=[W], ratios=LOADS), True),
        (kernel("o_proj", 9.9, W, "matmul", "latency", "pipeline", weights=[W], ratios=LOADS, m=4), True),
        (kernel("o_proj", 9.9, W, "matmul", "latency", "pipeline", weights=[W], ratios=LOADS, m=256), False),
        (kernel("o_proj", 9.9, W, "matmul", "latency", "pipeline", weights=[W], ratios=BALANCED, m=4), False),
        (kernel("o_proj", 9.9, W, "matmul", "latency", "pipeline", weights=[W], ratios=FIXPIPE, m=4), False),
        (
            kernel("o_proj", 9.9, W, "matmul", "latency", "pipeline", weights=[W], m=4),
            False,
        ),  # no pipes recorded
        (kernel("o_proj", 9.9, W, "matmul", "latency", "launch", weights=[W], ratios=LOADS, m=4), False),
        (kernel("cube", 200.0, W, "matmul", "compute", "cube", weights=[W], ratios=BALANCED), False),
        (kernel("bmm", 20.0, W, "matmul", "memory", "hbm"), False),  # activation x activation
        (kernel("l2", 20.0, W, "matmul", "memory", "l2", weights=[W]), False),
        (
            kernel("l2", 20.0, W, "matmul", "memory", "mte2", weights=[W], single_pass=True, fed_by_l2=True),
            False,
        ),
        (
            kernel("odd", 2.0, W, "matmul", "memory", "hbm", weights=[W], anomaly="faster than its floor"),
            False,
        ),
        (
            kernel("grad", 20.0, W, "matmul", "memory", "hbm", weights=[W], flags=frozenset({"gradient"})),
            False,
        ),
        # MatMul 4,256;3072,256 of longcat: 256 x 3072 x 2 = 1,572,864 bytes, below 4 MB
        (kernel("ngram", 3.7, 1_599_488, "matmul", "memory", "hbm", weights=[1_572_864]), False),
        (kernel("tiny", 3.0, 262_144, "matmul", "memory", "hbm", weights=[262_144]), False),
    ],
)
def test_the_rule_for_targets(group, eligible):
    """Each line of the rule admits or rejects one kernel."""
    judgement = judge_target(group, OPTIONS)
    assert judgement.eligible is eligible
    assert bool(judgement.in_short) is eligible  # what the table shows of an admitted target


def test_a_load_above_the_nominal_rate_has_nothing_to_win():
    """The target of a prefetch that is in place: 42.2 MB in 24.1 us are 1,750 GB/s, 109 % of 1,600; at 99 %
    there is still HBM to relieve.
    """
    served = kernel("gate_up", 24.1, W, "matmul", "memory", "hbm", weights=[W])
    for u_m, eligible in ((1.09, False), (0.99, True)):
        floors = replace(served.label.floors, u_m=u_m)
        judgement = judge_target(replace(served, label=replace(served.label, floors=floors)), OPTIONS)
        assert judgement.eligible is eligible
        assert ("109% of nominal HBM" in judgement.reason) is not eligible


def test_a_rejection_says_why_in_numbers():
    """The sizes are in the sentence, and 256 KiB is refused for another reason than 1.5 MiB."""
    small = judge_target(kernel("ngram", 3.7, 1, "matmul", "memory", "hbm", weights=[1_572_864]), OPTIONS)
    assert "1.50 MiB" in small.reason
    assert "below 4 MB" in small.reason
    tiny = judge_target(kernel("tiny", 3.0, 1, "matmul", "memory", "hbm", weights=[262_144]), OPTIONS)
    assert "256 KiB" in tiny.reason


def test_matmuls_limited_by_latency_are_targets_of_low_confidence():
    """Whatever confidence the label has, the claim that the weight load decides is weak there."""
    group = kernel(
        "o_proj", 9.9, W, "matmul", "latency", "pipeline", weights=[W], ratios=LOADS, m=4, confidence="high"
    )
    assert judge_target(group, OPTIONS).confidence == "low"


def test_only_weight_carrying_families_are_worth_a_rejection():
    """A norm is a window, never a target: it is not listed among the rejected."""
    assert is_weighted(kernel("bmm", 20.0, W, "matmul", "memory", "hbm"))
    assert not is_weighted(kernel("RmsNorm", 3.0))
    assert not is_weighted(kernel("AllReduce", 3.0, None, "communication"))
