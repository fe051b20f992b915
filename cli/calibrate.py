"""`npu-roofline calibrate`: the model's assumptions out of a measured prefetch."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Output, Selection


def calibrate(
    *,
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="The run without the prefetch.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The run with one prefetch.")],
    target: Annotated[
        str, typer.Option("--target", metavar="ID", help="The candidate that was prefetched for.")
    ],
    max_size: Annotated[
        int | None,
        typer.Option(
            "--max-size",
            metavar="BYTES",
            min=1,
            help="Bytes the call asked for. [default: what was proposed]",
        ),
    ] = None,
    selection: Selection,
    output: Output,
) -> None:
    """Fit the copy engine's bandwidth and its share from two runs.

    One prefetch is the only difference between them. Give the figures to `candidates` and `plan` with
    --cmo-gb-s and --eta; a figure that is only a lower bound says so.
    """
    from ..analyzer.calibrate import calibrate as ask

    with selection.session(run=before) as first, selection.session(run=after) as second:
        output.show(ask(first, second, target, max_size))
