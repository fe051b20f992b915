"""The options that commands share, each declared once. Defaults live with the questions, not here."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from ..analyzer.answer import Answer
    from ..analyzer.session import Session

Format = Literal["table", "json", "csv", "md"]
Language = Literal["en", "zh"]

Database = Annotated[
    Path,
    typer.Option(
        "--db", metavar="FILE", envvar="NPU_ROOFLINE_DB", help="The database that holds the ingested runs."
    ),
]
# Far above any device, and far below where sizes and times worked out from it stop being numbers.
LARGEST_GB_S = 1_000_000
LARGEST_MIB = 1_000_000
DEFAULT_DATABASE = Path("npu_roofline.duckdb")


@dataclass(frozen=True)
class Selection:
    """What a reading command looks at: the database, a run in it, its rank and steps, and the device."""

    run: Annotated[
        str | None, typer.Option("--run", metavar="NAME", help="The run to read. [default: the latest]")
    ] = None
    rank: Annotated[
        int | None,
        typer.Option(
            "--rank", metavar="N", min=0, help="The rank to read. [default: the first with kernels]"
        ),
    ] = None
    steps: Annotated[
        str | None,
        typer.Option("--steps", metavar="STEPS", help="Steps to read: 4, 4,6 or 3-7. [default: all]"),
    ] = None
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            metavar="SOC|FILE",
            help="The chip (910B3) or a TOML file that describes it. [default: what the export shows]",
        ),
    ] = None
    hbm_gb_s: Annotated[
        float | None,
        typer.Option(
            "--hbm-gb-s",
            metavar="GB/S",
            min=1,
            max=LARGEST_GB_S,
            help="HBM bandwidth of your board, in 1e9 bytes per second.",
        ),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="TOML file that sets thresholds."),
    ] = None
    db: Database = DEFAULT_DATABASE

    def session(self, run: str | None = None, steps: str | None = None) -> AbstractContextManager[Session]:
        """Open the selected part of the database; `run` and `steps` override the options where a command
        takes two runs.
        """
        from ..analyzer.session import open_session

        return open_session(
            self.db,
            run=self.run if run is None else run,
            rank=self.rank,
            steps=self.steps if steps is None else steps,
            device=self.device,
            hbm_gb_s=self.hbm_gb_s,
            config=self.config,
        )


@dataclass(frozen=True)
class Output:
    """Where an answer goes and in which form."""

    format: Annotated[
        Format | None,
        typer.Option("--format", help="Form of the answer. [default: what -o ends in, else table]"),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write to FILE instead of the terminal."),
    ] = None

    def show(self, answer: Answer, top: int | None = None, lang: str = "en") -> None:
        """Render the answer and write it where the user asked; `top`, `lang`: as reports.render."""
        from .output import show

        show(answer, self.format, self.output, top, lang)
