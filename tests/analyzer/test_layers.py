"""Layers written into a staging database."""

from __future__ import annotations

from pathlib import Path

import duckdb
import npu_roofline
import pytest
from npu_roofline.analyzer.layers import assign_layers
from npu_roofline.analyzer.structure import layer_structure

from .tiny_run import Kernel, session_of

SCHEMA = Path(npu_roofline.__file__).parent / "ingest" / "sql"


@pytest.fixture
def staging():
    """An empty database with the real tables."""
    con = duckdb.connect()
    for name in ("schema.sql", "schema_kernels.sql"):
        con.execute((SCHEMA / name).read_text(encoding="utf-8"))
    yield con
    con.close()


def _fill(con, kernels):
    """kernels: (rank, step, stream, type letter, class, duplicate_of) in start order."""
    letters = sorted({each[3] for each in kernels})
    con.executemany(
        "INSERT INTO signatures (run_id, signature_id, type, core, kernel_class) "
        "VALUES (1, ?, ?, 'AI_CORE', 'aicore')",
        [(10 + letters.index(letter), letter) for letter in letters],
    )
    con.execute(
        "INSERT INTO streams (run_id, rank_id, stream_id, is_main) VALUES (1, 0, 2, true), (1, 1, 2, true)"
    )
    con.executemany(
        "INSERT INTO kernels (run_id, rank_id, kernel_id, step_id, stream_id, signature_id, kernel_class, "
        "start_ns, end_ns, duplicate_of) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                rank,
                index,
                step,
                stream,
                10 + letters.index(letter),
                kernel_class,
                index * 10,
                index * 10 + 9,
                duplicate,
            )
            for index, (rank, step, stream, letter, kernel_class, duplicate) in enumerate(kernels)
        ],
    )


def _placed(con, rank=0):
    return con.execute(
        "SELECT kernel_id, part, layer, position, sequence_index FROM kernels "
        "WHERE rank_id = ? ORDER BY kernel_id",
        [rank],
    ).fetchall()


def test_ai_cpu_rows_and_duplicates_have_no_place(staging):
    """They lie inside the layers in time, but the sequence is counted without them."""
    layer = [
        (0, 1, 2, "a", "aicore", None),
        (0, 1, 9, "t", "ai_cpu", None),
        (0, 1, 3, "r", "communication", None),
        (0, 1, None, "R", "communication", 2),
        (0, 1, 2, "b", "aicore", None),
    ]
    _fill(staging, layer * 3)
    assign_layers(staging)
    rows = _placed(staging)
    assert [row[1:] for row in rows[:5]] == [
        ("layer", 0, 0, 0),
        (None, None, None, None),
        ("layer", 0, 1, 1),
        (None, None, None, None),
        ("layer", 0, 2, 2),
    ]
    assert rows[-1][1:] == ("layer", 2, 2, 8)


def test_steps_and_ranks_are_placed_apart(staging):
    """The sequence_index starts again in every step of every rank; kernels outside all steps get nothing."""
    kernels = [
        (rank, step, 2, letter, "aicore", None)
        for rank in (0, 1)
        for step in (1, 2)
        for letter in "xabcabcabc"
    ]
    _fill(staging, [*kernels, (1, None, 2, "z", "aicore", None)])
    assign_layers(staging)
    for rank in (0, 1):
        rows = _placed(staging, rank)
        assert [row[4] for row in rows[:20]] == [*range(10), *range(10)]
        assert rows[10][1:] == ("before", None, 0, 0)
        assert rows[19][1:] == ("layer", 2, 2, 9)
    assert _placed(staging, 1)[-1][1:] == (None, None, None, None)


def test_rows_out_of_start_order_are_placed_by_kernel_id(staging):
    """The table keeps no order: rows inserted last to first give the same places."""
    _fill(staging, [(0, 1, 2, letter, "aicore", None) for letter in "xabcabcabc"])
    staging.execute("CREATE TABLE mixed AS SELECT * FROM kernels ORDER BY kernel_id DESC")
    staging.execute("DELETE FROM kernels")
    staging.execute("INSERT INTO kernels SELECT * FROM mixed")
    assign_layers(staging)
    assert [row[3] for row in _placed(staging)] == [0, 0, 1, 2, 0, 1, 2, 0, 1, 2]


def test_without_repeats_only_the_sequence_is_numbered(staging):
    """Columns part, layer and position stay NULL, which the reports say; nothing is guessed."""
    _fill(staging, [(0, 1, 2, letter, "aicore", None) for letter in "abcdefg"])
    assign_layers(staging)
    assert [row[1:] for row in _placed(staging)] == [(None, None, None, index) for index in range(7)]


def test_an_empty_capture_is_left_alone(staging):
    """No kernels, no error."""
    assign_layers(staging)
    assert _placed(staging) == []


def test_a_kernel_that_one_layer_has_more_is_part_odd(staging):
    """Behind the d of the third of four layers stands Z: part odd, its layer, and no position."""
    letters = "x" + "abcdefgh" * 2 + "abcdZefgh" + "abcdefgh"
    _fill(staging, [(0, 1, 2, letter, "aicore", None) for letter in letters])
    assign_layers(staging)
    rows = _placed(staging)
    assert rows[21][1:] == ("odd", 2, None, 21)
    assert rows[22][1:] == ("layer", 2, 4, 22)
    assert rows[-1][1:] == ("layer", 3, 7, 33)


def test_kernels_of_a_second_stream_get_the_layer_they_run_in(staging):
    """S and T run on stream 5, at another place in each layer: part side, layer and position."""
    letters = "aSTbcdefgh" + "abcSdeTfgh" + "abcdefSghT"
    _fill(staging, [(0, 1, 5 if each in "ST" else 2, each, "aicore", None) for each in letters])
    assign_layers(staging)
    beside = [row[1:4] for row, letter in zip(_placed(staging), letters, strict=True) if letter in "ST"]
    assert beside == [("side", layer, position) for layer in range(3) for position in range(2)]


def _placed_kernel(start: int, kind: str, part: str, layer: int | None, position: int | None) -> Kernel:
    place = {"part": part, "layer": layer, "position": position, "sequence_index": start}
    return Kernel(start=float(start), duration=0.5, type=kind, extra=place)


def test_the_structure_names_what_is_odd_and_what_is_lacking():
    """Three layers of three: the second has a Cast behind its Mul, the third no Add; beside, two Copies."""
    places = [
        (kind, "layer", layer, position)
        for layer in range(3)
        for position, kind in enumerate(("Norm", "Mul", "Add"))
        if (layer, position) != (2, 2)
    ]
    places.insert(5, ("Cast", "odd", 1, None))
    places += [("Copy", "side", 0, 0), ("Copy", "side", None, None)]
    session = session_of(_placed_kernel(number, *place) for number, place in enumerate(places))
    found = layer_structure(session)
    assert (found.period, found.layers, found.coverage_share) == (3, 3, 8 / 11)
    assert found.notes == (
        "1 kernel runs on another stream beside the main one, which repeats as often as it has layers: its "
        "layer is joined by time.",
        "1 kernel runs beside the main stream in varying order; layers were found without it.",
        "Layers that lack a kernel which the others have: Add at position 2 (1 of 3).",
        "1 kernel stands in a layer that the others do not have: Cast (1: step 1 layer 1 behind position 1).",
    )
