"""The golden comparison itself goes red for every kind of breakage."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.samples.golden import Between, Golden, Near, OneOf, differences, says

GOLDEN = Golden(
    profile="any",
    question="hotspots",
    columns=("type", "count", "median_us", "reason", "window.kernels[].type", "limit"),
    rows=(
        ("MatMul", 4, Near(10.0, 0.1), says("hbm", "80 %"), ("Cast", "Add"), None),
        ("Cast", 2, 1.5, "launch", (), 7),
    ),
)


def answer() -> dict[str, Any]:
    """An answer that is as the golden one says, made anew for each test."""
    return {
        "rows": [
            {
                "type": "Cast",
                "count": 2,
                "median_us": 1.5,
                "reason": "launch",
                "window": {"kernels": []},
                "limit": 7,
            },
            {
                "type": "MatMul",
                "count": 4,
                "median_us": 10.05,
                "reason": "80 % of HBM",
                "window": {"kernels": [{"type": "Cast"}, {"type": "Add"}]},
                "limit": None,
            },
        ]
    }


def test_an_answer_that_agrees_has_no_difference() -> None:
    """Rows may come in any order; ranges, texts, lists, None and equal values agree."""
    assert differences(GOLDEN, answer()) == []


def test_a_missing_row_is_found() -> None:
    """A row that should be there and is not is a difference."""
    short = {"rows": answer()["rows"][1:]}
    assert differences(GOLDEN, short) == ["('Cast',): missing"]


def test_an_extra_row_is_found() -> None:
    """A row that nobody expects is a difference."""
    long = {"rows": [*answer()["rows"], {**answer()["rows"][0], "type": "Add"}]}
    assert differences(GOLDEN, long) == ["('Add',): not expected"]


def test_a_row_that_comes_twice_is_found() -> None:
    """The same key twice is a difference, also when both rows agree."""
    twice = {"rows": [*answer()["rows"], answer()["rows"][0]]}
    assert differences(GOLDEN, twice) == ["('Cast',): twice in the answer"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("count", 5),
        ("count", 4.0),
        ("count", "4"),
        ("count", None),
        ("count", True),
        ("median_us", 10.2),
        ("median_us", 9.8),
        ("median_us", None),
        ("median_us", "10"),
        ("reason", "80 % of L2"),
        ("reason", None),
        ("limit", 0),
        ("limit", ""),
        ("limit", False),
        ("window", {"kernels": [{"type": "Add"}, {"type": "Cast"}]}),
        ("window", {"kernels": [{"type": "Cast"}]}),
        ("window", None),
        ("window", {"kernels": [{"name": "Cast"}, {"type": "Add"}]}),
    ],
)
def test_a_changed_value_is_found(column: str, value: Any) -> None:
    """Each column is compared by value and kind: unknown is not zero, order counts, a number is no text."""
    changed = answer()
    changed["rows"][1][column] = value
    found = differences(GOLDEN, changed)
    assert len(found) == 1
    assert column in found[0]


@pytest.mark.parametrize("column", ["count", "median_us", "reason", "window", "limit"])
def test_a_missing_column_is_found(column: str) -> None:
    """A column that is gone is a difference, also where the expected value is None."""
    changed = answer()
    del changed["rows"][1][column]
    assert [column in each and "no such column" in each for each in differences(GOLDEN, changed)] == [True]


def test_a_missing_part_is_found() -> None:
    """An answer without the part that the golden row stands in is a difference."""
    assert differences(replace(GOLDEN, part="steps"), answer()) == ["the answer has no steps"]


def test_expected_rows_with_one_key_are_refused() -> None:
    """Two expected rows that cannot be told apart would hide a missing one."""
    assert differences(replace(GOLDEN, rows=GOLDEN.rows + GOLDEN.rows[:1]), answer()) != []


def test_rows_outside_the_selection_do_not_count() -> None:
    """`where` narrows the answer; inside it rows are compared both ways."""
    only = replace(GOLDEN, rows=GOLDEN.rows[1:], where={"type": "Cast"})
    assert differences(only, answer()) == []
    assert differences(replace(only, rows=()), answer()) == ["('Cast',): not expected"]
    assert differences(replace(GOLDEN, where={"gone": None}), answer()) == [
        "('MatMul',): missing",
        "('Cast',): missing",
    ]


def test_ranges_include_their_ends() -> None:
    """Between and Near accept their ends and nothing beyond; OneOf accepts its values only."""
    assert [Between(1, 2).matches(x) for x in (0.99, 1, 2, 2.01, None)] == [False, True, True, False, False]
    assert [Near(5, 1).matches(x) for x in (3.9, 4, 6, 6.1)] == [False, True, True, False]
    assert [OneOf((1, "a")).matches(x) for x in (1, "a", 2)] == [True, True, False]
