"""`npu-roofline devices`: the hardware table with its sources, and which chip a run was recorded on."""

from __future__ import annotations

from typing import Annotated

import typer

from .groups import spread
from .options import Output, Selection

app = typer.Typer(help="List, show or detect devices; every number has a source.", no_args_is_help=True)


@app.command("list")
@spread
def list_devices(output: Output) -> None:
    """List the devices that are known, with cores, clock, peaks and bandwidths."""
    from ..analyzer.devices import devices_list

    output.show(devices_list())


@app.command("show")
@spread
def show_device(
    *,
    soc: Annotated[
        str, typer.Argument(metavar="SOC|FILE", help="A device (910B3) or a TOML file of your own.")
    ],
    output: Output,
) -> None:
    """Show every number of one device with its unit, source and confidence."""
    from ..analyzer.devices import devices_show

    output.show(devices_show(soc))


@app.command("detect")
@spread
def detect_device(selection: Selection, output: Output) -> None:
    """Say which chip a run was recorded on, and from which fields of the export that follows."""
    from ..analyzer.devices import devices_detect

    with selection.session() as session:
        output.show(devices_detect(session))
