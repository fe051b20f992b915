"""The real MoE decode capture: what must be said about it, worked out from its rows by hand.

24 cores at 1800 MHz, 5 steps of 757 rows, 14 layers, batch 4, hidden 3072. Times are medians in us. HBM
1.6 TB/s nominal, 1.36 achievable; L2 reads 110 B x 24 x 1800 MHz = 4.752 TB/s.
"""

from __future__ import annotations

import pytest

from tests.samples.conftest import Profiles
from tests.samples.golden import Golden, OneOf, differences

LONGCAT = "longcat_910c_decode"
GATE_UP = "4,3072;384,192,16,32;12288"
DOWN = "4,6144;96,384,16,32;3072;4"
W13 = "384,3072;32,64,192,16,32;;;;;;32"
W2 = "384,1024;32,96,64,16,32;;32,3072;;;;32;384"

STEPS = Golden(
    LONGCAT,
    "summary",
    # Last end - first start of the counted rows, and the union of their intervals.
    """
    step_id | wall_us     | busy_us     | idle_us    | phase
    3       | 25626.2±0.1 | 21779.8±0.1 | 3846.4±0.1 | decode
    4       | 10665.9±0.1 | 7972.8±0.1  | 2693.1±0.1 | decode
    5       | 10718.2±0.1 | 7891.0±0.1  | 2827.2±0.1 | decode
    6       | 11125.0±0.1 | 8421.3±0.1  | 2703.7±0.1 | decode
    7       | 10402.6±0.1 | 7737.8±0.1  | 2664.8±0.1 | decode
    """,
    part="steps",
)

OTHER_ENGINES = Golden(
    LONGCAT,
    "summary",
    # 140 tilings of attention on the host and 10 Cumsum: apart from every total.
    """
    type                     | core   | kernels
    FusedInferAttentionScore | AI_CPU | 140
    Cumsum                   | AI_CPU | 10
    """,
    part="other_engines",
)

# Gate-up: 384 x 192 x 16 x 32 = 37,748,736; 2 x 4 x 3072 x 12288 = 301,989,888;
#     12,288 + 37,748,736 + 49,152 + 196,608 = 38,006,784 bytes / 29.72 us = 1,279 GB/s = 80 %
# Down: 12 of 24 cores, 18,929,680 bytes / 20.50 us = 923 GB/s, mte2 .82, mac .17
# lm_head: 100,818,944 bytes / 83.0 us = 1,215 GB/s = 76 %
# o_proj: 6,324,224 bytes / 9.86 us = 641 GB/s = 40 %, no pipe above .8; router: 4,773,888 / 12.2 = 391 GB/s
PRODUCTS = Golden(
    LONGCAT,
    "hotspots --family matmul",
    """
    type                 | input_shapes                | count | median_us  | bound   | limiter            | weight_bytes    | flops     | bytes_lo
    QuantBatchMatmulV3   | 4,3072;384,192,16,32;12288  | 140   | 29.72±0.01 | memory  | hbm                | 37748736        | 301989888 | 38006784
    QuantBatchMatmulV3   | 4,6144;96,384,16,32;3072;4  | 140   | 20.50±0.01 | memory  | mte2               | 18874368        | 150994944 | 18929680
    MatMul               | 4,3072;1024,192,16,16       | 5     | 83.00±0.01 | memory  | hbm                | 100663296       | 402653184 | 100818944
    MatMul               | 4,1024;192,64,16,16         | 140   | 9.86±0.01  | latency | pipeline           | 6291456         | 25165824  | 6324224
    MatMul               | 4,3072;384,3072             | 70    | 12.20±0.01 | latency | pipeline           | 4718592         | 9437184   | 4773888
    TransposeBatchMatMul | 8,4,512;8,512,128           | 140   | 6.68±0.01  | latency | launch or pipeline | 1048576 or null | 4194304   | 1089536
    MatMul               | 4,256;3072,256              | 60    | 3.23±0.01  | latency | launch or pipeline | 1572864         | 6291456   | 1599488
    """,  # noqa: E501
    keys=2,
)

