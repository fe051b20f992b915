"""`npu-roofline ingest`: profiler exports into the database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import DEFAULT_DATABASE, Database, Output

EXIT_PARTLY_INGESTED = 4


def ingest(
    *,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Profile folders, parents of them, or single files, in any mix.",
            readable=False,  # what cannot be read is missing input (3), not wrong usage, and ingest says so
        ),
    ],
    run: Annotated[
        str | None, typer.Option("--run", metavar="NAME", help="Name of the run. [default: from the folder]")
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            "--device", metavar="SOC|FILE", help="The chip (910B3), where the export does not show it."
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a run of the same name or content.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", min=1, help="Threads to read with. [default: all cores]"),
    ] = None,
    db: Database = DEFAULT_DATABASE,
    output: Output,
) -> None:
    """Read profiler exports into the database.

    All paths of one call become one run, which lands whole or not at all. Malformed rows are set aside with
    file, line and reason, and the exit code is 4 then; rows read = rows kept + rows set aside, always. The
    exports are only read, never changed.
    """
    from ..analyzer.load import ingest_run
    from .progress import progress_on_terminal

    with progress_on_terminal() as progress:
        answer = ingest_run(paths, db, name=run, device=device, replace=replace, jobs=jobs, progress=progress)
    output.show(answer)
    if answer.rejected or any(file.status == "failed" for file in answer.rows):
        raise typer.Exit(EXIT_PARTLY_INGESTED)
