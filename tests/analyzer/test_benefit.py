"""The benefit model, against figures worked by hand on a 910B2: HBM 1.6 TB/s, L2 reads 4.752 TB/s."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.analyzer.benefit import (
    MemoryRates,
    TargetLoad,
    cost_us,
    grouped_load,
    net_saving,
    saved_us,
)
from npu_roofline.analyzer.options import AnalysisOptions

OPTIONS = AnalysisOptions()
# 110 B/cycle x 24 cores x 1800 MHz = 4.752e12 B/s; L2 192 MiB
B2 = MemoryRates(1.6e12, 1.8e12, 4.752e12, 192 * 2**20)
MB = 1e6


def test_ten_megabytes_on_a_b2_save_4_7_us():
    """10 MB: 10e6 / 1.36e12 = 7.35 us from HBM, 10e6 / (0.8 x 4.752e12) = 2.63 us from L2; 4.72 us saved."""
    load = TargetLoad(duration_us=20.0, weight_bytes=20 * MB, other_floor_us=1.1)
    assert saved_us(10 * MB, load, B2, OPTIONS) == pytest.approx(7.353 - 2.630, abs=0.001)


def test_the_down_projection_saves_2_2_us():
    """4.8 MB of 18.9 MB: 3.529 - 1.263 = 2.27 us of a kernel of 20.5 us."""
    load = TargetLoad(duration_us=20.5, weight_bytes=18_874_368, other_floor_us=1.7)
    assert saved_us(4.8 * MB, load, B2, OPTIONS) == pytest.approx(3.529 - 1.263, abs=0.001)


def test_half_of_the_gate_up_weight_saves_8_9_us():
    """18,874,368 bytes: 13.878 - 4.965 = 8.91 us; the kernel could give 29.7 - 18.84 = 10.9, so nothing is
    cut.
    """
    load = TargetLoad(duration_us=29.7, weight_bytes=37_748_736, other_floor_us=1.7)
    assert saved_us(18_874_368, load, B2, OPTIONS) == pytest.approx(13.878 - 4.965, abs=0.001)


def test_a_kernel_at_its_floor_saves_nothing_more():
    """Compute takes 19.5 of 20 us, so however many bytes are in L2 only 0.5 us can go."""
    load = TargetLoad(duration_us=20.0, weight_bytes=20 * MB, other_floor_us=19.5)
    assert saved_us(10 * MB, load, B2, OPTIONS) == pytest.approx(0.5)


def test_a_load_above_the_usual_share_of_hbm_gains_at_its_own_rate():
    """144 MB in 100 us are 1.44 TB/s, more than 1.36: 10 MB take 6.944 us from HBM and 2.630 from L2."""
    load = TargetLoad(duration_us=100.0, weight_bytes=144 * MB, other_floor_us=1.0)
    assert saved_us(10 * MB, load, B2, OPTIONS) == pytest.approx(6.944 - 2.630, abs=0.001)


def test_a_kernel_faster_than_its_serial_floor_saves_nothing():
    """Below what HBM and L2 in turn allow there is no room, and the answer is 0, not negative."""
    load = TargetLoad(duration_us=8.0, weight_bytes=20 * MB, other_floor_us=1.0)
    assert saved_us(1 * MB, load, B2, OPTIONS) == 0.0


def test_an_idle_window_costs_nothing_and_a_busy_one_in_proportion():
    """18.9 MB take 13.878 us; at 4 % HBM use and beta 0.5 that costs 0.278 us."""
    assert cost_us(18_874_368, 0.0, B2, OPTIONS) == 0.0
    assert cost_us(18_874_368, 0.04, B2, OPTIONS) == pytest.approx(0.5 * 13.878 * 0.04, abs=0.001)


def test_only_hit_experts_count():
    """Weight w13 of 32 experts of 6,291,456 bytes in 28.7 us: HBM at 1.36 TB/s delivers 5.52 experts.

    28.7 us x 1.36 TB/s = 39.032 MB, less activations of 205,652,224 - 32 x 6,291,456 = 4,325,632 bytes:
    34.706 MB = 5.516 experts, a share of 0.1724. Of 57 MB prefetched 9.826 MB are of use: 7.225 - 2.585 =
    4.64 us, where the unscaled figure would be 26.92, and 8.21 experts of the highest HBM figure 6.91.
    """
    load = grouped_load(28.7, 205_652_224, 6_291_456, 32, 384, 2.0, B2, OPTIONS)
    assert load.hit_share == pytest.approx(5.516 / 32, rel=1e-3)
    assert load.weight_bytes == pytest.approx(34.706 * MB, rel=1e-4)
    assert saved_us(57 * MB, load, B2, OPTIONS) == pytest.approx(4.64, abs=0.01)


def test_few_tokens_hit_few_experts():
    """Two tokens on 32 experts hit 32 x (1 - (31/32)^2) = 1.969 of them, whatever HBM would allow."""
    load = grouped_load(28.7, 2 * 6_291_456 + 100_000, 6_291_456, 32, 2, 2.0, B2, OPTIONS)
    assert load.hit_share == pytest.approx(1.96875 / 32)


def test_a_grouped_product_reads_one_expert_at_least():
    """In 2 us HBM delivers 2.72 MB, less than an expert of 6.29 MB: one is read all the same."""
    load = grouped_load(2.0, 205_652_224, 6_291_456, 32, 384, 2.0, B2, OPTIONS)
    assert load.hit_share == pytest.approx(1 / 32)


def test_the_range_follows_eta_and_stays_ordered():
    """The window allows eta x 10 MB: 3.63 us at .65 is 4.723 x .65 x 10 / 10 less cost 0.3125 x .65 (u
    0.085).
    """
    load = TargetLoad(duration_us=20.0, weight_bytes=20 * MB, other_floor_us=1.1)
    saving = net_saving(lambda eta: eta * 10 * MB, load, 0.085, B2, OPTIONS)
    # cost per 10 MB: 0.5 x 7.353 x 0.085 = 0.3125
    assert saving.mid == pytest.approx((4.723 - 0.3125) * 0.65, abs=0.002)
    assert saving.low == pytest.approx((4.723 - 0.3125) * 0.5, abs=0.002)
    assert saving.high == pytest.approx((4.723 - 0.3125) * 0.9, abs=0.002)


def test_a_window_that_loses_more_than_the_target_gains_is_negative():
    """A saturated window (u = 1) and a target at its floor: the net is minus the cost, not clamped to 0."""
    load = TargetLoad(duration_us=8.0, weight_bytes=20 * MB, other_floor_us=8.0)
    saving = net_saving(lambda _: 10 * MB, load, 1.0, B2, OPTIONS)
    assert saving.mid == pytest.approx(-0.5 * 7.353, abs=0.001)


@given(
    prefetched=st.floats(0, 4e8),
    duration=st.floats(1, 1000),
    weight=st.floats(1, 4e8),
    floor=st.floats(0, 1000),
    share=st.floats(0, 1),
)
def test_no_kernel_is_predicted_below_its_floor(prefetched, duration, weight, floor, share):
    """Property: 0 <= saved, and duration - saved stays at or above every other floor (or the duration
    itself).
    """
    load = TargetLoad(duration, weight, floor, share)
    saved = saved_us(prefetched, load, B2, OPTIONS)
    assert saved >= 0
    assert duration - saved >= min(duration, floor) - 1e-9


@given(first=st.floats(0, 1e8), more=st.floats(0, 1e8))
def test_without_other_limits_more_bytes_never_save_less(first, more):
    """Property: on a kernel that HBM limits fully, the saving grows with the bytes."""
    load = TargetLoad(duration_us=2e8 / 1.36e6, weight_bytes=2e8, other_floor_us=0.0)
    grown = saved_us(first + more, load, B2, OPTIONS)
    assert grown >= saved_us(first, load, B2, OPTIONS) - 1e-9


def test_the_options_reach_the_model():
    """With beta 0 a busy window is free."""
    assert cost_us(10 * MB, 1.0, B2, replace(OPTIONS, beta=0.0)) == 0.0
