"""Whether a kernel may run inside a prefetch window: one verdict per kernel, with the reason in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from ..units import format_bytes_decimal
from .benefit import US_PER_S, MemoryRates
from .labels import LabelledGroup
from .options import AnalysisOptions

# Families whose own weights stream from HBM for most of their time, whatever their label says: their shapes
# bound the bytes only from above, so the label is never sure.
WEIGHT_STREAMS = frozenset({"grouped_matmul", "moe_fused", "mla_prolog"})

COLLECTIVE = "collective"
MEMORY = "memory-bound"
ATTENTION = "decode attention"
FLUSH = "flushes L2"
UNKNOWN = "traffic not known"
USABLE = "usable"


@dataclass(frozen=True)
class Verdict:
    """What a kernel means for a window it runs in.

    kind: one of the constants above; only USABLE is safe. bytes_hi: HBM traffic assumed for one occurrence,
    the upper end. utilisation: bytes_hi / median duration / nominal HBM; None where the traffic is not known.
    """

    kind: str
    reason: str
    bytes_hi: float | None
    utilisation: float | None

    @property
    def safe(self) -> bool:
        """Whether a window may hold the kernel without anybody's consent."""
        return self.kind == USABLE


def judge(group: LabelledGroup, rates: MemoryRates, options: AnalysisOptions) -> Verdict:
    """Give the verdict on one kernel, from its measured label and bytes, never from its name.

    A kernel blocks when it needs the HBM bandwidth itself (memory-bound, attention over the KV cache,
    weights of experts), when it is a collective (its length is that of the slowest rank), when it would
    evict what was prefetched, or when nothing tells what it moves.
    """
    work, label = group.work, group.label
    traffic = work.bytes_hi if work.bytes_hi is not None else work.bytes_lo
    median_us = group.statistics.median_us
    used = None
    if traffic is not None and median_us > 0:
        used = traffic / (median_us / US_PER_S * rates.hbm_bytes_s)

    def verdict(kind: str, reason: str) -> Verdict:
        return Verdict(kind, reason, None if traffic is None else float(traffic), used)

    is_moe = work.family == "moe_comm"
    if not is_moe and (work.family == "communication" or group.row.kernel_class == "communication"):
        return verdict(COLLECTIVE, "as long as its slowest rank takes, and it uses HBM and links")
    if work.family == "attention":
        return verdict(ATTENTION, "attention streams the KV cache, whose length is not in the export")
    if work.family in WEIGHT_STREAMS:
        return verdict(MEMORY, f"{work.family} streams its own weights ({label.bound}/{label.limiter})")
    if label.bound == "memory" and (label.limiter == "hbm" or work.weights):
        return verdict(MEMORY, f"{label.bound}/{label.limiter}: {label.reason}")
    if traffic is None or used is None:
        return verdict(UNKNOWN, "its shapes do not tell what it moves")
    if used >= options.window_hbm_limit:
        return verdict(
            MEMORY, f"uses up to {used:.0%} of HBM, {options.window_hbm_limit:.0%} is the limit for a window"
        )
    if traffic >= options.alpha * rates.l2_bytes:
        return verdict(FLUSH, f"touches {format_bytes_decimal(traffic)}, which evicts prefetched bytes")
    return verdict(USABLE, _usable_reason(group, used, is_moe))


def _usable_reason(group: LabelledGroup, used: float, is_moe: bool) -> str:
    text = f"{group.label.bound}/{group.label.limiter}, uses {used:.0%} of HBM"
    low, high = group.statistics.p10_us, group.statistics.p90_us
    if is_moe and low is not None and high is not None:
        text += (
            f"; MoE communication, HBM traffic estimated from its shapes, length varies: p10-p90 "
            f"{low:.0f}-{high:.0f} us"
        )
    return text


def streams_elsewhere(verdict: Verdict) -> Verdict:
    """The stricter verdict on a weight-carrying kernel that is memory-bound at another place of the step.

    The same load of the same shape: whether it waits for HBM there or for its pipe here, a copy beside it
    would make it wait.
    """
    reason = f"memory-bound at another place of the step; here {verdict.reason}"
    return Verdict(MEMORY, reason, verdict.bytes_hi, verdict.utilisation)


def accepted(kind: str, allow_comm_windows: bool, include_unsafe: bool) -> bool:
    """Whether the walk goes on past a kernel of this kind."""
    return kind == USABLE or (kind == COLLECTIVE and allow_comm_windows) or include_unsafe
