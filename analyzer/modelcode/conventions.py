"""The names by which model code is read: conventions.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any


@cache
def conventions() -> Mapping[str, Any]:
    """conventions.toml."""
    file = resources.files("npu_roofline.analyzer.modelcode").joinpath("conventions.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))
