"""The options of the model that picks windows and sizes, for every command that proposes prefetches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from .options import LARGEST_GB_S, LARGEST_MIB

Coefficient = Annotated[
    float | None,
    typer.Option(
        "--coefficient", metavar="C", min=0.01, max=1, help="Share of a weight to ask for. [default: 0.5]"
    ),
]
CapMib = Annotated[
    float | None,
    typer.Option(
        "--cap-mib", metavar="MIB", min=0.01, max=LARGEST_MIB, help="Never ask for more than this, in MiB."
    ),
]


@dataclass(frozen=True)
class WindowRules:
    """What the user may set of the model that picks windows and sizes."""

    coefficient: Coefficient = None
    allow_comm_windows: Annotated[
        bool, typer.Option("--allow-comm-windows", help="Let collectives stand inside a window.")
    ] = False
    cap_mib: CapMib = None
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
