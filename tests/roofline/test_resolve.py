"""Which chip a run was recorded on: the signature, the user's word, and refusing to guess."""

from __future__ import annotations

import pytest
from npu_roofline.errors import UnknownDevice
from npu_roofline.roofline.device import DEVICE_FOLDER, all_devices, load_device
from npu_roofline.roofline.resolve import DeviceEvidence, resolve_device, same_roofs
from npu_roofline.roofline.signatures import chip_signatures
from npu_roofline.roofline.weak_evidence import CoreBounds


def evidence(cores: float, mhz: float, **rest: object) -> DeviceEvidence:
    """Evidence of a PipeUtilization run."""
    return DeviceEvidence(cube_cores_mhz=cores * mhz, spread=0.0, aic_mhz=mhz, **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cores", "mhz", "soc", "confidence"),
    [
        (24, 1800, "910_9381/910_9382 (A3 die) or 910B2/910B2C (A2 376T)", "high"),
        (24, 1850, "910B1 (A2) or 910_9391/910_9392 (A3 die)", "high"),
        (20, 1800, "910B3 (A2 313T) or 910_9372 (A3 die)", "high"),
        (20, 1650, "910B4 (A2 280T) or 910B4-1 (A2)", "medium"),
        (20, 1500, "910_9362 (A3 die) or 910B4 (A2 280T)", "medium"),
        (8, 1060, "310P3/310P5/310P7 (Ascend 310P)", "high"),
        (30, 900, "910ProB (Ascend 910)", "high"),
    ],
)
def test_signature_names_every_candidate(cores: int, mhz: int, soc: str, confidence: str) -> None:
    """Cores and clock name all chips that have them; where their bandwidths differ, confidence is not
    high.
    """
    resolved = resolve_device(evidence(cores, mhz))
    assert (resolved.soc, resolved.confidence) == (soc, confidence)
    assert resolved.device is not None
    assert resolved.device.soc == resolved.candidates[0]


def test_the_source_says_field_and_formula() -> None:
    """The answer quotes the arithmetic: 43,200 = 24 x 1800 from cycles, occupancy and duration."""
    source = resolve_device(evidence(24, 1800)).source
    assert "aic_total_cycles / (cube_utilization/100 x Duration) = 43,200" in source
    assert "24 cube cores" in source


def test_measured_noise_is_tolerated() -> None:
    """Real captures give 43,199.5 to 43,200.5 and 1,799.98 MHz: the same chip."""
    resolved = resolve_device(DeviceEvidence(cube_cores_mhz=43_199.5, aic_mhz=1799.98))
    assert resolved.candidates == ("910_9381", "910_9382", "910B2", "910B2C")
    assert resolved.device is not None
    assert resolved.device.clock_mhz.value == 1800


def test_no_evidence_is_no_device() -> None:
    """A level 0 export resolves to no device, with the reason and what to do, never to a default."""
    resolved = resolve_device(DeviceEvidence())
    assert resolved.device is None
    assert "does not say which chip" in resolved.source
    assert "no row gives" in resolved.source  # also true of d10, whose columns are there and too faint
    assert "--device" in resolved.hint


def test_the_clock_alone_is_enough_only_when_it_is_unique() -> None:
    """1850 MHz fits one row of the table (confidence low); 1800 MHz fits two, so there is no device."""
    unique = resolve_device(DeviceEvidence(aiv_mhz=1850))
    assert unique.device is not None
    assert (unique.device.soc, unique.confidence) == ("910B1", "low")
    assert resolve_device(DeviceEvidence(aic_mhz=1800)).device is None
    assert resolve_device(DeviceEvidence(aiv_mhz=327)).device is None


