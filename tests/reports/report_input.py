"""A small report input, written by hand: three points, four roofs, a step of six kernels on two streams."""

from __future__ import annotations

from dataclasses import replace

from npu_roofline.analyzer.report_data import (
    Gap,
    Point,
    ReportInput,
    Roof,
    Timeline,
    TimelineKernel,
    TypeTime,
    Undrawn,
)

from tests.reports.answers import candidates_answer, hotspots_answer, step_row, summary_answer

# 301,989,888 FLOPs over 38,010,880 bytes are 7.945 FLOP/B; in 29.7 us they are 10.168 TFLOP/s.
GATE_UP = Point(
    id="k-11223344",
    type="QuantBatchMatmulV3",
    shapes="4,3072;384,192,16,32;12288",
    dtype="int8",
    unit="cube",
    streams=("166",),
    count=6,
    total_us=178.2,
    median_us=29.7,
    intensity=7.945,
    intensity_low=None,
    tflops=10.168,
    tflops_high=None,
    flops_lo=301_989_888.0,
    flops_hi=301_989_888.0,
    bytes_lo=38_010_880,
    bytes_hi=38_010_880,
    bound="memory",
    limiter="hbm",
    confidence="medium",
    reason="38.0 MB in 29.70 us is 1280 GB/s.",
)
# One sure row: 2 x 3072 x 2048 = 12,582,912 FLOPs over 10,616,832 bytes are 1.185 FLOP/B, in 28.7 us 0.4384
# TFLOP/s; all 384 rows 4,831,838,208 FLOPs, 168.36 TFLOP/s. HBM at 1,800 GB/s allows no more than 51.66 MB in
# 28.7 us, which is 0.2436 FLOP/B: the range ends there and not at the 0.0612 FLOP/B of all 205.7 MB.
EXPERTS = replace(
    GATE_UP,
    id="k-55667788",
    type="GroupedMatmul",
    total_us=86.1,
    median_us=28.7,
    count=3,
    intensity=1.185,
    intensity_low=0.2436,
    tflops=0.4384,
    tflops_high=168.36,
    flops_lo=12_582_912.0,
    flops_hi=4_831_838_208.0,
    bytes_lo=10_616_832,
    bytes_hi=205_651_968,
    confidence="low",
)
NORM = replace(
    GATE_UP,
    id="k-00000001",
    type="RmsNorm",
    unit="vector",
    dtype="fp32",
    streams=("46", "166"),
    total_us=9.0,
    median_us=3.0,
    count=3,
    intensity=0.5,
    tflops=0.02,
    bytes_lo=120_000,
    bytes_hi=120_000,
    bound="latency",
    limiter="launch",
)
ROOFS = (
    Roof("bandwidth", "HBM", 1600.0, "vendor page", "medium"),
    Roof("bandwidth", "L2", 5530.0, "measured", "low"),
    Roof("compute", "cube int8", 707.8, "derived", "high"),
    Roof("compute", "vector fp32", 11.06, "derived", "medium"),
)


TYPES = (
    TypeTime("MatMul", "memory", 6, 300.0, 100.0),
    TypeTime("MatMul", "compute", 3, 60.0, 20.0),
    TypeTime("Add", "latency", 9, 30.0, 10.0),
)


def timeline() -> Timeline:
    """Six kernels of 10 us, the fourth 50 us after the third; one AI_CPU row on a stream of its own."""
    starts = (0.0, 10.0, 20.0, 80.0, 90.0)
    kernels = tuple(
        TimelineKernel(at, f"op{at}", "MatMul", "166", start, 10.0, "memory", "hbm", at // 3, at)
        for at, start in enumerate(starts)
    )
    tiling = TimelineKernel(
        5, "tiling", "FusedInferAttentionScore", "162", 15.0, 40.0, "other", "ai_cpu", None, None
    )
    step = replace(step_row(4, 100.0), busy_us=50.0, idle_us=50.0)
    return Timeline(
        step=step,
        steps=3,
        kernels=(*kernels, tiling),
        gaps=(Gap(30.0, 50.0),),
        least_gap_us=10.0,
        all_gaps=1,
        all_gaps_us=50.0,
        left_out=0,
        left_out_us=0.0,
    )


def report_input(type: str = "QuantBatchMatmulV3") -> ReportInput:
    """The whole input; `type` renames the largest point and the first hotspot."""
    hotspots = hotspots_answer()
    rows = (replace(hotspots.rows[0], type=type), *hotspots.rows[1:])
    return ReportInput(
        summary=summary_answer(),
        hotspots=replace(hotspots, rows=rows, notes=("the group list is not in the export",)),
        candidates=candidates_answer(),
        points=(replace(GATE_UP, type=type), EXPERTS, NORM),
        points_left_out=0,
        roofs=ROOFS,
        undrawn=(Undrawn("moves data without arithmetic: no arithmetic intensity", 2, 3000.0),),
        types=TYPES,
        timeline=timeline(),
    )
