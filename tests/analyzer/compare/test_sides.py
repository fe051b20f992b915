"""What the user may put on one side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from npu_roofline.analyzer.compare.sides import Side, open_side, parse_side
from npu_roofline.analyzer.session import Session
from npu_roofline.errors import InputMissing, WrongUsage

from tests.analyzer.compare.made import Op, run


def one_step(name: str, steps: int = 1) -> Session:
    """A run of short steps."""
    return run([[Op("Add", 2.0)]] * steps, name)


def opener(*names: str):
    """Opens runs that exist under exactly these names."""

    @contextmanager
    def open_run(run: str, steps: str | None = None) -> Iterator[Session]:
        if run not in names:
            raise InputMissing(f"no run is named {run!r}")
        yield one_step(f"{run} at {steps}" if steps else run)

    return open_run


def test_a_comma_separates_repeats_and_a_plus_captures_of_one_step() -> None:
    """a1+b1,a2+b2 is two repeats of a step that was captured in two parts."""
    assert parse_side("a1+b1, a2+b2") == (("a1", "b1"), ("a2", "b2"))
    assert parse_side("plain") == (("plain",),)


@pytest.mark.parametrize("text", ["", "a,", "+a", "a++b", "@3", "a,@2"])
def test_an_empty_name_is_wrong_usage(text: str) -> None:
    """A separator without a run beside it is refused with what to write instead."""
    with pytest.raises(WrongUsage, match="names no run"):
        parse_side(text)


def test_a_run_that_is_named_with_a_plus_is_found_first() -> None:
    """A run called b8+b1 is that run, not two."""
    with open_side("b8+b1", opener("b8+b1", "b8", "b1")) as side:
        assert [session.run.name for session in side.sessions] == ["b8+b1"]


def test_both_captures_of_a_step_are_opened() -> None:
    """b8+b1 opens both and makes one step of them."""
    with open_side("b8+b1", opener("b8", "b1")) as side:
        assert side.name == "b8+b1"
        assert [step.step_ids for step in side.steps()] == [(1, 1)]
        assert side.steps()[0].text == "step 1+1 of b8+b1"


def test_some_steps_of_a_run_are_chosen_behind_the_at_sign() -> None:
    """Steps may be given for each run: a@1-2,b@3; a run that is named with an at sign is found first."""
    with open_side("a@1-2,b@3", opener("a", "b")) as side:
        assert side.name == "a@1-2,b@3"
        assert [session.run.name for session in side.sessions] == ["a at 1-2", "b at 3"]
    with open_side("a@1", opener("a", "a@1")) as side:
        assert [session.run.name for session in side.sessions] == ["a@1"]


def test_a_missing_run_says_which() -> None:
    """The name that does not exist is the one in the message."""
    with pytest.raises(InputMissing, match="'nowhere'"), open_side("nowhere", opener("a")):
        pass
    with pytest.raises(InputMissing, match="'b'"), open_side("a,b", opener("a")):
        pass


def test_steps_of_repeats_are_counted_on() -> None:
    """Two runs of two steps are four steps, each with its own run."""
    side = Side(((one_step("a", 2),), (one_step("b", 2),)))
    assert [(step.number, step.run, step.step_ids) for step in side.steps()] == [
        (0, "a", (1,)),
        (1, "a", (2,)),
        (2, "b", (1,)),
        (3, "b", (2,)),
    ]


def test_captures_of_different_lengths_make_no_steps() -> None:
    """Joined captures with 1 and 2 steps cannot be zipped: said with both numbers."""
    with pytest.raises(WrongUsage, match="a has 1, b has 2"):
        Side(((one_step("a"), one_step("b", 2)),)).steps()


def test_repeats_are_joined_alike() -> None:
    """One repeat of two captures and one of one capture do not measure the same."""
    with pytest.raises(WrongUsage, match="different numbers of captures"):
        Side(((one_step("a"), one_step("b")), (one_step("c"),))).steps()
