"""`npu-roofline ops`: the operators of a torch_npu and their documentation, read from a wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .groups import spread
from .options import Output

app = typer.Typer(help="List, show or search the operators of torch_npu.", no_args_is_help=True)

Wheels = Annotated[
    list[Path] | None,
    typer.Option(
        "--wheel",
        metavar="FILE|FOLDER",
        help="A torch_npu wheel or folder; repeat to compare several. [default: the installed torch_npu]",
    ),
]
Prefix = Annotated[str, typer.Option("--prefix", metavar="TEXT", help="Only names that begin with TEXT.")]


@app.command("list")
@spread
def list_operators(
    *,
    wheel: Wheels = None,
    prefix: Prefix = "",
    everything: Annotated[bool, typer.Option("--all", help="Gradients without a docstring too.")] = False,
    output: Output,
) -> None:
    """List the operators, and in which of the wheels each is documented, known by signature, or absent."""
    from ..analyzer.fusion.ops import open_indexes, ops_list

    output.show(ops_list(open_indexes(wheel or ()), prefix, everything))


@app.command("show")
@spread
def show_operator(
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The operator, such as npu_add_rms_norm_cast.")],
    wheel: Wheels = None,
    output: Output,
) -> None:
    """Show what is known about one operator: signature, documentation, limits, rules, with sources."""
    from ..analyzer.fusion.ops import open_indexes, ops_show

    output.show(ops_show(open_indexes(wheel or ()), name))


@app.command("search")
@spread
def search_operators(
    *,
    query: Annotated[
        str, typer.Argument(metavar="WORDS", help="Words that must all occur, in English or Chinese.")
    ],
    top: Annotated[
        int | None, typer.Option("--top", metavar="N", min=1, help="Only the N best. [default: all]")
    ] = None,
    prefix: Prefix = "",
    wheel: Wheels = None,
    output: Output,
) -> None:
    """Find operators by words of their name or documentation; English words find Chinese text too."""
    from ..analyzer.fusion.ops import open_indexes, ops_search

    output.show(ops_search(open_indexes(wheel or ()), query, prefix, top))
