"""The hardware table: complete, sourced, and its peaks re-derived."""

from __future__ import annotations

import dataclasses

import pytest
from npu_roofline.errors import UnknownDevice
from npu_roofline.roofline.device import (
    DEVICE_FOLDER,
    all_devices,
    device_sources,
    find_devices,
    load_device,
    load_device_text,
)

# Derived dense peaks, T(FL)OP/s, of the literature table: fp16, int8, fp32, vector fp16. None = no such
# unit or rate.
PEAKS = {
    "910B1": (363.7, 727.4, 90.9, 22.7),  # 24 x 1.85 GHz x 8192 = 363.7
    "910_9392": (363.7, 727.4, 90.9, 22.7),
    "910B2": (353.9, 707.8, 88.5, 22.1),  # 24 x 1.80 GHz
    "910B2C": (353.9, 707.8, 88.5, 22.1),
    "910_9381": (353.9, 707.8, 88.5, 22.1),
    "910B3": (294.9, 589.8, 73.7, 18.4),  # 20 x 1.80 GHz
    "910_9372": (294.9, 589.8, 73.7, 18.4),
    "910B4": (270.3, 540.7, 67.6, 16.9),  # 20 x 1.65 GHz
    "910B4-1": (270.3, 540.7, 67.6, 16.9),
    "910_9362": (245.8, 491.5, 61.4, 15.4),  # 20 x 1.50 GHz
    "950PR_957b": (378.5, 756.9, 94.6, 47.3),  # 28 x 1.65 GHz
    "950PR_9589": (432.5, 865.1, 108.1, 54.1),
    "950PR_9599": (486.6, 973.2, 121.7, 60.8),
    "950PR_950x": (108.1, 216.3, 27.0, 13.5),
    "950DT_957x": (378.5, 756.9, 94.6, 47.3),
    "910_5591": (294.9, 589.8, None, None),
    "310P3": (69.5, 138.9, None, None),
    "310P1": (86.8, 173.7, None, None),
    "310B1": (10.0, 20.1, None, None),
    "310B4": (4.1, 8.2, None, None),
    "310": (11.1, 22.3, None, None),
    "910A": (262.1, 524.3, None, None),
    "910ProB": (221.2, 442.4, None, None),
}


@pytest.mark.parametrize("soc", sorted(PEAKS))
def test_peaks_follow_from_cores_clock_and_rate(soc: str) -> None:
    """Peaks are derived: cores x clock x operations per cycle gives the published derivation to its
    digits.
    """
    device = load_device(soc)
    found = (
        device.cube_peak_ops("fp16"),
        device.cube_peak_ops("int8"),
        device.cube_peak_ops("fp32", hf32=False),
        device.vector_peak_ops("fp16"),
    )
    assert [None if peak is None else round(peak / 1e12, 1) for peak in found] == list(PEAKS[soc])


def test_marketing_figures_are_cube_plus_vector() -> None:
    """376T, 313T and C425T are cube plus vector fp16: 353.9 + 22.1, 294.9 + 18.4, 378.5 + 47.3."""
    for soc, teraflops in (("910B2", 376.0), ("910B3", 313.3), ("950PR_957b", 425.8)):
        device = load_device(soc)
        total = (device.cube_peak_ops("fp16") or 0) + (device.vector_peak_ops("fp16") or 0)
        assert round(total / 1e12, 1) == teraflops


def test_hf32_doubles_the_fp32_rate() -> None:
    """fp32 matmuls run at 2048 per cycle, at 4096 when the export says HF32 is eligible."""
    device = load_device("910B2")
    assert round((device.cube_peak_ops("fp32", hf32=True) or 0) / 1e12, 1) == 176.9
    assert device.cube_peak_ops("fp32") == device.cube_peak_ops("fp32", hf32=False)


