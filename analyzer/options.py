"""Every threshold of the questions, with its default and the reason for it; a TOML file can set them.

Thresholds of the labels themselves are `roofline.options.RooflineOptions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import WrongUsage
from ..roofline.options import RooflineOptions
from ..roofline.thresholds import laid_over_defaults, option


@dataclass(frozen=True)
class AnalysisOptions:
    """Thresholds of summary, windows, prefetch and compare; units are in the names, fractions are 0..1."""

    # HBM and window model
    eff_hbm: float = option(RooflineOptions.eff_hbm, "as the labels take it, see RooflineOptions", 0.1, 1.0)
    eta_low: float = option(
        0.5, "share of the spare bandwidth that a prefetch gets, pessimistic; assumed", 0.01, 1.0
    )
    eta: float = option(0.65, "default share; the one published example implies 0.625", 0.01, 1.0)
    eta_high: float = option(0.9, "optimistic share; assumed", 0.01, 1.0)
    t_lat_us: float = option(2.0, "start of a CMO task after its dependency; assumed", 0.0, 1000.0)
    alpha: float = option(
        0.5, "share of L2 that may hold prefetched bytes; vendor recipes use 0.5-0.8", 0.01, 1.0
    )
    beta: float = option(0.5, "slowdown of a busy window per prefetched byte; assumed", 0.0, 10.0)
    l2_read_efficiency: float = option(
        0.8, "L2 reads of prefetched bytes against the L2 figure; assumed", 0.05, 1.0
    )
    coefficient: float = option(
        0.5, "first size to try: half of the weight, as the specification's ladder", 0.01, 1.0
    )

    # targets
    min_weight_bytes: int = option(
        4_000_000, "below it a prefetch saves less than its own launch costs", 0, 10**12
    )
    refuse_weight_bytes: int = option(256 * 1024, "no gain measured at or below 256 KiB", 0, 10**12)
    min_prefetch_bytes: int = option(512 * 1024, "a smaller prefetch is not worth a CMO task", 0, 10**12)
    align_bytes: int = option(512, "L2 line of the A2 and A3 dies", 1, 10**6)
    single_pass_rows: int = option(
        RooflineOptions.single_pass_rows, "as the labels take it, see RooflineOptions", 1, 10**6
    )
    data_pipe_ratio: float = option(
        3.0, "mte2 over mac from which the weight load is the critical path", 0.0, 1000.0
    )

    # links
    slow_link_share: float = option(
        0.8, "pairs of one mesh differ by a few percent; a fifth less is a path of its own", 0.0, 1.0
    )

    # windows
    min_window_us: float = option(3.0, "graph mode; shorter windows are within launch jitter", 0.0, 10**6)
    min_window_eager_us: float = option(
        15.0, "eager mode: issuing the call on a side stream costs the host 10-14 us", 0.0, 10**6
    )
    window_hbm_limit: float = option(
        0.6, "HBM utilisation above which a kernel has no bandwidth to spare", 0.0, 1.0
    )
    collective_hbm_share: float = option(
        0.25, "links move 196 GB/s each way: read and written that is 392 of 1,600 GB/s HBM", 0.0, 1.0
    )
    window_percentile: float = option(
        0.1, "window length: p10 over occurrences, so that 9 of 10 are longer", 0.0, 1.0
    )
    window_overlap_share: float = option(
        0.1, "share of occurrences from which a blocking kernel of another stream counts", 0.0, 1.0
    )
    window_tie_share: float = option(
        0.01, "savings this close are equal to the model; the shorter window disturbs less", 0.0, 1.0
    )
    walk_max_kernels: int = option(
        64, "a window of more kernels than this is a layer; the longest in public code has 20", 1, 10**6
    )
    walk_min_share: float = option(
        0.5, "of a target's occurrences; with fewer the predecessors are not those of the place", 0.0, 1.0
    )
    context_min_share: float = option(
        0.1, "of a target's occurrences that follow another kernel, to be a row of their own", 0.0, 1.0
    )
    saving_warning_share: float = option(
        0.1, "published gains are 0-9 % of a step; more is a model error", 0.0, 1.0
    )

    # layers: exact repeats of the kernel sequence
    layer_min_repeats: int = option(3, "two equal stretches are often chance, three are a loop", 2, 10**6)
    layer_min_kernels: int = option(3, "shorter repeats are loops inside an operator", 1, 10**6)
    layer_min_share: float = option(
        0.2, "of a step's kernels; below it the repeat is a detail, not the model", 0.0, 1.0
    )
    layer_pair_share: float = option(
        0.5, "share that two repeats must cover when nothing repeats three times", 0.0, 1.0
    )
    layer_nested_repeats: int = option(
        8,
        "hybrid models alternate kinds of layers 7 : 1 at most; more repeats inside a period: a pass",
        2,
        10**6,
    )
    layer_alone_min_kernels: int = option(
        8, "of a layer looked for alone (MTP) or of another kind: shorter ones recur by chance", 3, 10**6
    )
    layer_kin_share: float = option(
        0.5, "of another kind's kernels that the main layer has too, as its attention is", 0.0, 1.0
    )
    layer_kin_run: int = option(
        5, "in a row, of a single layer of another kind: its attention part, by which it is known", 3, 10**6
    )
    layer_odd_share: float = option(
        0.125,
        "of a layer's kernels that may be inserted, missing or of another shape, one at least",
        0.0,
        0.5,
    )
    layer_odd_in_a_row: int = option(
        2, "inserted kernels in a row; a norm, a head and a choice of tokens part two passes", 0, 10**6
    )
    layer_resume_kernels: int = option(
        3, "kernels behind an odd one that go on with the layer: fewer do so by chance", 1, 10**6
    )
    layer_gap_layers: int = option(
        8, "layers that a gap may be long in which one with an odd kernel is looked for", 1, 10**6
    )
    layer_sequences_probed: int = option(
        16, "distinct step sequences that decide between all streams and the main one", 1, 10**6
    )

    # steps and idle time
    outlier_step_ratio: float = option(
        1.25, "a step this much above or below the median is named", 1.0, 1000.0
    )
    slow_rank_ratio: float = option(
        1.05, "AI-core time over the median rank's from which a rank is named as slow; assumed", 1.0, 1000.0
    )
    idle_gap_us: float = option(
        10.0, "a launch gap inside a graph is 1-5 us; longer, the device waited", 0.0, 10**9
    )
    idle_rows: int = option(10, "largest stretches shown", 1, 100_000)
    step_trace_tolerance: float = option(
        0.02, "relative difference up to which a step trace agrees", 0.0, 1.0
    )

    # phase of a step
    decode_max_rows: int = option(
        512, "time-weighted M of the matmuls; engines stop batching decode there", 1, 10**9
    )
    prefill_min_rows: int = option(1024, "time-weighted M from which a step is prefill", 1, 10**9)

    # compare
    min_effect_share: float = option(
        0.01, "smaller changes are within run-to-run noise of every capture seen", 0.0, 1.0
    )
    min_effect_us: float = option(0.05, "profiler time stamps have a resolution of 0.02 us", 0.0, 10**6)
    min_effect_step_share: float = option(
        1e-4,
        "of a step: less matters to nobody, and hundreds of short kernels stray so far by chance",
        0.0,
        1.0,
    )
    noise_multiple: float = option(
        2.0, "a change must be this many times the noise of a step's value", 0.0, 1000.0
    )
    noise_floor_share: float = option(
        0.004, "the steadiest kernels of a five-step capture stray 0.2-0.6 % from step to step", 0.0, 1.0
    )
    scatter_steps: float = option(
        10.0, "weight, in steps, of the scatter between layers; splits of one capture agree", 0.0, 10**6
    )
    window_worse_share: float = option(
        0.05, "a window may get this much slower and the gain counts; acceptance of a prefetch", 0.0, 10.0
    )
    window_severe_share: float = option(
        0.2, "a window this much slower has no bandwidth to spare, whatever the size; assumed", 0.0, 10.0
    )
    interval_level: float = option(0.95, "coverage of the interval that is shown", 0.5, 0.9999)
    mean_level: float = option(
        0.98, "coverage for the mean per step, which must agree; a comparison has about 100 rows", 0.5, 0.9999
    )
    resample_min_steps: int = option(
        8, "fewer steps give too few distinct resamples: three give ten", 2, 10**6
    )
    resamples: int = option(999, "the 2.5 % point is then the 25th value", 99, 10**6)
    min_usable_steps: int = option(3, "two steps cannot show which of them is the odd one", 2, 10**6)
    position_limit: int = option(
        5000, "places per step that are aligned one by one; longer steps pair by signature", 1, 10**6
    )


# Set once, in [roofline], these hold for the questions too.
SHARED_WITH_LABELS = ("eff_hbm", "single_pass_rows")


def options_from_mapping(values: Mapping[str, Any], source: str) -> AnalysisOptions:
    """Check the user's values and lay them over the defaults.

    `source` names the file in messages. Raises WrongUsage for an unknown key, a wrong type or a value that
    is out of range.
    """
    options = laid_over_defaults(AnalysisOptions, values, source)
    if not options.eta_low <= options.eta <= options.eta_high:
        raise WrongUsage(
            f"eta_low <= eta <= eta_high does not hold in {source}",
            "set all three, or only eta inside 0.5..0.9",
        )
    return options
