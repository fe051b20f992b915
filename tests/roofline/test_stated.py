"""info.json against the rows: it counts first, and agreement and contradiction are both said."""

from __future__ import annotations

from npu_roofline.roofline.resolve import DeviceEvidence, resolve_device
from npu_roofline.roofline.stated import StatedDevice

B2 = StatedDevice(24, 1800.0, 48)


def test_it_tells_the_chip_where_no_row_does() -> None:
    """A level 0 capture with a raw folder: 24 cores at 1,800 MHz are four chips of equal roofs."""
    resolved = resolve_device(DeviceEvidence(stated=B2))
    assert resolved.candidates == ("910_9381", "910_9382", "910B2", "910B2C")
    assert (resolved.source, resolved.confidence) == ("info.json: 24 cube cores at 1,800 MHz", "high")


def test_agreement_is_said() -> None:
    """43,200 cores x MHz at 1,800 MHz are the same 24 cores."""
    resolved = resolve_device(DeviceEvidence(cube_cores_mhz=43_200, aic_mhz=1800, stated=B2))
    assert resolved.source.startswith("info.json: 24 cube cores at 1,800 MHz, as the rows say: cores x MHz")
    assert (resolved.confidence, resolved.notes) == ("high", ())


def test_a_contradiction_is_named_and_costs_confidence() -> None:
    """The rows say 20 cores: info.json of another machine, or mixed files; low confidence, both said."""
    resolved = resolve_device(DeviceEvidence(cube_cores_mhz=36_000, aic_mhz=1800, stated=B2))
    assert resolved.device is not None
    assert (resolved.device.cube_cores.value, resolved.confidence) == (24, "low")
    assert "20 cube cores: they contradict each other; info.json is used" in resolved.notes[0]


def test_a_slower_clock_is_throttling_of_the_chip_that_is_stated() -> None:
    """24 cores at 1,600 MHz fit no rated chip; with the rated 1,800 it is known, and peaks are scaled."""
    alone = resolve_device(DeviceEvidence(cube_cores_mhz=38_400, aic_mhz=1600))
    assert alone.confidence == "low"
    resolved = resolve_device(DeviceEvidence(cube_cores_mhz=38_400, aic_mhz=1600, stated=B2))
    assert resolved.device is not None
    assert (resolved.candidates[0], resolved.device.clock_mhz.value) == ("910_9381", 1600)
    assert any("the rows show 1,600 MHz, another clock than rated" in note for note in resolved.notes)
    assert resolved.confidence == "high"


def test_the_clock_of_vector_rows_alone_agrees_or_not() -> None:
    """Rows without cube work show only a clock: it supports what is stated."""
    resolved = resolve_device(DeviceEvidence(aiv_mhz=1800, stated=B2))
    assert any("the rows show the same clock" in note for note in resolved.notes)


def test_the_user_against_the_driver() -> None:
    """--device 910B3 has 20 cores, info.json says 24: the user counts, and the disagreement is said."""
    resolved = resolve_device(DeviceEvidence(stated=B2, device_argument="910B3"))
    assert (resolved.candidates, resolved.confidence) == (("910B3",), "low")
    assert "disagrees with the export" in resolved.notes[0]


def test_half_a_statement_says_nothing() -> None:
    """Cores without a clock tell no chip."""
    assert resolve_device(DeviceEvidence(stated=StatedDevice(24, None))).device is None
