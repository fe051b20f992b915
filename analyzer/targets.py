"""Which kernels are worth prefetching for: the rule that admits or rejects one, said in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from ..units import format_bytes
from .labels import LabelledGroup
from .options import AnalysisOptions

# Families that take a weight operand in inference; others are windows, not targets.
WEIGHTED = frozenset({"matmul", "grouped_matmul", "mla_prolog"})
ODD = "odd"  # part of a kernel inside a layer that the other layers do not have
DATA_PIPES = ("aic_mac", "aic_mte1", "aic_mte2", "aic_fixpipe")  # scalar is control, not data


@dataclass(frozen=True)
class Judgement:
    """Whether a group is a target; `confidence` is that of the claim that its weight load is what it waits
    for.
    """

    eligible: bool
    reason: str
    confidence: str = "low"
    in_short: str = ""


def is_weighted(group: LabelledGroup) -> bool:
    """Whether the group is of a family that reads weights, so that its rejection is worth a line."""
    return group.is_aicore and (group.work.family in WEIGHTED or bool(group.work.weights))


def judge_target(group: LabelledGroup, options: AnalysisOptions) -> Judgement:
    """Decide whether the weight load of this group lies on its critical path.

    memory/hbm; memory/mte2 of a matmul that reads its weight once; and kernels whose load pipe is the
    busiest data pipe and at least three times the cube: GroupedMatmul, MlaProlog, and matmuls of few rows
    that are limited by latency (confidence low). Weights below 4 MB are refused, as are weights that L2
    already serves.
    """
    refused = _refused(group, options)
    if refused is not None:
        return Judgement(False, refused)
    label, work = group.label, group.work
    name = f"{label.bound}/{label.limiter}"
    if label.bound == "memory" and label.limiter == "hbm":
        return Judgement(True, f"{name}: {label.reason}", label.confidence, name)
    if label.bound == "memory" and label.limiter == "mte2":
        if label.single_pass:
            once = f"{name}, each weight byte is read once"
            return Judgement(True, f"{once}: {label.reason}", label.confidence, once)
        return Judgement(False, f"{name} without a single pass: tiles are read again from L2, not from HBM")
    loads = _load_is_critical(group, options)
    few_rows = work.m is not None and work.m <= options.single_pass_rows
    if loads and (
        work.family != "matmul" or (label.bound == "latency" and label.limiter == "pipeline" and few_rows)
    ):
        why = f"{name}, but {_pipes(group)}: the weight load is the longest data pipe"
        return Judgement(True, why, "low", why)
    return Judgement(False, f"{name}: the weight load is not what it waits for ({_pipes(group)})")


def _refused(group: LabelledGroup, options: AnalysisOptions) -> str | None:
    """Why a kernel is no target whatever its label, or None."""
    work, label = group.work, group.label
    if work.flags & {"gradient", "optimizer"}:
        return "a gradient or optimizer kernel"
    if group.part == ODD:
        return "it runs in a layer that has it and others do not: no call per layer fits it"
    if not work.weights or work.weight_bytes is None:
        return "no weight operand is known: " + (
            "; ".join(work.missing) or "both operands are activations, or shapes are missing"
        )
    if work.weight_bytes <= options.refuse_weight_bytes:
        return f"weight of {format_bytes(work.weight_bytes)}: no gain is measured at or below 256 KiB"
    if work.weight_bytes < options.min_weight_bytes:
        return (
            f"weight of {format_bytes(work.weight_bytes, 2)}, "
            f"below {options.min_weight_bytes / 1e6:g} MB ({format_bytes(options.min_weight_bytes, 2)})"
        )
    if label.anomaly is not None:
        return f"its numbers contradict the model: {label.anomaly}"
    if label.bound == "memory" and (label.limiter == "l2" or label.fed_by_l2):
        return f"L2 serves it already: {label.reason}"
    share = label.floors.u_m
    if share is not None and share > 1.0:
        # Above the nominal rate nothing is left that a prefetch could add, however uncertain the roof is.
        return (
            f"its bytes arrive at {share:.0%} of nominal HBM: L2 serves part of them already, as after a "
            "prefetch that is in place"
        )
    return None


def _load_is_critical(group: LabelledGroup, options: AnalysisOptions) -> bool:
    """Whether mte2 is the busiest data pipe and at least `data_pipe_ratio` times mac; False without
    measurement.
    """
    ratios = {pipe: group.statistics.ratio(pipe) for pipe in DATA_PIPES}
    load, cube = ratios["aic_mte2"], ratios["aic_mac"]
    if load is None or cube is None:
        return False
    busiest = max(value for value in ratios.values() if value is not None)
    return load >= busiest and load > 0 and load >= options.data_pipe_ratio * cube


def _pipes(group: LabelledGroup) -> str:
    load, cube = group.statistics.ratio("aic_mte2"), group.statistics.ratio("aic_mac")
    if load is None or cube is None:
        return "pipes were not recorded"
    return f"mte2 {load:.2f}, mac {cube:.2f}"
