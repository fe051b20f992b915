"""Small answers, written by hand, that the tests of the reports render."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from npu_roofline.analyzer.answer import (
    Answer,
    CandidateRow,
    Coverage,
    DeviceInfo,
    ExplainStep,
    HotspotRow,
    IdleRow,
    KernelRef,
    MaxSizeTerms,
    RunInfo,
    Saving,
    StepRow,
    StepSpread,
    SummaryRow,
    WeightRow,
    WindowKernelRow,
    WindowRow,
)

RUN = RunInfo(
    name="decode",
    run_id=1,
    rank=0,
    ranks=(0,),
    steps=(3, 4, 5),
    ingested_at="2026-01-02T03:04:05Z",
    source_paths=("prof/kernel_details.csv",),
    cann_version="8.3.RC1",
    torch_npu_version=None,
    metric_mode="pipe_utilization",
    level="Level1",
)

DEVICE = DeviceInfo(
    soc="910_9382 (A3 die)",
    source="cube cores x clock of the PMU columns",
    confidence="medium",
    candidates=("910_9382",),
    hbm_gb_s=1600.0,
    hbm_max_gb_s=1800.0,
    l2_mib=192.0,
    cube_cores=24,
    clock_mhz=1800.0,
    peaks={"int8": 707.8, "bf16": 353.9, "fp32": 88.5},
)

COVERAGE = Coverage(
    rows_read=12,
    rows_kept=11,
    rows_rejected=1,
    duplicate_rows=1,
    aicore_rows=8,
    aicore_us=100.0,
    modelled_us=70.0,
    upper_bound_us=20.0,
    generic_us=6.0,
    unresolved_us=4.0,
    labelled_us=96.0,
    unknown_us=4.0,
    communication_rows=1,
    communication_us=10.0,
    other_engine_rows=1,
    other_engine_us=5.0,
    steps=3,
    streams=2,
    sentence="96 % of the AI-core time is labelled; 4 % is unknown, 6 % rests on a generic model.",
)

GATE_UP = HotspotRow(
    id="k-11223344",
    type="QuantBatchMatmulV3",
    core="AI_CORE",
    input_shapes="4,3072;384,192,16,32;12288",
    input_dtypes="int8;int8;fp32",
    input_formats="ND;FRACTAL_NZ;ND",
    count=6,
    total_us=178.2,
    median_us=29.7,
    p10_us=27.4,
    p90_us=36.3,
    share=0.6,
    bound="memory",
    limiter="hbm",
    confidence="medium",
    reason="38.0 MB in 29.70 us is 1280 GB/s, 80 % of 1600 GB/s, with mte2 at 0.82.",
    flops=301989888.0,
    flops_hi=301989888.0,
    bytes_lo=38010880,
    bytes_hi=38010880,
    weight_bytes=37748736,
    arithmetic_intensity=7.94,
    ridge=442.4,
    floor_us=21.1,
    headroom_us=8.6,
    potential_us=12.4,
    achieved_tflops=10.168,
    achieved_gb_s=1279.8,
    hbm_fraction=0.79989,
    signature_id="1122334455667788",
    family="matmul",
    outcome="resolved",
    block=24,
)

EXPERTS = replace(
    GATE_UP,
    id="k-55667788",
    type="GroupedMatmul",
    input_shapes="384,3072;32,64,192,16,32",
    share=0.3,
    total_us=86.1,
    median_us=28.7,
    bytes_lo=10_616_832,
    bytes_hi=205_651_968,
    flops=4831838208.0,
    flops_hi=4831838208.0,
    arithmetic_intensity=455.1,
    achieved_tflops=168.4,
    achieved_gb_s=369.9,
    achieved_gb_s_hi=7165.6,
    hbm_fraction=0.231,
    confidence="low",
    outcome="upper_bound",
    family="grouped_matmul",
    count=3,
    reason="bytes are a range (10.6 to 205.7 MB): which experts were hit is not in the export.",
    signature_id="5566778811223344",
    potential_us=None,
    floor_us=6.6,
    headroom_us=22.1,
)

UNKNOWN = replace(
    GATE_UP,
    id="k-99aabbcc",
    type="AutomaticBufferFusionOp",
    input_shapes=None,
    input_dtypes=None,
    share=0.1,
    total_us=12.0,
    median_us=4.0,
    bound="unknown",
    limiter="no shapes",
    confidence="low",
    reason="no shapes recorded",
    flops=None,
    flops_hi=None,
    bytes_lo=None,
    bytes_hi=None,
    weight_bytes=None,
    arithmetic_intensity=None,
    ridge=None,
    floor_us=None,
    headroom_us=None,
    potential_us=None,
    achieved_tflops=None,
    achieved_gb_s=None,
    hbm_fraction=None,
    signature_id="99aabbccddeeff00",
    outcome="unresolved",
    family="generic",
    count=3,
)

WINDOW = WindowRow(
    dependency="GroupedMatmul",
    kernels=(
        WindowKernelRow(
            "MoeDistributeCombineV2",
            "combine",
            35.7,
            "communication",
            "link",
            None,
            "same_layer",
            "usable",
            "moves tokens, not weights",
            True,
            20,
        ),
        WindowKernelRow(
            "DynamicQuant", "quant", 3.5, "latency", "launch", 0.01, "same_layer", "usable", "idle", False, 21
        ),
    ),
    duration_us=43.2,
    spare_bytes=40_000_000,
    safe=True,
    hazards=(),
    dependency_position=19,
    net_saving_us=4.5,
)

CANDIDATE = CandidateRow(
    id="c-11223344-22",
    target_type="QuantBatchMatmulV3",
    target_shapes="4,3072;384,192,16,32;12288",
    target_us=29.7,
    bound="memory",
    confidence="medium",
    role=None,
    layer_scope="same_layer",
    occurrences_per_step=14.0,
    weight_bytes=37748736,
    weights=(WeightRow(1, 37748736, "int8", "FRACTAL_NZ", "3072,12288"),),
    window=WINDOW,
    alternatives=(),
    max_size=18874368,
    max_size_terms=MaxSizeTerms(18874368, 30_000_000, 100_663_296, None, "coefficient"),
    predicted_saving_us=Saving(6.0, 9.0, 12.0),
    predicted_saving_step_us=126.0,
    status="candidate",
    reason="The window is idle on HBM.",
    predicted_saving_step_range_us=Saving(84.0, 126.0, 168.0),
    limiter="hbm",
    position=22,
    layers=(0, 1),
)


def hotspots_answer(*rows: HotspotRow, notes: tuple[str, ...] = ("Rank 0 of 1 is shown.",)) -> Answer:
    """Hotspots of the given rows, or of the three above."""
    return Answer("hotspots", RUN, DEVICE, COVERAGE, rows or (GATE_UP, EXPERTS, UNKNOWN), notes)


def step_row(step: int, wall: float) -> StepRow:
    """A decode step of which a quarter is idle."""
    return StepRow(
        step_id=step,
        wall_us=wall,
        busy_us=wall * 0.75,
        idle_us=wall * 0.25,
        idle_share=0.25,
        short_gaps_us=100.0,
        kernels=6,
        aicore_us=wall * 0.7,
        communication_us=10.0,
        other_engine_us=1.0,
        gap_before_us=None,
        phase="decode",
        outlier=step == 3,
    )


def summary_answer() -> Answer:
    """Three steps of which one is an outlier, time by bound, and one idle stretch."""
    rows = tuple(
        SummaryRow(key, kernels, us, us / 200.0, us / 3, us, 0.0, None)
        for key, kernels, us in (
            ("memory/hbm", 6, 100.0),
            ("latency/launch", 9, 60.0),
            ("unknown/shapes", 3, 40.0),
        )
    )
    idle = IdleRow(
        step_id=4,
        kind="step",
        start_us=0.0,
        span_us=2300.0,
        idle_us=2000.0,
        busy_us=300.0,
        kernels=5,
        other_engine_us=0.0,
        share_of_step=0.1875,
        before=None,
        after=KernelRef(7, "op_a", "GatherV2", 46, 3.0),
    )
    spread = StepSpread(3, 10718.0, 8038.5, 2679.5, 0.25, 7502.6, 10.0, (3,))
    steps = (step_row(3, 25626.0), step_row(4, 10666.0), step_row(5, 10718.0))
    return Answer(
        "summary", RUN, DEVICE, COVERAGE, rows, (), {"spread": spread, "steps": steps, "idle": (idle,)}
    )


def candidates_answer() -> Answer:
    """One candidate and one target without a safe window."""
    blocked = replace(
        CANDIDATE,
        id="c-55667788-18",
        target_type="GroupedMatmul",
        status="no_safe_window",
        window=None,
        max_size=None,
        max_size_terms=None,
        predicted_saving_us=None,
        predicted_saving_step_us=None,
        predicted_saving_step_range_us=None,
        reason="HcomAllReduce blocks the walk.",
    )
    return Answer("candidates", RUN, DEVICE, COVERAGE, (CANDIDATE, blocked), ())


def explain_answer() -> Answer:
    """Why GATE_UP has its label, in two steps."""
    steps = (
        ExplainStep("Is it near a roof?", {"u_m": 0.8, "u_c": 0.02}, "yes, near HBM"),
        ExplainStep("Do the counters agree?", {"mte2_ratio": 0.82, "l2_hit": None}, "mte2 agrees"),
    )
    return Answer("explain", RUN, DEVICE, COVERAGE, (GATE_UP,), (), {"steps": steps})


def every_answer() -> dict[str, Answer]:
    """One answer per command, by name."""
    query = Answer("query", None, None, None, ({"n": 1, "name": "a"}, {"n": None, "name": "b"}), ())
    answers: tuple[Any, ...] = (
        hotspots_answer(),
        summary_answer(),
        candidates_answer(),
        explain_answer(),
        query,
    )
    return {answer.command: answer for answer in answers}
