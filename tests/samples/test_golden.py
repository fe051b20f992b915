"""The golden comparison itself goes red for every kind of breakage."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.samples.golden import Between, Golden, OneOf, Says, cell, differences

GOLDEN = Golden(
    profile="any",
    question="hotspots",
    table="""
    type   | count | median_us | reason     | window.kernels[].type | limit
    # a comment
    MatMul | 4     | 10.0±0.1  | ~hbm, 80 % | [Cast, Add]           | null
    Cast   | 2     | 1.5       | launch     | []                    | 7
    """,
)


def answer() -> dict[str, Any]:
    """An answer that is as the golden one says, made anew for each test."""
    cast = {"type": "Cast", "count": 2, "median_us": 1.5, "reason": "launch", "limit": 7}
    product = {"type": "MatMul", "count": 4, "median_us": 10.05, "reason": "80 % of HBM", "limit": None}
    kernels = [{"type": "Cast"}, {"type": "Add"}]
    return {"rows": [cast | {"window": {"kernels": []}}, product | {"window": {"kernels": kernels}}]}


def test_an_answer_that_agrees_has_no_difference() -> None:
    """Rows may come in any order; ranges, texts, lists, None and equal values agree."""
    assert differences(GOLDEN, answer()) == []


def test_a_missing_row_is_found() -> None:
    """A row that should be there and is not is a difference."""
    assert differences(GOLDEN, {"rows": answer()["rows"][1:]}) == ["('Cast',): missing"]


def test_an_extra_row_is_found() -> None:
    """A row that nobody expects is a difference."""
    long = {"rows": [*answer()["rows"], {**answer()["rows"][0], "type": "Add"}]}
    assert differences(GOLDEN, long) == ["('Add',): not expected"]


def test_a_row_that_comes_twice_is_found() -> None:
    """The same key twice is a difference, also when both rows agree."""
    twice = {"rows": [*answer()["rows"], answer()["rows"][0]]}
    assert differences(GOLDEN, twice) == ["('Cast',): twice in the answer"]


@pytest.mark.parametrize("value", [5, "4", None, True, [4]])
def test_a_changed_count_is_found(value: Any) -> None:
    """A number is compared by value and never with a text, a truth or nothing."""
    assert_one_difference("count", value)


@pytest.mark.parametrize("value", [10.2, 9.8, None, "10", True])
def test_a_time_out_of_range_is_found(value: Any) -> None:
    """A range holds numbers only, and only those within it."""
    assert_one_difference("median_us", value)


@pytest.mark.parametrize("value", ["80 % of L2", "hbm", None, ""])
def test_a_reason_that_lacks_a_word_is_found(value: Any) -> None:
    """Every word must occur."""
    assert_one_difference("reason", value)


@pytest.mark.parametrize("value", [0, "", False])
def test_unknown_is_not_zero(value: Any) -> None:
    """Where nothing is known, a zero or an empty text is a difference."""
    assert_one_difference("limit", value)


@pytest.mark.parametrize(
    "kernels", [["Add", "Cast"], ["Cast"], ["Cast", "Add", "Add"], [], ["Cast", None]], ids=str
)
def test_a_changed_list_is_found(kernels: list[str]) -> None:
    """A list is compared in order and length."""
    assert_one_difference("window", {"kernels": [{"type": kernel} for kernel in kernels]})


@pytest.mark.parametrize("window", [None, {}, {"kernels": [{"name": "Cast"}, {"type": "Add"}]}], ids=str)
def test_a_missing_nested_value_is_found(window: Any) -> None:
    """A path that leads nowhere is a difference, not an empty value."""
    assert_one_difference("window", window)


def assert_one_difference(column: str, value: Any) -> None:
    """Puts `value` into one column of the product's row; exactly that column must be named."""
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
    """An answer without the part that the table stands for is a difference."""
    assert differences(replace(GOLDEN, part="steps"), answer()) == ["the answer has no steps"]


def test_a_broken_table_is_found() -> None:
    """A row with too few cells, and two rows of one key, would hide a difference: both are refused."""
    assert differences(replace(GOLDEN, table=GOLDEN.table + "\nAdd | 1"), answer()) != []
    last = GOLDEN.table.strip().splitlines()[-1]
    assert differences(replace(GOLDEN, table=f"{GOLDEN.table}\n{last}"), answer()) != []


def test_rows_outside_the_selection_do_not_count() -> None:
    """`where` narrows the answer; inside it rows are compared both ways."""
    lines = GOLDEN.table.strip().splitlines()
    only = replace(GOLDEN, table="\n".join([lines[0], lines[-1]]), where={"type": "Cast"})
    assert differences(only, answer()) == []
    assert differences(replace(only, table=lines[0]), answer()) == ["('Cast',): not expected"]
    assert len(differences(replace(GOLDEN, where={"gone": None}), answer())) == 2


def test_rows_without_a_key_are_matched_as_wholes() -> None:
    """Without a key each expected row is used once: a changed, extra, doubled or missing row is found."""
    whole = replace(GOLDEN, keys=0)
    rows = answer()["rows"]
    assert differences(whole, {"rows": rows}) == []
    assert len(differences(whole, {"rows": [*rows, rows[0]]})) == 1
    assert len(differences(whole, {"rows": rows[:1]})) == 1
    assert len(differences(whole, {"rows": [rows[0], {**rows[1], "count": 5}]})) == 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        ("7", 7),
        ("-2.50", -2.5),
        ("10±0.5", Between(9.5, 10.5)),
        ("1..2.5", Between(1, 2.5)),
        ("1e3..2e3", Between(1000, 2000)),
        ("[A, B]", ("A", "B")),
        ("[]", ()),
        ("~hbm, 80 %", Says(("hbm", "80 %"))),
        ("launch or pipeline", OneOf(("launch", "pipeline"))),
        ("5 or null", OneOf((5, None))),
        ("4,3072;384,192", "4,3072;384,192"),
        ('"4"', "4"),
        ("", ""),
    ],
)
def test_a_cell_reads_as_written(text: str, value: Any) -> None:
    """Each form of a cell becomes the value or the matcher that it looks like."""
    assert cell(text) == value


def test_ranges_include_their_ends() -> None:
    """A range accepts its ends and nothing beyond."""
    assert [Between(1, 2).matches(x) for x in (0.99, 1, 2, 2.01, None)] == [False, True, True, False, False]
