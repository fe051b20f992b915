"""An answer as JSON: the envelope whose names other programs may rely on (`npu-roofline.<command>/1`)."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import math
from collections.abc import Mapping, Set
from typing import Any

from ..analyzer.answer import Answer
from ..errors import InternalError
from .escape import json_text

SCHEMA_VERSION = 1
_ENVELOPE = ("schema", "run", "device", "coverage", "rows", "notes")


def envelope(answer: Answer) -> dict[str, Any]:
    """The answer as plain data: schema, run, device, coverage, rows, notes, and each extra under its name.

    Times are us, sizes bytes, per call unless the name says otherwise. None is not known or not measured.
    Raises InternalError where an extra would hide a field of the envelope.
    """
    if hidden := set(answer.extras) & set(_ENVELOPE):
        raise InternalError(f"extras of {answer.command} hide the envelope's {', '.join(sorted(hidden))}")
    made = {
        "schema": f"npu-roofline.{answer.command}/{SCHEMA_VERSION}",
        "run": plain(answer.run),
        "device": plain(answer.device),
        "coverage": plain(answer.coverage),
        "rows": plain(answer.rows),
        "notes": plain(answer.notes),
    }
    return made | {name: plain(value) for name, value in answer.extras.items()}


def render_json(answer: Answer) -> str:
    """The envelope as indented JSON text, ending in a line end."""
    return json_text(envelope(answer)) + "\n"


def plain(value: Any) -> Any:
    """Any value of an answer as what JSON has; a number that is not finite is not known, so None."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Set):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else plain(float(value))
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return str(value)
