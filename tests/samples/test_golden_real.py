"""The other real exports: training, level 0, tampered shapes, other tools, ranks without kernels."""

from __future__ import annotations

import json

import pytest

from tests.samples.conftest import Profiles, command_line
from tests.samples.golden import Golden, differences

D01 = "d01_text_level0"
D02 = "d02_text_level1"
D06 = "d06_qwen3_train_cann83"
D08 = "d08_advisor_tampered_shapes"
D10 = "d10_msprof_cli_and_op_910b"
D11 = ("d11_level0_decode_pair/b8q1", "d11_level0_decode_pair/b1q8", "d11_level0_decode_pair/mixed_m16")
D03, D07, LONGCAT = "d03_text_level2", "d07_gpt3_2023_memoryl0", "longcat_910c_decode"
KERNEL_PROFILES = (D01, D02, D03, D06, D07, D08, D10, *D11, LONGCAT)

# FP32 with HF32 NO: 2048 operations per cycle, 24 x 1.8e9 x 2048 = 88.5 TFLOP/s.
FP32_TRAINING = Golden(
    D02,
    "hotspots --family matmul",
    """
    input_shapes           | output_shapes | median_us      | bound   | limiter
    # 152.7 MB / 346.6 us = 441 GB/s, mte2 .983, 32 rows: every weight once
    32,9216;4096,9216;4096 | 32,4096       | 346.567±0.0005 | memory  | mte2
    32,4096;4096,9216      | 32,9216       | 287.666±0.0005 | memory  | mte2
    # the same sizes twice, 68.2 MB: 593 GB/s with bias, 1,484 GB/s = 93 % without
    32,4096;4096,4096;4096 | 32,4096       | 114.922±0.0005 | memory  | mte2
    32,4096;4096,4096      | 32,4096       | 45.921±0.0005  | memory  | hbm
    # 152.7 and 68.2 MB at 2,012 and 2,223 GB/s: above every HBM, a 67 MB write that L2 absorbs
    32,4096;32,9216        | 4096,9216     | 75.901±0.0005  | memory  | l2
    32,4096;32,4096        | 4096,4096     | 30.661±0.0005  | memory  | l2
    # scalar .901
    32,4096;1000,4096;1000 | 32,1000       | 57.241±0.0005  | latency | scalar
    # 17.0 MB / 22.0 us = 775 GB/s = 48 %, mte2 .74; / 16.5 us = 1,030 GB/s = 64 % but mte2, fixpipe below .5
    32,1000;1000,4096      | 32,4096       | 21.980±0.0005  | latency | pipeline
    32,1000;32,4096        | 1000,4096     | 16.540±0.0005  | latency | pipeline or launch
    """,
    keys=2,
)


def test_d02_products_are_labelled_one_by_one(profiles: Profiles) -> None:
    """Equal sizes get different labels where the counters differ, and nothing above HBM is called HBM."""
    assert differences(FP32_TRAINING, profiles.ask(D02, FP32_TRAINING.question)) == []


def test_d02_uses_the_fp32_peak(profiles: Profiles) -> None:
    """Ridge 88.5e12 / 1.6e12 = 55.3 operations per byte, not the 221 of bf16."""
    rows = profiles.ask(D02, "hotspots --family matmul")["rows"]
    assert {round(row["ridge"], 1) for row in rows} == {55.3}


@pytest.mark.parametrize("profile", [D02, D06])
def test_training_captures_are_left_alone(profile: str, profiles: Profiles) -> None:
    """Gradient or optimizer kernels are in the capture: nothing is proposed, and that is said."""
    answer = profiles.ask(profile, "candidates --top 100")
    assert [row for row in answer["rows"] if row["status"] == "candidate"] == []
    assert "train" in " ".join(answer["notes"]).lower()


def test_d06_is_not_called_memory_bound(profiles: Profiles) -> None:
    """At most 25 % of the MatMul time is memory-bound, where `mte2_ratio > 0.8` would say 86 %."""
    rows = [row for row in profiles.ask(D06, "hotspots")["rows"] if row["type"].startswith("MatMul")]
    total = sum(row["total_us"] for row in rows)
    memory = sum(row["total_us"] for row in rows if row["bound"] == "memory")
    compute = sum(row["total_us"] for row in rows if row["bound"] == "compute")
    assert sum(row["count"] for row in rows) == 336
    assert memory <= 0.25 * total
    # roofline.md 11: 77.9 % balanced and 5.9 % near the roof
    assert compute >= 0.75 * total


def test_d06_second_rank_is_listed_with_what_it_holds(profiles: Profiles) -> None:
    """Rank 1 has no kernel table: it is there, without kernels, with communication and step trace files."""
    _, answer = profiles.ingest(D06)
    ranks = {rank["has_kernels"]: rank for rank in answer["ranks"]}
    assert len(answer["ranks"]) == 2
    assert ranks[False]["kernels"] == 0
    held = " ".join(ranks[False]["holds"])
    assert "step_trace" in held
    assert "communication" in held
    assert "no kernels" in " ".join(answer["notes"])


def test_d06_second_rank_alone_says_that_there_are_no_kernels(profiles: Profiles) -> None:
    """Given alone it cannot answer: exit code 3 or a note, either way naming what the folder holds."""
    path = profiles.path(D06) / "rank_1_ascend_pt"
    code, out, err = command_line("ingest", str(path), "--db", str(profiles.folder / "rank_1.duckdb"))
    assert code in (0, 3)
    assert "no kernel" in (out + err).lower()
    assert "step_trace" in out + err


