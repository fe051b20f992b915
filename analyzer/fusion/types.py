"""Kernel types as rules name them: without the endings that drift between CANN releases."""

from __future__ import annotations

import re
from functools import lru_cache

# `hcom_allReduce__084_0_1`: instance numbers of collectives.
_INSTANCE = re.compile(r"_*(_\d+)+$")
_TARGET = re.compile(r"(AiCore|Aicore|AICore)$")
# MatMulV2, ConcatV2D, SliceD: a version or the "attributes instead of operands" form. `Pad` keeps its d.
_VERSION = re.compile(r"(?<=[a-zA-Z0-9])(V\d+|(?<=[a-z0-9])D)$")


@lru_cache(maxsize=65536)
def normalised(operator_type: str) -> str:
    """One spelling per operator: 'MatMulV3' -> 'matmul', 'ConcatV2D' -> 'concat', 'AddAiCore' -> 'add'."""
    name = _TARGET.sub("", _INSTANCE.sub("", operator_type))
    while (shorter := _VERSION.sub("", name)) != name:
        name = shorter
    return name.replace("_", "").lower()
