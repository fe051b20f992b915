"""What a device's links can move, by the names that the profiler gives them."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

from .device_model import Device, Quantity


def link_figure(device: Device | None, link: str) -> tuple[str, Quantity] | None:
    """(name of the figure, its value in GB/s of 1e9 with source) for one transfer; None without a figure."""
    if device is None or device.links_gb_s is None:
        return None
    for name in _links().get(link, {}).get("figures", ()):
        if name in device.links_gb_s:
            return name, device.links_gb_s[name]
    return None


@lru_cache(maxsize=1)
def _links() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("links.toml").read_text(encoding="utf-8"))
