"""--steps: which text selects which steps, and what is said when there is none."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.steps import name_steps, parse_steps
from npu_roofline.errors import InputMissing, WrongUsage


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("4", (4,)),
        ("4,6", (4, 6)),
        ("3-5", (3, 4, 5)),
        ("6, 3-4", (3, 4, 6)),
        ("0-9", (3, 4, 5, 6)),
        ("4,4", (4,)),
    ],
)
def test_steps_are_single_numbers_and_ranges(text: str, steps: tuple[int, ...]) -> None:
    """A range takes the steps that exist in it; the result is ascending and without repeats."""
    assert parse_steps(text, (3, 4, 5, 6)) == steps


@pytest.mark.parametrize("text", ["", "x", "4;5", "5-3", "-1", "4-", "1.5", "٣"])
def test_other_text_is_wrong_usage(text: str) -> None:
    """Anything but numbers, commas and ranges is refused with an example of what is meant."""
    with pytest.raises(WrongUsage):
        parse_steps(text, (3, 4))


def test_a_missing_step_names_the_steps_there_are() -> None:
    """Step 9 of a rank with steps 3 to 7: the hint says 3-7."""
    with pytest.raises(InputMissing) as caught:
        parse_steps("4,9", (3, 4, 5, 6, 7))
    assert "no step 9" in caught.value.message
    assert "3-7" in caught.value.hint


def test_steps_are_named_as_ranges_and_cut() -> None:
    """Consecutive ids become a range; more than twelve ranges are cut and counted."""
    assert name_steps((3, 4, 5, 9)) == "3-5, 9"
    assert name_steps(()) == "none"
    assert name_steps(range(0, 40, 2)).endswith("and 8 more")