def test_every_device_has_two_hbm_numbers_where_sources_disagree() -> None:
    """Nominal and upper end are two numbers: 1.6 / 1.8 TB/s on A2 and A3 dies, 0.8 / 0.88 on the B4."""
    for soc in ("910B1", "910B2", "910B3", "910_9391", "910_9381", "910_9372"):
        device = load_device(soc)
        assert (device.hbm_bytes_s, device.hbm_max_bytes_s) == (1.6e12, 1.8e12), soc
    b4 = load_device("910B4")
    assert (b4.hbm_bytes_s, b4.hbm_max_bytes_s) == (0.8e12, 0.88e12)


def test_what_no_source_knows_is_absent() -> None:
    """A device without a published figure has none, with the reason, and never a guess."""
    edge = load_device("950PR_950x")
    assert edge.hbm_gb_s is None
    assert edge.absent["hbm_gb_s"] == "unknown"
    assert edge.hbm_bytes_s is None
    assert load_device("950DT_957x").l2_bytes is None


def test_an_unpublished_bandwidth_is_a_range() -> None:
    """The A3 die of the 560T package has 0.8 to 1.6 TB/s: both ends are kept, at low confidence."""
    die = load_device("910_9362")
    assert (die.hbm_bytes_s, die.hbm_max_bytes_s) == (0.8e12, 1.6e12)
    assert die.hbm_gb_s is not None
    assert die.hbm_gb_s.confidence == "low"


def test_l2_bandwidth_is_derived_from_cores_and_clock() -> None:
    """L2 read is 110 B per cycle and core: 110 x 24 x 1.8e9 = 4.752e12 on the B2; read + write is a
    figure.
    """
    device = load_device("910B2")
    assert device.l2_read_bytes_s == pytest.approx(4.752e12)
    assert device.l2_read_write_bytes_s == 7.78e12
    assert device.l2_bytes == 192 * 2**20


def test_all_socs_of_the_literature_are_there() -> None:
    """The table holds every SoC that the sources list."""
    known = {device.soc for device in all_devices()}
    assert set(PEAKS) <= known
    assert {
        "910_9391",
        "910_9382",
        "950PR_957c",
        "950PR_957d",
        "950PR_9579",
        "950PR_958a",
        "950PR_958b",
    } <= known
    assert {"950PR_950y", "950PR_950z", "950DT_958x", "950DT_959x", "310P5", "310P7"} <= known
    assert len(known) == len(all_devices())


def test_every_number_has_a_source_that_exists() -> None:
    """Every quantity of every device cites a source of sources.toml, and every file is used."""
    cited = {
        part.strip()
        for device in all_devices()
        for _, quantity in device.quantities()
        for part in quantity.source.split(",")
    }
    assert cited <= set(device_sources())
    assert len(list(DEVICE_FOLDER.glob("*.toml"))) >= 15


def test_prefetch_support_is_three_valued() -> None:
    """A2 and A3 are documented, A5 is untested (None), older parts are not supported."""
    supported = {
        soc: load_device(soc).prefetch_supported for soc in ("910B3", "910_9391", "950PR_957b", "310P3")
    }
    assert supported == {"910B3": True, "910_9391": True, "950PR_957b": None, "310P3": False}


def test_names_are_found_in_any_spelling() -> None:
    """A SoC is found with or without Ascend, in any case, by an alias, and by a wildcard of a SKU range."""
    assert load_device("Ascend910B3").soc == "910B3"
    assert load_device("ascend 910-9391").soc == "910_9391"
    assert load_device("Atlas 350").soc == "950PR_957b"
    assert load_device("950DT_9571").soc == "950DT_957x"
    assert [device.soc for device in find_devices("752T")] == ["910_9381", "910_9382"]


def test_an_alias_of_several_chips_is_refused() -> None:
    """A name that stands for several SoCs is an error that names them."""
    with pytest.raises(UnknownDevice, match="several") as refused:
        load_device("752T")
    assert "910_9381" in refused.value.hint


