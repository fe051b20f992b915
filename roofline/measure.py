"""What was measured for one signature: medians over its rows, pipe ratios and the other metric modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CUBE_PIPES = ("aic_mac", "aic_mte1", "aic_mte2", "aic_fixpipe", "aic_scalar")
VECTOR_PIPES = ("aiv_vec", "aiv_mte2", "aiv_mte3", "aiv_scalar")


@dataclass(frozen=True)
class MeasuredBytes:
    """Bytes to and from global memory per occurrence, the L2 hit rate of reads (None = not measured),
    the source.

    `reaches_hbm` is False where the counter includes L2 hits, so that the bytes are only an upper bound
    of HBM traffic; `logical` is that bound where both are known.
    """

    total: float
    hit_rate: float | None
    reaches_hbm: bool
    source: str
    logical: float | None = None


@dataclass(frozen=True)
class Measurement:
    """Medians of one signature; None means not measured, 0 is a measurement.

    Times are us per occurrence (`total_us` over all of them). `block` counts logical blocks: cube cores
    for AIC kernels, vector cores for AIV kernels; `mix_block` the other half of a MIX kernel. `gap_us`
    is duration - max(core times). `zero_rows` of the rows have a duration of 0 and are in no median; a
    median of 0 says that there are no others. `ratios` holds busy shares 0..1 by pipe name without `_ratio`
    (`aic_mac`, `aiv_mte2`, `aic_icache_miss`), `other` the columns of the other metric modes by the
    names of the kernels table. `by_operator` is what `msprof op` measured of this kernel alone,
    `l2_hit_rate` the median of l2_cache.csv (0..1).
    """

    count: int
    median_us: float
    total_us: float
    p10_us: float | None = None
    p90_us: float | None = None
    block: int | None = None
    mix_block: int | None = None
    aicore_time_us: float | None = None
    aiv_time_us: float | None = None
    gap_us: float | None = None
    cube_utilization_pct: float | None = None
    ratios: Mapping[str, float | None] = field(default_factory=dict)
    other: Mapping[str, float | None] = field(default_factory=dict)
    metric_mode: str = "none"
    zero_rows: int = 0
    by_operator: MeasuredBytes | None = None
    l2_hit_rate: float | None = None

    def ratio(self, pipe: str) -> float | None:
        """Busy share of a pipe, 0..1; None when the run did not record it."""
        return self.ratios.get(pipe)

    @property
    def core_time_us(self) -> float | None:
        """The longer of the two core times, us; None when neither was measured."""
        times = [time for time in (self.aicore_time_us, self.aiv_time_us) if time is not None]
        return max(times, default=None)
