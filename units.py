"""Units, parsed and printed in one place: decimal (kB, GB/s, TFLOPS), binary (MiB) and times in us.

Decimal prefixes are powers of 1000, binary ones powers of 1024: they differ by 10 % at tera, which is
as much as the sources disagree about HBM, so the two are never mixed and the unit is always printed.
"""

from __future__ import annotations

import math
import re

DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}
BINARY = {"": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
MICROSECONDS = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6, "min": 6e7}
NOT_KNOWN = "-"

_NUMBER = re.compile(r"\s*([0-9][0-9_,]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*(.*?)\s*", re.DOTALL)


def parse_bytes(text: str) -> int:
    """`18 MiB`, `37.7MB` or `4096` (bytes) -> bytes; raises ValueError naming the units that are
    understood.
    """
    number, unit = _split(text)
    return round(number * _scale(unit, ("B",), "a size such as 18MiB or 37.7MB", plain=1))


def format_bytes(size: float | None, digits: int = 1) -> str:
    """Bytes for people, in binary units: 37748736 -> `36.0 MiB`."""
    return _scaled(size, BINARY, "B", digits, 1024)


def format_bytes_decimal(size: float | None, digits: int = 1) -> str:
    """Bytes against a bandwidth, in decimal units: 37748736 -> `37.7 MB`."""
    return _scaled(size, DECIMAL, "B", digits, 1000)


def format_bytes_per_s(rate: float | None, digits: int = 0) -> str:
    """Bandwidth in GB/s of 1e9, whatever its size, so that rows compare: 1.28e12 -> `1,280 GB/s`."""
    return NOT_KNOWN if rate is None else f"{rate / 1e9:,.{digits}f} GB/s"


def format_ops_per_s(rate: float | None, digits: int = 1) -> str:
    """Operation rate with a decimal prefix: 3.539e14 -> `353.9 TFLOPS`."""
    return _scaled(rate, DECIMAL, "FLOPS", digits, 1000)


def format_us(duration_us: float | None, digits: int = 1) -> str:
    """A kernel time, always in us so that rows compare: 29.72 -> `29.7 us`."""
    return NOT_KNOWN if duration_us is None else f"{duration_us:,.{digits}f} us"


def format_duration(duration_us: float | None, digits: int = 1) -> str:
    """A span of any length in the unit that fits it: 10718.4 us -> `10.7 ms`."""
    if duration_us is None:
        return NOT_KNOWN
    for unit in ("ns", "us", "ms"):
        value = duration_us / MICROSECONDS[unit]
        if round(abs(value), digits) < 1000:
            return f"{value:,.{digits}f} {unit}"
    return f"{duration_us / MICROSECONDS['s']:,.{digits}f} s"


def format_share(share: float | None, digits: int = 0) -> str:
    """A fraction as per cent: 0.8 -> `80 %`."""
    return NOT_KNOWN if share is None else f"{share * 100:,.{digits}f} %"


def _split(text: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} does not begin with a number")
    number = float(match.group(1).replace(",", "").replace("_", ""))
    if not math.isfinite(number):
        raise ValueError(f"{text!r} is too large")
    return number, match.group(2)


def _scale(unit: str, endings: tuple[str, ...], wanted: str, plain: float | None) -> float:
    """The factor of a prefixed unit; `plain` is what a bare number means, None when it is refused."""
    if not unit and plain is not None:
        return plain
    for ending in endings:
        if not unit.endswith(ending):
            continue
        prefix = unit.removesuffix(ending).strip()
        prefix = "k" if prefix == "K" else prefix
        for table in (DECIMAL, BINARY):
            if prefix in table:
                return table[prefix]
    raise ValueError(f"{unit!r} is not a unit here; write {wanted}")


def _scaled(value: float | None, prefixes: dict[str, int], unit: str, digits: int, base: int) -> str:
    if value is None:
        return NOT_KNOWN
    # Rounding may reach the next prefix: 999,960 bytes are 1.0 MB, not 1000.0 kB.
    fitting = [each for each, factor in prefixes.items() if round(abs(value / factor), digits) < base]
    prefix = fitting[0] if fitting else max(prefixes, key=lambda each: prefixes[each])
    places = 0 if prefix == "" and float(value).is_integer() else digits
    return f"{value / prefixes[prefix]:,.{places}f} {prefix}{unit}"
