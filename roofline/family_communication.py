"""Collectives and MoE dispatch/combine: their time is set by links and by other ranks, not by this
device's roofs.
"""

from __future__ import annotations

from .model import Signature, Work, unresolved
from .operands import count_bytes
from .registry import OperatorRow

_WAIT = "time depends on the links and on when the other ranks arrive"


def communication_work(signature: Signature, row: OperatorRow) -> Work:
    """A collective: exports give neither its size nor its ranks in the kernel table."""
    del signature
    work = unresolved(row, "message size", _WAIT)
    return Work(
        "communication", work.outcome, "none", flags=work.flags | {"collective"}, missing=work.missing
    )


def moe_comm_work(signature: Signature, row: OperatorRow) -> Work:
    """Dispatch or combine of a mixture of experts: local traffic between its smaller and its larger side.

    The larger side has padded capacity, so the traffic is an estimate for windows, never a roof.
    """
    if signature.inputs is None or signature.outputs is None:
        return unresolved(row, "shapes not recorded", _WAIT)
    read = count_bytes(signature.inputs, "input")
    written = count_bytes(signature.outputs, "output")
    if read.unknown or written.unknown:
        return unresolved(row, *(read + written).missing, _WAIT)
    return Work(
        family=row.family,
        outcome="upper_bound",
        unit="none",
        bytes_lo=2 * min(read.total, written.total),
        bytes_hi=read.total + written.total,
        working_set_bytes=read.total + written.total,
        flags=row.flags,
        missing=("tokens that were really routed: the operands have padded capacity", _WAIT),
    )
