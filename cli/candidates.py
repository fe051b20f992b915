"""`npu-roofline candidates`: which weights to prefetch, behind what, and how many bytes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from .model_options import NamedModel
from .options import Output, Selection
from .window_rules import WindowRules


def candidates(
    *,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="Only the N with the largest saving.")
    ] = 10,
    rules: WindowRules,
    include_unsafe: Annotated[
        bool,
        typer.Option("--include-unsafe", help="Show windows with memory-bound kernels or attention too."),
    ] = False,
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
        output.show(
            ask(session, top=top, **asdict(rules), include_unsafe=include_unsafe, roles=model.roles())
        )
