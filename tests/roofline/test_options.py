"""Thresholds are data with a reason, and a user's file is checked."""

from __future__ import annotations

from dataclasses import fields

import pytest
from npu_roofline.errors import WrongUsage
from npu_roofline.roofline.options import RooflineOptions, options_from_mapping


def test_every_threshold_has_a_reason_and_lies_in_its_range() -> None:
    """Each option states where its default comes from, and the default is allowed."""
    for option in fields(RooflineOptions):
        assert len(option.metadata["source"].split()) >= 4, option.name
        assert option.metadata["low"] <= option.default <= option.metadata["high"], option.name


def test_values_are_laid_over_the_defaults() -> None:
    """What the file sets changes, everything else stays; integers are taken for fractions."""
    options = options_from_mapping({"near_roof": 0.75, "launch_us": 4}, "my.toml")
    assert (options.near_roof, options.launch_us, options.pipe_bound) == (0.75, 4.0, 0.8)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"near_rof": 0.8}, "unknown option 'near_rof'"),
        ({"near_roof": 80}, "lies between"),
        ({"near_roof": "0.8"}, "takes a number"),
        ({"near_roof": True}, "takes a number"),
        ({"single_pass_rows": 12.5}, "takes an integer"),
        ({"near_roof": float("nan")}, "lies between"),
    ],
)
def test_wrong_values_are_named(values: dict, says: str) -> None:
    """Unknown names, wrong types and values out of range are usage errors that name the file."""
    with pytest.raises(WrongUsage) as refused:
        options_from_mapping(values, "my.toml")
    assert says in f"{refused.value.message} {refused.value.hint}"
    assert "my.toml" in refused.value.message
