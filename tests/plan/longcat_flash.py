"""A decode step of LongCat-Flash written from its published numbers: what runs, and the fifteen real sites.

Hidden 6144, 28 layers with two attentions and two dense MLPs each, dense TP 8, attention in bf16, W8A8 linear
layers, fp32 router of 512 + 256 experts. Products take what their weights take at 85 % of 1.6 TB/s; norms,
activations and collectives as published for this model on A3. Two of its streams are written as captures of
their own: the attention side (with the dense MLPs), and the side of the experts (AFD).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.ingest.kernel_csv import row, starts, table, write

LAYERS = 28
H, F, E, Q, KV = 6144, 12288, 2048, 1536, 576  # hidden, dense inner, expert inner, q_lora, kv_lora + rope
TOKENS = 16
EFFICIENT = 1.36e6  # bytes per us: 85 % of 1.6 TB/s
# Pipes of a product that waits for its weight: the load is busy most of the time, the cube is not.
_PIPES = {
    "aicore_time(us)": "10",
    "aic_mac_ratio": "0.2",
    "aic_mte1_ratio": "0.3",
    "aic_mte2_ratio": "0.85",
    "aic_fixpipe_ratio": "0.02",
}
_CODES = {"bf16": "DT_BF16", "int8": "INT8", "fp32": "FLOAT"}
_BYTES = {"bf16": 2, "int8": 1, "fp32": 4}


@dataclass(frozen=True)
class Kernel:
    """One kernel of a layer: its own name in the tests, and what the export shows of it."""

    key: str
    type: str
    us: float
    inputs: str = f"{TOKENS},{H}"
    dtypes: str = "DT_BF16"
    output: str = f"{TOKENS},{H}"
    core: str = "AI_VECTOR_CORE"


def product(key: str, k: int, n: int, dtype: str, type: str = "MatMul") -> Kernel:
    """A product that is limited by the load of its weight."""
    code = _CODES[dtype]
    us = k * n * _BYTES[dtype] / EFFICIENT
    return Kernel(key, type, us, f"{TOKENS},{k};{k},{n}", f"{code};{code}", f"{TOKENS},{n}", "AI_CORE")


def collective(key: str, us: float, type: str = "hcom_reduceScatter_") -> Kernel:
    """A collective; exports show no operands of it."""
    return Kernel(key, type, us, "N/A", "N/A", "N/A", "COMMUNICATION")


def attention(block: int) -> list[Kernel]:
    """One of the two attention blocks of a layer, up to its o_proj."""
    return [
        product(f"q_a{block}", H, Q, "bf16"),
        Kernel(f"q_norm{block}", "RmsNorm", 4.0, f"{TOKENS},{Q}", output=f"{TOKENS},{Q}"),
        product(f"q_b{block}", Q, F, "bf16"),
        product(f"kv_a{block}", H, KV, "bf16"),
        Kernel(f"rope{block}", "InterleaveRope", 4.0, f"{TOKENS},64", output=f"{TOKENS},64"),
        Kernel(
            f"fia{block}", "FusedInferAttentionScore", 91.8, f"{TOKENS},64,512", output=f"{TOKENS},64,512",
            core="MIX_AIC",
        ),
        product(f"o{block}", 8192, H, "bf16"),
    ]  # fmt: skip


def mlp(block: int) -> list[Kernel]:
    """One of the two dense MLPs: reduce-scatter, norm, all-gather, quantise, gate_up, SwiGLU, down."""
    gate_up = product(f"gate_up{block}", H, 2 * F // 8, "int8", "QuantBatchMatmulV3")
    down = product(f"down{block}", F // 8, H, "int8", "QuantBatchMatmulV3")
    return [
        collective(f"scatter{block}", 20.0),
        Kernel(f"norm{block}", "AddRmsNorm", 5.0),
        collective(f"gather{block}", 15.0, "hcom_allGather_"),
        Kernel(f"quant{block}", "DynamicQuant", 3.5, dtypes="DT_BF16"),
        gate_up,
        Kernel(
            f"swiglu{block}",
            "DequantSwigluQuant",
            5.0,
            f"{TOKENS},{2 * F // 8}",
            "INT32",
            f"{TOKENS},{F // 8}",
        ),
        down,
        collective(f"out{block}", 20.0),
        Kernel(f"next{block}", "AddRmsNorm", 5.0),
    ]


def attention_side() -> list[Kernel]:
    """A layer without its experts: the router stands behind the first o_proj, as where AFD is off."""
    first, second = mlp(0), mlp(1)
    router = [
        product("router", H, 768, "fp32"),
        Kernel("top_k", "MoeGatingTopK", 4.0, f"{TOKENS},768", "FLOAT", f"{TOKENS},12"),
    ]
    return [*attention(0), *first[:2], *router, *first[2:], *attention(1), *second]


def expert_side(ep: int) -> list[Kernel]:
    """A layer of the experts' ranks (AFD): receive, route, dispatch, two grouped products, combine."""
    experts, rows = 512 // ep, 192

    def grouped(key: str, k: int, n: int) -> Kernel:
        us = experts * k * n / EFFICIENT
        shapes = f"{rows},{k};{experts},{k},{n};;;;;;{experts}"
        codes = "INT8;INT8;INT32;UINT64;FLOAT;FLOAT16;FLOAT16;INT64"
        return Kernel(key, "GroupedMatmul", us, shapes, codes, f"{rows},{n}", "AI_CORE")

    return [
        collective("receive", 30.0, "hcom_receive_"),
        product("router", H, 768, "fp32"),
        Kernel("top_k", "MoeGatingTopK", 4.0, f"{TOKENS},768", "FLOAT", f"{TOKENS},12"),
        Kernel("dispatch", "MoeDistributeDispatchV2", 33.0, f"{TOKENS},{H};{TOKENS},12", "DT_BF16;INT32",
               f"{rows},{H}", "MIX_AIV"),
        Kernel("quant", "DynamicQuant", 8.0, f"{rows},{H}", output=f"{rows},{H}"),
        grouped("w13", H, 2 * E),
        Kernel("swiglu", "DequantSwigluQuant", 8.0, f"{rows},{2 * E}", "INT32", f"{rows},{E}"),
        grouped("w2", E, H),
        Kernel("combine", "MoeDistributeCombineV2", 36.0, f"{rows},{H};{TOKENS},12", "DT_BF16;INT32",
               f"{TOKENS},{H}", "MIX_AIV"),
        Kernel("norm", "AddRmsNorm", 5.0),
    ]  # fmt: skip


