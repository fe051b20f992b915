"""config.json of a model as the values that limits and trees ask for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import InputMissing, UnsupportedExport
from .conventions import conventions


@dataclass(frozen=True)
class ModelConfig:
    """Values by the names of conventions.toml, with the key each was read from; absent ones are not known."""

    file: str | None
    values: Mapping[str, Any]
    keys: Mapping[str, str]
    quantization: Mapping[str, Any]

    def number(self, name: str) -> int | None:
        """A whole number, or one worked out from others; None when it is not known."""
        value = self.values.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        worked_out = _WORKED_OUT.get(name)
        return None if worked_out is None else worked_out(self)

    def says(self, name: str) -> str:
        """'num_experts = 128 in config.json' for evidence; '' when it is not there."""
        return f"{self.keys[name]} = {self.values[name]} in {self.file}" if name in self.keys else ""


def read_config(path: Path | None) -> ModelConfig:
    """Read a config.json, or the one in a folder; None gives a configuration of which nothing is known.

    Raises InputMissing when it is not there, UnsupportedExport when it is no JSON object.
    """
    if path is None:
        return ModelConfig(None, {}, {}, {})
    file = path / "config.json" if path.is_dir() else path
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputMissing(f"cannot read {file}: {error.strerror}", "give the model's config.json") from error
    except (ValueError, RecursionError) as error:
        raise UnsupportedExport(f"{file} is no JSON: {error}", "give the model's config.json") from error
    if not isinstance(data, dict):
        raise UnsupportedExport(f"{file} holds no JSON object", "give the model's config.json")
    inner = data.get("text_config")
    merged = {**data, **inner} if isinstance(inner, dict) else data
    keys = {
        name: next(key for key in options if merged.get(key) is not None)
        for name, options in conventions()["config"].items()
        if any(merged.get(key) is not None for key in options)
    }
    quantization = merged.get("quantization_config")
    return ModelConfig(
        file.name,
        {name: merged[key] for name, key in keys.items()},
        keys,
        quantization if isinstance(quantization, dict) else {},
    )


def _head_dim(config: ModelConfig) -> int | None:
    hidden, heads = config.number("hidden_size"), config.number("heads")
    return hidden // heads if hidden and heads else None


def _rope_dim(config: ModelConfig) -> int | None:
    return None if config.number("kv_lora_rank") else config.number("head_dim")


def _kv_a_dim(config: ModelConfig) -> int | None:
    latent, rope = config.number("kv_lora_rank"), config.number("rope_dim")
    return latent + rope if latent and rope else None


def _batch_k(config: ModelConfig) -> int | None:
    heads, nope = config.number("heads"), config.number("nope_dim")
    return heads * nope if heads and nope else None


# All heads and experts of the model: a rank has fewer, so a limit that holds for all holds there.
_WORKED_OUT = {
    "head_dim": _head_dim,
    "rope_dim": _rope_dim,
    "kv_a_dim": _kv_a_dim,
    "batch_k": _batch_k,
    "experts_per_rank": lambda config: config.number("experts"),
}
# Upper limits on these cannot be refused from the model alone: with parallelism a rank holds less.
PER_RANK = frozenset({"batch_k", "experts_per_rank"})
