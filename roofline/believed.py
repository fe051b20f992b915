"""What of a measurement can be believed: counters that cannot be, or were not recorded, decide no label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..units import format_us
from .floors import clocks_disagree
from .measure import CUBE_PIPES, VECTOR_PIPES, Measurement
from .options import RooflineOptions

_PIPES = (*CUBE_PIPES, *VECTOR_PIPES)
Found = tuple[Measurement, str]


def believed(measurement: Measurement, options: RooflineOptions) -> tuple[Measurement, tuple[str, ...]]:
    """The measurement without what cannot be believed, and a sentence on each thing that was left out."""
    said = []
    for check in _CHECKS:
        measurement, sentence = check(measurement, options)
        said += [sentence] if sentence else []
    return measurement, tuple(said)


def _impossible_pipes(measurement: Measurement, options: RooflineOptions) -> Found:
    """A share below 0 or above 1 speaks against all others of the row: without mte2 at 9.9, the rest would
    say that no pipe is full.
    """
    impossible = [
        f"{pipe} {value:.3g}"
        for pipe in _PIPES
        if (value := measurement.ratio(pipe)) is not None and not 0 <= value <= options.pipe_share_limit
    ]
    if not impossible:
        return measurement, ""
    said = f"busy shares that cannot be, so no pipe is believed: {', '.join(impossible)}"
    return _without_pipes(measurement), said


def _empty_counters(measurement: Measurement, options: RooflineOptions) -> Found:
    """No kernel runs without keeping any pipe busy: zeros everywhere are counters that were not recorded."""
    shares = [value for pipe in _PIPES if (value := measurement.ratio(pipe)) is not None]
    times = [each for each in (measurement.aicore_time_us, measurement.aiv_time_us) if each is not None]
    no_pipes = bool(shares) and max(shares) < options.pipe_recorded
    no_times = bool(times) and max(times) == 0
    if not no_pipes and not no_times:
        return measurement, ""
    if no_times:
        measurement = _without_times(measurement)
    if not no_pipes:  # without its core time a share of it may still be right
        return measurement, "core times are 0 although it ran: they were not recorded"
    said = (
        f"no pipe was busy for more than {max(shares):.3f} of {format_us(measurement.median_us)}: the "
        "counters were not recorded, so the label is from shapes alone"
    )
    return _without_pipes(measurement), said


def _longer_than_the_kernel(measurement: Measurement, options: RooflineOptions) -> Found:
    """Cores cannot be busy for longer than the kernel took; where occupancy says so too, it is the clocks."""
    core_time = measurement.core_time_us
    if core_time is None or measurement.median_us <= 0 or clocks_disagree(measurement, options):
        return measurement, ""
    if 0 <= core_time <= options.clock_ratio * measurement.median_us:
        return measurement, ""
    said = (
        f"core time {format_us(core_time)} cannot be in a kernel of {format_us(measurement.median_us)}: "
        "core times are not believed"
    )
    return _without_times(measurement), said


def _occupancy(measurement: Measurement, options: RooflineOptions) -> Found:
    """More than all cores, which only disagreeing clocks explain."""
    occupancy = measurement.cube_utilization_pct
    if occupancy is None or 0 <= occupancy <= options.clock_utilization_pct:
        return measurement, ""
    if clocks_disagree(measurement, options):
        return measurement, ""
    said = f"cube utilization {occupancy:.0f} % cannot be: it is not believed"
    return replace(measurement, cube_utilization_pct=None), said


def _hit_rate(measurement: Measurement, _options: RooflineOptions) -> Found:
    rate = measurement.l2_hit_rate
    if rate is None or 0 <= rate <= 1:
        return measurement, ""
    return replace(measurement, l2_hit_rate=None), f"L2 hit rate {rate:.3g} cannot be: it is not believed"


# In order: an impossible share is named before the empty rest of its row.
_CHECKS: tuple[Callable[[Measurement, RooflineOptions], Found], ...] = (
    _impossible_pipes,
    _empty_counters,
    _longer_than_the_kernel,
    _occupancy,
    _hit_rate,
)


def _without_pipes(measurement: Measurement) -> Measurement:
    return replace(measurement, ratios={**measurement.ratios, **dict.fromkeys(_PIPES)})


def _without_times(measurement: Measurement) -> Measurement:
    return replace(measurement, aicore_time_us=None, aiv_time_us=None, gap_us=None)
