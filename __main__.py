"""Lets `python -m npu_roofline` stand in for the `npu-roofline` script."""

from .cli.entry import main

main()
