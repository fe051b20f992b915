"""Cores and clock of the chip from the export's own arithmetic (formats.md 11)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .kernel_csv import row, starts, table, write

PMU = ("aicore_time(us)", "aic_total_cycles", "aiv_time(us)", "aiv_total_cycles", "cube_utilization(%)")
EVIDENCE = "SELECT cube_cores_mhz, aic_mhz, aiv_mhz, cube_cores, evidence_rows FROM ranks"


def cube(
    cycles: float, time: float, block: int, utilization: float, duration: float = 40.0
) -> dict[str, str]:
    """A cube kernel with its counters."""
    counters = dict(zip(PMU, (str(time), str(cycles), "0", "0", str(utilization)), strict=True))
    return row(block=str(block), duration=str(duration), **counters)


def export(folder: Path, rows_: list[dict[str, str]]) -> Path:
    """A profile with these kernels, 50 us apart."""
    cells = [cells | {"start": start} for cells, start in zip(rows_, starts(len(rows_)), strict=True)]
    return write(folder, table(cells, pmu=PMU))


def test_cores_and_clock_of_a_24_core_chip(tmp_path: Path, rows: Callable) -> None:
    """24 cores, 39 us of 40 us: 24*1800*39 = 1,684,800 cycles, utilization 97.5 %.

    cores x MHz = 1,684,800 / (0.975 * 40) = 43,200; MHz = 1,684,800 / (39 * 24) = 1,800; 43,200 / 1,800 = 24.
    """
    profile = export(tmp_path, [cube(1_684_800, 39, 24, 97.5)] * 3)
    assert rows(profile, EVIDENCE) == [(43200.0, 1800.0, None, 24.0, 3)]


def test_the_clock_is_the_most_frequent_value_not_the_mean(tmp_path: Path, rows: Callable) -> None:
    """A kernel with block 14 on 24 cores would say 1800*24/14 = 3,086 MHz; it is one of three and loses."""
    exact, logical = cube(1_684_800, 39, 24, 97.5), cube(1_684_800, 39, 14, 97.5)
    assert rows(export(tmp_path, [exact, logical, exact]), EVIDENCE) == [(43200.0, 1800.0, None, 24.0, 3)]


def test_rows_with_hardly_any_cube_work_say_nothing(tmp_path: Path, rows: Callable) -> None:
    """At 1 % utilization or less the percentage has too few digits: no evidence, and the clock stays."""
    profile = export(tmp_path, [cube(17_280, 0.4, 24, 1.0)])
    assert rows(profile, EVIDENCE) == [(None, 1800.0, None, None, 0)]


def test_a_clock_that_no_chip_has_says_nothing(tmp_path: Path, rows: Callable) -> None:
    """A custom kernel with 256 blocks gives 535,275 / (12.778 * 256) = 164 MHz: that is no clock."""
    profile = export(tmp_path, [cube(535_275, 12.778, 256, 0.0)])
    assert rows(profile, EVIDENCE) == [(None, None, None, None, 0)]


def test_the_vector_clock_of_a_mixed_kernel_uses_its_own_blocks(tmp_path: Path, rows: Callable) -> None:
    """MIX_AIC on 20 cube and 40 vector cores: 26,336,326 / (365.782 * 40) = 1,800.0 MHz, not 3,600."""
    counters = dict(zip(PMU, ("366.140", "13181275", "365.782", "26336326", "N/A"), strict=True))
    mixed = row(core="MIX_AIC", block="20", mix_block="40", **counters)
    ((_, aic, aiv, _, _),) = rows(export(tmp_path, [mixed]), EVIDENCE)
    assert (aic, aiv) == (1800.0, 1800.0)  # 13,181,275 / (366.140 * 20) = 1,800.0
