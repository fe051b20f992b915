"""One capture as text and as database gives one answer, row by row, but for what a database cannot hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from npu_roofline.ingest.stage import Staging
from npu_roofline.sample_profiles.generate import KERNELS, sample_texts

from tests.ingest.profiler_database import ANCIENT, NEW, OLD, Generation, write_database

SAMPLES = ("moe_decode_before", "dense_decode", "prefill")
REAL = (
    "d02_text_level1/rank0_ascend_pt",
    "d06_qwen3_train_cann83/rank_0_ascend_pt",
    "longcat_910c_decode",
)
GENERATIONS = {"old": OLD, "new": NEW, "ancient": ANCIENT}
# cube_utilization and wait times are in no database, rows have no line, and a pair of rows that starts at the
# same ns has no order in a database, so it may be numbered the other way round.
NOT_IN_A_DATABASE = ("cube_utilization_pct", "wait_us", "file_row", "kernel_id", "duplicate_of")
# Tables of collectives hold no blocks, no OP State and no mixed blocks.
NOT_OF_COLLECTIVES = ("block", "mix_block", "op_state")
NOT_OF_OLD_WRITERS = ("op_state", "signature_id")

Stage = Callable[..., Staging]
Rows = list[tuple[Any, ...]]


def kernels(staging: Staging, left_out: tuple[str, ...], where: str = "true") -> Rows:
    """Kernels in a total order that does not need numbers; a duplicate by that it is one."""
    out = ", ".join((*NOT_IN_A_DATABASE, *left_out))
    return staging.con.execute(
        f"SELECT duplicate_of IS NULL AS counted, * EXCLUDE ({out}) FROM kernels WHERE {where} "
        "ORDER BY start_ns, stream_id NULLS FIRST, name, end_ns"
    ).fetchall()


def both(staged: Stage, folder: Path, table: str, words: Generation) -> tuple[Staging, Staging]:
    """The capture staged from its text, and from the database made of it."""
    text = folder / "text_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    text.parent.mkdir(parents=True)
    text.write_bytes(table.encode())
    database = folder / "db_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db"
    write_database(database, table, words)
    return staged(text), staged(database)


def assert_equal(text: Staging, database: Staging, words: Generation) -> None:
    """Counts, kernels, signatures, operands, steps and streams are the same."""
    left_out = () if "hf32Eligible" in words.more else NOT_OF_OLD_WRITERS
    compute = "kernel_class <> 'communication'"
    assert kernels(database, left_out, compute) == kernels(text, left_out, compute)
    left_out = tuple(dict.fromkeys((*left_out, *NOT_OF_COLLECTIVES, "signature_id")))
    collectives = "kernel_class = 'communication'"
    assert kernels(database, left_out, collectives) == kernels(text, left_out, collectives)
    for query in (
        "SELECT rows_read, rows_kept, rows_rejected FROM runs",
        "SELECT DISTINCT type, type_source, core, kernel_class, input_shapes, input_dtypes, input_formats, "
        "output_shapes, output_dtypes, output_formats FROM signatures ORDER BY ALL",
        "SELECT DISTINCT * EXCLUDE (signature_id) FROM tensors ORDER BY ALL",
        "SELECT step_id, start_ns, end_ns, wall_us, kernels, source FROM steps ORDER BY ALL",
        "SELECT stream_id, kernels, round(duration_us, 6), is_main FROM streams ORDER BY ALL",
        "SELECT metric_mode, aic_mhz, aiv_mhz, cube_cores_min, cube_cores_max, vector_cores_min, "
        "vector_cores_max FROM ranks",
    ):
        assert database.con.execute(query).fetchall() == text.con.execute(query).fetchall()


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_as_database_gives_the_rows_of_its_text(
    staged: Stage, tmp_path: Path, sample: str, generation: str
) -> None:
    """Every row and every counter is the same to the last digit, whatever the writer calls its columns."""
    words = GENERATIONS[generation]
    text, database = both(staged, tmp_path, sample_texts(sample)[KERNELS], words)
    assert_equal(text, database, words)
    assert text.con.execute("SELECT count(*) > 100 FROM kernels").fetchall() == [(True,)]


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("profile", REAL)
def test_a_real_export_as_database_gives_the_rows_of_its_text(
    shared_profiles: Path, staged: Stage, tmp_path: Path, profile: str, generation: str
) -> None:
    """Real rows, with N/A cells, collectives listed twice, DSA and AI_CPU rows: the same in both forms."""
    words = GENERATIONS[generation]
    path = shared_profiles / profile / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    text, database = both(staged, tmp_path, path.read_bytes().decode(), words)
    assert_equal(text, database, words)


def test_a_new_writer_gives_the_signature_ids_of_the_text(staged: Stage, tmp_path: Path) -> None:
    """With HF32 in the database the ids are equal too, so that a run of each form can be compared."""
    text, database = both(staged, tmp_path, sample_texts("dense_decode")[KERNELS], NEW)
    query = "SELECT DISTINCT signature_id FROM kernels WHERE kernel_class = 'aicore' ORDER BY 1"
    assert database.con.execute(query).fetchall() == text.con.execute(query).fetchall()


def test_level_0_differs_in_the_engine_only(staged: Stage, tmp_path: Path) -> None:
    """Text of level 0 has N/A for the engine; the database knows it from the kind of task."""
    text, database = both(staged, tmp_path, sample_texts("level0")[KERNELS], OLD)
    # Ids that text of level 0 has no columns for, and blocks of the other engine, which databases say are 0.
    ids = ("device_id", "stream_id", "task_id", "model_id", "context_id", "mix_block")
    left_out = ("signature_id", "kernel_class", *ids)
    assert kernels(database, left_out) == kernels(text, left_out)
    query = "SELECT DISTINCT type, type_source, input_shapes FROM signatures ORDER BY ALL"
    assert database.con.execute(query).fetchall() == text.con.execute(query).fetchall()