# w13: one expert 6,291,456 + x 1,179,648 + out 3,145,728; all 32: 201,326,592 + the same.
#     10.6 MB / 28.7 us = 370 GB/s, never the 7,166 GB/s of all experts.
# w2: all 32 of 3,145,728 + x 393,216 + scales 196,608 + out 2,359,296 = 103.6 MB; one: 5.9 to 6.1 MB
EXPERTS = Golden(
    LONGCAT,
    "hotspots --family grouped_matmul",
    """
    input_shapes                                    | count | median_us  | bound  | limiter | confidence | bytes_lo       | bytes_hi         | achieved_gb_s
    384,3072;32,64,192,16,32;;;;;;32                | 70    | 28.70±0.01 | memory | hbm     | low        | 10.62e6±0.01e6 | 205.65e6±0.01e6  | 370±1
    384,1024;32,96,64,16,32;;32,3072;;;;32;384      | 70    | 21.97±0.01 | memory | hbm     | low        | 6.0e6±0.2e6    | 103.6e6±0.05e6   | 260..290
    """,  # noqa: E501
)

# Window term: .65 x (1.36e12 - bytes in the window / t_w) x (t_w - 2 us), t_w at p10.
# Gate-up behind the MoE: 0.5 x 37,748,736, of 21.8 MB that the window allows (28.28 us at p10, 24 to 83).
# Gate-up behind attention: .65 x (1.36e12 - 98,320 / 4.76 us) x 2.76 us = 2.40 MB
# Down, behind the two gate-ups: .65 x (1.36e12 - 294,960 / 7.58 us) x 5.58 us = 4.79 MB; 4.93 at 7.74 us
# w2: .65 x (1.36e12 - 3.9e6 / 13.89 us) x 11.89 us = 8.3 MB
# w13, back to the all-reduce: .65 x (1.36e12 - 11e6 / 71.5 us) x 69.5 us = 54.5 MB
QUANTISED_CANDIDATES = Golden(
    LONGCAT,
    "candidates --top 100",
    """
    target_type        | window.dependency  | window.kernels[].type                                                                             | weight_bytes | max_size      | max_size_terms.limited_by | window.duration_us | occurrences_per_step
    QuantBatchMatmulV3 | GroupedMatmul      | [MoeDistributeCombineV2, DynamicQuant]                                                            | 37748736     | 18874368      | coefficient               | 28.28±0.02         | 14
    QuantBatchMatmulV3 | HcomAllReduce      | [AddRmsNormDynamicQuant]                                                                          | 37748736     | 2.40e6±0.03e6 | window                    | 4.76±0.02          | 14
    QuantBatchMatmulV3 | QuantBatchMatmulV3 | [DequantSwigluQuant]                                                                              | 18874368     | 4.79e6±0.01e6 | window                    | 7.58±0.01          | 14
    QuantBatchMatmulV3 | QuantBatchMatmulV3 | [DequantSwigluQuant]                                                                              | 18874368     | 4.93e6±0.01e6 | window                    | 7.74±0.01          | 14
    GroupedMatmul      | GroupedMatmul      | [DequantSwigluQuant]                                                                              | 100663296    | 8.3e6±0.3e6   | window                    | 13.89±0.02         | 14
    GroupedMatmul      | HcomAllReduce      | [InplaceAddRmsNorm, Cast, MatMul, MoeGatingTopK, MoeDistributeDispatchV2, DynamicQuant]           | 201326592    | 54.5e6±2.5e6  | window                    | 71.47±0.02         | 14
    """,  # noqa: E501
    keys=0,
    where={"target_type": OneOf(("QuantBatchMatmulV3", "GroupedMatmul")), "status": "candidate"},
)


