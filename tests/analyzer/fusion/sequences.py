"""Kernel sequences written as text, run through the matcher."""

from __future__ import annotations

import re
from collections.abc import Iterable

from npu_roofline.analyzer.fusion.finding import Found, Judge, find_in
from npu_roofline.analyzer.fusion.lanes import lanes
from npu_roofline.analyzer.fusion.rules import rule_book
from npu_roofline.analyzer.session import Session

from tests.analyzer.tiny_run import Kernel, session_of

DEFAULT = "4,8,64 bf16 -> 4,8,64 bf16"
DTYPES = {
    "bf16": "DT_BF16",
    "fp16": "FLOAT16",
    "fp32": "FLOAT",
    "int8": "INT8",
    "int32": "INT32",
    "int64": "INT64",
}
_KERNEL = re.compile(r"(?P<type>\w+)(?:\((?P<shapes>[^)]*)\))?")
GAP_US = 5.0
CORES = {"hcom": "COMMUNICATION", "Hcom": "COMMUNICATION"}


def kernels(text: str, stream: int = 2, start: float = 0.0, every: float = GAP_US) -> list[Kernel]:
    """'Add RmsNorm(4,64 bf16; 64 bf16 -> 4,64 bf16)': one kernel per word, `every` us apart, 2 us each."""
    found = []
    for number, match in enumerate(_KERNEL.finditer(text)):
        name, shapes = match["type"], match["shapes"] or DEFAULT
        found.append(
            Kernel(
                start + number * every, 2.0, name,
                next((core for key, core in CORES.items() if name.startswith(key)), "AI_VECTOR_CORE"),
                stream=stream, shapes=_operands(shapes),
            )
        )  # fmt: skip
    return found


def _operands(text: str) -> tuple[str, ...]:
    """'4,64 int8 NZ; 64 bf16 -> 4,64 int8' as tiny_run takes it."""
    left, right = (part.strip() for part in text.split("->"))
    inputs = [each.split() for each in left.split(";")]
    outputs = [each.split() for each in right.split(";")]
    return (
        ";".join(dims for dims, *_ in inputs),
        ";".join(DTYPES[dtype] for _, dtype, *_ in inputs),
        ";".join(dims for dims, *_ in outputs),
        ";".join(DTYPES[dtype] for _, dtype, *_ in outputs),
        ";".join("FRACTAL_NZ" if rest else "ND" for _, _, *rest in inputs),
    )


def found_in(session: Session) -> list[Found]:
    """Every sequence that the rules find in the only kind of step."""
    if "found" not in session.cache:
        read = lanes(session)
        (kind,) = read.kinds
        session.cache["found"] = find_in(kind, read, rule_book(), Judge.of(session, read))[0]
    return session.cache["found"]


def rules_on(session: Session, stream: int) -> list[str]:
    """Ids of the rules found on one stream, in order."""
    (kind,) = lanes(session).kinds
    found = [each for each in found_in(session) if int(kind.stream[each.claimed[0]]) == stream]
    return [each.match.rule.id for each in sorted(found, key=lambda each: each.kernels[0])]


def session_with(rows: Iterable[Kernel], device: str | None = "910_9382") -> Session:
    """A session of one step over the kernels, on an A3 die."""
    return session_of(rows, device=device)
