"""The before/after pair of samples: the injected change is found, with its size, and nothing else is."""

from __future__ import annotations

import pytest

from tests.samples.conftest import Profiles

BEFORE, AFTER = "moe_decode_before", "moe_decode_after"
LONGCAT = "longcat_910c_decode"
GATE_UP = "4,4096;320,256,16,32;10240"
SMALL_QUANTISE = "4,4096;4096"


def test_the_prefetched_product_is_the_only_faster_kernel(profiles: Profiles) -> None:
    """Gate-up behind the MoE goes from 33.18 to 24.13 us; the other gate-up, of equal shape, does not."""
    rows = profiles.ask(BEFORE, f"compare {BEFORE} {AFTER}")["rows"]
    faster = [row for row in rows if row["change"] == "faster"]
    assert [(row["type"], row["input_shapes"]) for row in faster] == [("QuantBatchMatmulV3", GATE_UP)]
    assert faster[0]["before_us"] == pytest.approx(33.18, abs=0.1)
    assert faster[0]["after_us"] == pytest.approx(24.13, abs=0.1)
    assert faster[0]["delta_us"] == pytest.approx(-9.05, abs=0.1)
    assert (faster[0]["n_before"], faster[0]["n_after"]) == (48, 48)
    assert faster[0]["delta_step_us"] == pytest.approx(-54.3, abs=1.0)
    others = [row for row in rows if row["input_shapes"] == GATE_UP and row["change"] != "faster"]
    assert [row["delta_us"] for row in others] == pytest.approx([0.0], abs=0.15)


def test_the_price_in_the_window_is_seen(profiles: Profiles) -> None:
    """Combine +0.8 us on 35.6 is slower, the quantisation +0.1 may be; no other kernel is called slower."""
    rows = profiles.ask(BEFORE, f"compare {BEFORE} {AFTER}")["rows"]
    slower = {row["type"]: row for row in rows if row["change"] == "slower"}
    assert {"MoeDistributeCombineV2"} <= slower.keys() <= {"MoeDistributeCombineV2", "DynamicQuant"}
    assert slower["MoeDistributeCombineV2"]["delta_us"] == pytest.approx(0.8, abs=0.1)
    quantise = next(row for row in rows if row["input_shapes"] == SMALL_QUANTISE)
    assert quantise["delta_us"] == pytest.approx(0.1, abs=0.03)


def test_the_step_got_faster_and_that_is_certain(profiles: Profiles) -> None:
    """The median step falls by about 46 us of 3,885 (-1.2 %): above the noise of eight steps a side."""
    step = profiles.ask(BEFORE, f"compare {BEFORE} {AFTER}")["step"]
    assert step["wall_change"] == "faster"
    assert step["wall_delta_us"] == pytest.approx(-44, abs=5)
    assert step["wall_ci_high_us"] < 0


def test_nothing_is_new_or_gone(profiles: Profiles) -> None:
    """Both captures run the same kernels at the same places."""
    rows = profiles.ask(BEFORE, f"compare {BEFORE} {AFTER}")["rows"]
    assert {row["change"] for row in rows} & {"new", "gone"} == set()
    assert sum(row["n_before"] for row in rows) == sum(row["n_after"] for row in rows) == 8 * 209


def test_the_changes_add_up_to_the_step(profiles: Profiles) -> None:
    """Changes of kernels per step, overlap and idle add up to the change of the mean step, within 0.1 us."""
    answer = profiles.ask(BEFORE, f"compare {BEFORE} {AFTER}")
    left_over = {row["name"]: row["delta_us"] for row in answer["residual"]}
    assert left_over.keys() == {"overlap of streams", "idle", "median against mean"}
    kernels = sum(row["delta_step_us"] for row in answer["rows"])
    step = answer["step"]
    change = step["after"]["wall_mean_us"] - step["before"]["wall_mean_us"]
    assert kernels + left_over["overlap of streams"] + left_over["idle"] == pytest.approx(change, abs=0.1)
    # The quoted change is that of the medians; what tells it from the means is a row of its own.
    assert change - left_over["median against mean"] == pytest.approx(step["wall_delta_us"], abs=0.1) or (
        change + left_over["median against mean"] == pytest.approx(step["wall_delta_us"], abs=0.1)
    )
    for side in (step["before"], step["after"]):
        assert side["wall_mean_us"] == pytest.approx(side["busy_mean_us"] + side["idle_mean_us"], abs=0.01)


def test_the_steps_are_those_of_the_exports(profiles: Profiles) -> None:
    """Mean step walls are those of the two step traces: 3,888.20 and 3,842.59 us, 45.6 us less."""
    step = profiles.ask(BEFORE, f"compare {BEFORE} {AFTER}")["step"]
    assert step["before"]["wall_mean_us"] == pytest.approx(3888.20, abs=0.01)
    assert step["after"]["wall_mean_us"] == pytest.approx(3842.59, abs=0.01)
    assert (step["before"]["steps"], step["after"]["steps"]) == (8, 8)


@pytest.mark.parametrize("profile", [BEFORE, "dense_decode", LONGCAT])
def test_a_run_does_not_differ_from_itself(profile: str, profiles: Profiles) -> None:
    """diff(a, a) is empty: no change, no difference, no residual."""
    answer = profiles.ask(profile, f"compare {profile} {profile}")
    assert {row["change"] for row in answer["rows"]} <= {"same"}
    assert [row["delta_us"] for row in answer["rows"] if row["delta_us"]] == []
    assert [row["delta_us"] for row in answer["residual"] if row["delta_us"]] == []
    assert answer["step"]["wall_delta_us"] == 0


def test_the_other_way_round_is_the_negative(profiles: Profiles) -> None:
    """delta(a, b) = -delta(b, a), kernel by kernel."""
    there = profiles.ask(BEFORE, f"compare {BEFORE} {AFTER}")["rows"]
    back = profiles.ask(BEFORE, f"compare {AFTER} {BEFORE}")["rows"]
    forward = {row["key"]: row["delta_us"] for row in there}
    backward = {row["key"]: row["delta_us"] for row in back}
    assert forward.keys() == backward.keys()
    assert all(forward[key] == pytest.approx(-backward[key], abs=1e-9) for key in forward)


def test_deltas_come_largest_first(profiles: Profiles) -> None:
    """The reader finds what moved the step most at the top."""
    rows = profiles.ask(BEFORE, f"compare {BEFORE} {AFTER}")["rows"]
    sizes = [abs(row["delta_step_us"]) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert rows[0]["input_shapes"] == GATE_UP