def test_d08_products_with_impossible_shapes_stay_unknown(profiles: Profiles) -> None:
    """K or M disagree between operands: unknown with the reason, and no FLOP figure at all."""
    rows = [row for row in profiles.ask(D08, "hotspots")["rows"] if row["type"].startswith("MatMul")]
    assert len(rows) == 3
    assert {row["bound"] for row in rows} == {"unknown"}
    assert all(row["reason"] for row in rows)
    assert {row["flops"] for row in rows} == {None}
    assert {row["achieved_tflops"] for row in rows} == {None}


@pytest.mark.parametrize("profile", KERNEL_PROFILES)
def test_nothing_exceeds_the_peak(profile: str, profiles: Profiles) -> None:
    """No row of any capture achieves more than its cube can, but for rows named as anomalies."""
    answer = profiles.ask(profile, "hotspots")
    peaks = (answer["device"] or {}).get("peaks") or {}
    highest = max(peaks.values(), default=None)
    for row in answer["rows"]:
        if row["achieved_tflops"] is not None and not row["anomaly"]:
            assert highest is not None
            assert row["achieved_tflops"] <= highest


@pytest.mark.parametrize("profile", KERNEL_PROFILES)
def test_no_median_is_below_its_floor(profile: str, profiles: Profiles) -> None:
    """A kernel faster than its floor is named as an anomaly with a reason, or there is none."""
    for row in profiles.ask(profile, "hotspots")["rows"]:
        if row["floor_us"] is not None and row["median_us"] < row["floor_us"]:
            assert row["anomaly"], row["type"]


def test_d01_answers_what_level_0_can(profiles: Profiles) -> None:
    """Level 0: all 191 rows land, times are answered, and what is missing is said with how to get it."""
    code, answer = profiles.ingest(D01)
    assert code == 0
    assert (answer["rows_kept"], answer["rows_rejected"]) == (191, 0)
    questions = profiles.ask(D01, "runs show")["questions"]
    lacking = [row for row in questions if row["status"] == "no"]
    assert lacking
    assert "level" in " ".join(row["how_to_record"] for row in lacking).lower()
    hotspots = profiles.ask(D01, "hotspots")
    assert {row["bound"] for row in hotspots["rows"]} <= {"unknown", "communication", "other"}
    assert profiles.ask(D01, "candidates")["rows"] == []


def test_d10_op_summary_and_operator_are_read(profiles: Profiles) -> None:
    """Two op_summary rows land; the operator measured alone is another kernel, and the notes say so."""
    _, answer = profiles.ingest(D10)
    assert (answer["rows_kept"], answer["rows_rejected"]) == (2, 0)
    read = [row["path"] for row in answer["rows"] if row["status"] == "read" and "OPPROF" in row["path"]]
    assert len(read) == 4
    assert any("sanitized_operator_kernel, which is no evidence here" in note for note in answer["notes"])


@pytest.mark.parametrize(
    ("profile", "rows", "total_us"), list(zip(D11, (52, 72, 108), (214.90, 247.14, 498.00), strict=True))
)
def test_d11_excerpts_are_read_and_their_step_trace_is_not_believed(
    profile: str, rows: int, total_us: float, profiles: Profiles
) -> None:
    """The step trace is of the full capture: it is said to disagree with the rows of the excerpt."""
    code, answer = profiles.ingest(profile)
    assert code == 0
    assert answer["rows_kept"] == rows
    summary = profiles.ask(profile, "summary")
    assert sum(row["total_us"] for row in summary["rows"]) == pytest.approx(total_us, abs=0.005)
    step = summary["steps"][0]
    assert step["trace_agrees"] is not True
    said = " ".join([*summary["notes"], step["note"], *answer["notes"]]).lower()
    assert "step_trace_time" in said or "step trace" in said


def test_d11_types_come_from_names(profiles: Profiles) -> None:
    """Level 0 has names only: 20 products of b8q1 are MatMul, whatever number the graph gave them."""
    rows = profiles.ask(D11[0], "hotspots")["rows"]
    counts = {row["type"]: row["count"] for row in rows}
    assert counts["MatMul"] == 20
    assert counts["IncreFlashAttention"] == 4


@pytest.mark.parametrize("profile", ["d04_db_level0", "d05_db_level1_insight_touched"])
def test_databases_land_with_all_their_kernels(profile: str, profiles: Profiles) -> None:
    """187 compute kernels and 4 collectives in each database: 191 rows, none rejected."""
    database = str(profiles.folder / f"{profile}.duckdb")
    code, out, err = command_line("ingest", str(profiles.path(profile)), "--db", database)
    assert code == 0, err
    said = " ".join(out.split())  # the sentence may fold
    assert "191 rows read" in said
    assert "191 kept, 0 rejected" in said


def test_a_parent_of_many_ranks_lands_as_one_run(profiles: Profiles) -> None:
    """Both level-1 and level-2 captures in one call are two ranks of one run, told apart."""
    paths = [str(profiles.path(name)) for name in (D02, D03)]
    database = str(profiles.folder / "two.duckdb")
    code, out, err = command_line("ingest", *paths, "--run", "two", "--db", database, "--format", "json")
    assert code == 0, err
    answer = json.loads(out)
    assert [rank["kernels"] for rank in answer["ranks"]] == [191, 191]
    assert len({rank["rank"] for rank in answer["ranks"]}) == 2
