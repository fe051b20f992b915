"""`npu-roofline candidates`: which weights to prefetch, behind what, and how many bytes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from .model_options import NamedModel
from .options import LARGEST_GB_S, LARGEST_MIB, Output, Selection


@dataclass(frozen=True)
class SizeRules:
    """What the user may set of the model that picks windows and sizes."""

    coefficient: Annotated[
        float | None,
        typer.Option(
            "--coefficient", metavar="C", min=0.01, max=1, help="Share of a weight to ask for. [default: 0.5]"
        ),
    ] = None
    allow_comm_windows: Annotated[
        bool, typer.Option("--allow-comm-windows", help="Let collectives stand inside a window.")
    ] = False
    include_unsafe: Annotated[
        bool,
        typer.Option("--include-unsafe", help="Show windows with memory-bound kernels or attention too."),
    ] = False
    cap_mib: Annotated[
        float | None,
        typer.Option(
            "--cap-mib",
            metavar="MIB",
            min=0.01,
            max=LARGEST_MIB,
            help="Never ask for more than this, in MiB.",
        ),
    ] = None
    eta: Annotated[
        float | None,
        typer.Option(
            "--eta",
            metavar="X",
            min=0.01,
            max=1,
            help="Share of the spare bandwidth that a prefetch gets. [default: 0.65]",
        ),
    ] = None
    cmo_gb_s: Annotated[
        float | None,
        typer.Option(
            "--cmo-gb-s",
            metavar="GB/S",
            min=1,
            max=LARGEST_GB_S,
            help="Prefetch bandwidth measured on your board, in 1e9 bytes per second.",
        ),
    ] = None


def candidates(
    *,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="Only the N with the largest saving.")
    ] = 10,
    rules: SizeRules,
    model: NamedModel,
    selection: Selection,
    output: Output,
) -> None:
    """Propose weights to prefetch, with window and max_size.

    Every term of max_size is shown and the one that limits it is named. A target without a safe window says
    what blocked the walk. Give the id of a row to `explain` to see the walk step by step.
    """
    from ..analyzer.candidates import candidates as ask

    with selection.session() as session:
        output.show(ask(session, top=top, **asdict(rules), roles=model.roles()))
