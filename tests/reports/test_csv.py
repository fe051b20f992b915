"""CSV: one rectangular table with every field, that other tools read back."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from npu_roofline.analyzer.answer import Answer
from npu_roofline.reports.render import render

from tests.reports.answers import (
    GATE_UP,
    UNKNOWN,
    candidates_answer,
    explain_answer,
    hotspots_answer,
    summary_answer,
)


def read(answer: Answer) -> list[dict[str, str]]:
    """The CSV as rows by column name."""
    return list(csv.DictReader(io.StringIO(render(answer, "csv"))))


def test_numbers_come_back_as_they_were() -> None:
    """No rounding and no thousands separators: a spreadsheet and pandas read the value itself."""
    row = read(hotspots_answer())[0]
    assert float(row["median_us"]) == GATE_UP.median_us
    assert int(row["weight_bytes"]) == 37748736
    assert row["input_shapes"] == "4,3072;384,192,16,32;12288"


def test_a_negative_number_is_no_formula() -> None:
    """The formula guard is for text: -1.5 stays a number."""
    assert read(hotspots_answer(replace(GATE_UP, headroom_us=-1.5)))[0]["headroom_us"] == "-1.5"


def test_unknown_is_an_empty_cell() -> None:
    """What is not known has no value; it is not 0 and not the word None."""
    row = read(hotspots_answer(UNKNOWN))[0]
    assert row["flops"] == ""
    assert row["input_shapes"] == ""


def test_nested_records_have_dotted_columns() -> None:
    """The window of a candidate is spread into columns, its kernels are JSON."""
    row = read(candidates_answer())[0]
    assert row["window.duration_us"] == "43.2"
    assert row["max_size_terms.limited_by"] == "coefficient"
    assert '"MoeDistributeCombineV2"' in row["window.kernels"]


def test_several_tables_say_which_row_is_whose() -> None:
    """Steps and idle stretches follow the rows of a summary, told apart by the first column."""
    rows = read(summary_answer())
    assert [row["table"] for row in rows] == ["rows"] * 3 + ["spread"] + ["steps"] * 3 + ["idle"]
    assert [row["wall_us"] for row in rows if row["table"] == "steps"] == ["25626.0", "10666.0", "10718.0"]
    assert {row["table"] for row in read(explain_answer())} == {"rows", "steps"}


def test_an_empty_answer_still_has_its_header() -> None:
    """A filter that matches nothing gives a file with a header, not an empty file."""
    text = render(Answer("hotspots", None, None, None, (), ()), "csv")
    assert text.startswith("id,type,input_shapes")
    assert text.count("\n") == 1
