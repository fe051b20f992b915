"""Real captures of other kinds: level 0, one step split over two captures, unlike models, sample pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path

import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.analyzer.compare import Side, compare
from npu_roofline.analyzer.load import ingest_run
from npu_roofline.analyzer.session import Session, open_session
from npu_roofline.errors import InputMissing, WrongUsage
from npu_roofline.sample_profiles.generate import write_samples

PAIR = "d11_level0_decode_pair"
UNLIKE = (
    "longcat_910c_decode",
    "d01_text_level0",
    "d02_text_level1",
    "d06_qwen3_train_cann83/rank_0_ascend_pt",
    "d08_advisor_tampered_shapes",
    f"{PAIR}/mixed_m16",
)


@pytest.fixture
def sessions(real_database: Callable[[str], Path]) -> Iterator[Callable[[str], Session]]:
    """Opens real profiles; all are closed after the test."""
    with ExitStack() as stack:
        yield lambda profile: stack.enter_context(open_session(real_database(profile)))


@pytest.fixture
def mixed(sessions: Callable[[str], Session]) -> Answer:
    """Before: two graphs run one after the other; after: one mixed graph."""
    before = Side(((sessions(f"{PAIR}/b8q1"), sessions(f"{PAIR}/b1q8")),))
    return compare(before, sessions(f"{PAIR}/mixed_m16"))


def test_a_step_split_over_two_captures_adds_up_by_group(mixed: Answer) -> None:
    """The sums of the profiles' README, taken from the kernel names: us before and after."""
    groups = {group.name: (group.before_step_us, group.after_step_us) for group in mixed.extras["groups"]}
    assert groups["matmul"] == (pytest.approx(156.32), pytest.approx(96.90))
    assert groups["layout"] == (pytest.approx(30.08), pytest.approx(94.18))
    assert groups["attention"] == (pytest.approx(71.74), pytest.approx(85.06))
    assert groups["batch matmul"] == (pytest.approx(73.84), pytest.approx(66.32))
    assert groups["softmax"] == (pytest.approx(24.08), pytest.approx(40.22))
    assert groups["activation"] == (pytest.approx(22.02), pytest.approx(31.86))
    assert sum(before for before, _ in groups.values()) == pytest.approx(462.04)
    assert sum(after for _, after in groups.values()) == pytest.approx(498.00)


def test_level_0_pairs_by_name_and_place(mixed: Answer) -> None:
    """The one attention of each layer is compared with itself; the second graph's matmuls are gone."""
    (attention,) = [row for row in mixed.rows if row.type == "IncreFlashAttention"]
    assert (attention.n_before, attention.n_after) == (4, 4)
    assert attention.delta_step_us == pytest.approx(85.06 - 71.74)
    matmuls = [row for row in mixed.rows if row.type == "MatMul"]
    assert sorted(row.change for row in matmuls) == ["gone"] * 5 + ["inconclusive"] * 5


def test_a_step_trace_of_another_extent_is_noticed(mixed: Answer) -> None:
    """step_trace_time.csv covers 7 to 14 ms, the excerpts 0.2 to 0.5 ms: said, and not used."""
    told = [note for note in mixed.notes if "another extent and is not believed" in note]
    assert len(told) == 3
    assert mixed.extras["step"].before.wall_us == pytest.approx(224.84 + 249.36, abs=0.01)


def test_one_step_a_side_is_no_verdict(mixed: Answer) -> None:
    """One capture a side: numbers are shown, nothing is called faster or slower."""
    assert mixed.extras["step"].wall_change == "inconclusive"
    assert {row.change for row in mixed.rows} == {"inconclusive", "new", "gone"}
    assert "3 a side are needed" in mixed.extras["sentence"]


def test_the_same_program_at_two_profiler_levels_pairs(sessions: Callable[[str], Session]) -> None:
    """Level 0 lacks shapes and shows layers, level 1 has shapes and shows none: all kernels are paired."""
    answer = compare(sessions("d01_text_level0"), sessions("d02_text_level1"))
    assert not [row.key for row in answer.rows if row.change in ("new", "gone")]


