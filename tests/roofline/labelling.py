"""Labels of hand-built measurements, and the kernels that several tests label."""

from __future__ import annotations

from npu_roofline.roofline.classify import Label, classify
from npu_roofline.roofline.device import load_device
from npu_roofline.roofline.device_model import Device
from npu_roofline.roofline.measure import Measurement
from npu_roofline.roofline.model import Work
from npu_roofline.roofline.options import RooflineOptions

from tests.roofline.operands import work

OPTIONS = RooflineOptions()
B2 = load_device("910B2")
B4 = load_device("910B4")


def label(found: Work, measurement: Measurement, device: Device | None = B2) -> Label:
    """The label with default thresholds."""
    return classify(found, measurement, device, OPTIONS)


def named(result: Label) -> str:
    """`bound/limiter`."""
    return f"{result.bound}/{result.limiter}"


def fp32(inputs: str, outputs: str) -> Work:
    """An FP32 matmul of d02."""
    return work("MatMulV2", inputs, outputs, dtypes="FLOAT", out_dtypes="FLOAT")


GATE_UP = work(
    "QuantBatchMatmulV3",
    "4,3072;384,192,16,32;12288",
    "4,12288",
    dtypes="INT8;INT8;FLOAT",
    formats="ND;FRACTAL_NZ;ND",
    out_dtypes="INT32",
)
DOWN = work(
    "QuantBatchMatmulV3",
    "4,6144;96,384,16,32;3072;4",
    "4,3072",
    dtypes="INT8;INT8;DT_BF16;FLOAT",
    formats="ND;FRACTAL_NZ;ND;ND",
)
W13 = work(
    "GroupedMatmul",
    "384,3072;32,64,192,16,32;;;;;;32",
    "384,2048",
    dtypes="INT8;INT8;INT32;UINT64;FLOAT;FLOAT16;FLOAT16;INT64",
    formats="ND;FRACTAL_NZ;ND;ND;ND;ND;ND;ND",
    out_dtypes="INT32",
)
