"""`npu-roofline compare`: what changed between two runs, and whether that can be believed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import WrongUsage
from .options import Language, Output, Selection

if TYPE_CHECKING:
    from ..analyzer.answer import Answer
    from ..analyzer.compare import Side

Outputs = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        "--outputs",
        metavar="BEFORE AFTER",
        help="Outputs of both runs (.npz, .npy, a folder of them, .safetensors): without them nothing "
        "is accepted.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="ID",
        help="What the change was made for: a candidate (c-...), a hotspot (k-...) or a type.",
    ),
]


def compare(
    *,
    before: Annotated[
        str,
        typer.Argument(
            metavar="BEFORE",
            help="The run before the change; a1,a2 for repeats, a@4-7 for some of its steps.",
        ),
    ],
    after: Annotated[
        str, typer.Argument(metavar="AFTER", help="The run after the change, written the same way.")
    ],
    target: Target = None,
    outputs: Outputs = None,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit with 1 when the step or a kernel got slower.")
    ] = False,
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold", metavar="PCT", min=0, help="Regressions up to this many per cent do not fail."
        ),
    ] = 0.0,
    top: Annotated[
        int,
        typer.Option("--top", metavar="N", min=0, help="Largest changes in a terminal; 0 shows everything."),
    ] = 10,
    document: Annotated[
        bool,
        typer.Option(
            "--document", help="Write the optimisation report: Markdown with every heading, -o FILE.md."
        ),
    ] = False,
    lang: Annotated[Language, typer.Option("--lang", help="Language of a document.")] = "en",
    selection: Selection,
    output: Output,
) -> None:
    """Say what changed between two runs.

    Kernels are paired by layer, position and signature. Medians say whether a kernel changed; means per step
    add up to the change of the step, and what they leave over is a row of its own. -o compare.html writes the
    report with figures.
    """
    page = output.output is not None and output.output.suffix in (".html", ".htm") and output.format is None
    if lang != "en" and not (document or page):
        raise WrongUsage(
            f"--lang {lang} is for documents", "add -o FILE.html for the page, or --document for the report"
        )
    if document:
        answer = _write_document(selection, (before, after), target, outputs, output, lang)
    else:
        answer = compared(selection, before, after, target, outputs)
        output.show(answer, top, lang)
    if fail_on_regression:
        _fail_on_regression(answer, threshold)


def _write_document(
    selection: Selection,
    sides: tuple[str, str],
    target: str | None,
    outputs: tuple[Path, Path] | None,
    output: Output,
    lang: str,
) -> Answer:
    """Write the optimisation report where -o says, or to the terminal; the answer behind it is returned."""
    from ..analyzer.compare import compare as ask
    from ..analyzer.compare import compare_outputs, optimisation_report
    from ..reports.optimisation import optimisation_document
    from .output import write_document

    markdown = output.output is None or output.output.suffix in (".md", ".markdown")
    if output.format not in (None, "md") or not markdown:
        raise WrongUsage("the optimisation report is Markdown", "give -o FILE.md, without another --format")
    found = compare_outputs(*outputs) if outputs is not None else None
    with _sides(selection, *sides) as (before, after):
        answer = ask(before, after, target, found)
        report = optimisation_report(answer, before.first, after.first, selection.db)
    write_document("compare", optimisation_document(report, lang), output.output)
    return answer


def compared(
    selection: Selection, before: str, after: str, target: str | None, outputs: tuple[Path, Path] | None
) -> Answer:
    """The comparison of two sides; raises WrongUsage for --run, which would name a third run."""
    from ..analyzer.compare import compare as ask
    from ..analyzer.compare import compare_outputs

    found = compare_outputs(*outputs) if outputs is not None else None
    with _sides(selection, before, after) as sides:
        return ask(*sides, target, found)


@contextmanager
def _sides(selection: Selection, before: str, after: str) -> Iterator[tuple[Side, Side]]:
    """Both sides, open; raises WrongUsage for --run."""
    from ..analyzer.compare import open_side

    if selection.run is not None:
        raise WrongUsage(
            f"--run {selection.run} names a run, and the two that are compared are named already",
            "write them as BEFORE and AFTER; leave --run out",
        )
    with open_side(before, selection.session) as one, open_side(after, selection.session) as other:
        yield one, other


def _fail_on_regression(answer: Answer, threshold: float) -> None:
    """Raise CheckFailed where something got slower, after one line for each on stderr."""
    from ..analyzer.compare import regressions
    from ..errors import CheckFailed
    from .output import say

    found = regressions(answer.rows, answer.extras["step"], threshold, answer.extras["signatures"])
    for line in found:
        say(f"regression: {line}")
    if found:
        raise CheckFailed(
            f"{len(found)} regression{'s' if len(found) > 1 else ''} between the runs",
            "`compare` without --fail-on-regression shows each with its interval",
        )
