"""What a prefetch of P bytes saves its target and costs its window: a stated model, no measurement.

Assumptions, given with every figure: HBM and L2 reads follow each other, the copy engine gets at most the
achievable HBM bandwidth, nothing else is evicted, the host does not stall.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .answer import Saving
from .options import AnalysisOptions

US_PER_S = 1e6


@dataclass(frozen=True)
class MemoryRates:
    """What the model takes from the device; B/s and bytes."""

    hbm_bytes_s: float  # nominal
    hbm_max_bytes_s: float  # highest that a source gives
    l2_read_bytes_s: float
    l2_bytes: float


@dataclass(frozen=True)
class TargetLoad:
    """The weight load of one occurrence of a target.

    duration_us: median. weight_bytes: weight bytes that are really read. other_floor_us: the largest of its
    other lower limits (compute, all bytes through L2, launch), us. hit_share: share of any prefetched byte
    that the kernel will read, 0..1; below 1 only where the experts to be hit are not known in advance.
    """

    duration_us: float
    weight_bytes: float
    other_floor_us: float
    hit_share: float = 1.0


def saved_us(prefetched: float, load: TargetLoad, rates: MemoryRates, options: AnalysisOptions) -> float:
    """Time that one occurrence of the target gains from `prefetched` bytes being in L2, us, >= 0.

    The bytes then come from L2 (at 0.8 of its figure) instead of HBM; the gain cannot push the kernel below
    its remaining floor. HBM delivers eff of nominal, or what this kernel is seen to reach where that is more
    (up to the highest figure of any source): else the fastest loads would seem to have nothing to gain.
    """
    useful = min(prefetched * load.hit_share, load.weight_bytes)
    hbm, l2 = hbm_bytes_us(load, rates, options), l2_bytes_us(rates, options)
    remaining_floor = max((load.weight_bytes - useful) / hbm + useful / l2, load.other_floor_us)
    room = max(0.0, load.duration_us - remaining_floor)
    return min(max(0.0, useful / hbm - useful / l2), room)


def hbm_bytes_us(load: TargetLoad, rates: MemoryRates, options: AnalysisOptions) -> float:
    """Rate at which the weights of a target come from HBM, B/us: eff of nominal, or more where it is seen."""
    fastest = rates.hbm_max_bytes_s / US_PER_S
    seen = min(load.weight_bytes / load.duration_us, fastest) if load.duration_us > 0 else 0.0
    return max(options.eff_hbm * rates.hbm_bytes_s / US_PER_S, seen)


def l2_bytes_us(rates: MemoryRates, options: AnalysisOptions) -> float:
    """Rate at which prefetched bytes come from L2, B/us."""
    return options.l2_read_efficiency * rates.l2_read_bytes_s / US_PER_S


def cost_us(
    prefetched: float, window_utilisation: float, rates: MemoryRates, options: AnalysisOptions
) -> float:
    """Time that the window loses to the copy, us: in proportion to the HBM share its kernels use; idle costs
    0.
    """
    copy = prefetched / (options.eff_hbm * rates.hbm_bytes_s) * US_PER_S
    return options.beta * copy * window_utilisation


def net_saving(
    size_at: Callable[[float], float],
    load: TargetLoad,
    window_utilisation: float,
    rates: MemoryRates,
    options: AnalysisOptions,
) -> Saving:
    """Net saving per occurrence, us, at the low, default and high share eta of the spare bandwidth.

    size_at: eta -> bytes that arrive in time. A cost above the gain shows as a negative number.
    """
    low, mid, high = (
        saved_us(size_at(eta), load, rates, options)
        - cost_us(size_at(eta), window_utilisation, rates, options)
        for eta in (options.eta_low, options.eta, options.eta_high)
    )
    return Saving(min(low, mid, high), mid, max(low, mid, high))


def grouped_load(
    duration_us: float,
    bytes_hi: float,
    expert_bytes: float,
    experts: int,
    tokens: int | None,
    other_floor_us: float,
    rates: MemoryRates,
    options: AnalysisOptions,
) -> TargetLoad:
    """The weight load of a GroupedMatmul, whose hit experts are not in the export.

    What it moved is at most every listed byte and at most what HBM delivers in its duration at eff of
    nominal; its activations come off, the rest are weights, one expert at least. That is the rate at which
    the saving counts a byte from HBM too: experts that only a faster HBM could have delivered must not be
    saved at the slower one. The experts hit are also at most the expectation of uniform routing,
    E * (1 - (1 - 1/E)^T). Which of them is not known when the prefetch is issued, so only hit / E of the
    prefetched bytes are of use.
    """
    rows = experts if tokens is None else tokens
    activations = max(0.0, bytes_hi - min(experts, rows) * expert_bytes)
    delivered = min(bytes_hi, duration_us / US_PER_S * options.eff_hbm * rates.hbm_bytes_s)
    read = max(expert_bytes, delivered - activations)
    hit = min(float(experts), read / expert_bytes)
    if tokens is not None:
        hit = min(hit, max(1.0, experts * (1.0 - (1.0 - 1.0 / experts) ** tokens)))
    return TargetLoad(duration_us, hit * expert_bytes, other_floor_us, hit / experts)