@pytest.mark.parametrize("golden", [STEPS, OTHER_ENGINES, PRODUCTS, EXPERTS, QUANTISED_CANDIDATES], ids=str)
def test_longcat_answers_are_the_golden_ones(golden: Golden, profiles: Profiles) -> None:
    """Every row is expected, every expected row is there, and each value is the one worked by hand."""
    assert differences(golden, profiles.ask(golden.profile, golden.question)) == []


def test_every_row_is_kept_and_the_doubled_ones_are_known(profiles: Profiles) -> None:
    """3,785 rows in, none rejected, 150 of the 300 communication rows recognised as second listings."""
    code, answer = profiles.ingest(LONGCAT)
    assert code == 0
    assert (answer["rows_read"], answer["rows_kept"], answer["rows_rejected"]) == (3785, 3785, 0)
    assert answer["duplicate_rows"] == 150
    coverage = profiles.ask(LONGCAT, "hotspots")["coverage"]
    assert (coverage["duplicate_rows"], coverage["communication_rows"]) == (150, 150)
    assert coverage["other_engine_rows"] == 150


def test_every_step_holds_757_rows(profiles: Profiles) -> None:
    """5 x 757 = 3,785: nothing is lost between steps."""
    sql = (
        "SELECT step_id, count(*) AS n FROM kernels "
        "WHERE run_id = (SELECT max(run_id) FROM selected_kernels) GROUP BY 1 ORDER BY 1"
    )
    rows = profiles.ask(LONGCAT, f'query "{sql}"')["rows"]
    assert [(row["step_id"], row["n"]) for row in rows] == [(step, 757) for step in (3, 4, 5, 6, 7)]


def test_the_chip_is_one_of_two_with_the_same_roofs(profiles: Profiles) -> None:
    """24 x 1800 MHz is an A3 die or the A2 376T: both are named, and where that was read."""
    device = profiles.ask(LONGCAT, "hotspots --top 1")["device"]
    assert "910_9381" in device["soc"]
    assert "910B2" in device["soc"]
    assert "cube_utilization" in device["source"]
    assert (device["cube_cores"], device["clock_mhz"], device["hbm_gb_s"]) == (24, 1800, 1600)


def test_fourteen_layers_with_two_attentions_each_are_found(profiles: Profiles) -> None:
    """The exactly repeating part of each step has 14 repeats, each with MlaPrologV3 at two positions."""
    sql = (
        "SELECT step_id, count(DISTINCT layer) AS layers, "
        "count(DISTINCT position) FILTER (type = 'MlaPrologV3') AS prologs "
        "FROM selected_kernels JOIN signatures USING (run_id, signature_id) "
        "WHERE part = 'layer' GROUP BY 1 ORDER BY 1"
    )
    rows = profiles.ask(LONGCAT, f'query "{sql}"')["rows"]
    assert [(row["layers"], row["prologs"]) for row in rows] == [(14, 2)] * 5


def test_the_wait_at_the_start_of_a_step_comes_first(profiles: Profiles) -> None:
    """Step 4 begins with 2,275 us in which 138 us of kernels and 168 us of the host engine's Cumsum run."""
    idle = profiles.ask(LONGCAT, "summary --steps 4")["idle"]
    first = idle[0]
    assert first["step_id"] == 4
    assert first["start_us"] < 100
    assert first["span_us"] == pytest.approx(2275, abs=60)
    assert first["busy_us"] + first["other_engine_us"] == pytest.approx(300, abs=60)
    assert first["after"] is not None
    assert all(row["idle_us"] <= first["idle_us"] for row in idle)


def test_outlier_steps_do_not_move_the_medians(profiles: Profiles) -> None:
    """Step 3 holds a 14 ms all-reduce: the median wall stays 10,718 us, and the step is named."""
    answer = profiles.ask(LONGCAT, "summary")
    assert answer["spread"]["wall_us"] == pytest.approx(10718.2, abs=0.1)
    assert answer["spread"]["outlier_steps"] == [3]


