"""`npu-roofline tune`: the search for one prefetch, one change at a time, as a ledger of experiments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import WrongUsage
from .compare import Outputs, compared
from .groups import spread
from .options import DEFAULT_DATABASE, Database, Output, Selection

if TYPE_CHECKING:
    pass

app = typer.Typer(
    help="Carry one prefetch from the first 50 % of its weight to keep or give up.", no_args_is_help=True
)

TuningName = Annotated[
    str | None, typer.Option("--tuning", metavar="NAME", help="The tuning. [default: the latest]")
]


@app.command("start")
@spread
def start(
    *,
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="A candidate (c-...), or a name of your own for the target."),
    ],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Name of the tuning. [default: the target]"),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option("--weight", metavar="SIZE", help="The weight: 36MiB. [default: the candidate's]"),
    ] = None,
    max_size: Annotated[
        str | None,
        typer.Option("--max-size", metavar="SIZE", help="What to try first. [default: the candidate's]"),
    ] = None,
    dependency: Annotated[
        str | None,
        typer.Option("--dependency", metavar="TEXT", help="Whose output starts it. [default: its window's]"),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="NAME", help="Tuning whose result stays in place during this one."),
    ] = None,
    allow_comm_windows: Annotated[
        bool, typer.Option("--allow-comm-windows", help="Let collectives stand inside a window.")
    ] = False,
    selection: Selection,
    output: Output,
) -> None:
    """Begin to tune one prefetch; the answer is the first change to try.

    A candidate brings its weight, its window and the other windows to try; a target named by hand needs
    --weight or --max-size.
    """
    from ..analyzer.tuning import Start, start_tuning

    asked = Start(target, name, _bytes(weight), _bytes(max_size), dependency, keep, allow_comm_windows)
    if not target.startswith("c-"):
        output.show(start_tuning(selection.db, asked))
        return
    with selection.session() as session:
        output.show(start_tuning(selection.db, asked, session))


@app.command("record")
@spread
def record(
    *,
    before: Annotated[
        str | None,
        typer.Argument(metavar="[BEFORE", help="The run without it, as `compare` takes it."),
    ] = None,
    after: Annotated[
        str | None, typer.Argument(metavar="AFTER]", help="The run with it, written the same way.")
    ] = None,
    tuning: TuningName = None,
    max_size: Annotated[
        str | None,
        typer.Option("--max-size", metavar="SIZE", help="What it asked for: 18MiB. [default: as proposed]"),
    ] = None,
    dependency: Annotated[
        str | None,
        typer.Option("--dependency", metavar="TEXT", help="Whose output started it. [default: as proposed]"),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="ID", help="The target's row in BEFORE. [default: the tuning's]"),
    ] = None,
    outputs: Outputs = None,
    gain: Annotated[
        float | None,
        typer.Option("--gain", metavar="PCT", help="A gain without captures, per cent; positive = faster."),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option("--noise", metavar="PCT", min=0, help="With --gain: how far it strays, in per cent."),
    ] = None,
    selection: Selection,
    output: Output,
) -> None:
    """Record one experiment and say what to try next.

    Give two runs, which are compared as `compare` does, or --gain for a number that was measured elsewhere.
    """
    from ..analyzer.config import read_config
    from ..analyzer.tuning import record_gain, record_pair
    from ..analyzer.tuning.ledger import read_ledger
    from ..analyzer.tuning.record import Setting

    setting = Setting(_bytes(max_size), dependency)
    if gain is not None:
        if before or after or outputs:
            raise WrongUsage("--gain stands for a pair of runs", "give two runs, or --gain, not both")
        options = read_config(selection.config).analysis
        output.show(record_gain(selection.db, tuning, setting, gain, noise, options))
        return
    if before is None or after is None or noise is not None:
        raise WrongUsage(
            "an experiment is two runs, or a gain", "tune record BEFORE AFTER, or tune record --gain PCT"
        )
    known = read_ledger(selection.db, tuning).tuning.target
    chosen = target or (known if known.startswith("c-") else None)
    found = compared(selection, before, after, chosen, outputs)
    output.show(record_pair(selection.db, tuning, setting, found, (before, after)))


@app.command("next")
@spread
def next_change(*, tuning: TuningName = None, db: Database = DEFAULT_DATABASE, output: Output) -> None:
    """Propose exactly one change, or say when to stop.

    The size first with the place fixed (50 -> 70 -> 100 % of the weight, or 50 -> 30 -> 10 %), then the
    place with the size fixed, at last another target beside this one.
    """
    from ..analyzer.tuning import tune_next

    output.show(tune_next(Path(db), tuning))


@app.command("history")
@spread
def history(*, tuning: TuningName = None, db: Database = DEFAULT_DATABASE, output: Output) -> None:
    """Show every experiment and the knee of gain against max_size; -o tune.html draws the curve."""
    from ..analyzer.tuning import tune_history

    output.show(tune_history(Path(db), tuning))


def _bytes(text: str | None) -> int | None:
    """'18MiB' -> 18874368. Raises WrongUsage for anything that is no size above 0."""
    from ..units import parse_bytes

    if text is None:
        return None
    try:
        size = parse_bytes(text)
    except ValueError as error:
        raise WrongUsage(f"{text!r} is no size: {error}", "write it as 18MiB, 80MB or 18874368") from error
    if size <= 0:
        raise WrongUsage(f"{text!r} is no size to prefetch", "give more than 0 bytes")
    return size
