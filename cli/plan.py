"""`npu-roofline plan`: a design document with code for the prefetch candidates."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .model_options import NamedModel
from .options import Language, Output, Selection
from .window_rules import WindowRules

if TYPE_CHECKING:
    from ..analyzer.answer import Answer

Mode = Literal["eager", "ge_graph", "npugraph_ex"]


def plan(
    *,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Candidates to plan, a beginning is enough. [default: all]"),
    ] = None,
    mode: Annotated[
        Mode, typer.Option("--mode", help="How the model is executed; the code differs.")
    ] = "ge_graph",
    lang: Annotated[Language, typer.Option("--lang", help="Language of the document.")] = "en",
    vllm_ascend: Annotated[
        str | None,
        typer.Option(
            "--vllm-ascend",
            metavar="VERSION",
            help="Settings for this version only. [default: every known one]",
        ),
    ] = None,
    code: Annotated[
        Path | None,
        typer.Option(
            "--code", metavar="DIR", help="Write prefetch_plan.py and prefetch_ab.py there as well."
        ),
    ] = None,
    rules: WindowRules,
    model: NamedModel,
    selection: Selection,
    output: Output,
) -> None:
    """Write a design document for prefetching: -o plan.md.

    Targets and why, dependencies and the walk that found them, switch and code path, sizes with every term,
    checks, risks, what to confirm; then code for the mode, settings of frameworks, and an A/B script. Nothing
    of yours is changed.
    """
    from ..analyzer.plan import plan as ask

    with selection.session() as session:
        answer = ask(
            session,
            ids or (),
            mode=mode,
            lang=lang,
            vllm_ascend=vllm_ascend,
            **asdict(rules),
            roles=model.roles(),
        )
    if code is not None and answer.rows:
        write_code(answer, code)
    output.show(answer)


def write_code(answer: Answer, folder: Path) -> None:
    """Write the generated module and script; raises WrongUsage where that is not possible."""
    from ..errors import WrongUsage
    from ..reports.plan_code import ab_script, prefetch_module
    from .output import write

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise WrongUsage(
            f"cannot make the folder {folder}: {problem.strerror}", "give another --code"
        ) from problem
    write(prefetch_module(answer), folder / "prefetch_plan.py")
    write(ab_script(answer), folder / "prefetch_ab.py")
