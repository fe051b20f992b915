"""The samples must be answered as ANSWERS.md works out by hand: labels, steps, windows, sizes."""

from __future__ import annotations

import pytest

from tests.samples.conftest import Profiles
from tests.samples.golden import Golden, OneOf, differences

MOE, DENSE, PREFILL = "moe_decode_before", "dense_decode", "prefill"

MOE_STEPS = Golden(
    MOE,
    "summary",
    # Last end - first start of the rows of a step, which step_trace_time calls Stage.
    """
    step_id | wall_us        | phase
    3       | 3887.065±0.002 | decode
    4       | 3869.084±0.002 | decode
    5       | 3883.745±0.002 | decode
    6       | 3902.745±0.002 | decode
    7       | 3884.585±0.002 | decode
    8       | 3911.667±0.002 | decode
    9       | 3884.685±0.002 | decode
    10      | 3882.005±0.002 | decode
    """,
    part="steps",
)

MOE_PRODUCTS = Golden(
    MOE,
    "hotspots --family matmul",
    # bytes / median: gate-up 1,271 GB/s = 79 %; down 929 = 58 % with mte2 .865; lm_head 1,329 = 83 %;
    # o_proj 770 = 48 % with no pipe above .8; router 295; value_up 164
    """
    type                 | input_shapes                | count | median_us | bound   | limiter            | weight_bytes    | flops      | bytes_lo
    QuantBatchMatmulV3   | 4,4096;320,256,16,32;10240  | 96    | 33.2±0.1  | memory  | hbm                | 41943040        | 335544320  | 42164224
    QuantBatchMatmulV3   | 4,5120;128,320,16,32;4096;4 | 96    | 22.6±0.1  | memory  | mte2               | 20971520        | 167772160  | 21032976
    MatMul               | 4,4096;1024,256,16,16       | 8     | 101.1±0.4 | memory  | hbm                | 134217728       | 536870912  | 134381568
    MatMul               | 4,1024;256,64,16,16         | 96    | 10.9±0.1  | latency | pipeline           | 8388608         | 33554432   | 8429568
    MatMul               | 4,4096;192,4096             | 48    | 10.9±0.1  | latency | pipeline           | 3145728         | 6291456    | 3214336
    TransposeBatchMatMul | 8,4,512;8,512,128           | 96    | 6.63±0.1  | latency | pipeline           | 1048576 or null | 4194304    | 1089536
    """,  # noqa: E501
    keys=2,
)

MOE_EXPERTS = Golden(
    MOE,
    "hotspots --family grouped_matmul",
    # w13: x 1,048,576 + out 2,097,152 + group list 192 + 1 or 24 experts of 8,388,608.
    # w2 all: x 262,144 + out 2,097,152 + 24 x 4,194,304 + scales 196,608 + token scales 1,024 + list 192
    """
    input_shapes                                 | count | bound  | limiter | confidence | bytes_lo             | bytes_hi
    256,4096;24,64,256,16,32;;;;;;24             | 48    | memory | hbm     | low        | 11534528±256         | 204472512±256
    256,1024;24,128,64,16,32;;24,4096;;;;24;256  | 48    | memory | hbm     | low        | 6660000±100000       | 103220416±256
    """,  # noqa: E501
)

# Launch: below 3 us, or below 5 us with t_hbm below a tenth of it. Underparallel: 4 of 48 vector cores.
MOE_LATENCY = Golden(
    MOE,
    "hotspots --bound latency --limiter launch",
    """
    type                   | input_shapes                   | count
    Add                    | 4;                             | 8
    Fill                   | 1;                             | 8
    ConcatD                | 1;1;1;1                        | 8
    GatherV2               | 16384,4096;4;1                 | 8
    RmsNorm                | 4,4096;4096                    | 8
    Index                  | 5120,64;1;2;4                  | 16
    Muls                   | 4,8,512                        | 96
    InplaceAddRmsNorm      | 4,4096;4,4096;4096             | 144
    Cast                   | 4,4096                         | 48
    MoeGatingTopK          | 4,192;192                      | 48
    DynamicQuant           | 4,4096;4096                    | 48
    AddRmsNormDynamicQuant | 4,4096;4,4096;4096;4096        | 48
    Add                    | 4,4096;4,4096                  | 48
    """,
    keys=2,
)

MOE_UNDERPARALLEL = Golden(
    MOE,
    "hotspots --limiter underparallel",
    """
    type               | input_shapes               | count
    DequantSwigluQuant | 4,10240;10240,1;4;5120     | 96
    ArgMaxV2           | 4,1,131072;                | 8
    """,
)

