"""`npu-roofline explain`: why a hotspot has its label, or a candidate its window and size."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Output, Selection


def explain(
    *,
    id: Annotated[
        str, typer.Argument(metavar="ID", help="An id from `hotspots` (k-…) or `candidates` (c-…).")
    ],
    selection: Selection,
    output: Output,
) -> None:
    """Show the steps behind a label or a candidate.

    For a hotspot: the label, rule by rule. For a candidate: the walk back from the target, and each term of
    max_size. The first characters of an id are enough where they are unique.
    """
    from ..analyzer.explain import explain as ask

    with selection.session() as session:
        output.show(ask(session, id))
