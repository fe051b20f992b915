"""The statistics of all pairs as arrays: rows are pairs, columns are steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .judgement import Samples

if TYPE_CHECKING:
    import duckdb

Values = NDArray[np.float64]


@dataclass(frozen=True)
class SideTable:
    """One side of R pairs over n steps; times us, NaN where a pair does not occur."""

    calls: Values  # [R, n] kernels in the step, 0 where absent
    total_us: Values  # [R, n] summed durations, 0 where absent
    waited_us: Values  # [R, n] idle time right before these kernels
    step_median_us: Values  # [R, n]
    median_us: Values  # [R] over all calls
    stream: list[int | None]  # [R] the one that most calls are on
    layers: NDArray[np.int64]  # [R] distinct layers, 0 outside layers
    first_layer: list[int | None]  # [R]
    scatter_us: Values  # [R]
    scatter_robust_us: Values  # [R]
    scatter_degrees: Values  # [R]

    @property
    def step_us(self) -> Values:
        """[R] mean per step; these add up."""
        return self.total_us.mean(axis=1)

    @property
    def count(self) -> NDArray[np.int64]:
        """[R] calls over all steps."""
        return self.calls.sum(axis=1).astype(np.int64)

    def samples(self, rows: NDArray[np.bool_]) -> Samples:
        """The chosen rows as the judgement takes them."""
        calls, total = self.calls[rows], self.total_us[rows]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.where(calls > 0, total / calls, np.nan)
            per_step = calls.sum(axis=1) / (calls > 0).sum(axis=1)
        return Samples(
            median_us=self.median_us[rows],
            step_median_us=self.step_median_us[rows],
            step_mean_us=means,
            calls=per_step,
            scatter_us=self.scatter_us[rows],
            scatter_robust_us=self.scatter_robust_us[rows],
            scatter_degrees=self.scatter_degrees[rows],
        )


def read_side(scratch: duckdb.DuckDBPyConnection, side: int, pairs: int, steps: int) -> SideTable:
    """Read one side's statistics of all pairs out of the scratch database."""
    cells = _columns(scratch, "_pair_steps", side)
    at = (cells["pair"].astype(int), cells["step"].astype(int))
    calls = _columns(scratch, "_pair_calls", side)
    row = calls["pair"].astype(int)
    scatter = _columns(scratch, "_pair_scatter", side)
    scattered = scatter["pair"].astype(int)
    return SideTable(
        calls=_grid(at, cells["calls"], (pairs, steps), 0.0),
        total_us=_grid(at, cells["total_us"], (pairs, steps), 0.0),
        waited_us=_grid(at, cells["waited_us"], (pairs, steps), 0.0),
        step_median_us=_grid(at, cells["median_us"], (pairs, steps), np.nan),
        median_us=_grid(row, calls["median_us"], pairs, np.nan),
        stream=_numbers(row, calls["stream"], pairs),
        layers=_grid(row, calls["layers"], pairs, 0.0).astype(np.int64),
        first_layer=_numbers(row, calls["first_layer"], pairs),
        scatter_us=_grid(scattered, scatter["scatter_us"], pairs, np.nan),
        scatter_robust_us=_grid(scattered, scatter["scatter_robust_us"], pairs, np.nan),
        scatter_degrees=_grid(scattered, scatter["degrees"], pairs, 0.0),
    )


def _columns(scratch: duckdb.DuckDBPyConnection, table: str, side: int) -> dict[str, NDArray[np.generic]]:
    """The columns of one of our own tables for one side; NULL is masked, and becomes NaN or None."""
    found = scratch.execute(f"SELECT * FROM {table} WHERE side = ?", [side]).fetchnumpy()
    return {name: np.ma.asanyarray(values) for name, values in found.items()}


def _grid(at: object, values: NDArray[np.generic], shape: object, fill: float) -> Values:
    """Values laid into an array of `fill` at the given indices."""
    result = np.full(shape, fill)  # type: ignore[arg-type]
    result[at] = np.ma.filled(values.astype(float), np.nan)  # type: ignore[index]
    return result


def _numbers(at: NDArray[np.int64], values: NDArray[np.generic], pairs: int) -> list[int | None]:
    """Whole numbers by pair, None where there is none."""
    result: list[int | None] = [None] * pairs
    for pair, value in zip(at.tolist(), values.tolist(), strict=True):
        result[pair] = value
    return result