MOE_COMMUNICATION = Golden(
    MOE,
    "hotspots --bound communication",
    # 8 steps x (12 + 1) all-reduces, 8 all-gathers: 112 of 224 rows; dispatch and combine once per layer.
    """
    type                    | count | limiter
    HcomAllReduce           | 104   | link
    HcomAllGather           | 8     | link
    MoeDistributeDispatchV2 | 48    | link
    MoeDistributeCombineV2  | 48    | link
    """,
)

# Window term .65 x (1.36e12 - B_w / t_w) x (t_w - 2 us) with t_w at p10, see the table in ANSWERS.md.
MOE_CANDIDATES = Golden(
    MOE,
    "candidates --top 100",
    """
    target_type        | window.dependency        | window.kernels[].type                                                                   | weight_bytes | max_size        | max_size_terms.limited_by | window.duration_us | occurrences_per_step | layer_scope
    QuantBatchMatmulV3 | GroupedMatmul            | [MoeDistributeCombineV2, DynamicQuant]                                                  | 41943040     | 20971520        | coefficient               | 42.69±0.03         | 6                    | same_layer
    QuantBatchMatmulV3 | HcomAllReduce            | [AddRmsNormDynamicQuant]                                                                | 41943040     | 2.44e6±0.02e6   | window                    | 4.81±0.02          | 6                    | same_layer
    QuantBatchMatmulV3 | QuantBatchMatmulV3       | [DequantSwigluQuant]                                                                    | 20971520     | 4.87e6±0.05e6   | window                    | 7.64±0.05          | 6                    | same_layer
    QuantBatchMatmulV3 | QuantBatchMatmulV3       | [DequantSwigluQuant]                                                                    | 20971520     | 4.87e6±0.05e6   | window                    | 7.64±0.05          | 6                    | same_layer
    GroupedMatmul      | GroupedMatmul            | [DequantSwigluQuant]                                                                    | 100663296    | 9.41e6±0.05e6   | window                    | 14.33±0.03         | 6                    | same_layer
    GroupedMatmul      | HcomAllReduce            | [InplaceAddRmsNorm, Cast, MatMul, MoeGatingTopK, MoeDistributeDispatchV2, DynamicQuant] | 201326592    | 53.18e6±0.2e6   | window                    | 68.49±0.03         | 6                    | same_layer
    MlaPrologV3        | QuantBatchMatmulV3       | [InplaceAddRmsNorm]                                                                     | 23068672     | 2.02e6±0.02e6   | window                    | 4.34±0.03          | 6                    | same_layer
    MlaPrologV3        | QuantBatchMatmulV3       | [Add, InplaceAddRmsNorm]                                                                | 23068672     | 4.64e6±0.05e6   | window                    | 7.38±0.03          | 5                    | previous_layer
    MatMul             | FusedInferAttentionScore | [TransposeBatchMatMul]                                                                  | 8388608      | 4.14e6±0.05e6   | window                    | 7.26±0.05          | 6                    | same_layer
    MatMul             | FusedInferAttentionScore | [TransposeBatchMatMul]                                                                  | 8388608      | 4.14e6±0.05e6   | window                    | 7.26±0.05          | 6                    | same_layer
    """,  # noqa: E501
    keys=0,
    # The products before the first and after the last layer have windows of their own, which are not layers'.
    where={"status": "candidate", "occurrences_per_step": OneOf((5, 6))},
)

DENSE_PRODUCTS = Golden(
    DENSE,
    "hotspots --family matmul",
    # 75, 73, 83, 79 and 88 % of 1.6 TB/s
    """
    type     | input_shapes             | count | median_us | bound  | limiter | weight_bytes | flops       | bytes_lo  | hbm_fraction
    MatMulV2 | 16,2560;160,384,16,16    | 48    | 26.5±0.1  | memory | hbm     | 31457280     | 503316480   | 31735808  | 0.75±0.01
    MatMulV2 | 16,4096;256,160,16,16    | 48    | 18.1±0.1  | memory | hbm     | 20971520     | 335544320   | 21184512  | 0.73±0.01
    MatMulV2 | 16,2560;160,1216,16,16   | 48    | 75.2±0.2  | memory | hbm     | 99614720     | 1593835520  | 100319232 | 0.83±0.01
    MatMulV2 | 16,9728;608,160,16,16    | 48    | 40.0±0.1  | memory | hbm     | 49807360     | 796917760   | 50200576  | 0.785±0.01
    MatMulV3 | 16,2560;151936,2560      | 6     | 557±1     | memory | hbm     | 777912320    | 12446597120 | 782856192 | 0.88±0.01
    """,  # noqa: E501
    keys=2,
)

