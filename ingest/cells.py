"""What one cell of a kernel table says, judged cell by cell; for files that cannot be read as they stand."""

from __future__ import annotations

import re
from decimal import Decimal

from .columns import NOT_RECORDED, Column
from .options import IngestOptions

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_INTEGER = re.compile(r"([+-]?\d{1,19})(\.0*)?", re.ASCII)
_PLAIN_START = re.compile(r"[+-]?\d+(\.\d*)?", re.ASCII)
_STRAY = " \t\"'"
_LIMITS = {"INTEGER": 2**31, "BIGINT": 2**63}
_NOT_FINITE = ("nan", "-nan", "+nan", "inf", "-inf", "+inf", "infinity", "-infinity", "+infinity")


def number_text(text: str, column: Column) -> str | None:
    """The cell as a number in plain text, '' when it says "not recorded", None when it is no number.

    NaN and infinity stay what they are where the column can hold them: they are counted later.
    """
    bare = text.strip(_STRAY)
    if bare in NOT_RECORDED:
        return ""
    if bare.lower() in _NOT_FINITE:
        return "nan" if column.type == "DOUBLE" else None
    if column.type == "DOUBLE":
        return bare if _NUMBER.fullmatch(bare) and float(bare) not in (float("inf"), float("-inf")) else None
    match = _INTEGER.fullmatch(bare)
    if match is None or not -_LIMITS[column.type] <= int(match[1]) < _LIMITS[column.type]:
        return None
    return str(int(match[1]))


def start_problem(text: str, options: IngestOptions) -> str | None:
    """Why a start time cannot be believed; None when it can."""
    bare = text.strip(_STRAY)
    if bare in NOT_RECORDED:
        return "no start time"
    if not _PLAIN_START.fullmatch(bare):
        if _NUMBER.fullmatch(bare):
            return "start time has an exponent: its digits are lost"
        return "start time is not a number"
    start = Decimal(bare)
    if start < 0:
        return "start time is negative"
    return "start time is beyond the clock (2^63 ns)" if start > options.start_limit_us else None


def duration_problem(text: str, options: IngestOptions) -> str | None:
    """Why a duration cannot be believed; None when it can."""
    bare = text.strip(_STRAY)
    if bare in NOT_RECORDED:
        return "no duration"
    if bare.lower() in _NOT_FINITE:
        return "duration is not finite"
    if not _NUMBER.fullmatch(bare):
        return "duration is not a number"
    duration = float(bare)
    if duration < 0:
        return "duration is negative"
    return "duration is longer than any kernel" if duration > options.duration_limit_us else None
