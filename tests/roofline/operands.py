"""Building signatures and measurements by hand, in the spelling of exports."""

from __future__ import annotations

from npu_roofline.ingest.shapes import parse_operands
from npu_roofline.roofline.measure import Measurement
from npu_roofline.roofline.work import Signature, Work, work_of


def signature(
    kind: str,
    inputs: str,
    outputs: str,
    dtypes: str = "",
    formats: str = "",
    out_dtypes: str = "",
    core: str = "AI_CORE",
    hf32: bool | None = False,
) -> Signature:
    """A signature from shape text; one dtype or format stands for all slots, bf16 ND by default."""
    return Signature(
        type=kind,
        core=core,
        kernel_class="aicore",
        hf32=hf32,
        inputs=parse_operands(inputs, _spread(dtypes or "DT_BF16", inputs), _spread(formats or "ND", inputs)),
        outputs=parse_operands(outputs, _spread(out_dtypes or "DT_BF16", outputs), _spread("ND", outputs)),
    )


def work(kind: str, inputs: str, outputs: str, **rest: str) -> Work:
    """The work of such a signature."""
    return work_of(signature(kind, inputs, outputs, **rest))


def measured(
    median_us: float,
    block: int | None = 24,
    core_us: float | None = None,
    occupancy: float | None = None,
    metric_mode: str = "pipe_utilization",
    other: dict[str, float] | None = None,
    **pipes: float,
) -> Measurement:
    """One row's measurement; pipes by full name (`aic_mac=.12`), cube time unless only vector pipes are
    given.
    """
    vector = bool(pipes) and all(name.startswith("aiv") for name in pipes)
    return Measurement(
        count=1,
        median_us=median_us,
        total_us=median_us,
        p10_us=median_us,
        p90_us=median_us,
        block=block,
        aicore_time_us=None if vector else core_us,
        aiv_time_us=core_us if vector else None,
        cube_utilization_pct=occupancy,
        ratios=pipes,
        other=other or {},
        metric_mode=metric_mode,
    )


def _spread(cells: str, shapes: str) -> str:
    return cells if ";" in cells else ";".join([cells] * (shapes.count(";") + 1))