DENSE_LAYER_CANDIDATES = Golden(
    DENSE,
    "candidates --top 100",
    """
    target_shapes          | window.dependency        | window.kernels[].type | status         | max_size_terms.limited_by | layer_scope
    16,2560;160,384,16,16  | MatMulV2                 | [AddRmsNorm]          | candidate      | window                    | previous_layer
    16,2560;160,1216,16,16 | MatMulV2                 | [AddRmsNorm]          | candidate      | window                    | same_layer
    16,9728;608,160,16,16  | MatMulV2                 | [SwiGlu]              | candidate      | window                    | same_layer
    """,  # noqa: E501
    where={"status": "candidate", "occurrences_per_step": OneOf((7, 8))},
)

PREFILL_PRODUCTS = Golden(
    PREFILL,
    "hotspots --family matmul",
    # FLOPs / median / 353.9e12: 83, 74, 87, 83 %; o_proj: mac .78 beside mte2 .82
    """
    input_shapes           | count | bound   | limiter | flops        | achieved_tflops
    4096,2560;6144,2560    | 12    | compute | cube    | 128849018880 | 295..296
    4096,4096;2560,4096    | 12    | compute | cube    | 85899345920  | 262..264
    4096,2560;19456,2560   | 12    | compute | cube    | 408021893120 | 306..308
    4096,9728;2560,9728    | 12    | compute | cube    | 204010946560 | 294..296
    1,2560;151936,2560     | 3     | memory  | hbm     | 777912320    | 1.39..1.41
    """,
)

PREFILL_STREAMS = Golden(
    PREFILL,
    "hotspots --bound memory --limiter hbm",
    # Vector kernels that move 33 to 239 MB at 73 to 79 % of HBM, mte2 .66 to .74
    """
    type              | input_shapes                                                  | count
    RmsNorm           | 4096,2560;2560                                                | 3
    SplitVD           | 4096,6144                                                     | 12
    RmsNorm           | 4096,32,128;128                                               | 12
    RmsNorm           | 4096,8,128;128                                                | 12
    ApplyRotaryPosEmb | 1,4096,32,128;1,4096,8,128;1,4096,1,128;1,4096,1,128          | 12
    AddRmsNorm        | 4096,2560;4096,2560;2560                                      | 24
    SwiGlu            | 4096,19456                                                    | 12
    MatMulV3          | 1,2560;151936,2560                                            | 3
    """,
    keys=2,
    where={"type": OneOf(("RmsNorm", "SplitVD", "ApplyRotaryPosEmb", "AddRmsNorm", "SwiGlu", "MatMulV3"))},
)

GOLDENS = [
    MOE_STEPS,
    MOE_PRODUCTS,
    MOE_EXPERTS,
    MOE_LATENCY,
    MOE_UNDERPARALLEL,
    MOE_COMMUNICATION,
    MOE_CANDIDATES,
    DENSE_PRODUCTS,
    DENSE_LAYER_CANDIDATES,
    PREFILL_PRODUCTS,
    PREFILL_STREAMS,
]


@pytest.mark.parametrize("golden", GOLDENS, ids=str)
def test_sample_answers_are_the_golden_ones(golden: Golden, profiles: Profiles) -> None:
    """Every row is expected, every expected row is there, and each value is the one worked by hand."""
    assert differences(golden, profiles.ask(golden.profile, golden.question)) == []


@pytest.mark.parametrize(
    ("profile", "rows", "duplicates", "device"),
    [
        # 8 steps x 236 rows; 8 x 14 collectives twice
        (MOE, 1888, 112, ("910B2", "910_9381")),
        ("moe_decode_after", 1888, 112, ("910B2", "910_9381")),
        # 6 x (2 + 8 x 13 + 2)
        (DENSE, 648, 0, ("910B3", "910_9372")),
        # 3 x (2 + 4 x 13 + 1)
        (PREFILL, 165, 0, ("910B2", "910_9381")),
        # 2 x 108, no counters: nothing says which chip
        ("level0", 216, 0, None),
    ],
)
def test_whole_samples_land_whole(
    profile: str, rows: int, duplicates: int, device: tuple[str, str] | None, profiles: Profiles
) -> None:
    """Every row is kept, doubled rows are known, and the chip follows from the counters or is not known."""
    code, answer = profiles.ingest(profile)
    assert code == 0
    assert (answer["rows_read"], answer["rows_kept"], answer["rows_rejected"]) == (rows, rows, 0)
    assert answer["duplicate_rows"] == duplicates
    found = profiles.ask(profile, "summary")["device"]
    if device is None:
        assert found is None or found["soc"] is None
    else:
        assert all(name in found["soc"] for name in device)


