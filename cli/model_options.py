"""The options that say which model ran and how it is split over ranks; declared once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..analyzer.model_config import ModelConfig
    from ..analyzer.roles import ParallelSizes
    from ..analyzer.roles_match import RoleRequest

_MOST_RANKS = 65536


@dataclass(frozen=True)
class ModelOptions:
    """The model's config.json and its parallel sizes."""

    model_config: Annotated[
        Path | None,
        typer.Option(
            "--model-config",
            metavar="FILE",
            help="The model's config.json (HF), for names and sizes of weights.",
        ),
    ] = None
    tp: Annotated[
        int | None,
        typer.Option(
            "--tp",
            metavar="N",
            min=1,
            max=_MOST_RANKS,
            help="Tensor parallel size of attention, dense layers, lm_head.",
        ),
    ] = None
    dense_tp: Annotated[
        int | None,
        typer.Option(
            "--dense-tp",
            metavar="N",
            min=1,
            max=_MOST_RANKS,
            help="That of the dense layers alone. [default: --tp]",
        ),
    ] = None
    lm_head_tp: Annotated[
        int | None,
        typer.Option(
            "--lm-head-tp", metavar="N", min=1, max=_MOST_RANKS, help="That of lm_head alone. [default: --tp]"
        ),
    ] = None
    ep: Annotated[
        int | None, typer.Option("--ep", metavar="N", min=1, max=_MOST_RANKS, help="Expert parallel size.")
    ] = None
    moe_tp: Annotated[
        int | None,
        typer.Option(
            "--moe-tp",
            "--moe-tp-size",
            metavar="N",
            min=1,
            max=_MOST_RANKS,
            help="Tensor parallel size inside an expert.",
        ),
    ] = None

    def parallel(self) -> ParallelSizes:
        """The sizes that were given."""
        from ..analyzer.roles import ParallelSizes

        return ParallelSizes.of(self.tp, self.dense_tp, self.moe_tp, self.ep, self.lm_head_tp)

    def config(self) -> ModelConfig | None:
        """The config, read; None when none was given. Raises as reading it does."""
        from ..analyzer.model_config import read_model_config

        return None if self.model_config is None else read_model_config(self.model_config)


@dataclass(frozen=True)
class NamedModel(ModelOptions):
    """The model, for naming the weights of a capture; sizes not given are inferred from its shapes."""

    roles_file: Annotated[
        Path | None,
        typer.Option("--roles", metavar="FILE", help="TOML file that names weights yourself; it wins."),
    ] = None

    def roles(self) -> RoleRequest:
        """Config, sizes and the user's names as one request. Raises as reading them does."""
        from ..analyzer.roles_match import RoleRequest
        from ..analyzer.roles_user import read_user_roles

        user = read_user_roles(self.roles_file) if self.roles_file else ()
        return RoleRequest(self.config(), self.parallel(), user)
