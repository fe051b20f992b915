"""Distinct texts of kernel rows -> signatures, whose ids depend on nothing but the texts, and operands."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from ..errors import InternalError
from .database import insert_rows
from .kernel_sql import SIGNATURE_TEXTS
from .naming import name_kernel
from .shapes import parse_operands

if TYPE_CHECKING:
    import duckdb

_QUOTES_AND_BLANKS = " \t\"'"
_HF32 = {"YES": True, "NO": False}


class SignatureRow(NamedTuple):
    """One row of the table signatures, without its ids."""

    type: str | None
    type_source: str | None
    core: str | None
    kernel_class: str
    hf32: bool | None
    input_shapes: str | None
    input_dtypes: str | None
    input_formats: str | None
    output_shapes: str | None
    output_dtypes: str | None
    output_formats: str | None

    @property
    def texts(self) -> tuple[str | bool | None, ...]:
        """What tells it from other signatures: everything but where the type is from."""
        return (self.type, *self[2:])

    @property
    def signature_id(self) -> int:
        """64 bits of the MD5 of the texts: equal for equal texts in any run, on any machine, in any version.

        Where the type is from is not part of it: the same work is the same signature.
        """
        text = "\x1f".join("\x1e" if part is None else str(part) for part in self.texts)
        digest = hashlib.md5(text.encode("utf-8"), usedforsecurity=False).digest()
        return int.from_bytes(digest[:8], "big")


def add_signatures(con: duckdb.DuckDBPyConnection, known: dict[int, SignatureRow]) -> None:
    """Fill raw_keys (key -> signature_id, class) for the rows of scratch.raw, and the tables signatures and
    tensors with what is not in `known` yet.
    """
    texts = ", ".join(SIGNATURE_TEXTS)
    rows = con.execute(
        f"SELECT signature_key, untyped_name, {texts} FROM scratch.raw GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    keys = {row[0] for row in rows}
    if len(keys) != len(rows):
        raise InternalError("two different signatures have one key", "nothing was written; report this")
    found = [(row[0], _signature(*row[1:])) for row in rows]
    new: dict[int, SignatureRow] = {}
    for _, signature in found:
        _remember(signature, known, new)
    con.execute(
        "CREATE OR REPLACE TEMP TABLE raw_keys "
        "(signature_key UBIGINT, signature_id UBIGINT, kernel_class VARCHAR)"
    )
    insert_rows(con, "raw_keys", [(key, each.signature_id, each.kernel_class) for key, each in found])
    insert_rows(con, "signatures", [(1, number, *each) for number, each in new.items()])
    insert_rows(con, "tensors", [row for number, each in new.items() for row in _tensor_rows(number, each)])


def _remember(signature: SignatureRow, known: dict[int, SignatureRow], new: dict[int, SignatureRow]) -> None:
    """Keep a signature once; two different ones with one id would be costed as one, so that is an error."""
    number = signature.signature_id
    before = known.get(number)
    if before is None:
        known[number] = new[number] = signature
        return
    if before.texts != signature.texts:
        raise InternalError(f"two signatures have the id {number:016x}", "nothing was written; report this")
    if number in new and signature.type_source == "column":
        known[number] = new[number] = signature


def _signature(
    name: str | None, type_: str | None, core: str | None, hf32: str | None, *operands: str | None
) -> SignatureRow:
    """Clean the texts of one distinct row and name its type, engine and class."""
    naming = name_kernel(_clean(type_), _clean(name), _clean(core))
    return SignatureRow(
        naming.type,
        naming.type_source,
        naming.core,
        naming.kernel_class,
        _HF32.get((_clean(hf32) or "").upper()),
        *(_clean(operand) for operand in operands),
    )


def _clean(text: str | None) -> str | None:
    """Text without the export's own quotes (formats.md 8.3): an empty quoted cell is '', a scalar."""
    return None if text is None else text.strip(_QUOTES_AND_BLANKS)


def _tensor_rows(number: int, signature: SignatureRow) -> list[tuple]:
    rows = []
    sides = {
        "input": (signature.input_shapes, signature.input_dtypes, signature.input_formats),
        "output": (signature.output_shapes, signature.output_dtypes, signature.output_formats),
    }
    for side, texts in sides.items():
        for slot, tensor in enumerate(parse_operands(*texts) or ()):
            if tensor is None:
                rows.append((1, number, side, slot, None, None, None, None, None))
                continue
            sizes = (tensor.element_bytes, tensor.storage_bytes)
            rows.append((1, number, side, slot, list(tensor.dims), tensor.dtype, tensor.format, *sizes))
    return rows
