"""`npu-roofline hotspots`: which kernels take the time, and what limits each."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Output, Selection


def hotspots(
    *,
    top: Annotated[
        int | None,
        typer.Option("--top", metavar="N", min=1, help="Only the N that take most time. [default: all]"),
    ] = None,
    bound: Annotated[
        str | None,
        typer.Option(
            "--bound",
            metavar="BOUND",
            help="Only this bound: memory, compute, latency, communication, other, unknown, or memory/hbm.",
        ),
    ] = None,
    limiter: Annotated[
        str | None,
        typer.Option(
            "--limiter", metavar="LIMITER", help="Only this limiter, such as hbm, l2, mte2, cube, launch."
        ),
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(
            "--family", metavar="FAMILY", help="Only this operator family, such as matmul or attention."
        ),
    ] = None,
    selection: Selection,
    output: Output,
) -> None:
    """Rank kernels by time and say what limits each.

    A row is a signature: one operator type with its shapes, dtypes and formats. Times are medians over its
    calls. Give the id of a row to `explain` to see every step of its label.
    """
    from ..analyzer.hotspots import hotspots as ask

    with selection.session() as session:
        output.show(ask(session, top=top, bound=bound, limiter=limiter, family=family))
