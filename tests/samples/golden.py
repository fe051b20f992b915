"""Golden answers: three literals (profile, question, expected rows) and a comparison that works both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Near:
    """A number within `within` of `value`, both in the column's unit."""

    value: float
    within: float

    def matches(self, found: Any) -> bool:
        """Whether `found` is a number close enough."""
        return isinstance(found, int | float) and abs(found - self.value) <= self.within


@dataclass(frozen=True)
class Between:
    """A number from `low` to `high`, both included."""

    low: float
    high: float

    def matches(self, found: Any) -> bool:
        """Whether `found` is a number in the range."""
        return isinstance(found, int | float) and self.low <= found <= self.high


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
        """Whether `found` is one of them."""
        return found in self.values


def says(*words: str) -> Says:
    """A text that holds every one of `words`."""
    return Says(words)


@dataclass(frozen=True)
class Golden:
    """What a question must answer on a profile.

    `question` is a command line without database, run and format. `columns` may reach into nested values
    (`window.dependency`, `window.kernels[].type`); the first `keys` of them identify a row. `rows` are all
    rows of the answer's `part` for which every column in `where` has the given value.
    """

    profile: str
    question: str
    columns: tuple[str, ...]
    rows: tuple[tuple, ...]
    keys: int = 1
    part: str = "rows"
    where: Mapping[str, Any] = field(default_factory=dict)


def differences(golden: Golden, answer: Mapping[str, Any]) -> list[str]:
    """Every way in which the answer is not the golden one; empty when they agree."""
    if golden.part not in answer:
        return [f"the answer has no {golden.part}"]
    found = [row for row in answer[golden.part] if _selected(golden, row)]
    expected = {row[: golden.keys]: row for row in golden.rows}
    if len(expected) < len(golden.rows):
        return ["two expected rows have one key"]
    wrong: list[str] = []
    seen: set[tuple] = set()
    for row in found:
        key = tuple(_value(row, column) for column in golden.columns[: golden.keys])
        key = tuple(tuple(part) if isinstance(part, list) else part for part in key)
        if key in seen:
            wrong.append(f"{key}: twice in the answer")
        elif key not in expected:
            wrong.append(f"{key}: not expected")
        else:
            wrong += _row_differences(golden, key, expected[key], row)
        seen.add(key)
    return wrong + [f"{key}: missing" for key in expected if key not in seen]


def _selected(golden: Golden, row: Mapping[str, Any]) -> bool:
    return all(_agrees(wanted, _value(row, column)) for column, wanted in golden.where.items())


def _row_differences(
    golden: Golden, key: tuple, expected: Sequence[Any], row: Mapping[str, Any]
) -> list[str]:
    wrong = []
    for column, wanted in zip(golden.columns, expected, strict=True):
        found = _value(row, column)
        if not _agrees(wanted, found):
            wrong.append(f"{key}: {column} is {found!r}, expected {wanted!r}")
    return wrong


def _agrees(wanted: Any, found: Any) -> bool:
    if found is _ABSENT:
        return False
    if isinstance(wanted, Near | Between | Says | OneOf):
        return wanted.matches(found)
    if isinstance(wanted, tuple):
        return isinstance(found, list) and list(wanted) == found
    # True is 1 to Python, but not to a reader of JSON.
    return type(wanted) is type(found) and wanted == found


class _Absent:
    def __repr__(self) -> str:
        return "no such column"


_ABSENT = _Absent()


def _value(row: Any, path: str) -> Any:
    """The value at a dotted path; `[]` maps the rest over a list. A missing name is absent, not None."""
    head, _, rest = path.partition(".")
    name = head.removesuffix("[]")
    if row is None or not isinstance(row, Mapping) or name not in row:
        return _ABSENT if row is not None else None
    value = row[name]
    if head.endswith("[]"):
        return [_value(each, rest) if rest else each for each in value]
    return _value(value, rest) if rest else value
