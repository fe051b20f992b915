"""Did the change leave the results alone? Arrays of both runs, element by element."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .tensor_files import Arrays, read_arrays, tables


@dataclass(frozen=True)
class OutputRow:
    """One array of both runs; None where the two cannot be subtracted."""

    name: str
    dtype_before: str | None  # None = not there
    dtype_after: str | None
    shape_before: tuple[int, ...] | None
    shape_after: tuple[int, ...] | None
    max_abs: float | None  # largest |after - before|
    max_rel: float | None  # largest |after - before| / |before|, where before is not 0
    cosine: float | None  # of the two flattened arrays
    nan_before: int  # NaN and infinite elements
    nan_after: int
    absolute_tolerance: float | None
    relative_tolerance: float | None
    identical: bool  # to the bit
    equal: bool  # within the tolerance of the dtype, NaN and infinities at the same places
    note: str = ""


@dataclass(frozen=True)
class OutputsComparison:
    """All arrays of both runs; `equal` only when every array is."""

    before: str
    after: str
    equal: bool
    identical: bool
    rows: tuple[OutputRow, ...]


def compare_outputs(before: Path, after: Path) -> OutputsComparison:
    """Compare the arrays of two files or folders by name.

    An array on one side only is a difference. Raises InputMissing or UnsupportedExport as `read_arrays`.
    """
    left, right = read_arrays(before), read_arrays(after)
    rows = tuple(_row(name, left, right) for name in sorted(left.keys() | right.keys()))
    return OutputsComparison(
        before=str(before),
        after=str(after),
        equal=bool(rows) and all(row.equal for row in rows),
        identical=bool(rows) and all(row.identical for row in rows),
        rows=rows,
    )


def _row(name: str, left: Arrays, right: Arrays) -> OutputRow:
    one, other = left.get(name), right.get(name)
    described = {
        "name": name,
        "dtype_before": one[0] if one else None,
        "dtype_after": other[0] if other else None,
        "shape_before": one[1].shape if one else None,
        "shape_after": other[1].shape if other else None,
        "nan_before": _not_finite(one[1]) if one else 0,
        "nan_after": _not_finite(other[1]) if other else 0,
    }
    if one is None or other is None:
        return _different(described, f"only {'after' if one is None else 'before'}")
    if one[1].shape != other[1].shape:
        return _different(described, "the shapes differ")
    if one[0] != other[0]:
        return _different(described, "the data types differ")
    return OutputRow(**described, **_measured(one[0], one[1], other[1]))


def _different(described: dict[str, Any], why: str) -> OutputRow:
    nothing = dict.fromkeys(("max_abs", "max_rel", "cosine", "absolute_tolerance", "relative_tolerance"))
    return OutputRow(**described, **nothing, identical=False, equal=False, note=why)


def _measured(dtype: str, before: NDArray[Any], after: NDArray[Any]) -> dict[str, Any]:
    """Distances in float64; integers and booleans must be equal."""
    tolerance = tables()["tolerance"].get(dtype, {"absolute": 0.0, "relative": 0.0})
    a, b = before.astype(np.float64).ravel(), after.astype(np.float64).ravel()
    same_kind = np.array_equal(np.isnan(a), np.isnan(b)) and np.array_equal(
        np.where(np.isinf(a), a, 0.0), np.where(np.isinf(b), b, 0.0)
    )
    finite = np.isfinite(a) & np.isfinite(b)
    a, b = a[finite], b[finite]
    apart = np.abs(b - a)
    within = bool(np.all(apart <= tolerance["absolute"] + tolerance["relative"] * np.abs(a)))
    nonzero = a != 0
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    return {
        "max_abs": float(apart.max()) if len(apart) else 0.0,
        "max_rel": float((apart[nonzero] / np.abs(a[nonzero])).max()) if nonzero.any() else None,
        "cosine": float(np.dot(a, b) / norms) if norms > 0 else None,
        "absolute_tolerance": tolerance["absolute"],
        "relative_tolerance": tolerance["relative"],
        "identical": before.tobytes() == after.tobytes(),
        "equal": same_kind and within,
        "note": "" if same_kind else "NaN or infinities stand at other places",
    }


def _not_finite(values: NDArray[Any]) -> int:
    return int((~np.isfinite(values)).sum()) if values.dtype.kind in "fc" else 0
