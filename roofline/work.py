"""What a kernel has to do, told from its type and operands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .family_attention import paged_attention_work, training_attention_work
from .family_communication import communication_work, moe_comm_work
from .family_convolution import convolution_work
from .family_grouped_matmul import grouped_matmul_work
from .family_matmul import matmul_work
from .family_mla_prolog import mla_prolog_work
from .family_moe_fused import moe_fused_work
from .family_move import cache_write_work, fill_work, gather_work, view_work
from .family_optimizer import optimizer_work
from .family_stream import generic_work, stream_work
from .model import Signature, Weight, Work, unresolved
from .operands import largest_operand
from .registry import OperatorRow, registry

__all__ = ["Signature", "Weight", "Work", "work_of"]

# Model name in operators.toml -> the function that counts it.
MODELS: dict[str, Callable[[Signature, OperatorRow], Work]] = {
    "matmul": matmul_work,
    "grouped_matmul": grouped_matmul_work,
    "mla_prolog": mla_prolog_work,
    "training_attention": training_attention_work,
    "paged_attention": paged_attention_work,
    "convolution": convolution_work,
    "stream": stream_work,
    "generic": generic_work,
    "view": view_work,
    "fill": fill_work,
    "gather": gather_work,
    "cache_write": cache_write_work,
    "optimizer": optimizer_work,
    "communication": communication_work,
    "moe_comm": moe_comm_work,
    "moe_fused": moe_fused_work,
}

# Engines beside the AI cores: real time, but no roofline of these devices applies to them.
_OTHER_ENGINES = {
    "ai_cpu": "runs on the AI CPU, which has no roofline here",
    "dsa": "runs on the DSA engine, which has no roofline here",
    "other": "runs on an engine that has no roofline here",
}


def work_of(signature: Signature) -> Work:
    """The work of one occurrence of `signature`, by the model that operators.toml names for its type.

    Never raises for strange operands: what cannot be told is `unresolved`, with the reason in `missing`.
    """
    row = registry().row_of(signature.type)
    work = replace(_modelled(signature, row), largest_operand=largest_operand(signature))
    if work.bytes_lo is None or not _makes_nothing(signature):
        return work
    missing = "whether anything is read: every output has no elements"
    return replace(
        work, outcome="upper_bound", bytes_lo=0, flops_lo=0.0, missing=(*work.missing, missing), weights=()
    )


def _makes_nothing(signature: Signature) -> bool:
    """Outputs without a single element, as of an expert without tokens: no operand need be read for them."""
    outputs = [tensor for tensor in signature.outputs or () if tensor is not None]
    return bool(outputs) and all(tensor.elements == 0 for tensor in outputs)


def _modelled(signature: Signature, row: OperatorRow) -> Work:
    if signature.kernel_class == "communication":
        return communication_work(signature, replace(row, family="communication"))
    if signature.kernel_class in _OTHER_ENGINES:
        engine = replace(row, unit="none", flags=row.flags | {f"engine:{signature.kernel_class}"})
        return unresolved(engine, _OTHER_ENGINES[signature.kernel_class])
    if (
        row.model not in ("communication", "moe_comm")
        and signature.outputs is None
        and signature.inputs is None
    ):
        return unresolved(row, "the export has no shapes for it")
    return MODELS[row.model](signature, row)
