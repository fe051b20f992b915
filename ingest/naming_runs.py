"""The name of a run when the user gives none: the folder that stands for the capture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_OUTPUT_FOLDERS = ("ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output")
_SUFFIX = re.compile(r"_ascend_(pt|ms)$")


def default_name(paths: Sequence[Path | str]) -> str:
    """`.../prof/ASCEND_PROFILER_OUTPUT/kernel_details.csv` -> `prof`; `.../rank0_ascend_pt` -> `rank0`."""
    path = Path(paths[0]).resolve()
    if path.is_file():
        path = path.parent
    while path.name in _OUTPUT_FOLDERS:
        path = path.parent
    return _SUFFIX.sub("", path.name) or "run"
