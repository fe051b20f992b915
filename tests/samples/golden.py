"""Golden answers: three literals (profile, question, expected table), compared both ways."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Between:
    """A number from `low` to `high`, both included."""

    low: float
    high: float

    def matches(self, found: Any) -> bool:
        """Whether `found` is a number in the range."""
        return _is_number(found) and self.low <= found <= self.high


@dataclass(frozen=True)
class Says:
    """A text, or a list of texts, that holds every one of the words, whatever their case."""

    words: tuple[str, ...]

    def matches(self, found: Any) -> bool:
        """Whether every word occurs."""
        text = " ".join(map(str, found)) if isinstance(found, list) else str(found)
        return all(word.lower() in text.lower() for word in self.words)


@dataclass(frozen=True)
class OneOf:
    """Any of several values, where the requirements leave the choice."""

    values: tuple[Any, ...]

    def matches(self, found: Any) -> bool:
        """Whether `found` agrees with one of them."""
        return any(agrees(value, found) for value in self.values)


@dataclass(frozen=True)
class Golden:
    """What a question must answer on a profile.

    `question` is a command line without database, run and format. The first line of `table` names the
    columns, which may reach into nested values (`window.dependency`, `window.kernels[].type`); cells are
    written as `cell` reads them. The first `keys` columns identify a row; with 0 a row is found by agreeing
    as a whole, each expected row once. The table holds all rows of the answer's `part` that agree with
    `where`.
    """

    profile: str
    question: str
    table: str
    keys: int = 1
    part: str = "rows"
    where: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._lines[0]

    @cached_property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """The expected rows, each cell as a value or a matcher."""
        return tuple(tuple(cell(text) for text in line) for line in self._lines[1:])

    @cached_property
    def _lines(self) -> list[tuple[str, ...]]:
        lines = [line.strip() for line in self.table.strip().splitlines()]
        kept = [line for line in lines if line and not line.startswith("#")]
        return [tuple(text.strip() for text in line.strip("|").split("|")) for line in kept]

    def __str__(self) -> str:
        return f"{self.profile}: {self.question}: {self.part}"


_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e\d+)?"


def cell(text: str) -> Any:
    """One cell: `null`, `true`, `7`, `7.5±0.1`, `1..2`, `[A, B]`, `~words, of a text`, `x or y`, plain text.

    A text that would read as something else stands in double quotes.
    """
    if text in ("null", "true", "false"):
        return {"null": None, "true": True, "false": False}[text]
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    if text.startswith("~"):
        return Says(tuple(word.strip() for word in text[1:].split(",")))
    if " or " in text:
        return OneOf(tuple(cell(part) for part in text.split(" or ")))
    if text.startswith("["):
        return tuple(part.strip() for part in text[1:-1].split(",") if part.strip())
    if near := re.fullmatch(f"({_NUMBER})±({_NUMBER})", text):
        value, within = map(float, near.groups())
        return Between(value - within, value + within)
    if between := re.fullmatch(f"({_NUMBER})[.][.]({_NUMBER})", text):
        return Between(*map(float, between.groups()))
    return float(text) if re.fullmatch(_NUMBER, text) else text


def differences(golden: Golden, answer: Mapping[str, Any]) -> list[str]:
    """Every way in which the answer is not the golden one; empty when they agree."""
    if golden.part not in answer:
        return [f"the answer has no {golden.part}"]
    widths = {len(row) for row in golden.rows} - {len(golden.columns)}
    if widths:
        return [f"the expected table has rows of {widths} cells under {len(golden.columns)} columns"]
    found = [row for row in answer[golden.part] if _selected(golden, row)]
    if golden.keys == 0:
        return _unkeyed_differences(golden, found)
    expected = {row[: golden.keys]: row for row in golden.rows}
    if len(expected) < len(golden.rows):
        return ["two expected rows have one key"]
    wrong: list[str] = []
    seen: set[tuple] = set()
    for row in found:
        key = tuple(_hashable(value_at(row, column)) for column in golden.columns[: golden.keys])
        if key in seen:
            wrong.append(f"{key}: twice in the answer")
        elif key not in expected:
            wrong.append(f"{key}: not expected")
        else:
            wrong += _row_differences(golden, key, expected[key], row)
        seen.add(key)
    return wrong + [f"{key}: missing" for key in expected if key not in seen]


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _unkeyed_differences(golden: Golden, found: Sequence[Mapping[str, Any]]) -> list[str]:
    left = list(golden.rows)
    wrong: list[str] = []
    for row in found:
        for wanted in left:
            if not _row_differences(golden, (), wanted, row):
                left.remove(wanted)
                break
        else:
            wrong.append(f"not expected: {tuple(value_at(row, column) for column in golden.columns)}")
    return wrong + [f"missing: {row}" for row in left]


def _selected(golden: Golden, row: Mapping[str, Any]) -> bool:
    return all(agrees(wanted, value_at(row, column)) for column, wanted in golden.where.items())


def _row_differences(
    golden: Golden, key: tuple, expected: Sequence[Any], row: Mapping[str, Any]
) -> list[str]:
    wrong = []
    for column, wanted in zip(golden.columns, expected, strict=True):
        found = value_at(row, column)
        if not agrees(wanted, found):
            wrong.append(f"{key}: {column} is {found!r}, expected {wanted!r}")
    return wrong


def agrees(wanted: Any, found: Any) -> bool:
    """Whether a found value is the wanted one; numbers by value, everything else by kind and value."""
    if found is ABSENT:
        return False
    if isinstance(wanted, Between | Says | OneOf):
        return wanted.matches(found)
    if isinstance(wanted, tuple):
        return isinstance(found, list) and list(wanted) == found
    if _is_number(wanted) and _is_number(found):
        return wanted == found
    return type(wanted) is type(found) and wanted == found


def _is_number(value: Any) -> bool:
    # True is 1 to Python, but not to a reader of JSON.
    return isinstance(value, int | float) and not isinstance(value, bool)


class _Absent:
    def __repr__(self) -> str:
        return "no such column"


ABSENT = _Absent()


def value_at(row: Any, path: str) -> Any:
    """The value at a dotted path; `[]` maps the rest over a list. A missing name is absent, not None."""
    head, _, rest = path.partition(".")
    name = head.removesuffix("[]")
    if row is None:
        return None
    if not isinstance(row, Mapping) or name not in row:
        return ABSENT
    value = row[name]
    if head.endswith("[]"):
        return [value_at(each, rest) if rest else each for each in value]
    return value_at(value, rest) if rest else value
