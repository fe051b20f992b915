"""`npu-roofline fuse ledger`: candidates tried one at a time, with their evidence, in one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .groups import spread
from .options import Output, Selection

if TYPE_CHECKING:
    from ..analyzer.compare import OutputsComparison
    from ..analyzer.fusion.ledger import Evidence
    from ..analyzer.fusion.ledger_state import Ledger

app = typer.Typer(help="Keep the fusion candidates, their tries and their evidence.", no_args_is_help=True)

DEFAULT_LEDGER = Path("fuse_ledger.json")
LedgerFile = Annotated[Path, typer.Option("--ledger", metavar="FILE", help="The file that holds the ledger.")]
ModelFiles = Annotated[
    list[Path] | None,
    typer.Option("--model", metavar="FILE", help="Model code to look at; may be given several times."),
]
ModelConfig = Annotated[
    Path | None,
    typer.Option("--model-config", metavar="FILE", help="The model's config.json, for sizes of limits."),
]
Wheels = Annotated[
    list[Path] | None,
    typer.Option("--wheel", metavar="FILE|FOLDER", help="A torch_npu in which the calls are looked up."),
]
Candidate = Annotated[str, typer.Argument(metavar="ID", help="The candidate; a beginning is enough.")]


@app.command("start")
@spread
def start(
    *,
    models: ModelFiles = None,
    model_config: ModelConfig = None,
    wheel: Wheels = None,
    scan: Annotated[
        bool, typer.Option("--scan/--no-scan", help="Look at the kernels of a run of the database, too.")
    ] = True,
    ledger: LedgerFile = DEFAULT_LEDGER,
    selection: Selection,
) -> None:
    """Find candidates in a run and in model code, and write them to the ledger.

    What was tried already stays: a candidate that is known keeps its state and its tries.
    """
    from ..analyzer.fusion.ledger import analysed
    from ..analyzer.fusion.ledger_state import Ledger, read_ledger, write_ledger
    from ..analyzer.fusion.ops import open_indexes

    indexes = open_indexes(wheel) if wheel else ()
    code = None
    if models:
        from ..analyzer.modelcode.model import fuse_model

        code = fuse_model(models, model_config)
    kernels = None
    if scan:
        from ..analyzer.fusion import fuse_scan

        with selection.session() as session:
            kernels = fuse_scan(session, indexes=indexes)
        if models:
            from ..analyzer.modelcode.ties import tie_to_code

            kernels = tie_to_code(kernels, models, model_config)
    old = read_ledger(ledger) if ledger.exists() else Ledger()
    new = analysed(old, kernels, code, indexes)
    write_ledger(new, ledger)
    _say(f"{ledger}: {len(new.entries)} candidates, {len(new.entries) - len(old.entries)} of them new")


@app.command("begin")
@spread
def begin(*, candidate: Candidate, ledger: LedgerFile = DEFAULT_LEDGER) -> None:
    """Mark a candidate as being tried; only one can be at a time."""
    from ..analyzer.fusion.ledger import begun
    from ..analyzer.fusion.ledger_state import read_ledger, write_ledger

    new = begun(read_ledger(ledger), candidate)
    write_ledger(new, ledger)
    _say(f"{new.entry(candidate).id} is being tried")


@app.command("record")
@spread
def record(
    *,
    candidate: Candidate,
    outcome: Annotated[
        Literal["kept", "rolled_back", "blocked", "skipped"],
        typer.Option("--outcome", help="What became of it; each needs its evidence."),
    ],
    before: Annotated[
        str | None,
        typer.Option("--before", metavar="RUN", help="The run before the change, as in `compare`."),
    ] = None,
    after: Annotated[str | None, typer.Option("--after", metavar="RUN", help="The run after it.")] = None,
    outputs: Annotated[
        tuple[Path, Path] | None,
        typer.Option("--outputs", metavar="BEFORE AFTER", help="Outputs of both runs, as in `compare`."),
    ] = None,
    accuracy: Annotated[
        str, typer.Option("--accuracy", metavar="TEXT", help="How accuracy was compared, in words.")
    ] = "",
    error: Annotated[str, typer.Option("--error", metavar="TEXT", help="The error that was met.")] = "",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="The conclusion.")] = "",
    next_step: Annotated[str, typer.Option("--next", metavar="TEXT", help="What to try next.")] = "",
    ledger: LedgerFile = DEFAULT_LEDGER,
    selection: Selection,
) -> None:
    """Record the outcome of a try with its evidence.

    kept needs two runs and outputs that agree; rolled_back and skipped a reason; blocked the error and a
    conclusion. Nothing leaves the list without one of them.
    """
    from ..analyzer.fusion.ledger import recorded
    from ..analyzer.fusion.ledger_state import read_ledger, write_ledger

    old = read_ledger(ledger)
    old.entry(candidate)
    evidence = _evidence(before, after, outputs, selection, accuracy, error, reason)
    new = recorded(old, candidate, outcome, evidence, next_step)
    write_ledger(new, ledger)
    _say(f"{new.entry(candidate).id}: {outcome}")


def _evidence(
    before: str | None,
    after: str | None,
    outputs: tuple[Path, Path] | None,
    selection: Selection,
    accuracy: str,
    error: str,
    reason: str,
) -> Evidence:
    from ..analyzer.compare import compare, compare_outputs, open_side
    from ..analyzer.fusion.ledger import Evidence
    from ..errors import WrongUsage

    if (before is None) != (after is None):
        raise WrongUsage("--before and --after belong together", "give the run before the change and after")
    found = compare_outputs(*outputs) if outputs is not None else None
    compared = None
    if before is not None and after is not None:
        with open_side(before, selection.session) as left, open_side(after, selection.session) as right:
            compared = compare(left, right, None, found)
    text = ""
    if found is not None:
        text = f"{_how_equal(found)} ({found.before}, {found.after})"
    return Evidence(
        compared,
        before or "",
        after or "",
        None if found is None else found.equal,
        text,
        accuracy,
        error,
        reason,
    )


def _how_equal(found: OutputsComparison) -> str:
    """'2 arrays are identical', or the array that is furthest from the tolerance of its dtype."""
    count = len(found.rows)
    arrays = f"{count} array{'' if count == 1 else 's'}"
    if found.equal:
        return f"{arrays} {'is' if count == 1 else 'are'} {'identical' if found.identical else 'equal'}"
    apart = [row for row in found.rows if not row.equal]
    worst = max(apart, key=lambda row: row.max_abs or 0.0, default=None)
    text = f"{len(apart)} of {arrays} {'differs' if len(apart) == 1 else 'differ'}"
    if worst is None or worst.max_abs is None:
        return text
    return (
        f"{text}, {worst.name} by {worst.max_abs:.3g} at most; {worst.dtype_before} may differ by "
        f"{worst.absolute_tolerance:.3g} + {worst.relative_tolerance:.3g} x its size"
    )


@app.command("confirm")
@spread
def confirm(
    *,
    item: Annotated[
        str,
        typer.Argument(metavar="ITEM", help="A candidate whose limits hold, or a missing part by its text."),
    ],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="What you looked at.")],
    ledger: LedgerFile = DEFAULT_LEDGER,
) -> None:
    """Settle what the review asks for and no export can tell."""
    from ..analyzer.fusion.ledger import confirmed
    from ..analyzer.fusion.ledger_state import read_ledger, write_ledger

    new = confirmed(read_ledger(ledger), item, reason)
    write_ledger(new, ledger)
    _say(f"confirmed: {list(new.confirmed)[-1]}")


@app.command("request")
@spread
def request(
    *,
    location: Annotated[str, typer.Option("--location", metavar="TEXT", help="Module and lines.")],
    semantics: Annotated[str, typer.Option("--semantics", metavar="TEXT", help="What it computes.")],
    why_not: Annotated[str, typer.Option("--why-not", metavar="TEXT", help="Why no operator fits.")],
    expected: Annotated[str, typer.Option("--expected", metavar="TEXT", help="The form it should have.")],
    candidate: Annotated[
        str, typer.Option("--candidate", metavar="ID", help="The candidate that it came from.")
    ] = "",
    ledger: LedgerFile = DEFAULT_LEDGER,
) -> None:
    """Record a request for an operator that does not exist."""
    from ..analyzer.fusion.ledger import requested
    from ..analyzer.fusion.ledger_state import Request, read_ledger, write_ledger

    new = requested(read_ledger(ledger), Request(location, semantics, why_not, expected, candidate))
    write_ledger(new, ledger)
    count = len(new.requests)
    _say(f"{count} request{'' if count == 1 else 's'} in {ledger}")


@app.command("show")
@spread
def show(
    *,
    lang: Annotated[Literal["en", "zh"], typer.Option("--lang", help="Language of -o ledger.md.")] = "en",
    ledger: LedgerFile = DEFAULT_LEDGER,
    output: Output,
) -> None:
    """Show every candidate, every try and every request; -o ledger.md writes the report."""
    from ..analyzer.fusion.ledger import ledger_answer

    output.show(ledger_answer(_read(ledger), lang))


def _read(file: Path) -> Ledger:
    from ..analyzer.fusion.ledger_state import read_ledger

    return read_ledger(file)


def _say(line: str) -> None:
    from .output import say

    say(line)
