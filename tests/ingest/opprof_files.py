"""Writes OPPROF_* folders as `msprof op` does: a trailing comma, NA for the other engine, a row per block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

BASIC = "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,Rated Freq,\n"

Blocks = Mapping[tuple[int, str], Mapping[str, float | int | str]]


def write_operator(
    folder: Path,
    name: str = "MatMulV2_0123456789abcdef0123456789abcdef_1",
    kind: str = "cube",
    duration_us: float | str = 40.0,
    block: int = 2,
    mix_block: int | str = "NA",
    time: str = "",
) -> Path:
    """OpBasicInfo.csv of one launch; `time` goes into the file's name, as with several launches."""
    folder.mkdir(parents=True, exist_ok=True)
    row = f"{name},{kind},{duration_us},{block},{mix_block},0,77,1800,1800,\n"
    (folder / f"OpBasicInfo{time}.csv").write_text(BASIC + row)
    return folder


def write_blocks(folder: Path, file: str, blocks: Blocks, columns: Sequence[str]) -> None:
    """One per-block file; a column that a block does not have is NA."""
    header = ",".join(("block_id", "sub_block_id", *columns)) + ",\n"
    lines = [
        ",".join((str(block), core, *(str(cells.get(column, "NA")) for column in columns))) + ",\n"
        for (block, core), cells in blocks.items()
    ]
    (folder / f"{file}.csv").write_text(header + "".join(lines))
