"""profiler_info*.json and profiler_metadata.json: what the profiler was asked for, and the job it ran in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .options import DEFAULTS, IngestOptions


@dataclass(frozen=True)
class RunInfoFile:
    """What profiler_info says; None where it does not say it. `problem` is set when it cannot be read."""

    rank_id: int | None = None
    profiler_level: str | None = None
    aic_metrics: str | None = None
    cann_version: str | None = None
    torch_npu_version: str | None = None
    problem: str | None = None


def read_profiler_info(path: Path) -> RunInfoFile:
    """Read one profiler_info file, every variant of formats.md 4; a damaged one says so in `problem`.

    `start_info.freq` is the system counter's, never the core clock, so it is not read.
    """
    data, problem = read_json_object(path)
    if data is None:
        return RunInfoFile(problem=problem)
    config = _object(_object(data.get("config")).get("experimental_config"))
    return RunInfoFile(
        rank_id=_rank(data.get("rank_id")),
        profiler_level=_text(config.get("_profiler_level")),
        aic_metrics=_text(config.get("_aic_metrics")),
        cann_version=_text(data.get("cann_version")),
        torch_npu_version=_text(data.get("torch_npu_version")),
    )


def read_distributed(path: Path) -> tuple[str | None, str | None]:
    """(JSON text of the parallel sizes and groups of profiler_metadata, problem)."""
    data, problem = read_json_object(path)
    if data is None:
        return None, problem
    kept = {key: data[key] for key in ("distributed_args", "parallel_group_info") if data.get(key)}
    return (json.dumps(kept, sort_keys=True, ensure_ascii=False) if kept else None), None


def read_json_object(
    path: Path, options: IngestOptions = DEFAULTS
) -> tuple[dict[str, Any] | None, str | None]:
    """(the JSON object of a small file, None), or (None, why it cannot be read)."""
    try:
        if path.stat().st_size > options.small_file_limit_bytes:
            return None, "far larger than such a file is; not read"
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        return None, f"cannot be read: {error.strerror or error}"
    except (ValueError, RecursionError):  # ValueError: no JSON, no UTF-8, or a number of thousands of digits
        return None, "not valid JSON"
    if not isinstance(data, dict):
        return None, "not a JSON object"
    return data, None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _rank(value: Any) -> int | None:
    """0, "0" -> 0; -1 (no distributed job) and anything else -> None."""
    try:
        rank = int(value) if isinstance(value, int | str) and not isinstance(value, bool) else -1
    except ValueError:
        return None
    return rank if 0 <= rank < 2**31 else None
