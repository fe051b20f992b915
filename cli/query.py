"""`npu-roofline query`: read-only SQL over the tables."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Output, Selection


def query(
    *,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT statement.")],
    selection: Selection,
    output: Output,
) -> None:
    """Ask the database in SQL, read-only.

    All tables hold every run; `selected_kernels` is the part that --run, --rank and --steps select. The
    columns are in docs/reference/columns.md.
    """
    from ..analyzer.query import query as ask

    with selection.session() as session:
        output.show(ask(session, sql))