def test_an_unknown_name_is_refused() -> None:
    """A name that is not in the table raises, with what to do."""
    with pytest.raises(UnknownDevice, match="910X"):
        load_device("910X")


OWN = """
soc = "my-board"
title = "a board of mine"
family = "A2"
product = "A2"
prefetch = { status = "yes", source = "vendor", confidence = "low" }
cube_cores = { value = 24, unit = "cores", source = "S1", confidence = "high" }
clock_mhz = { value = 1800, unit = "MHz", source = "S1", confidence = "high" }
hbm_gb_s = { value = 1300, unit = "GB/s", source = "measured on our host", confidence = "high" }
[cube_ops_per_cycle]
fp16 = { value = 8192, unit = "ops/cycle/core", source = "S1", confidence = "high" }
[absent]
vector_cores = "not needed"
vector_clock_mhz = "not needed"
vector_ops_per_cycle = "not needed"
hbm_max_gb_s = "measured"
hbm_gib = "not needed"
l2_mib = "not needed"
l2_read_bytes_per_cycle = "not needed"
l2_write_bytes_per_cycle = "not needed"
l2_read_write_gb_s = "not needed"
gm_core_gb_s = "not needed"
on_chip_kib = "not needed"
links_gb_s = "not needed"
"""


def test_a_users_own_device_is_read() -> None:
    """A TOML text of one device is accepted; with one HBM figure the upper end is the same figure."""
    device = load_device_text(OWN)
    assert device.soc == "my-board"
    assert device.hbm_bytes_s == device.hbm_max_bytes_s == 1.3e12


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("value = 1300", "value = 0", "not a positive number"),
        ("value = 1300", "value = nan", "not a positive number"),
        ("value = 1300", "value = 1e308", "not a figure that a device can have"),
        ("value = 1300", "value = 1e-308", "not a figure that a device can have"),
        ("value = 1300", 'value = "1300"', "hbm_gb_s"),
        ('unit = "GB/s"', 'unit = "TB/s"', "expected 'GB/s'"),
        ('unit = "MHz"', 'unit = "furlongs"', "expected 'MHz'"),
        ('source = "measured on our host"', 'source = "TODO"', "placeholder"),
        ('source = "measured on our host"', 'source = "S99"', "no source S99"),
        ('source = "measured on our host", ', "", "source"),
        ('confidence = "high" }\n[cube', 'confidence = "sure" }\n[cube', "confidence"),
        ('l2_mib = "not needed"\n', "", "l2_mib: missing"),
        ('l2_mib = "not needed"', 'l2_mib = "?"', "placeholder"),
        ('hbm_gib = "not needed"', 'hbm_gb_s = "not needed"\nhbm_gib = "not needed"', "also listed in"),
        ("fp16 =", "bf16 =", "fp16 is missing"),
        ('title = "a board of mine"', 'title = "xxx"', "placeholder"),
        ('family = "A2"', 'family = "A2"\ncolour = "red"', "colour"),
        ('family = "A2"\n', "", "family"),
        ("[absent]", "[absent", "not valid TOML"),
        ("value = 24", "value = true", "cube_cores"),
    ],
)
def test_what_is_wrong_in_a_device_file_is_named(old: str, new: str, says: str) -> None:
    """A missing field, a placeholder, a wrong unit, an unknown source or key is refused with its name."""
    assert old in OWN
    with pytest.raises(UnknownDevice) as refused:
        load_device_text(OWN.replace(old, new))
    assert says in refused.value.message


def test_a_file_of_several_devices_is_no_device() -> None:
    """A group file cannot be the --device of one run."""
    text = (DEVICE_FOLDER / "910b2_938x.toml").read_text(encoding="utf-8")
    with pytest.raises(UnknownDevice, match="describes 4 devices"):
        load_device_text(text)


def test_a_device_is_a_plain_record() -> None:
    """Devices convert to plain dicts, which is how answers show them."""
    plain = dataclasses.asdict(load_device("910B2"))
    assert plain["cube_cores"]["value"] == 24
