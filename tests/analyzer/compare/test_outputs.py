"""Outputs of two runs, element by element."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from npu_roofline.analyzer.compare.outputs import OutputRow, compare_outputs
from npu_roofline.errors import InputMissing, UnsupportedExport


def pair(folder: Path, before: np.ndarray, after: np.ndarray) -> OutputRow:
    """The only row of two .npz files that hold one array each."""
    np.savez(folder / "before.npz", logits=before)
    np.savez(folder / "after.npz", logits=after)
    (row,) = compare_outputs(folder / "before.npz", folder / "after.npz").rows
    return row


def test_the_same_bits_are_identical(tmp_path: Path) -> None:
    """A NaN at the same place is no difference; the count of NaN is shown."""
    values = np.array([1.0, np.nan, -3.0], dtype=np.float32)
    row = pair(tmp_path, values, values.copy())
    assert (row.identical, row.equal, row.max_abs, row.nan_before) == (True, True, 0.0, 1)


def test_distances_are_measured(tmp_path: Path) -> None:
    """(3, 4) against (3, 4.5): at most 0.5 apart, 0.125 relative; cosine 27 / (5 x sqrt(29.25)) = 0.99846."""
    row = pair(tmp_path, np.array([3.0, 4.0]), np.array([3.0, 4.5]))
    assert (row.max_abs, row.max_rel, row.equal) == (0.5, 0.125, False)
    assert row.cosine == pytest.approx(27 / (5 * 29.25**0.5))


@pytest.mark.parametrize(("apart", "equal"), [(1.2e-6, True), (4e-5, False)])
def test_the_tolerance_is_that_of_the_dtype(tmp_path: Path, apart: float, equal: bool) -> None:
    """float32: |a - b| <= 1e-5 + 1.3e-6 x |a|: at 1.0 that is 1.13e-5."""
    one = np.array([1.0], dtype=np.float32)
    row = pair(tmp_path, one, (one + np.float32(apart)).astype(np.float32))
    assert row.equal is equal
    assert not row.identical


def test_integers_must_be_equal(tmp_path: Path) -> None:
    """A token id that differs by one is another token."""
    assert not pair(tmp_path, np.array([7]), np.array([8])).equal


def test_a_new_nan_is_a_difference(tmp_path: Path) -> None:
    """A NaN where there was a number is never within a tolerance, nor an infinity of the other sign."""
    row = pair(tmp_path, np.array([1.0, 2.0]), np.array([1.0, np.nan]))
    assert (row.equal, row.nan_after) == (False, 1)
    assert "NaN" in row.note
    assert not pair(tmp_path, np.array([np.inf]), np.array([-np.inf])).equal


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (np.zeros((2, 1), np.float32), "the shapes differ"),
        (np.zeros(2, np.float64), "the data types differ"),
    ],
)
def test_another_shape_or_dtype_is_a_difference(tmp_path: Path, after: np.ndarray, why: str) -> None:
    """Nothing is broadcast or cast to make two arrays comparable."""
    row = pair(tmp_path, np.zeros(2, np.float32), after)
    assert (row.equal, row.note, row.max_abs) == (False, why, None)


def test_an_array_on_one_side_only_is_a_difference(tmp_path: Path) -> None:
    """A missing array is named, and the whole is not equal."""
    np.savez(tmp_path / "before.npz", a=np.ones(1), b=np.ones(1))
    np.savez(tmp_path / "after.npz", a=np.ones(1))
    found = compare_outputs(tmp_path / "before.npz", tmp_path / "after.npz")
    assert (found.equal, [row.note for row in found.rows]) == (False, ["", "only before"])


def test_folders_of_arrays_are_compared_by_path(tmp_path: Path) -> None:
    """Every .npy below the folder is an array; its name is its path."""
    for side in ("before", "after"):
        (tmp_path / side / "layer0").mkdir(parents=True)
        np.save(tmp_path / side / "layer0" / "out.npy", np.arange(3))
    found = compare_outputs(tmp_path / "before", tmp_path / "after")
    assert [row.name for row in found.rows] == ["layer0/out"]
    assert found.identical


def safetensors(path: Path, dtype: str, shape: list[int], raw: bytes) -> None:
    """A file of one tensor, written as the format says."""
    header = json.dumps({"w": {"dtype": dtype, "shape": shape, "data_offsets": [0, len(raw)]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + raw)


def test_bfloat16_of_safetensors_is_read(tmp_path: Path) -> None:
    """bfloat16 1.0 is 0x3f80 and 1.5 is 0x3fc0: apart by 0.5 = 50 %, beyond the 1.6 % of the dtype."""
    safetensors(tmp_path / "a.safetensors", "BF16", [1], bytes.fromhex("803f"))
    safetensors(tmp_path / "b.safetensors", "BF16", [1], bytes.fromhex("c03f"))
    (row,) = compare_outputs(tmp_path / "a.safetensors", tmp_path / "b.safetensors").rows
    assert (row.dtype_before, row.max_abs, row.relative_tolerance, row.equal) == (
        "bfloat16",
        0.5,
        0.016,
        False,
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.npz", b"PK\x03\x04 not an archive"),
        ("cut.npy", b"\x93NUMPY"),
        ("long.safetensors", (10**12).to_bytes(8, "little") + b"{}"),
        ("strange.safetensors", (2).to_bytes(8, "little") + b"[]"),
        ("text.txt", b"hello"),
    ],
)
def test_broken_and_foreign_files_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    """A cut or foreign file is a clear error that says what is read, never a traceback."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnsupportedExport) as refused:
        compare_outputs(tmp_path / name, tmp_path / name)
    assert ".npz" in refused.value.hint


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    """An object array would be unpickled, which can run code: refused."""
    np.save(tmp_path / "evil.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(UnsupportedExport):
        compare_outputs(tmp_path / "evil.npy", tmp_path / "evil.npy")


def test_missing_outputs_say_where(tmp_path: Path) -> None:
    """The path that is not there is named."""
    with pytest.raises(InputMissing, match=r"nowhere\.npz"):
        compare_outputs(tmp_path / "nowhere.npz", tmp_path / "nowhere.npz")