def test_the_best_candidate_of_the_moe_sample(profiles: Profiles) -> None:
    """20,971,520 bytes save 15.42 - 5.52 = 9.9 us less the cost in the window, 6 times a step."""
    best = profiles.ask(MOE, "candidates")["rows"][0]
    assert (best["target_shapes"], best["max_size"]) == ("4,4096;320,256,16,32;10240", 20971520)
    assert best["window"]["dependency"] == "GroupedMatmul"
    assert best["max_size_terms"]["window_bytes"] == pytest.approx(34.5e6, rel=0.01)
    # 0.5 x 192 MiB = 100,663,296 less what is touched until the target starts
    assert 90e6 < best["max_size_terms"]["l2_bytes"] < 100_663_296
    assert best["predicted_saving_us"]["mid"] == pytest.approx(9.6, abs=0.4)
    assert best["predicted_saving_step_us"] == pytest.approx(6 * best["predicted_saving_us"]["mid"], abs=0.1)


def test_the_late_host_of_the_dense_sample_is_shown_first(profiles: Profiles) -> None:
    """Step 13 idles about 1.9 ms before ArgMax: that place is the first of the idle stretches and names the
    step, and no median is moved by it.
    """
    answer = profiles.ask(DENSE, "summary")
    first = answer["idle"][0]
    assert first["longest_step_id"] == 13
    assert first["longest_us"] == pytest.approx(1904, abs=2)
    assert first["before"]["type"] == "MatMulV3"
    assert answer["spread"]["wall_us"] == pytest.approx(2429, abs=2)
    assert answer["spread"]["outlier_steps"] == [13]


def test_attention_in_front_leaves_the_output_projection_without_a_window(profiles: Profiles) -> None:
    """Decode attention streams the cache: behind it there is no room, and the answer says attention."""
    rows = profiles.ask(DENSE, "candidates --top 100")["rows"]
    row = next(row for row in rows if row["target_shapes"] == "16,4096;256,160,16,16")
    assert row["status"] == "no_safe_window"
    assert row["max_size"] is None
    assert "attention" in row["reason"].lower() or "attention" in row["walk"][0]["reason"].lower()


def test_prefill_proposes_nothing_and_says_why(profiles: Profiles) -> None:
    """Products of 4096 rows do not wait for their weights: no candidate, and the word prefill."""
    answer = profiles.ask(PREFILL, "candidates")
    assert [row for row in answer["rows"] if row["status"] == "candidate"] == []
    assert "prefill" in " ".join(answer["notes"]).lower()


def test_level_0_says_what_it_cannot_answer(profiles: Profiles) -> None:
    """Times come, labels do not: nothing is memory- or compute-bound, and the missing option is named."""
    rows = profiles.ask("level0", "hotspots")["rows"]
    assert {row["bound"] for row in rows} == {"unknown"}
    assert sum(row["count"] for row in rows) == 216
    assert {"MatMulV2", "MatMulV3", "SwiGlu", "AddRmsNorm"} <= {row["type"] for row in rows}
    assert all(row["floor_us"] is None and row["hbm_fraction"] is None for row in rows)
    questions = profiles.ask("level0", "runs show")["questions"]
    missing = " ".join(row["how_to_record"] for row in questions if row["status"] == "no")
    assert "level" in missing.lower()
    assert profiles.ask("level0", "candidates")["rows"] == []


@pytest.mark.parametrize("profile", [MOE, "moe_decode_after", DENSE, PREFILL])
def test_no_kernel_of_a_sample_beats_its_floor(profile: str, profiles: Profiles) -> None:
    """The generator obeys the roofs, so no median may be below its floor and nothing may be an anomaly."""
    rows = profiles.ask(profile, "hotspots")["rows"]
    assert [
        row["type"] for row in rows if row["floor_us"] is not None and row["median_us"] < row["floor_us"]
    ] == []
    assert [row["anomaly"] for row in rows if row["anomaly"]] == []
