"""OPPROF_* folders of `msprof op`: one operator, measured block by block -> operators with their PMU sums."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import NpuRooflineError
from .cells import number_text
from .columns import NOT_RECORDED, Column
from .grouping import FoundFile
from .naming import binary_type, type_of_name
from .opprof_summary import read_summary
from .options import IngestOptions
from .probe import fingerprint, read_header
from .small_tables import SmallTable, read_small_table

OPERATOR_FILE = "opprof_operator"
BLOCKS_FILE = "opprof_blocks"
_TIME_IN_NAME = re.compile(r"_(\d+)$")
_MIX_AIV = "_mix_aiv"
_CELL = Column("", (), "DOUBLE", "", "")


@dataclass(frozen=True)
class BlockRow:
    """One block of one file: its number, its core (cube0, vector1) and its cells by header name."""

    block: int
    core: str
    cells: Mapping[str, float]


@dataclass
class BlockFile:
    """One per-block file as it was read; damaged rows are counted, a damaged file says why."""

    file: FoundFile
    rows: list[BlockRow] = field(default_factory=list)
    sha256: str | None = None
    skipped: int = 0
    problem: str | None = None


@dataclass
class Operator:
    """One measured launch; `cells` is the row of OpBasicInfo, None when that is missing or damaged."""

    folder: Path
    basic: FoundFile | None
    table: SmallTable
    files: list[BlockFile] = field(default_factory=list)

    @property
    def cells(self) -> dict[str, Any] | None:
        """Name, core kind, duration, blocks, device and clock as exported."""
        return self.table.rows[0] if self.table.rows and self.table.rows[0].get("name") else None

    @property
    def core(self) -> str | None:
        """The engine in the words of a kernel table; None when it is not said."""
        cells = self.cells or {}
        kind = (cells.get("core_kind") or "").lower()
        if kind == "mix" and str(cells.get("name", "")).endswith(_MIX_AIV):
            kind = "mix_aiv"
        return _data()["core"].get(kind)

    def block_rows(self) -> list[BlockRow]:
        """One row per block and core, with the cells of all files together."""
        merged: dict[tuple[int, str], dict[str, float]] = {}
        for file in self.files:
            for row in file.rows:
                merged.setdefault((row.block, row.core), {}).update(row.cells)
        return [BlockRow(block, core, cells) for (block, core), cells in sorted(merged.items())]


def read_operators(files: Iterable[FoundFile], options: IngestOptions) -> list[Operator]:
    """The operators of the given files, by folder; files of one folder with several times are told apart."""
    folders: dict[Path, list[FoundFile]] = {}
    for file in files:
        if file.kind in (OPERATOR_FILE, BLOCKS_FILE) and file.ignored is None:
            folders.setdefault(file.path.parent, []).append(file)
    return [
        _operator(folder, part, options)
        for folder, found in sorted(folders.items())
        for part in _launches(found)
    ]


def _launches(files: list[FoundFile]) -> list[list[FoundFile]]:
    """One list per launch: a folder usually holds one, whose files may carry different times."""
    if sum(file.kind == OPERATOR_FILE for file in files) <= 1:
        return [files]
    by_time: dict[str, list[FoundFile]] = {}
    for file in files:
        match = _TIME_IN_NAME.search(file.path.stem)
        by_time.setdefault(match[1] if match else "", []).append(file)
    return [by_time[time] for time in sorted(by_time)]


def _operator(folder: Path, files: list[FoundFile], options: IngestOptions) -> Operator:
    basic = next((file for file in files if file.kind == OPERATOR_FILE), None)
    table = SmallTable(problem="no OpBasicInfo.csv, which has the operator's name and duration")
    if basic is not None and basic.path.suffix == ".jsonl":
        table = read_summary(basic.path, options)
    elif basic is not None:
        table = read_small_table(basic.path, OPERATOR_FILE, options)
    blocks = [_read_blocks(file, options) for file in files if file.kind == BLOCKS_FILE]
    return Operator(folder, basic, table, blocks)


def _read_blocks(file: FoundFile, options: IngestOptions) -> BlockFile:
    result = BlockFile(file)
    try:
        if file.path.stat().st_size > options.small_file_limit_bytes:
            result.problem = "far larger than such a file is; not read"
            return result
        names = [name.strip() for name in read_header(file.path)]
        if not {"block_id", "sub_block_id"} <= set(names):
            result.problem = "no column block_id or sub_block_id"
            return result
        result.sha256 = fingerprint(file.path).sha256
        with file.path.open(encoding="utf-8-sig", newline="") as opened:
            reader = csv.reader(opened)
            next(reader, None)
            for fields in reader:
                if any(cell.strip() for cell in fields):
                    _add_block(result, names, fields)
    except NpuRooflineError as error:
        result.problem = error.message
    except OSError as error:
        result.problem = f"cannot be read: {error.strerror or error}"
    except (UnicodeDecodeError, csv.Error):
        result.problem = "not a CSV file in UTF-8"
    return result


def _add_block(result: BlockFile, names: Sequence[str], fields: Sequence[str]) -> None:
    """A row with the wrong number of fields, or with a cell that is neither a number nor NA, is left out."""
    cells: dict[str, float] = {}
    row = dict(zip(names, fields, strict=False))
    block, core = row.pop("block_id", "").strip(), row.pop("sub_block_id", "").strip()
    if len(fields) != len(names) or not re.fullmatch(r"\d{1,9}", block, re.ASCII) or core in NOT_RECORDED:
        result.skipped += 1
        return
    for name, cell in row.items():
        number = number_text(cell, _CELL) if name else ""
        if number is None:
            result.skipped += 1
            return
        if number:
            cells[name] = float(number)
    result.rows.append(BlockRow(int(block), core, cells))


def counters(rows: Sequence[BlockRow], duration_us: float, options: IngestOptions) -> dict[str, float]:
    """The PMU columns of a kernel from its blocks, by opprof.toml; a column that nothing tells is absent.

    A core time is the mean over blocks, which is the time of the cores only while each ran one block; where
    blocks may have taken turns it is left out.
    """
    sums = {
        name: value
        for name, rule in _data()["column"].items()
        if (value := _combined(rule, _of_engine(rows, rule["of"]))) is not None
    }
    for engine, column, certain in (
        ("cube", "aicore_time_us", options.opprof_certain_cubes),
        ("vector", "aiv_time_us", options.opprof_certain_vectors),
    ):
        one_round = len(_of_engine(rows, engine)) <= certain or sums.get(column, 0.0) > duration_us / 2
        if not one_round:
            sums.pop(column, None)
    return sums


def operator_type(name: str) -> str:
    """The type of a measured kernel: what the name of its binary begins with, else the name without its
    arguments.
    """
    if name.startswith("aclnn"):
        return type_of_name(name)
    return binary_type(name) or name.split("(")[0].strip() or name


def _of_engine(rows: Sequence[BlockRow], engine: str) -> list[BlockRow]:
    return [row for row in rows if row.core.startswith(_data()["engine"][engine]["blocks"])]


def _combined(rule: Mapping[str, Any], rows: Sequence[BlockRow]) -> float | None:
    """One column over the blocks of its engine; None when no block has it."""
    found = [row.cells[name] for row in rows for name in _names(rule) if name in row.cells]
    if rule["how"] == "share":
        time = _data()["engine"][rule["of"]]["time"]
        whole = sum(row.cells[time] for row in rows if rule["from"] in row.cells and time in row.cells)
        if found and whole > 0:
            return sum(found) / whole
        return _weighted(rows, rule["else"], rule["of"])
    if rule["how"] == "weighted":
        return _weighted(rows, rule["from"], rule["of"])
    if not found:
        return None
    return sum(found) / len(found) if rule["how"] == "mean" else sum(found)


def _names(rule: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that a rule takes: its own, and those that a later layout has instead."""
    return (rule["from"], *rule.get("or", ()))


def _weighted(rows: Sequence[BlockRow], name: str, engine: str) -> float | None:
    """Mean over blocks by cycles."""
    cycles = _data()["engine"][engine]["cycles"]
    pairs = [(row.cells[name], row.cells.get(cycles, 0.0)) for row in rows if name in row.cells]
    whole = sum(weight for _, weight in pairs)
    if not pairs or whole <= 0:
        return None
    return sum(value * weight for value, weight in pairs) / whole


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("opprof.toml").read_text(encoding="utf-8"))
