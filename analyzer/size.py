"""max_size by hand: weight dimensions and dtype, or the MoE formulas, without a capture.

Sources of the two MoE formulas: the prefetch specification; `ffn.py` of the LongCat-Flash recipe computes
them so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import WrongUsage
from ..ingest.shapes import Tensor, dtype_info
from ..units import format_bytes
from .answer import Answer, DeviceInfo, SizeRow
from .model_config import ModelConfig
from .options import AnalysisOptions
from .prefetch import Size, cap_in_bytes, check_coefficient, l2_budget_bytes, max_size
from .roles import ParallelSizes
from .size_model import Stored, equal_bytes, experts_of, listed_weights

if TYPE_CHECKING:
    from ..roofline.device import Device

# gmm_quant_mode of the recipe is 'w8a8int8', the specification writes 'w8a8'; both mean one byte per element.
QUANT_BYTES = {"w8a8": 1, "w8a8int8": 1}
UNQUANTISED_BYTES = 2  # bf16
# Storage formats as people and exports write them; 29 and 2 are their numbers in the runtime.
FORMATS = {"ND": "ND", "2": "ND", "FRACTAL_NZ": "FRACTAL_NZ", "NZ": "FRACTAL_NZ", "29": "FRACTAL_NZ"}
GMM1_SHARE, GMM2_SHARE = 0.5, 1.0  # the specification halves gmm1 and takes all of gmm2


@dataclass(frozen=True)
class MoeSizes:
    """What the MoE formulas take: H, I, tensor parallel size of the experts, experts per rank, quantisation.

    experts_per_rank: routed experts // expert parallel size; zero experts have no weights and do not count.
    quant_mode: 'w8a8', 'w8a8int8', or None for bf16.
    """

    hidden_size: int
    intermediate_size: int
    experts_per_rank: int
    moe_tp_size: int = 1
    quant_mode: str | None = None


@dataclass(frozen=True)
class ModelSizes:
    """All weights of a model: its config.json, how it is split over ranks, and its quantisation.

    quant_mode: as in MoeSizes; None = what the config says, else bf16.
    """

    config: ModelConfig
    parallel: ParallelSizes
    quant_mode: str | None = None


@dataclass(frozen=True)
class SizeRequest:
    """One question of the manual mode: a weight (dims as stored, dtype, format), MoE sizes, a model's
    config, or several of them.
    """

    dims: tuple[int, ...] | None = None
    dtype: str = "bf16"
    format: str = "ND"
    moe: MoeSizes | None = None
    coefficient: float | None = None
    cap_mib: float | None = None
    model: ModelSizes | None = None


def experts_per_rank(routed_experts: int, expert_parallel: int) -> int:
    """Experts whose weights one rank holds; raises WrongUsage when the ranks outnumber them or do not
    divide.
    """
    _positive("--routed-experts", routed_experts)
    _positive("--ep", expert_parallel)
    if routed_experts % expert_parallel:
        raise WrongUsage(
            f"{routed_experts} experts do not divide over {expert_parallel} ranks",
            "zero experts hold no weights: count routed experts only",
        )
    return routed_experts // expert_parallel


def size(
    request: SizeRequest,
    device: Device | None = None,
    info: DeviceInfo | None = None,
    options: AnalysisOptions | None = None,
) -> Answer:
    """Work out max_size from dimensions: weight x coefficient, limited by half of L2 and the cap.

    There is no window here, so the window term does not apply; `candidates` knows it from a capture. Without
    a device the L2 term is left out and that is said. Raises WrongUsage for dimensions or a dtype that make
    no weight.
    """
    options = options or AnalysisOptions()
    share = check_coefficient(options.coefficient if request.coefficient is None else request.coefficient)
    limits = _Limits(_l2_budget(device, options), cap_in_bytes(request.cap_mib), options)
    rows: list[SizeRow] = []
    if request.dims is not None:
        rows.append(_weight_row(request, share, limits))
    notes = ["The window is not known here: `candidates` on a capture gives the bytes that arrive in time."]
    if request.model is not None:
        found, said = _model_rows(request.model, share, limits)
        rows += found
        notes += said
    if request.moe is not None:
        rows += _moe_rows(request.moe, share, limits)
    if not rows:
        raise WrongUsage(
            "no weight to size",
            "give dimensions such as 6144,24576, a --model-config, or the sizes of the experts",
        )
    notes += [f"{row.name}: {row.note}." for row in rows if row.note]
    if limits.l2 is None:
        notes.append("No device was given, so nothing is capped by L2; name one with --device.")
    return Answer("size", None, info, None, tuple(rows), tuple(notes))


@dataclass(frozen=True)
class _Limits:
    l2: int | None
    cap: int | None
    options: AnalysisOptions

    def size(self, weight_bytes: int, share: float) -> Size:
        return max_size(weight_bytes, share, None, self.l2, self.cap, self.options)

    def note(self, found: Size) -> str:
        """Why the size is not what the formula says."""
        formula = format_bytes(found.terms.formula_bytes)
        if found.terms.limited_by == "l2":
            budget = f"{self.options.alpha:.0%} of L2, {format_bytes(self.l2)}"
            return f"the formula gives {formula}, capped by {budget}"
        if found.terms.limited_by == "cap":
            return f"the formula gives {formula}, capped by --cap-mib"
        return ""


def _l2_budget(device: Device | None, options: AnalysisOptions) -> int | None:
    if device is None or device.l2_bytes is None:
        return None
    return l2_budget_bytes(device.l2_bytes, 0.0, options)


def _weight_row(request: SizeRequest, share: float, limits: _Limits) -> SizeRow:
    dims = request.dims or ()
    for dim in dims:
        _positive("a dimension", dim)
    kind = dtype_info(request.dtype)
    if kind is None:
        raise WrongUsage(f"dtype {request.dtype!r} is not known", "use bf16, fp16, int8, fp32, int4, …")
    format = FORMATS.get(request.format.strip().upper())
    if format is None:
        raise WrongUsage(f"weight format {request.format!r} is not known", f"use {', '.join(FORMATS)}")
    return _stored_row("weight", Stored(Tensor(dims, kind.name, format, kind.element_bytes)), share, limits)


def _stored_row(name: str, stored: Stored, share: float, limits: _Limits) -> SizeRow:
    found = limits.size(stored.bytes, share)
    return _row(
        name=name,
        shape=",".join(str(dim) for dim in stored.tensor.dims),
        dtype=stored.tensor.dtype,
        found=found,
        weight_bytes=stored.bytes,
        share=share,
        formula=f"{stored.arithmetic}; x {share:g}",
        note=limits.note(found),
    )


def _model_rows(model: ModelSizes, share: float, limits: _Limits) -> tuple[list[SizeRow], list[str]]:
    """Every weight that the config gives, then the specification's MoE formulas with its numbers."""
    quantised = _element_bytes(model.quant_mode or model.config.quant_mode) == 1
    weights = listed_weights(model.config, model.parallel, quantised)
    rows = [_stored_row(name, stored, share, limits) for name, stored in weights]
    experts = experts_of(model.config, model.parallel)
    if experts is not None:
        hidden, inner, per_rank, tp = experts
        moe = MoeSizes(hidden, inner, per_rank, tp, "w8a8" if quantised else None)
        rows += [row for row in _moe_rows(moe, share, limits) if row.name.startswith("gmm")]
    how = "w8a8: int8 linear layers, attention and router as the recipe keeps them" if quantised else "bf16"
    split = ", ".join(f"{name} {size}" for name, size in model.parallel.complete().items())
    notes = [f"{model.config.name} from {model.config.source}, {how}; split over ranks: {split}."]
    if any(name in ("gate_up_proj", "down_proj") for name, _ in weights) and experts is not None:
        notes.append("gate_up_proj and down_proj are those of dense layers, if the model has any.")
    return rows, [*notes, *equal_bytes(weights)]


