"""`npu-roofline runs`: what is in the database, and which questions each run can answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .groups import spread
from .options import DEFAULT_DATABASE, Database, Output

app = typer.Typer(help="List, show or remove the runs in the database.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the run.")]


@app.command("list")
@spread
def list_runs(*, db: Database = DEFAULT_DATABASE, output: Output) -> None:
    """List the runs, the latest first."""
    from ..analyzer.runs import runs_list

    output.show(runs_list(db))


@app.command("show")
@spread
def show_run(*, name: Name, db: Database = DEFAULT_DATABASE, output: Output) -> None:
    """Show what a run holds, which questions it can answer, and which profiler option would give the rest."""
    from ..analyzer.runs import runs_show

    output.show(runs_show(db, name))


@app.command("remove")
def remove_run(name: Name, db: Database = DEFAULT_DATABASE) -> None:
    """Remove a run from the database; the export it was read from is not touched."""
    from ..analyzer.tuning import experiments_naming
    from ..ingest.store import remove_run as remove
    from .output import say

    remove(Path(db), name)
    say(f"removed run {name}")
    if count := experiments_naming(db, name):
        one = count == 1
        say(
            f"{count} experiment{'' if one else 's'} that {'was' if one else 'were'} measured on it "
            f"{'keeps its' if one else 'keep their'} numbers: npu-roofline tune history"
        )
