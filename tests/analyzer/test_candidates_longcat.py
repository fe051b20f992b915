"""Prefetch candidates of the real MoE decode capture, recomputed from its rows, and captures that get none.

Chip of longcat: 24 cores at 1800 MHz, HBM 1.6 TB/s (85 % achievable: 1.36e6 B/us), L2 192 MiB, L2 reads 110
B/cycle x 24 x 1800 MHz = 4.752e6 B/us (80 %: 3.8016e6 B/us).
"""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import pytest
from npu_roofline.analyzer.candidates import candidates
from npu_roofline.analyzer.explain import explain
from npu_roofline.analyzer.load import ingest_run
from npu_roofline.analyzer.session import open_session
from npu_roofline.analyzer.structure import layer_structure
from npu_roofline.errors import WrongUsage

GATE_UP = "4,3072;384,192,16,32;12288"
DOWN = "4,6144;96,384,16,32;3072;4"
W13, W2 = "64,192,16,32", "96,64,16,32"


@pytest.fixture(scope="module")
def database(shared_profiles: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The decode capture and two training captures, ingested once for this module."""
    path = tmp_path_factory.mktemp("candidates") / "real.duckdb"
    for folder, name in (
        ("longcat_910c_decode", "longcat"),
        ("d02_text_level1", "d02"),
        ("d06_qwen3_train_cann83/rank_0_ascend_pt", "d06"),
    ):
        ingest_run([shared_profiles / folder], path, name=name)
    return path


@pytest.fixture(scope="module")
def answer(database: Path):
    """All candidates of longcat at the defaults."""
    with open_session(database, run="longcat") as session:
        return candidates(session, top=None)


@pytest.fixture(scope="module")
def kernels(shared_profiles: Path) -> list[tuple[Decimal, Decimal, str, str]]:
    """(start, end, type, input shapes) of the counted kernels, read from the CSV with nothing of the tool."""
    path = shared_profiles / "longcat_910c_decode" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    rows = []
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            listed_twice = row["Accelerator Core"] == "COMMUNICATION" and row["Stream ID"] == "N/A"
            if row["Accelerator Core"] != "AI_CPU" and not listed_twice:
                start = Decimal(row["Start Time(us)"].strip())
                shapes = row["Input Shapes"].strip('"')
                rows.append((start, start + Decimal(row["Duration(us)"]), row["Type"], shapes))
    return sorted(rows)


def _spans(kernels, shapes: str, back: int, before: str) -> list[float]:
    """End of the kernel `back` places before to start of each target whose direct predecessor is `before`."""
    return [
        float(start - kernels[index - back][1])
        for index, (start, _, _, target) in enumerate(kernels)
        if shapes in target and kernels[index - 1][2] == before
    ]


def _percentile(values: list[float], share: float) -> float:
    """Linear interpolation between order statistics."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _window_term(span_us: float, inside_bytes: int) -> float:
    """0.65 x (1.36e6 B/us - bytes inside / span) x (span - 2 us)."""
    return 0.65 * (1.36e6 - inside_bytes / span_us) * (span_us - 2.0)


def _saved(size: float) -> float:
    """Bytes at 1.36e6 B/us from HBM less the same at 3.8016e6 B/us from L2, us."""
    return size / 1.36e6 - size / 3.8016e6


def _row(answer, shapes: str, inside: list[str]):
    """The one candidate of these shapes whose window holds these kernels."""
    found = [
        row
        for row in answer.rows
        if shapes in row.target_shapes and row.window and [each.type for each in row.window.kernels] == inside
    ]
    assert len(found) == 1
    return found[0]


def test_fourteen_layers_in_every_step(database):
    """A layer is 33 kernels with two MlaPrologV3; 14 x 33 of a step's 697 counted kernels are layers."""
    for steps in ("3", "4", "5", "6", "7", None):
        with open_session(database, run="longcat", steps=steps) as session:
            found = layer_structure(session)
        assert (found.period, found.layers) == (33, 14)
        assert found.coverage_share == pytest.approx(14 * 33 / 697)
        assert [each.position for each in found.positions if each.type == "MlaPrologV3"] == [0, 21]


def test_the_down_projection_recomputed(answer, kernels):
    """Behind gate_up, one DequantSwigluQuant: x 4 x 12288 x 4 B, scales 12288 x 4, 4 x 4, 6144 x 4 B, and
    out.

    Bytes 196,608 + 49,152 + 16 + 24,576 + 4 x 6144 + 16 = 294,944. Of the 18.9 MB weight about 5 MB arrive.
    """
    rows = [each for each in answer.rows if each.target_shapes == DOWN]
    assert len(rows) == 2  # after the MoE and after the second attention, 14 times a step each
    by_position = {each.position: each for each in rows}
    spans = [
        [
            float(start - kernels[index - 2][1])
            for index, (start, _, _, shapes) in enumerate(kernels)
            if shapes == DOWN and kernels[index - 3][2] == before
        ]
        for before in ("DynamicQuant", "AddRmsNormDynamicQuant")
    ]
    for position, measured in zip((19, 30), spans, strict=True):
        row = by_position[position]
        span = _percentile(measured, 0.1)
        assert len(measured) == 70
        assert row.window.dependency_shapes == GATE_UP
        assert row.window.duration_us == pytest.approx(span, abs=0.001)
        assert row.window.median_us == pytest.approx(_percentile(measured, 0.5), abs=0.001)
        assert row.max_size_terms.limited_by == "window"
        assert row.max_size == pytest.approx(_window_term(span, 294_944), abs=512)
        cost = 0.5 * row.max_size / 1.36e6 * 294_944 / (row.window.median_us * 1.6e6)
        assert row.predicted_saving_us.mid == pytest.approx(_saved(row.max_size) - cost, abs=0.01)


def test_gate_up_after_the_moe_recomputed(answer, kernels):
    """Behind the second GroupedMatmul, MoeDistributeCombineV2 and DynamicQuant: 28.3 us at p10, 43 at the
    median.

    Half of 3072 x 12288 int8 = 18,874,368 bytes is less than what the window carries, so the coefficient
    limits: 13.878 - 4.965 = 8.91 us less some 0.27 for the window, 14 times a step: about 121 us, the best
    of the capture.
    """
    row = answer.rows[0]
    spans = _spans(kernels, GATE_UP, back=3, before="DynamicQuant")
    assert row.target_shapes == GATE_UP
    assert W2 in row.window.dependency_shapes
    assert [each.type for each in row.window.kernels] == ["MoeDistributeCombineV2", "DynamicQuant"]
    assert row.window.duration_us == pytest.approx(_percentile(spans, 0.1), abs=0.001)
    assert row.window.median_us == pytest.approx(_percentile(spans, 0.5), abs=0.001)
    assert (row.max_size, row.max_size_terms.limited_by) == (18_874_368, "coefficient")
    assert row.predicted_saving_us.mid == pytest.approx(_saved(18_874_368) - 0.27, abs=0.05)
    assert row.predicted_saving_step_us == pytest.approx(14 * row.predicted_saving_us.mid)
    assert row.occurrences_per_step == 14


def test_gate_up_after_attention_recomputed(answer, kernels):
    """Only AddRmsNormDynamicQuant lies between: two inputs and gammas 61,440 B, outputs 12,288 + 24,576 + 16
    B.

    The all-reduce before it blocks the walk, and the row says so.
    """
    row = _row(answer, GATE_UP, ["AddRmsNormDynamicQuant"])
    span = _percentile(_spans(kernels, GATE_UP, back=2, before="AddRmsNormDynamicQuant"), 0.1)
    assert row.window.dependency == "HcomAllReduce"
    assert row.window.duration_us == pytest.approx(span, abs=0.001)
    assert row.max_size == pytest.approx(_window_term(span, 98_320), abs=512)
    assert "HcomAllReduce blocks the walk (collective)" in row.reason
    assert [(each.type, each.verdict) for each in row.walk] == [
        ("AddRmsNormDynamicQuant", "usable"),
        ("HcomAllReduce", "hazard"),
    ]


def test_expert_weights(answer, kernels):
    """The second GroupedMatmul waits behind DequantSwigluQuant, the first reaches back to the all-reduce (75
    us).
    """
    second = _row(answer, W2, ["DequantSwigluQuant"])
    assert W13 in second.window.dependency_shapes
    span = _percentile(_spans(kernels, W2, back=2, before="DequantSwigluQuant"), 0.1)
    assert second.window.duration_us == pytest.approx(span, abs=0.001)
    names = [
        "InplaceAddRmsNorm",
        "Cast",
        "MatMul",
        "MoeGatingTopK",
        "MoeDistributeDispatchV2",
        "DynamicQuant",
    ]
    first = _row(answer, W13, names)
    assert first.window.dependency == "HcomAllReduce"
    assert first.window.median_us == pytest.approx(74.5, abs=0.1)
    assert first.max_size_terms.formula_bytes == 32 * 3072 * 2048 // 2
    # (28.65 us x 1.36e6 B/us - 4,325,632 B of activations) / 6,291,456 B = 5.51 of 32 experts: a third of
    # what gate_up saves, though 54 MB would arrive
    useful = first.max_size * 5.51 / 32
    # the copy takes 40 us; the kernels inside move 11.1 MB in 74.5 us, 9.3 % of HBM: cost 0.5 x 40 x 0.093
    # less the 2,359,296 bytes of the router, whose copy is issued at the same kernel and goes first
    assert first.window.taken_l2_bytes == 2_359_296
    assert first.max_size_terms.l2_bytes == pytest.approx(96 * 2**20 - 11.1e6 - 2_359_296, abs=0.1e6)
    cost = 0.5 * first.max_size / 1.36e6 * 11.1 / (74.5 * 1.6)
    assert first.predicted_saving_us.mid == pytest.approx(_saved(useful) - cost, abs=0.02)
    assert any("32 experts" in note and "upper bound" in note for note in first.notes)


def test_mla_prologs_wait_behind_the_norm(answer):
    """Position 21 follows its own layer's down-projection, position 0 that of the layer before (not in layer
    0).
    """
    own = _row(answer, "96,96,16,16", ["InplaceAddRmsNorm"])
    assert (own.position, own.layer_scope, own.occurrences_per_step) == (21, "same_layer", 14)
    crossing = _row(answer, "96,96,16,16", ["Add", "InplaceAddRmsNorm"])
    assert (crossing.position, crossing.layer_scope, crossing.occurrences_per_step) == (
        0,
        "previous_layer",
        13,
    )
    assert own.layers == tuple(range(14))
    assert any(note.startswith("1 more per step") for note in crossing.notes)
    # 3072 x 1536, 1536 x 1536, 8 x 128 x 512 and 3072 x 576, bf16
    assert [each.bytes for each in own.weights] == [9_437_184, 4_718_592, 1_048_576, 3_538_944]
    assert sum(each.max_size or 0 for each in own.weights) == own.max_size


def test_lm_head_is_handled_outside_the_layers(answer):
    """It follows the last layer's Add and norm, once a step; they are not those of any MlaProlog."""
    row = _row(answer, "1024,192,16,16", ["Add", "InplaceAddRmsNorm"])
    assert (row.id[-2:], row.occurrences_per_step, row.layer_scope) == ("a0", 1, "previous_layer")
    assert not any("Shares" in note for note in row.notes)


def test_rows_that_share_a_window_say_so(answer):
    """The router's norm and cast are the first kernels of w13's window: both rows name the other, and the
    router's copy, wanted first, is issued first: its 4.5 MiB x 0.5 are no longer w13's.
    """
    router = _row(answer, "384,3072", ["InplaceAddRmsNorm", "Cast"])
    (first,) = (row for row in answer.rows if W13 in row.target_shapes)
    assert any(first.id in note and "InplaceAddRmsNorm + Cast" in note for note in router.notes)
    assert any(router.id in note for note in first.notes)
    assert router.issue_order < first.issue_order
    assert (router.window.taken_window_bytes, first.window.taken_window_bytes) == (0, router.max_size)


def test_small_weights_are_no_targets(answer):
    """The 256 x 3072 bf16 weight of 1.6 MB is rejected with its size; nothing else weightless is proposed."""
    assert not [row for row in answer.rows if row.target_shapes == "4,256;3072,256"]
    (rejected,) = [row for row in answer.extras["rejected"] if row.target_shapes == "4,256;3072,256"]
    assert (rejected.status, rejected.occurrences_per_step) == ("rejected", 12)
    assert "weight of 1.50 MiB, below 4 MB (3.81 MiB)" in rejected.reason


def test_a_rejected_target_has_the_times_of_all_its_places(answer, kernels):
    """12 places of one shape are one row: its median is that of the 60 calls, not of the first place."""
    calls = [float(end - start) for start, end, _, shapes in kernels if shapes == "4,256;3072,256"]
    (rejected,) = [row for row in answer.extras["rejected"] if row.target_shapes == "4,256;3072,256"]
    assert len(calls) == 60
    assert rejected.target_us == pytest.approx(_percentile(calls, 0.5))
    assert rejected.p90_us == pytest.approx(_percentile(calls, 0.9))


def test_the_whole_is_believable(answer):
    """The plan: between 2 and 5 % of the step, far below the 10 % that would raise a warning."""
    (note,) = [each for each in answer.notes if "as one plan" in each]
    share = float(note.split("per step, ")[1].split("%")[0])
    assert 2.0 < share < 5.0
    assert not any("published gains" in each for each in answer.notes)


def test_top_counts_candidates(database):
    """Three rows of twelve, and the note counts the rest."""
    with open_session(database, run="longcat") as session:
        shown = candidates(session, top=3)
    assert [row.status for row in shown.rows] == ["candidate"] * 3
    assert any(note.startswith("9 more candidates") for note in shown.notes)


def test_collectives_on_request(database):
    """With consent gate_up's window after attention holds the all-reduce and opens after o_proj, 12.7 us at
    p10.
    """
    with open_session(database, run="longcat") as session:
        wider = candidates(session, top=None, allow_comm_windows=True)
    row = _row(wider, GATE_UP, ["HcomAllReduce", "AddRmsNormDynamicQuant"])
    assert row.window.dependency == "MatMul"
    assert row.window.duration_us == pytest.approx(12.71, abs=0.01)
    assert "accepted by --allow-comm-windows" in row.window.hazards[0]


def test_unsafe_windows_reach_back_one_layer(database):
    """With --include-unsafe every window of a layer is listed, and the best stays a safe one."""
    with open_session(database, run="longcat") as session:
        unsafe = candidates(session, top=None, include_unsafe=True)
    row = next(each for each in unsafe.rows if each.target_shapes == GATE_UP and each.position == 17)
    assert len(row.alternatives) == 32
    assert row.window.safe
    assert sum(not each.safe for each in row.alternatives) >= 30


def test_eta_and_caps_change_the_size(database):
    """Down at eta 0.9 carries 0.9 / 0.65 as much; a cap of 1 MiB limits everything and is named."""
    with open_session(database, run="longcat") as session:
        usual, more, capped = (
            {row.id: row for row in candidates(session, top=None, **given).rows}
            for given in ({}, {"eta": 0.9}, {"cap_mib": 1})
        )
    down = next(row for row in usual.values() if row.target_shapes == DOWN)
    assert more[down.id].max_size == pytest.approx(down.max_size * 0.9 / 0.65, abs=1024)
    assert {row.max_size_terms.limited_by for row in capped.values()} == {"cap"}
    assert all(row.max_size <= 2**20 for row in capped.values())


@pytest.mark.parametrize("run", ["d02", "d06"])
def test_training_captures_get_no_proposals(database, run):
    """Gradient kernels are named, and neither candidates nor rejected targets are listed."""
    with open_session(database, run=run) as session:
        found = candidates(session)
    assert found.rows == ()
    assert found.extras["rejected"] == ()
    assert any("Grad" in note and "training" in note for note in found.notes)


def test_explain_shows_the_decision(database, answer):
    """A candidate's explanation has its walk and ends in the same size and saving; a short unique id will
    do.
    """
    row = answer.rows[0]
    with open_session(database, run="longcat") as session:
        told = explain(session, row.id)
        assert told.rows == (row,)
        assert [each.type for each in told.extras["walk"]] == [
            "DynamicQuant",
            "MoeDistributeCombineV2",
            "GroupedMatmul",
        ]
        numbers = {step.what: step.numbers for step in told.extras["steps"]}
        assert numbers["How many bytes?"]["max_size"] == 18_874_368
        assert numbers["What would that save?"]["per_step_us"] == row.predicted_saving_step_us
        assert explain(session, row.id[: len("c-12345678-1")]).rows == (row,)
        hotspot = explain(session, "k" + row.id[1:10])
        assert hotspot.rows[0].bound == "memory"
        for wrong in ("c-", "k-zzzz", "gate_up"):
            with pytest.raises(WrongUsage):
                explain(session, wrong)


def test_no_weights_is_not_no_shapes(shared_profiles, tmp_path):
    """d07 has shapes and no matmul: it must not be sent to record shapes again."""
    ingest_run([shared_profiles / "d07_gpt3_2023_memoryl0"], tmp_path / "d07.duckdb", name="d07")
    with open_session(tmp_path / "d07.duckdb", run="d07") as session:
        notes = candidates(session).notes
    assert any("reads a weight" in note for note in notes)
    assert not any("shapes are not in this export" in note for note in notes)
