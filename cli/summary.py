"""`npu-roofline summary`: where the time of a step goes, and where the device waits."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from .options import Output, Selection

By = Literal["bound", "type", "stream", "rank", "step", "link"]


def summary(
    *,
    by: Annotated[By, typer.Option("--by", help="What to add the time up by.")] = "bound",
    selection: Selection,
    output: Output,
) -> None:
    """Show where the time of a step goes, and where it waits.

    Step wall time = busy + idle, where busy is the union of all kernels on the device. AI_CPU and other
    engines are listed apart: their rows are in no busy total.
    """
    from ..analyzer.summary import summary as ask

    with selection.session() as session:
        output.show(ask(session, by=by))
