"""Verdicts on kernels inside a window."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.options import AnalysisOptions
from npu_roofline.analyzer.walk import (
    ATTENTION,
    COLLECTIVE,
    FLUSH,
    MEMORY,
    UNKNOWN,
    USABLE,
    accepted,
    judge,
)

from tests.analyzer.kernels import RATES, kernel

OPTIONS = AnalysisOptions()


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        # 2.4 MB in 6.75 us is 356 GB/s, 22 % of 1.6 TB/s
        (kernel("DequantSwigluQuant", 6.75, 2_400_000, "activation", "memory", "mte2"), USABLE),
        # the router: 4.8 MB in 12.2 us is 24 %; limited by latency, so it may be inside
        (kernel("MatMul", 12.2, 4_773_888, "matmul", "latency", "pipeline", weights=[4_718_592]), USABLE),
        (
            kernel("QuantBatchMatmulV3", 29.7, 38_006_784, "matmul", "memory", "hbm", weights=[37_748_736]),
            MEMORY,
        ),
        (
            kernel("QuantBatchMatmulV3", 20.5, 18_929_680, "matmul", "memory", "mte2", weights=[18_874_368]),
            MEMORY,
        ),
        (kernel("GroupedMatmul", 28.7, 205_652_224, "grouped_matmul", "unknown", "shapes"), MEMORY),
        (kernel("MlaPrologV3", 31.3, 20_000_000, "mla_prolog", "latency", "pipeline"), MEMORY),
        (kernel("FusedInferAttentionScore", 38.3, None, "attention", "unknown", "lengths"), ATTENTION),
        (kernel("HcomAllReduce", 9.2, None, "communication", "communication", "link"), COLLECTIVE),
        # dispatch and combine are communication too, but usable with their traffic
        (kernel("MoeDistributeCombineV2", 35.7, 2_600_000, "moe_comm", "communication", "link"), USABLE),
        # 0.96 x 1.6 TB/s x 10 us = 15.4 MB: a vector kernel at the HBM roof
        (kernel("Transpose", 10.0, 15_400_000, "move", "memory", "store"), MEMORY),
        # 110 MB over 1 ms is 7 % of HBM, and more than half of the 192 MiB L2
        (kernel("Concat", 1000.0, 110_000_000, "move", "latency", "pipeline"), FLUSH),
        (kernel("Custom", 5.0, None, "generic", "unknown", "shapes"), UNKNOWN),
    ],
)
def test_each_kind_of_kernel_gets_its_verdict(group, expected):
    """Labels and bytes decide, with families only where shapes cannot: experts, attention, collectives."""
    assert judge(group, RATES, OPTIONS).kind == expected


def test_the_verdict_gives_the_numbers():
    """DequantSwigluQuant of 2.4 MB in 6.75 us: 2.4e6 / (6.75e-6 x 1.6e12) = 22.2 % of HBM."""
    verdict = judge(kernel("DequantSwigluQuant", 6.75, 2_400_000, "activation"), RATES, OPTIONS)
    assert verdict.utilisation == pytest.approx(0.2222, abs=1e-4)
    assert "22%" in verdict.reason
    assert verdict.bytes_hi == 2_400_000


def test_moe_communication_says_that_its_length_varies():
    """The reader sees p10 and p90, and that the traffic is an estimate."""
    verdict = judge(kernel("MoeDistributeDispatchV2", 32.7, 1_000_000, "moe_comm"), RATES, OPTIONS)
    assert "length varies" in verdict.reason
    assert "estimated" in verdict.reason


@pytest.mark.parametrize(
    ("kind", "comm", "unsafe", "expected"),
    [
        (USABLE, False, False, True),
        (COLLECTIVE, False, False, False),
        (COLLECTIVE, True, False, True),
        (MEMORY, True, False, False),
        (MEMORY, False, True, True),
        (ATTENTION, False, True, True),
        (UNKNOWN, True, False, False),
    ],
)
def test_what_the_user_may_accept(kind, comm, unsafe, expected):
    """Collectives have an option of their own; everything else that blocks is shown with --include-unsafe
    only.
    """
    assert accepted(kind, comm, unsafe) is expected
