"""Lets `python -m npu_roofline` stand in for the `npu-roofline` script."""

from .cli.main import main

main()