def test_a_lower_clock_is_throttling() -> None:
    """24 cores at 1650 MHz: the chip is known by its cores only, peaks follow the observed clock, and
    it says so.
    """
    resolved = resolve_device(evidence(24, 1650))
    assert resolved.device is not None
    assert (resolved.device.soc, resolved.confidence) == ("910_9381", "low")
    # 24 x 1650 MHz x 8192
    assert resolved.device.cube_peak_ops("fp16") == pytest.approx(24 * 1650e6 * 8192)
    assert any("throttling" in note for note in resolved.notes)


def test_unknown_cores_are_no_device() -> None:
    """A core count that no chip has, or that is no whole number, resolves to nothing."""
    assert "no known chip has 17 cube cores" in resolve_device(evidence(17, 1800)).source
    assert "no whole number" in resolve_device(DeviceEvidence(cube_cores_mhz=44_100, aic_mhz=1800)).source


def test_a_spread_of_the_evidence_lowers_confidence() -> None:
    """Rows that disagree by more than 1 % mean a changed clock or mixed devices."""
    resolved = resolve_device(DeviceEvidence(cube_cores_mhz=43_200, spread=0.05, aic_mhz=1800))
    assert resolved.confidence == "medium"
    assert any("spreads" in note for note in resolved.notes)


def test_the_argument_wins_and_agreement_is_confidence() -> None:
    """--device overrides; it is high where the rows agree, medium where they are silent."""
    agreed = resolve_device(evidence(24, 1800, device_argument="910B2"))
    assert (agreed.soc, agreed.confidence, agreed.source) == ("910B2 (A2 376T)", "high", "--device 910B2")
    assert resolve_device(DeviceEvidence(device_argument="910B2")).confidence == "medium"


def test_disagreement_with_the_evidence_is_said() -> None:
    """--device 910B3 on rows of a 24-core chip is used, at low confidence, with both sides named."""
    resolved = resolve_device(evidence(24, 1800, device_argument="910B3"))
    assert resolved.device is not None
    assert (resolved.device.soc, resolved.confidence) == ("910B3", "low")
    assert any("disagrees" in note and "910B2" in note for note in resolved.notes)


@pytest.mark.parametrize("name", ["910B", "Ascend910B", "ascend910b"])
def test_the_family_name_is_a_trap(name: str) -> None:
    """Ascend910B is the family in profiles and another chip as a SoC: alone it resolves to nothing."""
    resolved = resolve_device(DeviceEvidence(device_argument=name))
    assert resolved.device is None
    assert "910B1" in resolved.hint


def test_the_family_name_narrows_the_evidence() -> None:
    """With 20 cores at 1800 MHz, the family A2 leaves only the 910B3."""
    resolved = resolve_device(evidence(20, 1800, device_argument="910B"))
    assert resolved.candidates == ("910B3",)
    assert resolve_device(evidence(28, 1650, device_argument="910B")).device is None


def test_an_fp8_operand_runs_on_a5_only() -> None:
    """FP8 operands rule out A2 and A3; on an A5 signature they are fine."""
    fp8 = frozenset({"fp8_e4m3", "bf16"})
    refused = resolve_device(evidence(24, 1800, dtypes=fp8))
    assert refused.device is None
    assert "A5" in refused.source
    assert resolve_device(evidence(28, 1650, dtypes=fp8)).device is not None
    named = resolve_device(evidence(24, 1800, dtypes=fp8, device_argument="910B2"))
    assert named.confidence == "low"


def test_a_device_file_is_its_text() -> None:
    """A TOML text is a device, also straight in the argument; a broken one names its fault."""
    text = (DEVICE_FOLDER / "910_5591.toml").read_text(encoding="utf-8")
    assert resolve_device(DeviceEvidence(device_toml=text)).candidates == ("910_5591",)
    assert resolve_device(DeviceEvidence(device_argument=text)).candidates == ("910_5591",)
    with pytest.raises(UnknownDevice, match="TOML"):
        resolve_device(DeviceEvidence(device_toml="not = toml = at all"))


