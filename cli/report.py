"""`npu-roofline report`: the whole answer on one HTML page that opens offline, and as a labelled trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import WrongUsage
from .options import Language, Selection

if TYPE_CHECKING:
    from ..analyzer.session import Session


def report(
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE.html", help="The page to write.")
    ] = Path("roofline.html"),
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            metavar="FILE.json",
            help="Write a Chrome trace too: kernels with labels, windows, idle gaps.",
        ),
    ] = None,
    lang: Annotated[Language, typer.Option("--lang", help="Language of the page.")] = "en",
    selection: Selection,
) -> None:
    """Write the whole answer to one HTML page that opens offline.

    Roofline, time by bound, hotspots, candidates and the timeline of a step. The page loads nothing from
    anywhere: it can be mailed, and opened on a machine without a network. --trace writes the same labels
    beside each kernel, for Perfetto or MindStudio Insight.
    """
    if output.suffix.lower() not in (".html", ".htm"):
        raise WrongUsage(
            f"a report is an HTML page, and -o names {output}",
            "give it a name that ends in .html; for data use hotspots, summary or candidates with -o",
        )
    if trace is not None and trace.suffix.lower() != ".json":
        raise WrongUsage(f"a trace is JSON, and --trace names {trace}", "give it a name that ends in .json")
    from ..analyzer.report_data import report_data
    from ..reports.html_report import roofline_report
    from .output import write

    with selection.session() as session:
        page = roofline_report(report_data(session), lang=lang)
        write(page, output)
        if trace is not None:
            _trace(session, trace, whole=selection.steps is not None)


def _trace(session: Session, file: Path, whole: bool) -> None:
    """Write the labelled trace, and say what is in it."""
    from ..analyzer.steps import name_steps
    from ..reports.trace_json import MARK, write_trace
    from .output import refuse_foreign, say

    refuse_foreign(file, (MARK,), "--trace")
    written = write_trace(session, file.resolve(), whole)
    steps = f"step{'s' if len(written.steps) > 1 else ''} {name_steps(written.steps)}"
    say(
        f"wrote {file}: {written.kernels:,} kernels of {steps}, "
        f"{written.windows:,} windows of {written.candidates} candidates"
    )
    for note in written.notes:
        say(f"note: {note}")
