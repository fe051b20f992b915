"""`npu-roofline report`: the whole answer on one HTML page that opens offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import WrongUsage
from .options import Selection


def report(
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE.html", help="The page to write.")
    ] = Path("roofline.html"),
    selection: Selection,
) -> None:
    """Write the whole answer to one HTML page that opens offline.

    Roofline, time by bound, hotspots, candidates and the timeline of a step. The page loads nothing from
    anywhere: it can be mailed, and opened on a machine without a network.
    """
    if output.suffix.lower() not in (".html", ".htm"):
        raise WrongUsage(
            f"a report is an HTML page, and -o names {output}",
            "give it a name that ends in .html; for data use hotspots, summary or candidates with -o",
        )
    from ..analyzer.report_data import report_data
    from ..reports.html_report import roofline_report
    from .output import write

    with selection.session() as session:
        page = roofline_report(report_data(session))
    write(page, output)
