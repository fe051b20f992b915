"""`npu-roofline plan`: a design document with code for the prefetch candidates."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .model_options import NamedModel
from .options import Language, Output, Selection
from .window_rules import WindowRules

if TYPE_CHECKING:
    from ..analyzer.answer import Answer
    from ..analyzer.plan import CodeRequest

Mode = Literal["eager", "ge_graph", "npugraph_ex"]


@dataclass(frozen=True)
class ModelCode:
    """The user's model code, and where the calls are written as a patch for it."""

    models: Annotated[
        list[Path] | None,
        typer.Option(
            "--model",
            metavar="FILE",
            help="Model code to tie the calls to, read and never written; may be given again.",
        ),
    ] = None
    patch: Annotated[
        Path | None,
        typer.Option(
            "--patch", metavar="FILE", help="Write the calls as a patch for `git apply`; needs --model."
        ),
    ] = None

    def request(self) -> CodeRequest:
        """Both as one request. Raises WrongUsage for a patch of no file."""
        from ..analyzer.plan import CodeRequest
        from ..errors import WrongUsage

        if self.patch is not None and not self.models:
            raise WrongUsage("--patch without --model", "name the file that defines the model's layers")
        return CodeRequest(tuple(self.models or ()), self.patch)


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
    model_code: ModelCode,
    rules: WindowRules,
    model: NamedModel,
    selection: Selection,
    output: Output,
) -> None:
    """Write a design document for prefetching: -o plan.md.

    Targets and why, dependencies and the walk that found them, switch and code path, sizes with every term,
    checks, risks, what to confirm; then code for the mode, settings of frameworks, and an A/B script. With
    --model the calls are tied to lines of your code, and --patch writes them. Nothing of yours is changed.
    """
    from ..analyzer.plan import plan as ask

    request = model_code.request()
    with selection.session() as session:
        answer = ask(
            session,
            ids or (),
            mode=mode,
            lang=lang,
            vllm_ascend=vllm_ascend,
            **asdict(rules),
            roles=model.roles(),
            code=request,
        )
    if code is not None and answer.rows:
        write_code(answer, code)
    if model_code.patch is not None:
        write_patch(answer, model_code.patch)
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


def write_patch(answer: Answer, file: Path) -> None:
    """Write the patch, or say that there is none; raises WrongUsage where a file may not be replaced."""
    from .output import say, write

    patch = answer.extras["patch"]
    if patch is None:
        say(f"no call could be written into the code: {file} is not written, the reasons are in the answer")
    else:
        write(f"npu-roofline plan\n\n{patch.text}", file)
