"""Attention: certain bytes are Q and the output; KV operands of decode kernels are pools, never a roof.

Slots: `q`, `k`; `passes` = matmul work against the forward pass (2.5 for the gradient); `decode_tokens`
= query tokens up to which the kernel is a decode step.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ingest.shapes import Tensor
from .model import Signature, Work, unresolved
from .operands import count_bytes, operand, slots_where
from .registry import OperatorRow

# A rank-3 query with a last dimension above this is [.., tokens, heads x dim] and not [tokens, heads, dim].
_WIDEST_HEAD = 1024
_STATISTICS_LANES = 8  # softmax maximum and sum are stored 8 wide


@dataclass(frozen=True)
class _Lengths:
    batch: int
    heads: int
    q_tokens: int
    kv_tokens: int
    head_dim: int


def paged_attention_work(signature: Signature, row: OperatorRow) -> Work:
    """Inference attention: bytes_lo is Q and the output, bytes_hi the whole pool; FLOPs need the
    lengths.
    """
    q = operand(signature.inputs, row.slots["q"])
    if q is None or signature.outputs is None:
        return unresolved(row, "shapes of Q or the output not recorded")
    certain = count_bytes((q,), "input") + count_bytes(signature.outputs, "output")
    everything = count_bytes(signature.inputs, "input") + count_bytes(signature.outputs, "output")
    if everything.unknown:
        return unresolved(row, *everything.missing)
    decode = {"attention_decode"} if query_tokens(q) <= row.slots["decode_tokens"] else set()
    return Work(
        family=row.family,
        outcome="upper_bound",
        unit=row.unit,
        compute_dtype=q.dtype,
        bytes_lo=certain.total,
        bytes_hi=everything.total,
        working_set_bytes=certain.total,
        flags=row.flags | decode,
        missing=(
            "actual sequence lengths: the KV operands are pools, so neither FLOPs nor KV bytes are told",
        ),
    )


def query_tokens(q: Tensor) -> int:
    """Tokens of a query, at most: [tokens, heads, dim] or [batch, tokens, heads, dim], or [.., tokens,
    width].
    """
    dims = q.dims
    if len(dims) < 2 or dims[-1] == 0:
        return q.elements
    if len(dims) == 2 or dims[-1] > _WIDEST_HEAD or dims[-2] == 0:
        return q.elements // dims[-1]
    return q.elements // (dims[-1] * dims[-2])


def training_attention_work(signature: Signature, row: OperatorRow) -> Work:
    """Attention over whole sequences: 4*B*H*Nq*Nkv*d, half of it certain when a mask may be causal."""
    q, k = operand(signature.inputs, row.slots["q"]), operand(signature.inputs, row.slots["k"])
    if q is None or k is None or signature.outputs is None:
        return unresolved(row, "shapes of Q, K or the outputs not recorded")
    masks = slots_where(signature.inputs, lambda t: t.dtype in ("bool", "uint8") and len(t.dims) >= 2)
    certain = count_bytes(signature.inputs, "input", masks) + count_bytes(signature.outputs, "output")
    everything = count_bytes(signature.inputs, "input") + count_bytes(signature.outputs, "output")
    if everything.unknown:
        return unresolved(row, *everything.missing)
    lengths = _lengths(signature, q, k)
    full = None if lengths is None else row.slots["passes"] * _forward_flops(lengths)
    least = None if full is None else full / 2 if masks else full
    missing = ("sequence lengths: the layout cannot be told",) if full is None else ()
    causal = (
        ("whether the mask is causal: half of the FLOPs are certain",) if masks and full is not None else ()
    )
    return Work(
        family=row.family,
        outcome="resolved" if full is not None and not masks else "upper_bound",
        unit=row.unit,
        compute_dtype=q.dtype,
        flops=least,
        flops_lo=least,
        flops_hi=full,
        padded_flops=least,
        bytes_lo=certain.total,
        bytes_hi=everything.total,
        working_set_bytes=everything.total,
        flags=row.flags,
        missing=missing + causal,
    )


def _forward_flops(lengths: _Lengths) -> float:
    """Two products of [Nq, d] x [d, Nkv] size per head."""
    return 4.0 * lengths.batch * lengths.heads * lengths.q_tokens * lengths.kv_tokens * lengths.head_dim


def _lengths(signature: Signature, q: Tensor, k: Tensor) -> _Lengths | None:
    """Batch, heads and tokens from the softmax statistics [B, N, S, 8], which name what Q's layout
    hides.
    """
    statistics = _statistics(signature)
    if statistics is None:
        return None
    batch, heads, q_tokens, _ = statistics.dims
    per_head = batch * heads * q_tokens
    if per_head == 0 or q.elements % per_head or len(q.dims) != len(k.dims):
        return None
    head_dim = q.elements // per_head
    # [S,B,H], [B,S,H], [B,N,S,D], [B,S,N,D]: the axis that holds the tokens, where all the others fit.
    layouts = {
        0: (q_tokens, batch, heads * head_dim),
        1: (batch, q_tokens, heads * head_dim),
        2: (batch, heads, q_tokens, head_dim),
        3: (batch, q_tokens, heads, head_dim),
    }
    token_axis = {0: 0, 1: 1, 2: 2, 3: 1}
    axes = [token_axis[name] for name, dims in layouts.items() if dims == q.dims]
    if not axes:
        return None
    return _Lengths(batch, heads, q_tokens, k.dims[axes[0]], head_dim)


def _statistics(signature: Signature) -> Tensor | None:
    for side in (signature.outputs, signature.inputs):
        for tensor in side or ():
            if (
                tensor is not None
                and tensor.dtype == "fp32"
                and len(tensor.dims) == 4
                and tensor.dims[-1] == _STATISTICS_LANES
            ):
                return tensor
    return None
