"""A model's config.json as numbers: hidden size, heads, experts; nothing is taken from anybody's defaults."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputMissing, WrongUsage

LARGEST_NUMBER = 2**40  # no model has a dimension above; keeps products far below what integers print
# Multimodal models keep the language model's numbers one level down.
NESTED = ("text_config", "language_config", "llm_config")
# Names for w8a8 in the files that say how a model is quantised.
W8A8 = frozenset({"w8a8", "w8a8int8", "w8a8_dynamic", "smoothquant"})


@dataclass(frozen=True)
class ModelConfig:
    """Whole numbers of a config.json by key, the model's name, and whether it says it is w8a8."""

    numbers: Mapping[str, int]
    name: str
    source: str  # the file, as messages name it
    quant_mode: str | None = None  # 'w8a8' when the file says so; None = it does not say


def read_model_config(path: Path) -> ModelConfig:
    """Read a config.json of the HF kind, or the one inside a model folder.

    Raises InputMissing when there is no such file, WrongUsage when it is no JSON object or has no sizes.
    """
    file = path / "config.json" if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputMissing(
            f"no config.json at {path}", "give the model's config.json or its folder"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUsage(f"cannot read {file}: {error}", "give a config.json in UTF-8") from error
    try:
        found = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise WrongUsage(f"{file} is no JSON: {error}", "give the model's config.json") from error
    if not isinstance(found, dict):
        raise WrongUsage(f"{file} holds no JSON object", "give the model's config.json")
    return model_config(found, str(file))


def model_config(values: Mapping[str, Any], source: str) -> ModelConfig:
    """Take the numbers out of a parsed config.json; those of a nested language model come first.

    Raises WrongUsage when it holds no hidden size, or a dimension that cannot be one.
    """
    merged = dict(values)
    for name in NESTED:
        if isinstance(inner := values.get(name), Mapping):
            merged |= inner
    numbers = {
        key: value
        for key, value in merged.items()
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_NUMBER
    }
    if not {"hidden_size", "n_embd", "d_model"} & numbers.keys():
        raise WrongUsage(
            f"{source} has no hidden_size",
            "give the config.json of the model that was profiled, as HF writes it",
        )
    name = merged.get("_name_or_path") or merged.get("model_type") or "model"
    return ModelConfig(numbers, str(name), source, _quantised(merged.get("quantization_config")))


def _quantised(value: Any) -> str | None:
    """'w8a8' when a quantization_config names it in any of its texts."""
    texts = value.values() if isinstance(value, Mapping) else [value]
    return "w8a8" if any(isinstance(each, str) and each.lower() in W8A8 for each in texts) else None
