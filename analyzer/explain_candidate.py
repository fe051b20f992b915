"""Why a candidate has its window and size: the target rule, the windows weighed, each term, the saving."""

from __future__ import annotations

from ..units import format_bytes, format_us
from .answer import CandidateRow, ExplainStep, WindowRow
from .sites import Site


def candidate_steps(row: CandidateRow, site: Site | None) -> tuple[ExplainStep, ...]:
    """The decision about one target: the target rule, every window, the terms of max_size, the saving."""
    target = ExplainStep(
        "Is its weight load what it waits for?",
        {
            "target_us": row.target_us,
            "weight_bytes": row.weight_bytes,
            "occurrences_per_step": row.occurrences_per_step or None,
        },
        site.judgement.reason if site else row.reason,
    )
    if site is None:
        return (target,)
    steps = [
        target,
        ExplainStep("How far back may the window reach?", {"kernels": len(row.walk)}, site.walk.stopped),
    ]
    windows = sorted(
        (*((row.window,) if row.window else ()), *row.alternatives), key=lambda window: len(window.kernels)
    )
    steps += [_window_step(window, window == row.window) for window in windows]
    if row.window is None or row.max_size_terms is None or row.predicted_saving_us is None:
        return (*steps, ExplainStep("Result", {}, row.reason))
    return (
        *steps,
        _size_step(row),
        *_call_steps(row, row.window),
        _saving_step(row),
        *(ExplainStep("Assumed", {}, each) for each in row.assumptions),
    )


def _window_step(window: WindowRow, chosen: bool) -> ExplainStep:
    inside = " + ".join(kernel.type for kernel in window.kernels) or "only the gap"
    if window.hazards:
        verdict = ("not safe: " if not window.safe else "accepted: ") + "; ".join(window.hazards)
    else:
        verdict = "safe"
    return ExplainStep(
        f"Window after {window.dependency}{_place(window)}: {inside}",
        {
            "duration_p10_us": window.duration_us,
            "duration_median_us": window.median_us,
            "spare_bytes": window.spare_bytes,
            "max_size": window.max_size,
            "net_saving_us": window.net_saving_us,
            "occurrences_per_step": window.occurrences_per_step,
        },
        f"{verdict}{', chosen: the largest net saving' if chosen else ''}",
    )


def _place(window: WindowRow) -> str:
    """' @14': which of the kernels of that type in a layer it is; nothing outside layers."""
    return "" if window.dependency_position is None else f" @{window.dependency_position}"


def _size_step(row: CandidateRow) -> ExplainStep:
    terms, window = row.max_size_terms, row.window
    assert terms is not None
    assert window is not None
    taken = {
        "window_taken_bytes": window.taken_window_bytes or None,
        "l2_taken_bytes": window.taken_l2_bytes or None,
    }
    return ExplainStep(
        "How many bytes?",
        {
            "formula_bytes": terms.formula_bytes,
            "window_bytes": terms.window_bytes,
            "l2_bytes": terms.l2_bytes,
            "cap_bytes": terms.cap_bytes,
            "max_size": row.max_size,
            **{name: value for name, value in taken.items() if value},
        },
        f"{format_bytes(row.max_size)}, limited by {terms.limited_by}",
    )


def _call_steps(row: CandidateRow, window: WindowRow) -> tuple[ExplainStep, ...]:
    """One call per weight that gets bytes; a fused kernel has several weights."""
    dependency = window.dependency_name or window.dependency
    return tuple(
        ExplainStep(
            "What to write",
            {"max_size": weight.max_size},
            f"npu_prefetch(weight of {weight.shape} {weight.dtype}, output of {dependency}, "
            f"{weight.max_size})",
        )
        for weight in row.weights
        if weight.max_size
    )


def _saving_step(row: CandidateRow) -> ExplainStep:
    saving = row.predicted_saving_us
    assert saving is not None
    return ExplainStep(
        "What would that save?",
        {
            "low_us": saving.low,
            "mid_us": saving.mid,
            "high_us": saving.high,
            "occurrences_per_step": row.occurrences_per_step,
            "per_step_us": row.predicted_saving_step_us,
        },
        f"{format_us(row.predicted_saving_step_us)} per step, net of what the window loses; "
        "a model, not a measurement",
    )
