"""Kernels and sequences written out by hand, for tests of the walk and its windows."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from npu_roofline.analyzer.benefit import MemoryRates
from npu_roofline.analyzer.labels import LabelledGroup, SignatureRow
from npu_roofline.analyzer.sequence import KernelSequence
from npu_roofline.roofline.classify import Label
from npu_roofline.roofline.floors import Floors
from npu_roofline.roofline.measure import Measurement
from npu_roofline.roofline.work import Signature, Weight, Work

# A 910B2: 1.6 TB/s nominal, 1.8 at most, L2 reads at 110 B/cycle x 24 x 1800 MHz, L2 192 MiB.
RATES = MemoryRates(1.6e12, 1.8e12, 4.752e12, 192 * 2**20)


def kernel(
    type: str,
    us: float,
    bytes_hi: int | None = 0,
    family: str = "norm",
    bound: str = "latency",
    limiter: str = "launch",
    weights: Sequence[int] = (),
    position: int | None = None,
    part: str | None = "layer",
    m: int | None = None,
    experts: int | None = None,
    single_pass: bool = False,
    anomaly: str | None = None,
    fed_by_l2: bool = False,
    flags: frozenset[str] = frozenset(),
    ratios: dict[str, float | None] | None = None,
    confidence: str = "medium",
    signature_id: int | None = None,
) -> LabelledGroup:
    """One labelled kernel; times us, sizes bytes."""
    identity = signature_id if signature_id is not None else zlib.crc32(type.encode())
    kernel_class = "communication" if family == "communication" else "aicore"
    row = SignatureRow(
        identity, type, "column", "AI_CORE", kernel_class, None, "4,8", "INT8", "ND", "4,8", "INT8", "ND"
    )
    work = Work(
        family=family,
        outcome="resolved",
        unit="cube",
        bytes_lo=bytes_hi,
        bytes_hi=bytes_hi,
        weights=tuple(
            Weight(1 + slot, size, "int8", "ND", (size,), (size,), experts)
            for slot, size in enumerate(weights)
        ),
        weight_bytes=sum(weights) or None,
        m=m,
        experts=experts,
        flags=flags,
    )
    measured = Measurement(count=1, median_us=us, total_us=us, p10_us=us, p90_us=us, ratios=ratios or {})
    label = Label(
        bound=bound,
        limiter=limiter,
        confidence=confidence,
        reason="because",
        floors=Floors(duration_us=us, compute_us=0.5, l2_us=0.5, overhead_us=1.1),
        single_pass=single_pass,
        anomaly=anomaly,
        fed_by_l2=fed_by_l2,
    )
    signature = Signature(type, "AI_CORE", kernel_class)
    return LabelledGroup(identity, row, signature, part, position, measured, work, label)


def sequence(
    places: Sequence[LabelledGroup],
    steps: Sequence[Sequence[tuple[int, float, float]]],
    beside: Sequence[Sequence[tuple[int, float, float]]] | None = None,
) -> KernelSequence:
    """Steps of (place, start us, end us); a step begins 1 s after the one before."""
    side = None if beside is None else _lane(places, beside, None)
    return _lane(places, steps, side)


def _lane(
    places: Sequence[LabelledGroup],
    steps: Sequence[Sequence[tuple[int, float, float]]],
    beside: KernelSequence | None,
) -> KernelSequence:
    rows = [
        (number, index, place, round((number * 1e6 + start) * 1000), round((number * 1e6 + end) * 1000))
        for number, step in enumerate(steps)
        for index, (place, start, end) in enumerate(step)
    ]
    step, index, place, start, end = (np.array(column) for column in zip(*rows, strict=True))
    return KernelSequence(
        step.astype(np.int32),
        index.astype(np.int32),
        start.astype(np.int64),
        end.astype(np.int64),
        place.astype(np.int32),
        tuple(places),
        beside,
        tuple(range(len(steps))),
    )


def back_to_back(kernels: Sequence[tuple[int, float]], gap_us: float = 1.0) -> list[tuple[int, float, float]]:
    """(place, duration us) -> (place, start, end) with the same gap between all kernels."""
    placed, now = [], 0.0
    for place, duration in kernels:
        placed.append((place, now, now + duration))
        now += duration + gap_us
    return placed
