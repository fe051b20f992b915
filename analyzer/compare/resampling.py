"""Resampling of steps, many rows at once, the same draws in every run of the program."""

from __future__ import annotations

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
        draws = np.sort(np.random.default_rng((seed, count)).integers(0, count, (resamples, count)), axis=1)
        lower, upper = draws[:, (count - 1) // 2], draws[:, count // 2]
        chosen = ordered[rows]
        result[rows] = (chosen[:, lower] + chosen[:, upper]) / 2
    return result
