"""Reads a generated kernel table the plain way, with nothing of the tool or of the generator."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from decimal import Decimal
from math import prod

ITEM_BYTES = {
    "INT8": 1,
    "BOOL": 1,
    "DT_BF16": 2,
    "FLOAT16": 2,
    "FLOAT": 4,
    "INT32": 4,
    "INT64": 8,
    "UINT64": 8,
}


@dataclass(frozen=True)
class Exported:
    """One row: the cells by header, and the numbers a check needs. Times us."""

    cells: dict[str, str]

    def number(self, header: str) -> float | None:
        """The cell as a number; None for N/A."""
        text = self.cells[header].strip()
        return None if text == "N/A" else float(text)

    @property
    def start(self) -> Decimal:
        """Start in us, exact."""
        return Decimal(self.cells["Start Time(us)"].strip())

    @property
    def duration(self) -> Decimal:
        """Duration in us, exact."""
        return Decimal(self.cells["Duration(us)"])

    @property
    def core(self) -> str:
        """The exporter's Accelerator Core."""
        return self.cells["Accelerator Core"]

    @property
    def step(self) -> int:
        """The exporter's Step Id."""
        return int(self.cells["Step Id"])

    def operand_bytes(self, side: str) -> list[int]:
        """Bytes of each slot of `side` (Input or Output): physical dims times element size, 0 if empty."""
        shapes = self.cells[f"{side} Shapes"].strip('"').split(";")
        dtypes = self.cells[f"{side} Data Types"].split(";")
        return [
            prod(map(int, dims.split(","))) * ITEM_BYTES[dtype] if dims else 0
            for dims, dtype in zip(shapes, dtypes, strict=True)
        ]


def read_table(text: str) -> list[Exported]:
    """The rows of a kernel_details.csv."""
    return [Exported(row) for row in csv.DictReader(io.StringIO(text, newline=""))]
