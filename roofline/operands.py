"""Counting the bytes of operands, with the ones whose size is not known named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..ingest.shapes import Tensor
from .model import Signature

Operands = tuple[Tensor | None, ...] | None

# Token rows per expert; scales, offsets and biases are never of this dtype.
GROUP_LIST_DTYPE = "int64"


@dataclass(frozen=True)
class ByteCount:
    """Bytes of some operands, and the operands (`input 2`) whose dtype the export does not tell."""

    total: int = 0
    unknown: tuple[str, ...] = ()

    def __add__(self, other: ByteCount) -> ByteCount:
        return ByteCount(self.total + other.total, self.unknown + other.unknown)

    @property
    def missing(self) -> tuple[str, ...]:
        """What to say about the unknown operands; empty when all are counted."""
        return (f"dtype of {', '.join(self.unknown)} not recorded",) if self.unknown else ()


def count_bytes(operands: Operands, side: str, skip: Iterable[int] = ()) -> ByteCount:
    """Storage bytes of every operand that is present; empty slots and `skip` slots count nothing."""
    left_out = frozenset(skip)
    total, unknown = 0, []
    for slot, tensor in enumerate(operands or ()):
        if tensor is None or slot in left_out:
            continue
        if tensor.storage_bytes is None:
            unknown.append(f"{side} {slot}")
        else:
            total += tensor.storage_bytes
    return ByteCount(total, tuple(unknown))


def expert_slots(operands: Operands, experts: int, skip: Iterable[int] = ()) -> list[int]:
    """Slots of operands with one row per expert, such as scales; a group list is read whole and is none."""
    left_out = frozenset(skip)
    return [
        slot
        for slot in slots_where(operands, lambda t: t.dims[:1] == (experts,) and t.dtype != GROUP_LIST_DTYPE)
        if slot not in left_out
    ]


def operand(operands: Operands, slot: int | None) -> Tensor | None:
    """The operand in a slot; None when the slot is empty, missing or not named."""
    if operands is None or slot is None or not 0 <= slot < len(operands):
        return None
    return operands[slot]


def slots_where(operands: Operands, condition: Callable[[Tensor], bool]) -> list[int]:
    """Slots of the operands that are present and fulfil the condition."""
    return [slot for slot, tensor in enumerate(operands or ()) if tensor is not None and condition(tensor)]


def largest_operand(signature: Signature) -> str | None:
    """`input 1 (4096,9216 fp32)`: the operand that a byte count rests on most; None without shapes."""
    sized = [
        (tensor.storage_bytes or 0, f"{side} {slot} ({shape_text((tensor,))} {tensor.dtype})")
        for side, operands in (("input", signature.inputs), ("output", signature.outputs))
        for slot, tensor in enumerate(operands or ())
        if tensor is not None
    ]
    return max(sized, key=lambda each: each[0])[1] if sized else None


def largest_elements(*sides: Operands) -> int:
    """Elements of the largest operand on any side; 0 when there is none."""
    return max((t.elements for side in sides for t in side or () if t is not None), default=0)


def shape_text(tensors: Sequence[Tensor | None]) -> str:
    """`4,3072 x 384,192,16,32` for messages."""
    return " x ".join("?" if t is None else ",".join(map(str, t.dims)) or "scalar" for t in tensors)


def cube_dtype(tensor: Tensor, hf32: bool | None) -> tuple[str, frozenset[str]]:
    """The rate that a product runs at, and the flag `hf32_unknown` where the export does not tell.

    fp32 operands run at the HF32 rate when the export's `HF32 Eligible` says YES, at a quarter of fp16
    when NO.
    """
    if tensor.dtype != "fp32":
        return tensor.dtype, frozenset()
    if hf32 is None:
        return "fp32", frozenset({"hf32_unknown"})
    return ("hf32" if hf32 else "fp32"), frozenset()