def write_capture(folder: Path, layer: list[Kernel], steps: int = 3) -> Path:
    """The layer 28 times a step, one microsecond between kernels, as a level-1 export."""
    kernels = layer * LAYERS * steps
    per_step = len(layer) * LAYERS
    first, now, begins = int(starts(1)[0].split(".")[0]) * 1000, 0, []
    for number, kernel in enumerate(kernels):
        if number and number % per_step == 0:
            now += 100_000
        begins.append(first + now)
        now += round(kernel.us * 1000) + 1000
    rows = [
        row(
            step=str(3 + number // per_step),
            model="1",  # a graph: the host issues nothing one by one
            name=f"{kernel.key}_{number}",
            type=kernel.type,
            core=kernel.core,
            start=f"{begin // 1000}.{begin % 1000:03d}\t",
            duration=f"{kernel.us:.3f}",
            input_shapes=f'"{kernel.inputs}"' if kernel.inputs != "N/A" else "N/A",
            input_dtypes=kernel.dtypes,
            input_formats=";".join("ND" for _ in kernel.dtypes.split(";")),
            output_shapes=f'"{kernel.output}"' if kernel.output != "N/A" else "N/A",
            output_dtypes=kernel.dtypes.split(";")[0],
            output_formats="ND",
            **(_PIPES if kernel.core == "AI_CORE" else {}),
        )
        for number, (kernel, begin) in enumerate(zip(kernels, begins, strict=True))
    ]
    return write(folder, table(rows, pmu=[*_PIPES]))