@pytest.mark.parametrize(("before", "after"), list(combinations(UNLIKE, 2)))
def test_any_two_captures_compare_and_swap(
    sessions: Callable[[str], Session], before: str, after: str
) -> None:
    """Unlike models compare without an error, everything adds up, and swapping negates every row."""
    one, other = sessions(before), sessions(after)
    forward, backward = compare(one, other), compare(other, one)
    swapped = {row.key: row for row in backward.rows}
    assert len(swapped) == len(backward.rows)
    assert set(swapped) == {row.key for row in forward.rows}
    for row in forward.rows:
        assert swapped[row.key].delta_step_us == pytest.approx(
            -(row.delta_step_us or 0.0), rel=1e-9, abs=1e-9
        )
        assert swapped[row.key].n_before == row.n_after
    assert forward.extras["step"].wall_delta_us == pytest.approx(-backward.extras["step"].wall_delta_us)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample pair of the tool, ingested."""
    folder = tmp_path_factory.mktemp("samples")
    written = write_samples(folder / "profiles")
    for name in ("moe_decode_before", "moe_decode_after"):
        ingest_run([written[name]], folder / "samples.duckdb", name=name)
    return folder / "samples.duckdb"


@pytest.mark.parametrize(
    "name", ["c-772c5e02-17", "layer 17 QuantBatchMatmulV3"], ids=["by candidate", "by key"]
)
def test_the_target_is_told_with_its_window(samples: Path, name: str) -> None:
    """Candidate gate-up behind the MoE: -9.1 us a call, its window Combine + DynamicQuant +0.9 us = +2.3 %.

    35.631 + 3.46 = 39.091 us before, 36.431 + 3.55 = 39.981 after; 0.89 / 39.091 = 2.28 %.
    """
    with (
        open_session(samples, run="moe_decode_before") as one,
        open_session(samples, run="moe_decode_after") as other,
    ):
        answer = compare(one, other, target=name)
    target = answer.extras["target"]
    assert target.change == "faster"
    assert target.window_keys == ("layer 15 MoeDistributeCombineV2", "layer 16 DynamicQuant")
    assert target.window_before_us == pytest.approx(39.091, abs=0.01)
    assert target.window_delta_pct == pytest.approx(2.28, abs=0.03)
    assert target.predicted_step_us is not None
    assert answer.extras["sentence"] == (
        "Inconclusive until the outputs are compared: step 3.88 → 3.84 ms (-1.1 %, faster); target "
        "QuantBatchMatmulV3 9.1 us faster a call (-54.2 us a step), its window 0.9 us slower (+2.3 %)."
    )
    assert answer.extras["verdict"].outcome == "inconclusive"
    assert answer.extras["verdict"].next_action.startswith("compare the outputs")


def test_a_target_that_is_not_there_or_not_one_is_refused(samples: Path) -> None:
    """A type that stands at four places, an unknown name and an unknown candidate each say what to write."""
    with (
        open_session(samples, run="moe_decode_before") as one,
        open_session(samples, run="moe_decode_after") as other,
    ):
        with pytest.raises(WrongUsage, match="stands at 4 places"):
            compare(one, other, target="QuantBatchMatmulV3")
        with pytest.raises(InputMissing, match="nothing in this comparison"):
            compare(one, other, target="NoSuchKernel")
        with pytest.raises(InputMissing, match="no candidate"):
            compare(one, other, target="c-00000000-1")


def test_the_sample_pair_shows_one_gain_and_its_price(samples: Path) -> None:
    """ANSWERS.md: gate-up behind the MoE -9.05 us, Combine +0.8, DynamicQuant +0.1, all else is noise.

    The gate-up behind attention has the same shapes and did not change: by shapes alone half would be seen.
    """
    with (
        open_session(samples, run="moe_decode_before") as one,
        open_session(samples, run="moe_decode_after") as other,
    ):
        answer = compare(one, other)
    called = {
        row.type: (row.change, round(row.delta_us or 0.0, 1), row.delta_step_us)
        for row in answer.rows
        if row.change in ("faster", "slower")
    }
    assert set(called) == {"QuantBatchMatmulV3", "MoeDistributeCombineV2", "DynamicQuant"}
    assert called["QuantBatchMatmulV3"][:2] == ("faster", -9.1)
    assert called["QuantBatchMatmulV3"][2] == pytest.approx(-54.3, abs=0.5)
    assert called["MoeDistributeCombineV2"][:2] == ("slower", 0.8)
    assert called["DynamicQuant"][:2] == ("slower", 0.1)
    gate_ups = [row for row in answer.rows if row.input_shapes == "4,4096;320,256,16,32;10240"]
    assert sorted(row.change for row in gate_ups) == ["faster", "same"]
    assert answer.extras["step"].wall_change == "faster"
    assert answer.extras["step"].after.wall_mean_us == pytest.approx(3842.59, abs=0.01)
