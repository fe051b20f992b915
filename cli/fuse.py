"""`npu-roofline fuse`: which kernel sequences and which model code one fused operator would replace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from . import fuse_ledger
from .fuse_ledger import DEFAULT_LEDGER, LedgerFile, ModelConfig, ModelFiles, Wheels
from .groups import spread
from .options import Output, Selection

app = typer.Typer(
    help="Find kernel sequences and model code that one fused operator would replace.", no_args_is_help=True
)


@app.command("scan")
@spread
def scan(
    *,
    top: Annotated[
        int | None, typer.Option("--top", metavar="N", min=1, help="Only the first N rows. [default: all]")
    ] = None,
    status: Annotated[
        Literal["fits", "check", "excluded", "no_operator", "inform"] | None,
        typer.Option("--status", help="Only rows of this status."),
    ] = None,
    models: ModelFiles = None,
    model_config: ModelConfig = None,
    wheel: Wheels = None,
    selection: Selection,
    output: Output,
) -> None:
    """List kernel sequences of a run that one torch_npu call would replace, with what it would save.

    Sequences are matched on each stream in order, the longest first, and no kernel is in two of them. What is
    fused already and what is left without an operator is listed with its time.
    """
    from ..analyzer.fusion import fuse_scan as ask
    from ..analyzer.fusion.ops import open_indexes

    indexes = open_indexes(wheel) if wheel else ()
    with selection.session() as session:
        answer = ask(session, top=top, status=status, indexes=indexes)
    if models:
        from ..analyzer.modelcode.ties import tie_to_code

        answer = tie_to_code(answer, models, model_config)
    output.show(answer)


@app.command("model")
@spread
def model(
    *,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Python files that define the model's layers.")
    ],
    model_config: ModelConfig = None,
    output: Output,
) -> None:
    """Read model code: its modules, decision trees, and what one fused call would replace.

    The code is parsed, never imported or run. Every statement names the line that says it.
    """
    from ..analyzer.modelcode.model import fuse_model as ask

    output.show(ask(files, model_config))


@app.command("review")
@spread
def review(
    *,
    analysis_only: Annotated[
        bool, typer.Option("--analysis-only", help="Only the analysis: nothing is implemented yet.")
    ] = False,
    ledger: LedgerFile = DEFAULT_LEDGER,
    output: Output,
) -> None:
    """Check the ledger against the checklist; exit code 1 while something is missing."""
    from ..analyzer.fusion.ledger_state import read_ledger
    from ..analyzer.fusion.review import fuse_review
    from ..errors import CheckFailed

    answer = fuse_review(read_ledger(ledger), analysis_only)
    output.show(answer)
    if any(row.status == "missing" for row in answer.rows):
        raise CheckFailed(
            "the review is not complete", "`npu-roofline fuse ledger` records, confirms and requests"
        )


@app.command("rules")
@spread
def rules(*, output: Output) -> None:
    """List the rules: the sequences looked for, the limits checked, and where each comes from."""
    from ..analyzer.fusion import fuse_rules as ask

    output.show(ask())


app.add_typer(fuse_ledger.app, name="ledger")
