"""How a threshold is declared with its reason and range, and how a user's values are checked against that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any, TypeVar

from ..errors import WrongUsage

Options = TypeVar("Options")


def option(default: Any, source: str, low: float, high: float) -> Any:
    """Declare a field of an options dataclass: low <= value <= high; `source` is why the default is
    what it is.
    """
    return field(default=default, metadata={"source": source, "low": low, "high": high})


def laid_over_defaults(kind: type[Options], values: Mapping[str, Any], source: str) -> Options:
    """The options of a dataclass made of `option` fields, with the user's values in place of the defaults.

    `source` names the file in messages. Raises WrongUsage for an unknown key, a wrong type or a value that
    is out of range.
    """
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    checked: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            raise WrongUsage(
                f"unknown option {name!r} in {source}", f"the options are: {', '.join(sorted(known))}"
            )
        checked[name] = _checked(value, known[name], source)
    return kind(**checked)


def _checked(value: Any, declared: Any, source: str) -> float | int:
    whole = declared.type in ("int", int)
    where = f"option {declared.name!r} in {source} is {value!r}"
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        raise WrongUsage(where, f"it takes {'an integer' if whole else 'a number'}")
    low, high = declared.metadata["low"], declared.metadata["high"]
    if not low <= value <= high:  # also refuses nan, which compares false with everything
        raise WrongUsage(where, f"it lies between {low} and {high}")
    return value if whole else float(value)
