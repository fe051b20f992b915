"""Writes the kernel table that the measurements read: any number of rows, the same bytes every time.

The sample MoE decode stands behind it, with 14 layers and a batch that changes from step to step, so that the
table has the columns, the row classes and the number of distinct signatures of a long real capture.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from npu_roofline.sample_profiles.cells import cells
from npu_roofline.sample_profiles.exporter import headers
from npu_roofline.sample_profiles.scenario import Kernel, Operand, Scenario, load_scenario
from npu_roofline.sample_profiles.timeline import Row, rows_of

LAYERS = 14
# Graphs are captured for some batch sizes and smaller batches are padded to the next one: these are the sizes
# that a serving engine captures by default up to 48. Times about 34 shapes that is 220 signatures.
BATCHES = (1, 2, 4, 8, 16, 24, 32, 48)
TEMPLATE_BATCH = 4
TEMPLATE_HEADS = 8
# Different noise per batch size, so that quantiles have something to tell apart.
TURNS = 9


def write_kernel_table(path: Path, rows: int) -> int:
    """Writes `rows` rows under a header to `path`, steps in order; returns the bytes of the file.

    A few steps per batch size are made by the sample generator; the table repeats them, shifted in time.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    blocks = [[_lines(batch, turn) for turn in range(TURNS)] for batch in BATCHES]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(headers("D")) + "\n")
        written = 0
        for step, (begin_ns, block) in enumerate(_schedule(blocks), start=3):
            part = block[: rows - written]
            file.writelines(
                f"{step}{before}{(begin_ns + offset) // 1000}.{(begin_ns + offset) % 1000:03d}{after}"
                for before, offset, after in part
            )
            written += len(part)
            if written == rows:
                break
    return path.stat().st_size


# A row around its start: the text after the step id, ns from the start of its step, the text after it.
Line = tuple[str, int, str]


def _schedule(blocks: list[list[list[Line]]]) -> Iterator[tuple[int, list[Line]]]:
    """Start of each step and its rows, without end; a batch stays for eight steps before it changes."""
    begin_ns = 1_781_004_000_123_456_542
    number = 0
    while True:
        block = blocks[number // 8 % len(blocks)][number % TURNS]
        yield begin_ns, block
        begin_ns += block[-1][1] + 900_000
        number += 1


def _lines(batch: int, turn: int) -> list[Line]:
    scenario = _one_step(batch, turn)
    names = headers(scenario.capture.generation)
    return [_line(row, scenario, names) for row in rows_of(scenario)]


def _one_step(batch: int, turn: int) -> Scenario:
    scenario = load_scenario("moe_decode.toml", "moe_decode_before")
    return replace(
        scenario,
        name=f"bench-{batch}-{turn}",
        capture=replace(scenario.capture, steps=1, layers=LAYERS),
        kernels={key: _with_batch(kernel, batch) for key, kernel in scenario.kernels.items()},
    )


def _with_batch(kernel: Kernel, batch: int) -> Kernel:
    def resized(operands: tuple[Operand, ...] | None) -> tuple[Operand, ...] | None:
        return None if operands is None else tuple(_resized(each, batch) for each in operands)

    return replace(kernel, inputs=resized(kernel.inputs), outputs=resized(kernel.outputs))


def _resized(operand: Operand, batch: int) -> Operand:
    """Tokens are the first dimension, or the second behind the heads."""
    dims = operand.dims or ()
    if dims[:1] == (TEMPLATE_BATCH,):
        return replace(operand, dims=(batch, *dims[1:]))
    if dims[:2] == (TEMPLATE_HEADS, TEMPLATE_BATCH):
        return replace(operand, dims=(TEMPLATE_HEADS, batch, *dims[2:]))
    return operand


def _line(row: Row, scenario: Scenario, names: list[str]) -> Line:
    text = cells(row, scenario.capture)
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(text[name] for name in names)
    line = buffer.getvalue()
    start = text["Start Time(us)"].rstrip("\t")
    before, after = line.split(start, 1)
    return before[before.index(",") :], row.start_ns - scenario.capture.start_ns, after


if __name__ == "__main__":
    write_kernel_table(Path(sys.argv[1]), int(sys.argv[2]))