def test_hbm_share_of_the_gate_up_product(profiles: Profiles) -> None:
    """38,006,784 bytes / 29.72 us / 1.6 TB/s = 80 %; its floor is 38,006,784 / 1.8 TB/s = 21.1 us."""
    rows = profiles.ask(LONGCAT, "hotspots --bound memory --limiter hbm")["rows"]
    row = next(row for row in rows if row["input_shapes"] == GATE_UP)
    assert row["hbm_fraction"] == pytest.approx(0.799, abs=0.001)
    assert row["floor_us"] == pytest.approx(21.115, abs=0.001)
    assert row["headroom_us"] == pytest.approx(29.721 - 21.115, abs=0.002)


def test_the_down_projection_loads_each_weight_once(profiles: Profiles) -> None:
    """memory/mte2 of a product with 4 rows is a single pass over the weight, and says so."""
    rows = profiles.ask(LONGCAT, "hotspots --limiter mte2")["rows"]
    row = next(row for row in rows if row["input_shapes"] == DOWN)
    assert "once" in " ".join([row["reason"], *row["notes"]]) or "single pass" in " ".join(
        [row["reason"], *row["notes"]]
    )


def test_no_figure_of_all_experts_stands_alone(profiles: Profiles) -> None:
    """No achieved bandwidth exceeds the HBM roof because untouched experts were counted."""
    rows = profiles.ask(LONGCAT, "hotspots")["rows"]
    assert max(row["achieved_gb_s"] for row in rows if row["achieved_gb_s"] is not None) < 1800


def test_host_engine_rows_are_in_no_roofline(profiles: Profiles) -> None:
    """No hotspot is an AI_CPU row."""
    assert "AI_CPU" not in {row["core"] for row in profiles.ask(LONGCAT, "hotspots")["rows"]}


def test_gate_up_behind_the_moe_is_the_best_candidate(profiles: Profiles) -> None:
    """18.87 MB save 13.88 - 4.96 = 8.9 us less about 0.3 for the window, 14 times a step: about 120 us."""
    best = profiles.ask(LONGCAT, "candidates")["rows"][0]
    assert best["target_shapes"] == GATE_UP
    assert best["window"]["dependency"] == "GroupedMatmul"
    assert best["window"]["dependency_shapes"] == W2
    assert best["max_size_terms"]["formula_bytes"] == 18874368
    assert best["max_size_terms"]["limited_by"] == "coefficient"
    assert best["window"]["median_us"] == pytest.approx(43.03, abs=0.02)
    assert best["predicted_saving_step_us"] == pytest.approx(121, abs=6)


def test_the_all_reduce_blocks_the_walk_and_that_is_said(profiles: Profiles) -> None:
    """Gate-up behind attention has only the fused norm as window; the walk names the collective."""
    rows = profiles.ask(LONGCAT, "candidates --top 100")["rows"]
    row = next(
        r for r in rows if r["target_shapes"] == GATE_UP and r["window"]["dependency"] == "HcomAllReduce"
    )
    step = next(step for step in row["walk"] if step["type"] == "HcomAllReduce")
    assert step["verdict"] == "hazard"
    assert "collective" in step["reason"] or "communication" in step["reason"]
    assert all(
        "HcomAllReduce" not in [k["type"] for k in w["kernels"]] for w in row["alternatives"] if w["safe"]
    )


def test_collectives_may_be_allowed_inside_a_window(profiles: Profiles) -> None:
    """With --allow-comm-windows the window behind attention reaches over the all-reduce: 12.7 us at p10."""
    rows = profiles.ask(LONGCAT, "candidates --top 100 --allow-comm-windows")["rows"]
    windows = [r["window"] for r in rows if r["target_shapes"] == GATE_UP]
    wider = [
        w for w in windows if [k["type"] for k in w["kernels"]] == ["HcomAllReduce", "AddRmsNormDynamicQuant"]
    ]
    assert [w["dependency"] for w in wider] == ["MatMul"]
    assert wider[0]["duration_us"] == pytest.approx(12.71, abs=0.02)


