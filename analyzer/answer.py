"""What every question answers with: the envelope, and one frozen record per kind of row.

Field names are the names of the JSON output. Times are us, sizes bytes, both per call unless the name says
otherwise. None means not known or not measured; zero is a measurement. Rows of each command stand in a file
of their own (`answer_rows.py`, `answer_prefetch.py`, `answer_compare.py`); all are importable from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .answer_compare import (
        CompareRow,
        CriterionRow,
        GroupChange,
        PathRow,
        PathSide,
        PrefetchCheck,
        Residual,
        SignatureChange,
        StepComparison,
        StepTime,
        StepTimes,
        StreamChange,
        UsualStep,
        Verdict,
        WaitChange,
    )
    from .answer_prefetch import (
        CandidateRow,
        ExplainStep,
        MaxSizeTerms,
        RoleRow,
        Saving,
        SizeRow,
        WalkStep,
        WeightRow,
        WindowKernelRow,
        WindowRow,
    )
    from .answer_rows import (
        DeviceListRow,
        DeviceRow,
        EvidenceRow,
        HotspotRow,
        IdleRow,
        IngestRow,
        KernelRef,
        OtherEngineRow,
        QuestionRow,
        RankRow,
        RankSummaryRow,
        RejectRow,
        RunRow,
        StepRow,
        StepSpread,
        SummaryRow,
    )
    from .answer_tune import ExperimentRow

__all__ = [
    "Answer",
    "CandidateRow",
    "CompareRow",
    "Coverage",
    "CriterionRow",
    "DeviceInfo",
    "DeviceListRow",
    "DeviceRow",
    "EvidenceRow",
    "ExperimentRow",
    "ExplainStep",
    "GroupChange",
    "HotspotRow",
    "IdleRow",
    "IngestRow",
    "KernelRef",
    "MaxSizeTerms",
    "OtherEngineRow",
    "PathRow",
    "PathSide",
    "PrefetchCheck",
    "QuestionRow",
    "RankRow",
    "RankSummaryRow",
    "RejectRow",
    "Residual",
    "RoleRow",
    "RunInfo",
    "RunRow",
    "Saving",
    "SignatureChange",
    "SizeRow",
    "StepComparison",
    "StepRow",
    "StepSpread",
    "StepTime",
    "StepTimes",
    "StreamChange",
    "SummaryRow",
    "UsualStep",
    "Verdict",
    "WaitChange",
    "WalkStep",
    "WeightRow",
    "WindowKernelRow",
    "WindowRow",
]

# Loaded when first asked for: a hundred records take as long to declare as a small question to answer.
_RECORDS = {
    "answer_compare": (
        "CompareRow",
        "CriterionRow",
        "GroupChange",
        "PathRow",
        "PathSide",
        "PrefetchCheck",
        "Residual",
        "SignatureChange",
        "StepComparison",
        "StepTime",
        "StepTimes",
        "StreamChange",
        "UsualStep",
        "Verdict",
        "WaitChange",
    ),
    "answer_prefetch": (
        "CandidateRow",
        "ExplainStep",
        "MaxSizeTerms",
        "RoleRow",
        "Saving",
        "SizeRow",
        "WalkStep",
        "WeightRow",
        "WindowKernelRow",
        "WindowRow",
    ),
    "answer_tune": ("ExperimentRow", "NextStep", "TuningRow"),
    "answer_rows": (
        "DeviceListRow",
        "DeviceRow",
        "EvidenceRow",
        "HotspotRow",
        "IdleRow",
        "IngestRow",
        "KernelRef",
        "OtherEngineRow",
        "QuestionRow",
        "RankRow",
        "RankSummaryRow",
        "RejectRow",
        "RunRow",
        "StepRow",
        "StepSpread",
        "SummaryRow",
    ),
}


def __getattr__(name: str) -> Any:
    """The record of a row by its name, from the file that declares it."""
    for module, names in _RECORDS.items():
        if name in names:
            return getattr(import_module(f".{module}", __package__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@dataclass(frozen=True)
class RunInfo:
    """The run that a question is asked of, and the part of it that was selected."""

    name: str
    run_id: int
    rank: int | None  # the rank that answers; None when the run holds no kernels at all
    ranks: tuple[int, ...]  # every rank of the run that holds kernels
    steps: tuple[int, ...]  # the selected step ids, ascending
    ingested_at: str  # ISO 8601, UTC
    source_paths: tuple[str, ...]
    cann_version: str | None
    torch_npu_version: str | None
    metric_mode: (
        str | None
    )  # 'pipe_utilization', 'memory', …, 'none'; read from the header of the kernel table
    level: str | None  # profiler level as profiler_info*.json spells it; None when that file is absent


@dataclass(frozen=True)
class DeviceInfo:
    """The hardware that the numbers are held against, with where that was learned."""

    soc: str | None  # all candidates named when the evidence does not tell them apart; None = not known
    source: str  # the field or argument that said so
    confidence: str  # 'high' | 'medium' | 'low' | 'unknown'
    candidates: tuple[str, ...] = ()
    hbm_gb_s: float | None = None  # nominal, 1e9 bytes/s
    hbm_max_gb_s: float | None = None  # upper end of the disagreement of sources, 1e9 bytes/s
    l2_mib: float | None = None  # MiB (2**20 bytes)
    cube_cores: int | None = None
    clock_mhz: float | None = None
    peaks: Mapping[str, float] = field(default_factory=dict)  # cube peak per dtype, 1e12 operations/s


@dataclass(frozen=True)
class Coverage:
    """How much of the capture the labels rest on; `sentence` is the first line of every report.

    `aicore_us` = modelled + upper bound + generic + unresolved, and also = labelled + unknown. All times are
    summed durations over the selected steps, us.
    """

    rows_read: int  # of the whole run, all ranks
    rows_kept: int
    rows_rejected: int
    duplicate_rows: int  # of the selection: rows listed twice by the profiler, counted once
    aicore_rows: int
    aicore_us: float
    modelled_us: float  # the operator's own work model, bytes and FLOPs known
    upper_bound_us: float  # bytes are a range: experts or sequence lengths are not in the export
    generic_us: float  # no model for the type: inputs and outputs once, said so
    unresolved_us: float  # shapes missing or contradictory: no work at all
    labelled_us: float  # bound is not 'unknown'
    unknown_us: float  # bound is 'unknown'
    communication_rows: int
    communication_us: float
    other_engine_rows: int  # AI_CPU, DSA and the like: in no roofline and no busy total
    other_engine_us: float
    steps: int
    streams: int
    sentence: str


@dataclass(frozen=True)
class Answer:
    """One question answered: the run and device asked, how far it can be trusted, the rows, the notes.

    `extras` holds the side tables of a command by stable name (for `summary`: `steps`, `idle`, …); values are
    frozen records, tuples of them, or plain values.
    """

    command: str
    run: RunInfo | None
    device: DeviceInfo | None
    coverage: Coverage | None
    rows: tuple[Any, ...]
    notes: tuple[str, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)
