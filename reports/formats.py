"""How one value becomes the text of a table cell: a small set of named formats, units kept for the header.

A column in `columns.toml` names its format. Numbers are printed without a unit, with a fixed number of
decimals per column, so that a right-aligned column can be read down; the unit stands in the header. None is
never formatted: a cell without a value shows a dash, because "not known" is not zero.
"""

from __future__ import annotations

import functools
import importlib.resources
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..units import NOT_KNOWN, format_bytes, format_bytes_per_s, format_share, format_us


@dataclass(frozen=True)
class Format:
    """A named way to print a value: `scale` is multiplied in before `pattern` is applied."""

    pattern: str | None = None  # None: text
    scale: float = 1.0
    unit: str = ""
    text: Callable[[Any], str] = str
    css: str = ""
    characters: int = 240  # longest text shown before it is cut and counted

    @property
    def numeric(self) -> bool:
        """Whether the cell is a number: right-aligned, sorted by value."""
        return self.pattern is not None

    def print(self, value: Any) -> str:
        """The text of one value that is not None."""
        if self.pattern is None:
            return self.text(value)
        if isinstance(value, str):  # a device quantity may be words where others are numbers
            return value
        if self.pattern == "{}":
            return _raw(value)
        printed = self.pattern.format(value * self.scale if self.scale != 1.0 else value)
        # What rounds to nothing has no sign: -0.00 would look like a finding.
        return printed if printed.strip("+-0.,") else printed.lstrip("+-")


def _path_end(path: str) -> str:
    """The file and its folder: what tells files of one export apart; JSON and CSV have the whole path."""
    parts = path.replace("\\", "/").split("/")
    return "/".join(["…", *parts[-2:]]) if len(parts) > 3 else path


def _listed(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(item)}" for key, item in value.items())
    if isinstance(value, Sequence):
        return ", ".join(_plain(item) for item in value)
    return _plain(value)


def _items(value: Any) -> str:
    """Sentences one after the other: they may hold commas."""
    return value if isinstance(value, str) else "; ".join(_plain(item) for item in value)


def _numbers(value: Mapping[str, Any]) -> str:
    """Named numbers in the unit that the end of the name says: `spare_bytes` 35807092 is 'spare 34.1 MiB'."""
    return ", ".join(_number(name, item) for name, item in value.items())


def _number(name: str, value: Any) -> str:
    named = _names().get(name, {})
    ending = named.get("as") or next((each for each in _ENDINGS if name.endswith(each)), "")
    label = name if name == "max_size" else name.removesuffix(ending).replace("_", " ")
    label = named.get("words", label)
    if value is None:
        return f"{label} {NOT_KNOWN}"
    if ending and isinstance(value, int | float):
        return f"{label} {_ENDINGS[ending](value)}"
    return f"{label} {_plain(value)}"


@functools.cache
def _names() -> Mapping[str, Mapping[str, str]]:
    """`number_names.toml`: the words for a field, and how it is printed."""
    text = importlib.resources.files("npu_roofline.reports").joinpath("number_names.toml").read_text("utf-8")
    return tomllib.loads(text)


_ENDINGS: Final[Mapping[str, Callable[[float], str]]] = {
    "_gb_s": lambda value: format_bytes_per_s(value * 1e9),
    "_us": lambda value: format_us(value, 2),
    "_bytes": format_bytes,
    "max_size": format_bytes,
    "_share": lambda value: format_share(value, 1),
    "_tflops": lambda value: f"{value:,.2f} TFLOP/s",
}


def _plain(value: Any) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def _quantity(value: Any) -> str:
    """A count as it is, a measurement with two decimals: its unit stands beside it."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return f"{value:,.0f}" if whole else f"{value:,.2f}"


def _raw(value: Any) -> str:
    # Ten digits are more than any measurement here has, and hide the tail of binary fractions.
    return f"{value:.10g}" if isinstance(value, float) else str(value)


FORMATS: Final[Mapping[str, Format]] = {
    "text": Format(css="name"),
    "id": Format(css="id"),
    "shapes": Format(css="shapes", text=lambda value: value if value != "" else "scalar"),
    "long": Format(css="long", characters=1200),
    "path": Format(css="long", text=lambda value: _path_end(str(value))),
    "bound": Format(css="label"),
    "change": Format(css="label"),
    "status": Format(css="label", text=lambda value: str(value).replace("_", " ")),
    "kernels": Format(css="kernels", text=lambda value: " + ".join(kernel.type for kernel in value)),
    "mark": Format(text=lambda value: "◄" if value else ""),
    "flag": Format(text=lambda value: "yes" if value else "no"),
    "list": Format(css="long", text=_listed, characters=1200),
    "items": Format(css="long", text=_items, characters=1200),
    "availability": Format(text=lambda value: " | ".join(each.replace("_", " ") for each in value)),
    "numbers": Format(css="long", text=_numbers, characters=1200),
    "plain": Format(text=_plain),
    "quantity": Format(text=_quantity),
    "raw": Format(text=_raw),
    "number": Format("{:,}"),
    "number0": Format("{:,.0f}"),
    "id_number": Format("{}"),
    "decimal": Format("{:,.1f}"),
    "us": Format("{:,.2f}", unit="us"),
    "us1": Format("{:,.1f}", unit="us"),
    "us0": Format("{:,.0f}", unit="us"),
    "signed_us": Format("{:+,.2f}", unit="us"),
    "signed_us1": Format("{:+,.1f}", unit="us"),
    "share": Format("{:.1f}", scale=100.0, unit="%"),
    "share0": Format("{:.0f}", scale=100.0, unit="%"),
    "times": Format("{:.2f}", unit="x"),
    "signed_pct": Format("{:+.1f}", unit="%"),
    "signed_pct2": Format("{:+.2f}", unit="%"),
    "pct2": Format("{:.2f}", unit="%"),
    "mib": Format("{:,.2f}", scale=1 / 2**20, unit="MiB"),
    "gflop": Format("{:,.2f}", scale=1e-9, unit="GFLOP"),
    "mib_value": Format("{:,.0f}", unit="MiB"),
    "mhz": Format("{:,.0f}", unit="MHz"),
    "tops": Format("{:,.1f}", unit="TOP/s"),
    "tflops": Format("{:,.2f}", unit="TFLOP/s"),
    "gb_s": Format("{:,.0f}", unit="GB/s"),
    "gb_s1": Format("{:,.1f}", unit="GB/s"),
    "intensity": Format("{:,.1f}", unit="FLOP/B"),
}


def format_named(name: str) -> Format:
    """The format of that name; KeyError names the ones that exist."""
    if name not in FORMATS:
        raise KeyError(f"no format {name!r}; there are: {', '.join(sorted(FORMATS))}")
    return FORMATS[name]
