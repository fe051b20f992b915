"""Quantiles of Student's t: how far the mean of a few steps may stray from the truth."""

from __future__ import annotations

import functools
import math

import numpy as np

_POINTS = 20_001  # of the angle; the quantiles are then right to 1e-6 from one degree of freedom upwards


@functools.lru_cache(maxsize=1024)
def t_quantile(probability: float, degrees: float) -> float:
    """Value that Student's t with `degrees` degrees of freedom stays below with this probability (0.5 to 1).

    With t = sqrt(degrees) tan(angle) the density becomes cos(angle)^(degrees - 1), whose integral is read off
    a table; the table's own end is the normalisation. Raises ValueError outside 0.5 <= probability < 1 or
    below one degree. Source of the substitution: Abramowitz and Stegun 26.7.3.
    """
    if not 0.5 <= probability < 1 or degrees < 1:
        raise ValueError(f"no t quantile for probability {probability}, {degrees} degrees of freedom")
    angles = np.linspace(0, math.pi / 2, _POINTS)
    density = np.cos(angles) ** (degrees - 1)
    below = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2)))
    angle = np.interp((2 * probability - 1) * below[-1], below, angles)
    return math.sqrt(degrees) * math.tan(float(angle))
