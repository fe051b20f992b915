"""Arrays out of files that a model run leaves behind: .npz, .npy, folders of .npy, .safetensors, .pt.

Nothing is ever unpickled here: numpy refuses object arrays, and a .pt file is read by torch itself, weights
only, where torch is installed.
"""

from __future__ import annotations

import functools
import json
import math
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ...errors import InputMissing, UnsupportedExport

Arrays = dict[str, tuple[str, NDArray[Any]]]  # name -> (dtype as recorded, values)

_FORMS = ".npz, .npy, a folder of .npy files, .safetensors, or .pt where torch is installed"


def read_arrays(path: Path) -> Arrays:
    """Every array of a file or folder, with the dtype that was recorded (bfloat16 is widened to float32).

    Raises InputMissing where nothing is there, UnsupportedExport for a file of another kind or a broken one.
    """
    if not path.exists():
        raise InputMissing(f"no outputs at {path}", f"give {_FORMS}")
    try:
        return _read(path)
    except (ValueError, KeyError, TypeError, OSError, EOFError, BadZipFile) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnsupportedExport(f"{path} cannot be read as outputs: {reason}", f"give {_FORMS}") from error


def _read(path: Path) -> Arrays:
    if path.is_dir():
        files = sorted(path.rglob("*.npy"))
        if not files:
            raise UnsupportedExport(f"no .npy file in {path}", f"give {_FORMS}")
        return {str(each.relative_to(path).with_suffix("")): _numpy(each) for each in files}
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as archive:
            return {name: _recorded(archive[name]) for name in sorted(archive.files)}
    if path.suffix == ".npy":
        return {path.stem: _numpy(path)}
    if path.suffix == ".safetensors":
        return _safetensors(path)
    if path.suffix in (".pt", ".pth"):
        return _torch(path)
    raise UnsupportedExport(f"{path} is of no kind that is read as outputs", f"give {_FORMS}")


def _numpy(path: Path) -> tuple[str, NDArray[Any]]:
    return _recorded(np.load(path, allow_pickle=False))


def _recorded(values: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    return values.dtype.name, values


def _safetensors(path: Path) -> Arrays:
    """8 bytes length, a JSON header with dtype, shape and offsets per tensor, then the bytes."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise ValueError("the header is longer than the file")
    header = json.loads(data[8 : 8 + length])
    if not (isinstance(header, dict) and all(isinstance(entry, dict) for entry in header.values())):
        raise ValueError("the header is no table of tensors")
    body = memoryview(data)[8 + length :]
    found: Arrays = {}
    for name, entry in sorted(header.items()):
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        if not 0 <= start <= end <= len(body):
            raise ValueError(f"{name!r} lies outside the file")
        found[name] = _tensor(body[start:end], entry["dtype"], tuple(entry["shape"]))
    return found


def _tensor(raw: memoryview, dtype: str, shape: tuple[int, ...]) -> tuple[str, NDArray[Any]]:
    kinds = tables()["safetensors"]
    if dtype not in kinds:
        raise ValueError(f"dtype {dtype} is not read")
    if kinds[dtype] == "bfloat16":
        return "bfloat16", _bfloat16(np.frombuffer(raw, dtype="<u2")).reshape(shape)
    values = np.frombuffer(raw, dtype=kinds[dtype])
    if len(values) != math.prod(shape):
        raise ValueError(f"{len(values)} values do not fill the shape {shape}")
    return _recorded(values.reshape(shape))


def _bfloat16(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The upper 16 bits of a float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _torch(path: Path) -> Arrays:
    """Tensors of a .pt file by torch itself, with its loader that runs no code."""
    try:
        import torch  # type: ignore[import-not-found]
    except ImportError as missing:
        raise UnsupportedExport(
            f"{path} needs torch, which is not installed here", "save the outputs with numpy.savez instead"
        ) from missing
    loaded = torch.load(path, map_location="cpu", weights_only=True)
    named = loaded if isinstance(loaded, Mapping) else {path.stem: loaded}
    found: Arrays = {}
    for name, tensor in named.items():
        dtype = str(tensor.dtype).removeprefix("torch.")
        widened = tensor.float() if dtype == "bfloat16" else tensor
        found[str(name)] = (dtype, widened.detach().numpy())
    return found


@functools.cache
def tables() -> dict[str, Any]:
    """Tolerances and dtypes, as outputs.toml has them."""
    text = resources.files("npu_roofline.analyzer.compare").joinpath("outputs.toml").read_text("utf-8")
    return tomllib.loads(text)
