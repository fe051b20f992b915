"""Repeatable scatter: a number that depends on nothing but the name of what it scatters.

A hash instead of a random generator, so that adding a kernel to a scenario leaves every other kernel's noise
alone, and so that the bytes are equal on every Python version and machine.
"""

from __future__ import annotations

from hashlib import blake2b

_STEPS = 1 << 32


def fraction(*key: object) -> float:
    """A number in [0, 1) that is fixed for `key`; different keys behave as if drawn independently."""
    text = "/".join(str(part) for part in key)
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big") / _STEPS


def scatter(amplitude: float, *key: object) -> float:
    """A factor around 1, triangular between 1 - amplitude and 1 + amplitude, fixed for `key`."""
    return 1.0 + amplitude * (fraction("a", *key) + fraction("b", *key) - 1.0)


def between(low: float, high: float, *key: object) -> float:
    """A number between `low` and `high`, uniform, fixed for `key`."""
    return low + (high - low) * fraction(*key)
