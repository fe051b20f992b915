"""`npu-roofline size`: max_size from the dimensions of a weight, without a capture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import WrongUsage
from .model_options import ModelOptions
from .options import Output
from .window_rules import CapMib, Coefficient

if TYPE_CHECKING:
    from ..analyzer.size import MoeSizes


@dataclass(frozen=True)
class Experts:
    """The parameters of the MoE formulas; all or none."""

    hidden: Annotated[
        int | None,
        typer.Option("--hidden-size", metavar="H", min=1, help="Experts: hidden size of the model."),
    ] = None
    intermediate: Annotated[
        int | None,
        typer.Option(
            "--intermediate-size", metavar="I", min=1, help="Experts: intermediate size of one expert."
        ),
    ] = None
    routed: Annotated[
        int | None,
        typer.Option(
            "--routed-experts",
            metavar="N",
            min=1,
            help="Experts: routed experts of the model, without zero experts.",
        ),
    ] = None
    per_rank: Annotated[
        int | None,
        typer.Option(
            "--experts-per-rank",
            metavar="N",
            min=1,
            help="Experts: those that one rank holds, instead of --routed-experts and --ep.",
        ),
    ] = None
    quant: Annotated[
        str | None,
        typer.Option(
            "--quant-mode",
            metavar="MODE",
            help="w8a8int8 (w8a8), or none for bf16. [default: none, or what config.json says]",
        ),
    ] = None

    def sizes(self, ep: int, moe_tp: int) -> MoeSizes | None:
        """The parameters as one value, None when none was given. Raises WrongUsage when some are
        missing.
        """
        from ..analyzer.size import MoeSizes, experts_per_rank

        if self.routed is not None and self.per_rank is not None:
            raise WrongUsage("--routed-experts and --experts-per-rank say the same", "give one of them")
        count = self.per_rank
        if self.routed is not None:
            count = experts_per_rank(self.routed, ep)
        given = {
            "--hidden-size": self.hidden,
            "--intermediate-size": self.intermediate,
            "--routed-experts": count,
        }
        missing = [name for name, value in given.items() if value is None]
        if len(missing) == len(given):
            return None
        if self.hidden is None or self.intermediate is None or count is None:
            raise WrongUsage(
                f"the experts need {' and '.join(missing)} too", "all three are in the model's config.json"
            )
        return MoeSizes(self.hidden, self.intermediate, count, moe_tp, self.quant)


def size(
    *,
    dims: Annotated[
        str | None,
        typer.Argument(metavar="DIMS", help="Dimensions of the weight as stored, such as 6144,24576."),
    ] = None,
    dtype: Annotated[
        str, typer.Option("--dtype", metavar="TYPE", help="Its dtype: bf16, fp16, int8, fp32, int4.")
    ] = "bf16",
    weight_format: Annotated[
        str,
        typer.Option("--weight-format", metavar="FORMAT", help="Its storage format: ND or FRACTAL_NZ (NZ)."),
    ] = "ND",
    model: ModelOptions,
    experts: Experts,
    coefficient: Coefficient = None,
    cap_mib: CapMib = None,
    device: Annotated[
        str | None,
        typer.Option("--device", metavar="SOC|FILE", help="The chip, for its L2: 910B3 or a TOML file."),
    ] = None,
    output: Output,
) -> None:
    """Work out max_size from the dimensions of a weight.

    For planning without a capture: weight bytes x coefficient, at most half of L2 and the cap. With the
    model's config.json every weight of it is listed; experts can be given by their sizes instead: w13 and
    w2 are worked out, beside what the specification's formulas say.
    """
    from ..analyzer.device_choice import device_info, device_of_argument
    from ..analyzer.size import ModelSizes, SizeRequest
    from ..analyzer.size import size as ask

    config, moe = model.config(), experts.sizes(model.ep or 1, model.moe_tp or 1)
    whole = None if config is None else ModelSizes(config, model.parallel(), experts.quant)
    request = SizeRequest(_dims(dims), dtype, weight_format, moe, coefficient, cap_mib, whole)
    if device is None:
        output.show(ask(request))
        return
    resolved = device_of_argument(device)
    output.show(ask(request, resolved.device, device_info(resolved)))


def _dims(text: str | None) -> tuple[int, ...] | None:
    """'6144,24576' -> (6144, 24576). Raises WrongUsage for anything else."""
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError as error:
        raise WrongUsage(f"{text!r} is no list of dimensions", "write them like 6144,24576") from error
