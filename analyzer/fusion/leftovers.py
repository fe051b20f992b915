"""What no rule takes: kernels that are fused already, chains of small kernels without an operator, and the
rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...roofline.fused import MAIN_FAMILIES
from ..placement import BEFORE, PARTS
from .lanes import Lanes, StepKind
from .rules import RuleBook

# Families that are the work of a layer and no glue between it, besides the ones that are never fused away.
_WORK = MAIN_FAMILIES | {"moe_routing"}
_ATTENTION = frozenset({"attention", "mla_prolog"})


@dataclass(frozen=True)
class Chain:
    """Neighbouring kernels on one stream that no rule takes, by index in the step."""

    kernels: tuple[int, ...]
    whole_prologue: bool  # everything on the stream before the layers, matmuls and norms included


@dataclass(frozen=True)
class Rest:
    """The kernels that no sequence took, by index: chains, fused ones, and everything else."""

    chains: tuple[Chain, ...]
    fused: NDArray[np.int64]
    other: NDArray[np.int64]


def rest_of(kind: StepKind, lanes: Lanes, book: RuleBook, taken: NDArray[np.bool_]) -> Rest:
    """Sort the kernels that are left.

    Before the layers everything on a stream up to a taken kernel or a collective is one chain: it prepares
    the first layer. Elsewhere matmuls, attention, exchange and fused kernels part the chains.
    """
    counted = kind.group >= 0
    families = np.array([group.work.family for group in lanes.groups] or [""])[np.maximum(kind.group, 0)]
    is_fused = np.array([name in book.fused for name in lanes.types], dtype=bool)[kind.code] & counted
    work = np.isin(families, list(_WORK)) | is_fused
    always = taken | ~counted | (families == "communication")
    attention = np.isin(families, list(_ATTENTION)) & counted
    chains: list[Chain] = []
    for lane in kind.lanes:
        chains += _chains(lane, kind.part[lane], always[lane], work[lane], attention[lane])
    in_chain = np.zeros(len(kind.code), dtype=bool)
    for chain in chains:
        in_chain[list(chain.kernels)] = True
    left = counted & ~taken & ~in_chain
    return Rest(tuple(chains), np.flatnonzero(left & is_fused), np.flatnonzero(left & ~is_fused))


def _chains(
    lane: NDArray[np.int64],
    part: NDArray[np.int64],
    always: NDArray[np.bool_],
    work: NDArray[np.bool_],
    attention: NDArray[np.bool_],
) -> list[Chain]:
    """The chains of one stream: stretches of one part without a kernel that parts them."""
    new_part = np.concatenate(([False], np.diff(part) != 0))
    run = np.cumsum(new_part)
    prologue = (part == BEFORE) & ~np.isin(run, np.unique(run[attention]))
    ends = always | (work & ~prologue)
    piece = np.cumsum(new_part | ends | np.concatenate(([False], ends[:-1])))
    kept, numbers = np.flatnonzero(~ends), piece[~ends]
    if len(kept) == 0:
        return []
    pieces = np.split(kept, np.flatnonzero(np.diff(numbers)) + 1)
    return [
        Chain(tuple(lane[each].tolist()), bool(prologue[each[0]]))
        for each in pieces
        if not (prologue[each] & work[each]).all()  # a lone matmul or norm is no chain
    ]


def part_name(kind: StepKind, kernel: int) -> str:
    """'layer', 'before', …; '' where the step has no layers."""
    part = int(kind.part[kernel])
    return PARTS[part] if part >= 0 else ""
