"""Real training, level-0 and tampered exports: what each must and must not say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from npu_roofline.analyzer.hotspots import hotspot_rows, hotspots
from npu_roofline.analyzer.phases import run_phase
from npu_roofline.analyzer.runs import runs_show
from npu_roofline.analyzer.session import open_session
from npu_roofline.analyzer.structure import layer_structure
from npu_roofline.analyzer.summary import summary
from npu_roofline.errors import InputMissing

from tests.analyzer.conftest import OpenReal

D01 = "d01_text_level0/rank0_ascend_pt"
D02 = "d02_text_level1/rank0_ascend_pt"
D06 = "d06_qwen3_train_cann83"
D08 = "d08_advisor_tampered_shapes"
D11 = "d11_level0_decode_pair/b8q1"
ALL = [
    "longcat_910c_decode",
    *(D01, D02, "d03_text_level2/rank0_ascend_pt", D06, "d07_gpt3_2023_memoryl0", D08),
    *("d10_msprof_cli_and_op_910b", D11),
]


@pytest.mark.parametrize("profile", ALL)
def test_no_median_lies_below_its_floor_unnamed(real_session: OpenReal, profile: str) -> None:
    """In no real profile does a kernel beat its floor, other than anomalies that are named with a reason."""
    with real_session(profile) as session:
        rows = hotspot_rows(session)
    assert [
        (row.type, row.median_us, row.floor_us)
        for row in rows
        if row.floor_us is not None and row.median_us < row.floor_us and not row.anomaly
    ] == []


@pytest.mark.parametrize("profile", ALL)
@pytest.mark.parametrize("by", ["bound", "type", "stream", "step"])
def test_every_view_of_every_profile_adds_up(real_session: OpenReal, profile: str, by: str) -> None:
    """Time by bound, type, stream and step is the same time, and its shares sum to 1."""
    with real_session(profile) as session:
        answer = summary(session, by=by)
    assert answer.coverage is not None
    total = answer.coverage.aicore_us + answer.coverage.communication_us
    assert sum(row.total_us for row in answer.rows) == pytest.approx(total)
    assert sum(row.share for row in answer.rows) == pytest.approx(1)


def test_a_matmul_that_fills_its_load_pipe_is_not_memory_bound(real_session: OpenReal) -> None:
    """Qwen3 training: mte2 > 0.8 would call 86 % of the matmul time memory-bound; at most 25 % is."""
    with real_session(D06) as session:
        matmuls = [row for row in hotspot_rows(session) if row.family == "matmul"]
    assert sum(row.count for row in matmuls) == 336
    total = sum(row.total_us for row in matmuls)
    memory = sum(row.total_us for row in matmuls if row.bound == "memory")
    assert memory / total <= 0.25  # 16.2 % by the procedure: 1024 x 4096 x 3072 re-reads its tiles
    assert sum(row.total_us for row in matmuls if row.bound == "compute") / total >= 0.75


def test_stores_that_l2_absorbs_are_no_hbm_hotspot(real_session: OpenReal) -> None:
    """d02: 68.2 MB in 30.66 us are 2.2 TB/s, above HBM; its fp32 peak is 88.5 TFLOP/s, so u_c is .40."""
    with real_session(D02) as session:
        rows = {row.input_shapes: row for row in hotspot_rows(session) if row.family == "matmul"}
    row = rows["32,4096;32,4096"]
    assert (row.bound, row.limiter) == ("memory", "l2")
    assert row.achieved_gb_s == pytest.approx(2223, abs=2)
    assert row.ridge == pytest.approx(88.4736e12 / 1.6e12)  # 2048 operations x 24 cores x 1800 MHz
    assert [
        each
        for each in rows.values()
        if each.limiter == "hbm" and each.hbm_fraction and each.hbm_fraction > 1
    ] == []


@pytest.mark.parametrize("profile", [D01, D02, D06, D08])
def test_training_is_recognised_and_said(real_session: OpenReal, profile: str) -> None:
    """Gradient or optimizer kernels are named as the reason why nothing here is a prefetch target."""
    with real_session(profile) as session:
        assert run_phase(session).phase == "train"
        assert any("no weight of it is a prefetch target" in note for note in hotspots(session).notes)


def test_shapes_that_do_not_fit_are_unknown(real_session: OpenReal) -> None:
    """d08: twelve matmuls with edited shapes give no FLOPs, no rate above a peak, and the reason."""
    with real_session(D08) as session:
        rows = [row for row in hotspot_rows(session) if row.type.startswith("MatMul")]
    assert sum(row.count for row in rows) == 12
    for row in rows:
        assert (row.bound, row.flops, row.achieved_tflops, row.potential_us) == ("unknown", None, None, None)
        assert "no (M, N, K) fits" in row.reason


def test_level_0_says_what_it_cannot_answer(real_session: OpenReal) -> None:
    """d01 has no shapes, no counters, no device: all AI-core time is unknown, and the option to record
    is named.
    """
    with real_session(D01) as session:
        answer = hotspots(session)
    assert answer.coverage is not None
    assert answer.coverage.unknown_us == pytest.approx(answer.coverage.aicore_us)
    assert "0 % labelled, 100 % unknown" in answer.coverage.sentence
    assert any("profiler_level=Level1" in note for note in answer.notes)
    assert answer.device is not None
    assert answer.device.soc is None


def test_a_step_trace_that_matches_is_confirmed(real_session: OpenReal) -> None:
    """d02: computing + communication + free = 136,581.009 us, and the kernels span 136,581.009 us."""
    with real_session(D02) as session:
        [step] = summary(session).extras["steps"]
    assert step.trace_agrees is True
    assert step.difference_us == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(("profile", "trace_us", "wall_us"), [(D11, 7075.66, 224.84)])
def test_a_step_trace_of_the_full_capture_is_not_believed(
    real_session: OpenReal, profile: str, trace_us: float, wall_us: float
) -> None:
    """d11 is an excerpt of 52 kernels: 225 us beside a step trace of 7,076 us."""
    with real_session(profile) as session:
        answer = summary(session)
    [step] = answer.extras["steps"]
    assert (step.trace_wall_us, step.wall_us) == (pytest.approx(trace_us, abs=0.01), pytest.approx(wall_us))
    assert step.trace_agrees is False
    assert any("of another extent and is not believed" in note for note in answer.notes)


def test_decode_is_told_from_the_attention_at_level_0(real_session: OpenReal) -> None:
    """d11 has only names: IncreFlashAttention says decode."""
    with real_session(D11) as session:
        assert run_phase(session).phase == "decode"


def test_a_rank_without_kernels_says_what_is_there(real_database: Callable[[str], Path]) -> None:
    """d06's rank 1 was exported without kernel_details: asked for, it names its files and the ranks
    that have some.
    """
    with pytest.raises(InputMissing) as caught, open_session(real_database(D06), rank=1):
        pass
    assert "step_trace_time" in caught.value.message
    assert "ranks with kernels: 0" in caught.value.hint
    shown = runs_show(real_database(D06))
    assert any("rank 1: no kernels" in note for note in shown.notes)
    assert {rank.rank: rank.has_kernels for rank in shown.extras["ranks"]} == {0: True, 1: False}


def test_a_run_of_nothing_but_that_rank_is_listed_but_answers_nothing(
    real_database: Callable[[str], Path],
) -> None:
    """Ingested alone, rank 1 is a run whose files are known and whose kernels are missing input."""
    database = real_database(f"{D06}/rank_1_ascend_pt")
    with pytest.raises(InputMissing) as caught, open_session(database):
        pass
    assert "holds no kernels" in caught.value.message
    assert runs_show(database).rows[0].ranks_with_kernels == 0


@pytest.mark.parametrize(
    ("profile", "layers"), [(D01, None), (D08, None), (D06, (36, 28)), ("longcat_910c_decode", (33, 14))]
)
def test_chance_repeats_are_no_layers(
    real_session: OpenReal, profile: str, layers: tuple[int, int] | None
) -> None:
    """Three backward convolutions of d01 and four rounds of matmul, attention, matmul in d08 repeat, and are
    no layer of a model; those of d06 (28 layers of 36 kernels) and longcat (14 of 33) still are.
    """
    with real_session(profile) as session:
        structure = layer_structure(session)
    assert (structure.period, structure.layers) == (layers or (None, None))
