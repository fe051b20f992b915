"""Resampling of steps, many rows at once, the same draws in every run of the program."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def resampled_medians(values: Values, resamples: int, seed: int) -> Values:
    """Medians of steps drawn with replacement: [R, n] (NaN = absent) -> [R, resamples].

    Rows are sorted once; which order statistics make the median of a draw is the same for all rows with the
    same number of steps, so a draw costs one look-up per row. Deterministic for a seed.
    """
    ordered = np.sort(values, axis=1)  # NaN last
    counts = np.isfinite(values).sum(axis=1)
    result = np.full((len(values), resamples), np.nan)
    for count in np.unique(counts[counts > 0]).tolist():
        rows = counts == count
        lower, upper = _middles(count, resamples, seed)
        chosen = ordered[rows]
        result[rows] = (chosen[:, lower] + chosen[:, upper]) / 2
    return result


@functools.lru_cache(maxsize=256)  # a comparison asks for the same draws some forty times
def _middles(count: int, resamples: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which of `count` sorted steps are the two middle ones of each draw."""
    draws = np.random.default_rng((seed, count)).integers(0, count, (resamples, count))
    middle = ((count - 1) // 2, count // 2)
    found = np.partition(draws, middle, axis=1)
    return found[:, middle[0]].copy(), found[:, middle[1]].copy()
