"""A capture without cube_utilization: what bounds of the cores and sampled counters may say, and no more."""

from __future__ import annotations

import pytest
from npu_roofline.roofline.resolve import DeviceEvidence, resolve_device
from npu_roofline.roofline.weak_evidence import CoreBounds


def test_an_upper_and_a_lower_bound_leave_one_row_of_chips() -> None:
    """At 1,800 MHz chips have 20 or 24 cube cores; 48 to 50 vector cores are 24 or 25: 24 is left."""
    found = resolve_device(DeviceEvidence(aic_mhz=1800, bounds=CoreBounds(24, None, 48, 50)))
    assert found.candidates == ("910_9381", "910_9382", "910B2", "910B2C")
    assert found.confidence == "medium"
    assert "48 to 50 vector cores" in found.source


def test_a_lower_bound_alone_is_believed_less() -> None:
    """At least 24 cube cores exclude the 20-core chips, but nothing says that there are no more: low."""
    found = resolve_device(DeviceEvidence(aic_mhz=1800, bounds=CoreBounds(cube_min=24)))
    assert found.candidates == ("910_9381", "910_9382", "910B2", "910B2C")
    assert found.confidence == "low"


def test_a_lower_bound_that_every_chip_meets_is_no_core_count() -> None:
    """20 blocks ran at once, which 20 and 24 cores can do: the chip stays unknown and both are named."""
    found = resolve_device(DeviceEvidence(aic_mhz=1800, bounds=CoreBounds(20, None, 40, None)))
    assert found.device is None
    assert "910B3" in found.source
    assert "910B2" in found.source


def test_a_sampled_clock_names_the_chips_but_does_not_choose() -> None:
    """Level 0 has AICORE_FREQ only: the chips of that clock are named, none is used."""
    found = resolve_device(DeviceEvidence(clock_min_mhz=1800, clock_max_mhz=1800))
    assert found.device is None
    assert "AICORE_FREQ = 1,800" in found.source


def test_measured_cores_win_over_bounds() -> None:
    """43,200 = 24 x 1,800 is a count; bounds beside it change nothing."""
    count = DeviceEvidence(cube_cores_mhz=43_200, spread=0.0, aic_mhz=1800)
    both = DeviceEvidence(cube_cores_mhz=43_200, spread=0.0, aic_mhz=1800, bounds=CoreBounds(20, 22))
    assert resolve_device(both) == resolve_device(count)


def test_throttling_and_too_much_bandwidth_are_said() -> None:
    """1,400 of 1,800 MHz is 22 % down; 1,700 GB/s of HBM is more than the 1,600 of a 910B3."""
    found = resolve_device(DeviceEvidence(device_argument="910B3", clock_min_mhz=1400, hbm_peak_gb_s=1700))
    assert any("1,400 MHz while kernels ran" in note for note in found.notes)
    assert any("1,700 GB/s in one sampling interval" in note for note in found.notes)


@pytest.mark.parametrize(("clock", "peak"), [(None, None), (1800.0, 172.0), (1720.0, None)])
def test_normal_samples_say_nothing(clock: float | None, peak: float | None) -> None:
    """A clock within 5 % of the rated one (1,720 is 4.4 % down) and a modest bandwidth are no news."""
    plain = resolve_device(DeviceEvidence(device_argument="910B3"))
    found = resolve_device(DeviceEvidence(device_argument="910B3", clock_min_mhz=clock, hbm_peak_gb_s=peak))
    assert found.notes == plain.notes
