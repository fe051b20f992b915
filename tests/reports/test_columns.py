"""columns.toml, tables.toml and the records they point into cannot drift apart."""

from __future__ import annotations

import dataclasses
import tomllib
import types
import typing
from importlib import resources

import pytest
from npu_roofline.analyzer import answer, answer_compare, answer_fusion, answer_links, answer_plan
from npu_roofline.reports import tables
from npu_roofline.reports.columns import Column, records, text_for

ROOMS = (answer, answer_compare, answer_fusion, answer_links, answer_plan, tables)


def record_named(name: str) -> type:
    """The record that a section of columns.toml is about."""
    return next(getattr(room, name) for room in ROOMS if hasattr(room, name))


def has_path(record: type, path: str) -> bool:
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


@pytest.mark.parametrize("name", records())
def test_every_column_points_at_a_field(name: str) -> None:
    """A renamed or removed field of an answer makes this fail, not the user's report show dashes."""
    record, spec = record_named(name), records()[name]
    missing = [path for column in spec.columns for path in column.fields if not has_path(record, path)]
    assert missing == []
    assert not spec.detail or has_path(record, spec.detail)


def test_a_path_into_nothing_is_noticed() -> None:
    """The check above can fail: a field that no record has is found."""
    assert has_path(answer.CandidateRow, "window.duration_us")
    assert not has_path(answer.CandidateRow, "window.colour")


def test_tables_name_records_that_have_columns() -> None:
    """The record that an empty table takes its columns from is declared."""
    said = tomllib.loads(resources.files("npu_roofline.reports").joinpath("tables.toml").read_text("utf-8"))
    named = [
        text_for(command, table).record
        for command, entries in said.items()
        if command not in ("silent", "order")
        for table in entries
    ]
    assert "HotspotRow" in named
    assert [name for name in named if name and name not in records()] == []


def test_an_unknown_format_names_those_that_exist() -> None:
    """A typo in columns.toml fails at load and says what could have been meant."""
    with pytest.raises(KeyError, match="signed_us"):
        Column(("x",), "x", "no such format").format  # noqa: B018


def test_units_stand_in_headers_and_numbers_at_the_right() -> None:
    """Every numeric column of a measure has a unit in its header and is right-aligned."""
    without = {"number", "number0", "id_number", "decimal"}
    for spec in records().values():
        for column in spec.columns:
            if column.numeric:
                assert column.align == "right"
                assert column.unit or column.format_name in without