def test_mla_prologs_wait_for_the_down_projection(profiles: Profiles) -> None:
    """Both MlaPrologV3 of a layer have the norm after a down-projection, one of them in the layer before."""
    rows = [
        r for r in profiles.ask(LONGCAT, "candidates --top 100")["rows"] if r["target_type"] == "MlaPrologV3"
    ]
    best = {
        tuple(k["type"] for k in r["window"]["kernels"]): r
        for r in rows
        if r["window"]["dependency"] == "QuantBatchMatmulV3"
    }
    second = best["InplaceAddRmsNorm",]
    assert (second["layer_scope"], second["occurrences_per_step"]) == ("same_layer", 14)
    first = best["Add", "InplaceAddRmsNorm"]
    assert first["layer_scope"] == "previous_layer"
    assert first["window"]["duration_us"] == pytest.approx(7.45, abs=0.02)


def test_small_and_unmoved_weights_are_no_targets(profiles: Profiles) -> None:
    """The 1.6 MB product is no candidate, and neither is anything without a weight."""
    rows = profiles.ask(LONGCAT, "candidates --top 100")["rows"]
    assert "4,256;3072,256" not in {row["target_shapes"] for row in rows}
    assert {row["target_type"] for row in rows} <= {
        "QuantBatchMatmulV3",
        "GroupedMatmul",
        "MlaPrologV3",
        "MatMul",
    }


def test_savings_of_experts_count_only_those_that_are_hit(profiles: Profiles) -> None:
    """HBM delivers 5.5 of 32 experts in 28.7 us, so w13 saves a third of gate-up although 54 MB fit."""
    rows = profiles.ask(LONGCAT, "candidates --top 100")["rows"]
    w13 = next(row for row in rows if row["target_shapes"] == W13)
    assert w13["predicted_saving_us"]["high"] < 15
    assert w13["predicted_saving_step_us"] < rows[0]["predicted_saving_step_us"] / 3 + 1


def test_all_savings_together_stay_believable(profiles: Profiles) -> None:
    """All candidates together are below 5 % of a step of 10.7 ms; about 2.8 % is what one can hope for."""
    rows = profiles.ask(LONGCAT, "candidates --top 100")["rows"]
    total = sum(row["predicted_saving_step_us"] for row in rows if row["status"] == "candidate")
    assert 150 < total < 0.05 * 10718


def test_the_run_says_what_it_can_answer(profiles: Profiles) -> None:
    """Each question has a status, and what cannot be answered comes with the option that records it."""
    questions = profiles.ask(LONGCAT, "runs show")["questions"]
    assert {row["status"] for row in questions} <= {"yes", "partly", "no"}
    assert any(row["status"] == "yes" for row in questions)
    assert all(row["how_to_record"] for row in questions if row["status"] == "no")


@pytest.mark.parametrize("part", ["kernels"])
def test_idle_and_busy_make_the_wall(part: str, profiles: Profiles) -> None:
    """Wall = busy + idle in every step, exactly."""
    for step in profiles.ask(LONGCAT, "summary")["steps"]:
        assert step["wall_us"] == pytest.approx(step["busy_us"] + step["idle_us"], abs=0.002)
        assert step[part] > 0


def test_the_coverage_is_the_first_thing_said(profiles: Profiles) -> None:
    """Every answer opens with what was modelled; 99 % of the AI-core time of this capture has a label."""
    coverage = profiles.ask(LONGCAT, "hotspots")["coverage"]
    assert coverage["sentence"]
    assert coverage["labelled_us"] / coverage["aicore_us"] > 0.98
    assert "%" in coverage["sentence"]
