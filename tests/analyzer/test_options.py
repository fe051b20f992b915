"""Thresholds: a config file lays checked values over the defaults, and says what is wrong with it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from npu_roofline.analyzer.config import read_config
from npu_roofline.analyzer.options import AnalysisOptions, options_from_mapping
from npu_roofline.errors import InputMissing, WrongUsage


def _config(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "thresholds.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_everything_is_the_default() -> None:
    """No --config gives the defaults of both option classes."""
    assert read_config(None).analysis == AnalysisOptions()


def test_every_default_lies_in_its_own_range_and_has_a_reason() -> None:
    """A default that the check would refuse, or one without a source, is a mistake."""
    for each in fields(AnalysisOptions):
        assert each.metadata["low"] <= each.default <= each.metadata["high"], each.name
        assert len(each.metadata["source"].split()) >= 3, each.name


def test_a_file_sets_what_it_names(tmp_path: Path) -> None:
    """An option of the questions and one of the labels change, the rest stays."""
    path = _config(tmp_path, "[analysis]\nt_lat_us = 3\n[roofline]\nlaunch_us = 4.5\n")
    thresholds = read_config(path)
    assert (thresholds.analysis.t_lat_us, thresholds.roofline.launch_us) == (3.0, 4.5)
    assert thresholds.analysis.eta == AnalysisOptions().eta


def test_the_achievable_hbm_share_is_set_once(tmp_path: Path) -> None:
    """eff_hbm in [roofline] holds for the questions too, unless [analysis] sets its own."""
    assert read_config(_config(tmp_path, "[roofline]\neff_hbm = 0.8\n")).analysis.eff_hbm == 0.8
    both = _config(tmp_path, "[roofline]\neff_hbm = 0.8\n[analysis]\neff_hbm = 0.7\n")
    assert read_config(both).analysis.eff_hbm == 0.7


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[analysis]\ntlat_us = 3\n", "tlat_us"),
        ("[analysis]\nt_lat_us = 'x'\n", "t_lat_us"),
        ("[analysis]\nt_lat_us = true\n", "t_lat_us"),
        ("[analysis]\nalign_bytes = 1.5\n", "align_bytes"),
        ("[analysis]\neta = 0\n", "eta"),
        ("[analysis]\neta = 0.95\n", "eta_low <= eta <= eta_high"),
        ("[analysys]\n", "analysys"),
        ("eta = 0.5\n", "eta"),
        ("[analysis\n", "not valid TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path: Path, text: str, named: str) -> None:
    """Unknown keys, wrong types, values out of range and broken TOML are refused by name, with the file."""
    with pytest.raises(WrongUsage) as caught:
        read_config(_config(tmp_path, text))
    assert named in caught.value.message
    assert "thresholds.toml" in caught.value.message


def test_a_missing_file_is_missing_input(tmp_path: Path) -> None:
    """A path that is not there is not a usage error of the option."""
    with pytest.raises(InputMissing):
        read_config(tmp_path / "none.toml")


def test_not_a_number_is_refused() -> None:
    """TOML knows nan; a threshold that compares false with everything would switch a rule off unseen."""
    with pytest.raises(WrongUsage):
        options_from_mapping({"t_lat_us": float("nan")}, "a test")
