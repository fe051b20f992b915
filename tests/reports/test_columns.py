"""columns.toml and the records it points into cannot drift apart."""

from __future__ import annotations

import dataclasses
import types
import typing

import pytest
from npu_roofline.analyzer import answer
from npu_roofline.reports.columns import Column, columns_for, declared

# (command, table) -> the record of its rows; a table without an entry fails the test below.
RECORDS = {
    ("hotspots", "rows"): answer.HotspotRow,
    ("summary", "rows"): answer.SummaryRow,
    ("summary", "spread"): answer.StepSpread,
    ("summary", "steps"): answer.StepRow,
    ("summary", "idle"): answer.IdleRow,
    ("summary", "other_engines"): answer.OtherEngineRow,
    ("candidates", "rows"): answer.CandidateRow,
    ("candidates", "rejected"): answer.CandidateRow,
    ("explain", "steps"): answer.ExplainStep,
    ("explain", "walk"): answer.WalkStep,
    ("size", "rows"): answer.SizeRow,
    ("compare", "rows"): answer.CompareRow,
    ("runs", "rows"): answer.RunRow,
    ("runs", "questions"): answer.QuestionRow,
    ("runs", "ranks"): answer.RankRow,
    ("ingest", "rows"): answer.IngestRow,
    ("devices", "rows"): answer.DeviceRow,
}
TABLES = [(command, name) for command, tables in declared().items() for name in tables]


def record_at(record: type, path: str) -> bool:
    """Whether the dotted path exists in the record's fields, through optional records."""
    here: typing.Any = record
    for name in path.split("."):
        if not dataclasses.is_dataclass(here):
            return False
        hints = typing.get_type_hints(here)
        if name not in hints:
            return False
        options = typing.get_args(hints[name]) if isinstance(hints[name], types.UnionType) else (hints[name],)
        here = next((each for each in options if dataclasses.is_dataclass(each)), options[0])
    return True


@pytest.mark.parametrize(("command", "table"), TABLES)
def test_every_column_points_at_a_field(command: str, table: str) -> None:
    """A renamed or removed field of an answer makes this fail, not the user's report show dashes."""
    spec = columns_for(command, table)
    assert spec is not None
    record = RECORDS[command, table]
    missing = [path for column in spec.columns for path in column.fields if not record_at(record, path)]
    assert missing == []
    assert not spec.detail or record_at(record, spec.detail)


def test_a_path_into_nothing_is_noticed() -> None:
    """The check above can fail: a field that no record has is found."""
    assert record_at(answer.CandidateRow, "window.duration_us")
    assert not record_at(answer.CandidateRow, "window.colour")


def test_an_unknown_format_names_those_that_exist() -> None:
    """A typo in columns.toml fails at load and says what could have been meant."""
    with pytest.raises(KeyError, match="signed_us"):
        Column(("x",), "x", "no such format").format  # noqa: B018


def test_units_stand_in_headers_and_numbers_at_the_right() -> None:
    """Every numeric column of a measure has a unit in its header and is right-aligned."""
    without = {"number", "id_number", "decimal"}
    for command, table in TABLES:
        spec = columns_for(command, table)
        assert spec is not None
        for column in spec.columns:
            if column.numeric:
                assert column.align == "right"
                assert column.unit or column.format_name in without
