"""Shape, dtype and format cells of an export -> operands with bytes and logical dimensions.

Everything that costs a kernel starts here: an operand is what is *stored* (padding of the fractal formats
included), its `logical` dimensions are what the mathematics works on.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

UNKNOWN_DTYPE = "unknown"

# Cells that say "not recorded": N/A (text exports), NULL (databases), NA (single-operator exports).
_NOT_RECORDED = frozenset({"N/A", "NULL", "NA", "NAN", "NONE"})
# No device holds 2**56 elements: a larger product is a damaged cell, and its bytes could overflow a BIGINT.
_MAX_ELEMENTS = 2**56
_NZ_ROWS = 16  # rows of one fractal block, for every dtype
_NZ_COLUMNS = frozenset({8, 16, 32, 64})  # 32 bytes of fp32, fp16, int8, int4
_NZ_BLOCK_BYTES = 32


@dataclass(frozen=True, slots=True)
class DtypeInfo:
    """One data type: short name, bytes of one stored element, and the kind of arithmetic it takes part
    in.
    """

    name: str
    element_bytes: float
    kind: str


@dataclass(frozen=True, slots=True)
class Tensor:
    """One operand as stored: physical dims, short dtype, format; bytes are None if the dtype is unknown."""

    dims: tuple[int, ...]
    dtype: str
    format: str
    element_bytes: float | None

    @property
    def elements(self) -> int:
        """Stored elements, padding included; a scalar has one."""
        return math.prod(self.dims)

    @property
    def is_nz(self) -> bool:
        """True when the export says FRACTAL_NZ, whether the dims are folded or already logical."""
        return "FRACTAL_NZ" in self.format.upper()

    @property
    def is_folded(self) -> bool:
        """True when the dims are the fractal blocks themselves and not yet the matrix (formats.md 9)."""
        if not self.is_nz or len(self.dims) < 4 or self.dims[-1] not in _NZ_COLUMNS:
            return False
        return self.dims[-2] == _NZ_ROWS or len(self.dims) == 4

    @property
    def logical(self) -> tuple[int, ...]:
        """The matrix behind the blocks: (*batch, rows, columns), block padding still included.

        `[*batch, C1, R1, 16, c0]` is R1*16 rows by C1*c0 columns; rank 4 without the 16-row block is
        `[b, C1, R, c0]`; rank <= 3 is logical as it stands. Proof in a real export: TransData turns ND
        `4096,151936` into `9496,256,16,16`, and 9496*16 = 151936 columns, 256*16 = 4096 rows.
        """
        if not self.is_folded:
            return self.dims
        *batch, columns_1, rows_1, rows_0, columns_0 = self.dims
        if rows_0 == _NZ_ROWS:
            return (*batch, rows_1 * rows_0, columns_1 * columns_0)
        outer, columns_1, rows, columns_0 = self.dims
        return (*(() if outer == 1 else (outer,)), rows, columns_1 * columns_0)

    @property
    def padding_assumed(self) -> bool:
        """True when NZ dims are shown logical and do not fill whole blocks: storage is a ceiling then."""
        return self.is_nz and not self.is_folded and self._block_elements() != self.elements

    @property
    def storage_bytes(self) -> int | None:
        """Bytes in device memory, padding included; None when the dtype is unknown."""
        if self.element_bytes is None:
            return None
        return math.ceil(self._block_elements() * self.element_bytes)

    def _block_elements(self) -> int:
        """Elements, with logical NZ dims rounded up to (16 rows, 32 bytes); a plain product otherwise."""
        if not self.is_nz or self.is_folded or len(self.dims) < 2 or self.element_bytes is None:
            return self.elements
        *batch, rows, columns = self.dims
        block = max(1, round(_NZ_BLOCK_BYTES / self.element_bytes))
        return math.prod(batch) * _round_up(rows, _NZ_ROWS) * _round_up(columns, block)


def parse_operands(
    shapes: str | None, dtypes: str | None, formats: str | None
) -> tuple[Tensor | None, ...] | None:
    """Read the three `;` lists of one side of a kernel.

    Returns None when the export does not know the shapes (or the cell is damaged); otherwise one entry
    per slot, None for an empty slot, because slots are positions. A whole empty cell with a dtype is
    one scalar.
    """
    if shapes is None:
        return None
    text = _clean(shapes)
    if text.upper() in _NOT_RECORDED:
        return None
    parsed = [_parse_dims(cell) for cell in text.split(";")]
    if any(dims is _DAMAGED for dims in parsed):
        return None
    dtype_cells, format_cells = _cells(dtypes), _cells(formats)
    if len(parsed) == 1 and parsed[0] is None:
        scalar = _tensor((), dtype_cells, format_cells, 0)
        return (None if scalar.element_bytes is None else scalar,)
    return tuple(
        None if dims is None else _tensor(dims, dtype_cells, format_cells, slot)
        for slot, dims in enumerate(parsed)
    )


def short_dtype(raw: str) -> str:
    """`DT_BF16` -> `bf16`, `FLOAT` -> `fp32`; `unknown` for DT_UNDEFINED and spellings not in the table."""
    info = dtype_info(raw)
    return info.name if info is not None else UNKNOWN_DTYPE


def dtype_info(raw: str) -> DtypeInfo | None:
    """The row of dtypes.toml for an export's spelling or a short name; None when it is in neither."""
    spelling = raw.strip().upper()
    return _dtypes().get(spelling.removeprefix("DT_"))


@lru_cache(maxsize=1)
def _dtypes() -> dict[str, DtypeInfo]:
    text = Path(__file__).with_name("dtypes.toml").read_text(encoding="utf-8")
    table: dict[str, DtypeInfo] = {}
    for name, row in tomllib.loads(text).items():
        info = DtypeInfo(name, float(row["bytes"]), row["kind"])
        for spelling in (*row["spellings"], name.upper()):
            table[spelling] = info
    return table


_DAMAGED: tuple[int, ...] = (-1,)


def _parse_dims(cell: str) -> tuple[int, ...] | None:
    """One slot: dims, None when empty, `_DAMAGED` when it is not a list of non-negative decimal
    integers.
    """
    if not cell.strip():
        return None
    dims = []
    for token in cell.split(","):
        digits = token.strip()
        if not (digits.isascii() and digits.isdecimal()) or len(digits) > 19:
            return _DAMAGED
        dims.append(int(digits))
    return tuple(dims) if math.prod(dims) <= _MAX_ELEMENTS else _DAMAGED


def _tensor(dims: tuple[int, ...], dtypes: list[str], formats: list[str], slot: int) -> Tensor:
    info = dtype_info(dtypes[slot]) if slot < len(dtypes) else None
    tensor_format = formats[slot].removeprefix("FORMAT_") if slot < len(formats) else ""
    if info is None:
        return Tensor(dims, UNKNOWN_DTYPE, tensor_format, None)
    return Tensor(dims, info.name, tensor_format, info.element_bytes)


def _cells(text: str | None) -> list[str]:
    if text is None or _clean(text).upper() in _NOT_RECORDED:
        return []
    return [cell.strip() for cell in _clean(text).split(";")]


def _clean(text: str) -> str:
    """Exports quote shape cells a second time: literal quotes remain after CSV parsing (formats.md 8.3)."""
    return text.strip().strip('"').strip()


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
