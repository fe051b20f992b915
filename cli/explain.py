"""`npu-roofline explain`: why a hotspot has its label, or a candidate its window and size."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from .options import Output, Selection
from .window_rules import WindowRules


def explain(
    *,
    id: Annotated[
        str, typer.Argument(metavar="ID", help="An id from `hotspots` (k-…) or `candidates` (c-…).")
    ],
    include_unsafe: Annotated[
        bool, typer.Option("--include-unsafe", help="Accept windows that are not safe, as `candidates` does.")
    ] = False,
    rules: WindowRules,
    selection: Selection,
    output: Output,
) -> None:
    """Show the steps behind a label or a candidate.

    For a hotspot: the label, rule by rule. For a candidate: the walk back from the target, and each term of
    max_size; the options with which `candidates` showed it lead to the same window. The first characters of
    an id are enough where they are unique.
    """
    from ..analyzer.explain import explain as ask

    with selection.session() as session:
        output.show(ask(session, id, include_unsafe=include_unsafe, **asdict(rules)))
