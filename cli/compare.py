"""`npu-roofline compare`: what changed between two runs."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Output, Selection


def compare(
    *,
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="The run before the change.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The run after the change.")],
    selection: Selection,
    output: Output,
) -> None:
    """Say what changed between two runs.

    Kernels are paired by layer, position and signature. Medians say whether a kernel changed; means per
    step add up to the change of the step, and what they leave over is a row of its own. -o compare.html
    writes the report.
    """
    from ..analyzer.compare import compare as ask

    with selection.session(before) as session_before, selection.session(after) as session_after:
        output.show(ask(session_before, session_after))
