"""The words of costing: a signature, the work it implies (FLOPs, bytes lo..hi, weights), and what is
not told.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ingest.shapes import Tensor
from .registry import OperatorRow


@dataclass(frozen=True)
class Signature:
    """What costing works on: type as exported, core, class, operands; None operands = shapes not
    recorded.
    """

    type: str
    core: str | None
    kernel_class: str
    hf32: bool | None = None
    inputs: tuple[Tensor | None, ...] | None = None
    outputs: tuple[Tensor | None, ...] | None = None


@dataclass(frozen=True)
class Weight:
    """One parameter operand: input slot, storage bytes (padding included), dims as stored and as a
    matrix.
    """

    slot: int
    bytes: int
    dtype: str
    format: str
    dims: tuple[int, ...]
    logical: tuple[int, ...]
    experts: int | None = None


@dataclass(frozen=True)
class Work:
    """The work of one occurrence; None = the shapes do not tell.

    `flops` is what the shapes say (2*M*N*K for matmuls), `flops_lo` what is certain (less where rows
    may be capacity padding or masked), `flops_hi` the most it can be, `padded_flops` after rounding to
    the cube's blocks. `bytes_lo` moves every certain byte once, `bytes_hi` every listed one. A
    multiply-add is two FLOPs.
    """

    family: str
    outcome: str  # 'resolved' | 'upper_bound' | 'unresolved'
    unit: str  # 'cube' | 'vector' | 'none'
    compute_dtype: str | None = None
    flops: float | None = None
    flops_lo: float | None = None
    flops_hi: float | None = None
    padded_flops: float | None = None
    bytes_lo: int | None = None
    bytes_hi: int | None = None
    weights: tuple[Weight, ...] = ()
    weight_bytes: int | None = None
    working_set_bytes: int | None = None
    batch: int | None = None
    m: int | None = None
    k: int | None = None
    n: int | None = None
    orientation: str | None = None
    experts: int | None = None
    largest_operand: str | None = None
    flags: frozenset[str] = field(default_factory=frozenset)
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def unresolved(row: OperatorRow, *missing: str) -> Work:
    """Work that cannot be told, and why; family, unit and flags are still known."""
    return Work(row.family, "unresolved", row.unit, flags=row.flags, missing=missing)
