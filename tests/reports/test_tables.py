"""An answer as tables: which there are, in which order, with which columns, and what is left out."""

from __future__ import annotations

from dataclasses import replace

from npu_roofline.analyzer.answer import Answer, CriterionRow, StepComparison, StepTimes, Verdict
from npu_roofline.reports.formats import format_named
from npu_roofline.reports.render import render
from npu_roofline.reports.tables import facts_of, table, tables_of

from tests.reports.answers import GATE_UP, UNKNOWN, hotspots_answer, step_row, summary_answer


def names(answer: Answer) -> list[str]:
    """The names of an answer's tables, in order."""
    return [each.name for each in tables_of(answer)]


def times(wall: float) -> StepTimes:
    """A side of three steps, half of which is idle."""
    half = wall / 2
    return StepTimes(3, wall, half, half, wall, half, half)


def comparison() -> Answer:
    """A compare answer with a step, a verdict and what people are not shown."""
    verdict = Verdict("accepted", (CriterionRow("step faster", -5.0, -1.0, "%", True),), (), "keep it")
    step = StepComparison(
        times(100.0), times(95.0), -5.0, -2.5, -2.5, wall_change="faster", why="beyond noise"
    )
    extras = {"sentence": "The step is faster.", "sides": ("a", "b"), "verdict": verdict, "step": step}
    return Answer("compare", None, None, None, (), (), extras)


def test_rows_come_first_and_extras_follow() -> None:
    """The answer to the question stands before its side tables."""
    assert names(summary_answer()) == ["summary-rows", "summary-spread", "summary-steps", "summary-idle"]


def test_a_least_value_is_marked_as_one() -> None:
    """Experts of which only those hit are read: the bandwidth from one expert is a least value, ≥, and sorts
    by its number.
    """
    bounded = replace(GATE_UP, outcome="upper_bound", achieved_gb_s=370.0, hbm_fraction=0.23)
    made = table("hotspots", "rows", (bounded, replace(GATE_UP, outcome="resolved", achieved_gb_s=1279.0)))
    at = [column.fields[0] for column in made.columns].index("achieved_gb_s")
    assert [(row[at].text, row[at].number) for row in made.rows] == [("≥ 370", 370.0), ("1,279", 1279.0)]


def test_a_command_may_put_other_tables_first() -> None:
    """compare answers with the step and the verdict; the kernels come after them."""
    assert names(comparison()) == [
        "compare-step",
        "compare-verdict",
        "compare-verdict_criteria",
        "compare-rows",
    ]


def test_a_step_comparison_is_three_rows() -> None:
    """Before, after and the change: 100, 95 and -5 us, with the verdict on the change as its note."""
    sides = tables_of(comparison())[0]
    assert [[cell.text for cell in row][:3] for row in sides.rows] == [
        ["before", "3", "100.0"],
        ["after", "3", "95.0"],
        ["change", None, "-5.0"],
    ]
    assert sides.rows[2][-1].text == "faster; beyond noise"


def test_what_is_said_elsewhere_is_not_repeated() -> None:
    """The sentence is the headline and the sides are in it; neither is listed again."""
    assert facts_of(comparison()) == ()
    assert render(comparison(), "table").startswith("The step is faster.\n")


def test_plain_extras_are_listed() -> None:
    """A plain value that is not said elsewhere appears by name; a list is joined."""
    answer = replace(hotspots_answer(), extras={"left": 3, "why": ("a", "b"), "none": None})
    assert facts_of(answer) == (("left", "3"), ("why", "a, b"))


def test_a_plain_extra_that_is_a_note_is_listed_once() -> None:
    """Why nothing is proposed stands in the notes; it is not printed a second time above them."""
    why = "Nothing is proposed: no decode step is selected."
    answer = replace(hotspots_answer(), extras={"stopped": why}, notes=(why,))
    assert facts_of(answer) == ()
    assert render(answer, "table", 200).count("no decode step is selected") == 1


def test_the_spread_of_one_step_is_left_out() -> None:
    """With a single step its medians are the step itself, which the steps table shows."""
    answer = summary_answer()
    spread = replace(answer.extras["spread"], steps=1)
    shown = tables_of(replace(answer, extras=answer.extras | {"spread": spread}))
    assert [each.name for each in shown if each.rows] == ["summary-rows", "summary-steps", "summary-idle"]


def test_columns_without_any_value_are_left_out() -> None:
    """A capture without shapes has no bandwidth column; one row with a value brings it back."""

    def headers(*rows: object) -> list[str]:
        return [column.fields[0] for column in table("hotspots", "rows", rows).columns]

    assert "achieved_gb_s" not in headers(UNKNOWN)
    assert "achieved_gb_s" in headers(UNKNOWN, GATE_UP)


def test_a_cap_counts_what_it_leaves_out() -> None:
    """Two of five rows are shown, three are counted."""
    capped = table("summary", "steps", [step_row(at, 100.0) for at in range(5)], cap=2)
    assert (len(capped.rows), capped.omitted) == (2, 3)


def test_a_long_terminal_table_is_cut_and_counted() -> None:
    """compare shows 10 kernels in a terminal and says how many more there are; Markdown has all 50."""
    row = {"change": "same", "type": "MatMul"}
    answer = Answer("compare", None, None, None, tuple(row | {"position": at} for at in range(50)))
    assert "… and 40 more rows" in render(answer, "table")
    assert render(answer, "md").count("| same |") == 50


def test_columns_of_a_query_follow_from_its_rows() -> None:
    """Names are taken as they are, a dot in a name included; numbers alone are right-aligned."""
    rows = ({"a.b": 1, "c": "x"}, {"a.b": None, "c": 2})
    made = table("query", "rows", rows)
    assert [(column.header, column.align) for column in made.columns] == [("a.b", "right"), ("c", "left")]
    assert [[cell.text for cell in row] for row in made.rows] == [["1", "x"], [None, "2"]]


def test_a_single_long_record_is_read_down() -> None:
    """Seven fields of one row are seven lines of name and value."""
    made = table("query", "rows", ({f"f{at}": at for at in range(7)},))
    assert [row[0].text for row in made.rows] == [f"f{at}" for at in range(7)]


def test_numbers_of_explain_have_human_names() -> None:
    """`u_hbm_hi` 0.799 is a share of a roof, not a variable; a name without words keeps its own."""
    printed = format_named("numbers").print({"u_hbm_hi": 0.799, "floor_us": 21.1, "aic_mac": 0.119})
    assert printed == "share of HBM roof at most 79.9 %, cannot be beaten 21.10 us, aic mac 0.119"
