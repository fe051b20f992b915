"""Ledgers written by hand: one tuning of a 100 MiB weight and experiments on it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from npu_roofline.analyzer.tuning.records import Experiment, Tuning

MIB = 2**20
WEIGHT = 100 * MIB
WHEN = datetime(2026, 1, 2, 3, 4, 5)


def tuning(**values: Any) -> Tuning:
    """A 100 MiB weight, 50 MiB first, behind A, with B and C as other places."""
    made: dict[str, Any] = {
        "tuning_id": 1,
        "name": "w",
        "started_at": WHEN,
        "target": "w",
        "weight_bytes": WEIGHT,
        "first_bytes": WEIGHT // 2,
        "dependency": "A",
        "dependencies": ("B", "C"),
    }
    return Tuning(**made | values)


def experiment(number: int, size: int | float, gain: float | None, *facts: str, **values: Any) -> Experiment:
    """An experiment of `size` MiB with a gain in per cent, +-0.05 and counting from 0.1 % on."""
    made: dict[str, Any] = {
        "tuning_id": 1,
        "experiment_id": number,
        "recorded_at": WHEN,
        "dependency": "A",
        "max_size": round(size * MIB),
        "coefficient": size * MIB / WEIGHT,
        "outcome": "accepted" if "outputs_equal" in facts else "inconclusive",
        "gain_of": "target and window",
        "gain_pct": gain,
        "gain_low_pct": None if gain is None else gain - 0.05,
        "gain_high_pct": None if gain is None else gain + 0.05,
        "floor_pct": 0.1,
        "facts": facts,
    }
    return Experiment(**made | values)
