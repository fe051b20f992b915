"""Colours can be read and told apart, in the light and in the dark theme."""

from __future__ import annotations

import pytest
from npu_roofline.reports.palette import BOUNDS, PALETTE, bound_colour, css_variable

TEXT = ("ink", "muted", "accent", "good", "bad", "warn")
THEMES = {"light": 0, "dark": 1}


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb` (WCAG 2.1): 0 black, 1 white."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours (WCAG 2.1): 1 equal, 21 black on white."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_of_black_on_white_is_21() -> None:
    """The measure itself, at its two ends."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#808080", "#808080") == 1.0


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", TEXT)
def test_text_can_be_read(theme: str, name: str) -> None:
    """Text has a contrast of at least 4.5:1 on the page, on cards and in table headers."""
    at = THEMES[theme]
    for ground in ("page", "surface", "sunken"):
        assert contrast(PALETTE[name][at], PALETTE[ground][at]) >= 4.5, ground


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("bound", [each for each in BOUNDS if each != "unknown"])
def test_marks_can_be_seen(theme: str, bound: str) -> None:
    """A bound's colour has a contrast of at least 3:1 on a card; unknown stays pale on purpose."""
    at = THEMES[theme]
    assert contrast(PALETTE[f"bound-{bound}"][at], PALETTE["surface"][at]) >= 3.0


def test_an_unheard_bound_is_drawn_as_unknown() -> None:
    """A colour is never made up; an unknown palette name is an error."""
    assert bound_colour("new") == bound_colour(None) == css_variable("bound-unknown")
    with pytest.raises(KeyError, match="pink"):
        css_variable("pink")
