"""`npu-roofline compare`: what changed between two runs, and whether that can be believed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Output, Selection

if TYPE_CHECKING:
    from ..analyzer.answer import Answer

Outputs = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        "--outputs",
        metavar="BEFORE AFTER",
        help="Outputs of both runs (.npz, .npy, a folder of them, .safetensors): without them nothing "
        "is accepted.",
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
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="ID",
            help="What the change was made for: a candidate (c-...), a hotspot (k-...) or a type.",
        ),
    ] = None,
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
    selection: Selection,
    output: Output,
) -> None:
    """Say what changed between two runs.

    Kernels are paired by layer, position and signature. Medians say whether a kernel changed; means per step
    add up to the change of the step, and what they leave over is a row of its own. -o compare.html writes the
    report with figures.
    """
    answer = compared(selection, before, after, target, outputs)
    output.show(answer, top)
    if fail_on_regression:
        _fail_on_regression(answer, threshold)


def compared(
    selection: Selection, before: str, after: str, target: str | None, outputs: tuple[Path, Path] | None
) -> Answer:
    """The comparison of two sides; raises WrongUsage for --run, which would name a third run."""
    from ..analyzer.compare import compare as ask
    from ..analyzer.compare import compare_outputs, open_side
    from ..errors import WrongUsage

    if selection.run is not None:
        raise WrongUsage(
            f"--run {selection.run} names a run, and the two that are compared are named already",
            "write them as BEFORE and AFTER; leave --run out",
        )
    found = compare_outputs(*outputs) if outputs is not None else None
    with (
        open_side(before, selection.session) as side_before,
        open_side(after, selection.session) as side_after,
    ):
        return ask(side_before, side_after, target, found)


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