def _moe_rows(moe: MoeSizes, share: float, limits: _Limits) -> list[SizeRow]:
    """w13 and w2 at the one coefficient used everywhere, and the specification's own gmm1 and gmm2 beside
    them.
    """
    for name in ("hidden_size", "intermediate_size", "experts_per_rank", "moe_tp_size"):
        _positive(f"--{name.replace('_', '-')}", getattr(moe, name))
    element = _element_bytes(moe.quant_mode)
    hidden, inner, tp, experts = moe.hidden_size, moe.intermediate_size, moe.moe_tp_size, moe.experts_per_rank
    w13 = hidden * inner * 2 * element // tp * experts
    w2 = hidden * inner * element // tp * experts
    shapes = {"w13": f"{experts},{hidden},{2 * inner // tp}", "w2": f"{experts},{inner // tp},{hidden}"}
    written = {
        "w13": f"{hidden} x {inner} x 2 x {element} // {tp} x {experts}",
        "w2": f"{hidden} x {inner} x {element} // {tp} x {experts}",
    }
    plan = (
        ("experts.w13", "w13", w13, share, f"x {share:g}"),
        ("experts.w2", "w2", w2, share, f"x {share:g}"),
        ("gmm1 of the specification", "w13", w13, GMM1_SHARE, "// 2"),
        ("gmm2 of the specification", "w2", w2, GMM2_SHARE, "whole"),
    )
    rows = []
    for name, weight, stored, taken, how in plan:
        found = limits.size(stored, taken)
        rows.append(
            _row(
                name=name,
                shape=shapes[weight],
                dtype="int8" if element == 1 else "bf16",
                found=found,
                weight_bytes=stored,
                share=taken,
                formula=f"{written[weight]} = {stored:,} B; {how}",
                note=limits.note(found),
            )
        )
    return rows


def _row(
    name: str, shape: str, dtype: str, found: Size, weight_bytes: int, share: float, formula: str, note: str
) -> SizeRow:
    terms = found.terms
    return SizeRow(
        name=name,
        shape=shape,
        dtype=dtype,
        weight_bytes=weight_bytes,
        coefficient=share,
        formula_bytes=terms.formula_bytes or 0,
        l2_bytes=terms.l2_bytes,
        cap_bytes=terms.cap_bytes,
        max_size=found.max_size,
        limited_by=terms.limited_by,
        formula=formula,
        note=note,
    )


def _element_bytes(quant_mode: str | None) -> int:
    if quant_mode is None or quant_mode.lower() in ("none", "bf16", "unquant"):
        return UNQUANTISED_BYTES
    if quant_mode.lower() in QUANT_BYTES:
        return QUANT_BYTES[quant_mode.lower()]
    raise WrongUsage(
        f"quantisation {quant_mode!r} is not one of the formulas'",
        f"use {', '.join(QUANT_BYTES)} or none; any other weight can be sized by its dimensions and dtype",
    )


def _positive(name: str, value: int) -> None:
    if value <= 0:
        raise WrongUsage(f"{name} is {value}", "dimensions and counts are above 0")