def test_an_unknown_argument_raises() -> None:
    """A name that is in no table is an error, not silence."""
    with pytest.raises(UnknownDevice, match="910Z"):
        resolve_device(DeviceEvidence(device_argument="910Z"))


def test_a_name_of_equal_dies_is_accepted() -> None:
    """752T stands for two dies with the same roofs: both are named."""
    assert resolve_device(DeviceEvidence(device_argument="752T")).soc == "910_9381/910_9382 (A3 die)"


def test_hbm_override_replaces_both_figures() -> None:
    """--hbm-gb-s sets the nominal and the upper figure, and is noted."""
    resolved = resolve_device(evidence(24, 1800), hbm_gb_s=1300)
    assert resolved.device is not None
    assert (resolved.device.hbm_bytes_s, resolved.device.hbm_max_bytes_s) == (1.3e12, 1.3e12)
    assert any("--hbm-gb-s" in note for note in resolved.notes)


def test_hbm_override_fills_an_absence() -> None:
    """A device without a published bandwidth takes the user's."""
    resolved = resolve_device(DeviceEvidence(device_argument="950PR_950x"), hbm_gb_s=400)
    assert resolved.device is not None
    assert resolved.device.hbm_bytes_s == 4e11


def test_signature_rows_exist_and_agree_with_the_devices() -> None:
    """Every candidate of a signature exists and has those cores; the first one has that clock too."""
    for row in chip_signatures():
        devices = [load_device(name) for name in row.candidates]
        assert {device.cube_cores.value for device in devices} == {row.cores}
        assert devices[0].clock_mhz.value == row.mhz


def test_candidates_share_roofs_or_say_that_they_differ() -> None:
    """A signature whose candidates have different roofs carries the sentence that says so."""
    for row in chip_signatures():
        devices = [load_device(name) for name in row.candidates]
        if not all(same_roofs(devices[0], other) for other in devices):
            assert row.differ, row


def test_every_device_can_be_recognised() -> None:
    """Every SoC of the table stands in a signature, so a capture of it is recognised."""
    named = {name for row in chip_signatures() for name in row.candidates}
    assert {device.soc for device in all_devices()} == named


def test_two_kinds_of_chip_at_one_signature_are_both_named_and_none_is_used() -> None:
    """24 cores at 1500 MHz: the edge part is rated so, a throttled A2 or A3 looks the same; HBM differs."""
    found = resolve_device(DeviceEvidence(cube_cores_mhz=36_000, aic_mhz=1500))
    assert found.device is None
    assert all(
        name in found.source for name in ("not known, one of", "910_5591", "910B2", "910_9391", "throttled")
    )
    assert "910_5591" in found.hint


def test_vector_blocks_tell_a_throttled_part_from_the_edge_part() -> None:
    """48 vector blocks in one round need 48 vector cores, the edge part has 24: an A2 or A3 slowed to 1500,
    24 x 1500 x 8192 = 294.9 TFLOP/s of fp16.
    """
    found = resolve_device(
        DeviceEvidence(cube_cores_mhz=36_000, aic_mhz=1500, bounds=CoreBounds(vector_min=48))
    )
    assert "910_5591" not in found.candidates
    assert found.device is not None
    assert round(found.device.peaks_tflops()["fp16"], 1) == 294.9
    assert found.confidence == "low"
    assert any("throttling" in note for note in found.notes)


@pytest.mark.parametrize(("mhz", "known"), [(1850, True), (900, False), (1060, False), (680, False)])
def test_a_clock_alone_tells_only_the_fastest_chip(mhz: int, known: bool) -> None:
    """900 MHz is rated for the part of 2019, but any chip may run at it when it is throttled; none but the
    910B1 and its A3 dies runs at 1850.
    """
    found = resolve_device(DeviceEvidence(aiv_mhz=mhz))
    assert (found.device is not None) == known
    if known:
        assert any("not counted in this capture" in note for note in found.notes)
    else:
        assert "throttled" in found.source
