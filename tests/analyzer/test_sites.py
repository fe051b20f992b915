"""Sizes, savings and the choice of the best window, on a layer written out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from npu_roofline.analyzer.options import AnalysisOptions
from npu_roofline.analyzer.sites import Rules, SiteFinder
from npu_roofline.analyzer.targets import judge_target

from tests.analyzer.kernels import RATES, back_to_back, kernel, sequence

OPTIONS = AnalysisOptions()
W = 18_874_368
RULES = Rules(RATES, OPTIONS, 0.5, None, None, allow_comm_windows=False, include_unsafe=False)
GATE_UP = kernel("gate_up", 30.0, 2 * W, "matmul", "memory", "hbm", weights=[2 * W], position=0)
SWIGLU = kernel("DequantSwigluQuant", 6.0, 0, "activation", position=1)
DOWN = kernel("down", 20.5, W, "matmul", "memory", "mte2", weights=[W], single_pass=True, position=2)
PLACES = (GATE_UP, SWIGLU, DOWN)
LAYER = [(0, 30.0), (1, 6.0), (2, 20.5)]


def _site(kernels, place, rules=RULES):
    finder = SiteFinder(kernels, rules, period=len(kernels.places))
    (site,) = finder.sites(place, judge_target(kernels.places[place], OPTIONS))
    return site


def test_the_down_projection_by_hand():
    """An idle window of 1 + 6 + 1 = 8 us: 0.65 x 1.36e6 x (8 - 2) = 5,304,000 B, aligned 5,303,808.

    Saved: 5,303,808 / 1.36e6 - 5,303,808 / 3.8016e6 = 3.900 - 1.395 = 2.505 us; the window is idle and loses
    nothing. Half of the weight, 9,437,184, and half of L2, 100,663,296, are larger. Two layers a step.
    """
    site = _site(sequence(PLACES, [back_to_back(LAYER * 2)] * 3), place=2)
    assert site.best is not None
    assert site.best.size.max_size == 5_303_808
    terms = site.best.size.terms
    assert (terms.formula_bytes, terms.window_bytes, terms.l2_bytes) == (9_437_184, 5_304_000, 100_663_296)
    assert terms.limited_by == "window"
    assert site.best.saving.mid == pytest.approx(3.900 - 1.395, abs=0.001)
    assert site.best.occurrences_per_step == 2.0
    assert site.best.gain_us == pytest.approx(2 * 2.505, abs=0.002)


def test_the_range_comes_from_eta():
    """0.5 and 0.9 instead of 0.65: 4,080,000 and 7,344,000 bytes, so 1.927 and 3.468 us."""
    site = _site(sequence(PLACES, [back_to_back(LAYER)]), place=2)
    assert site.best is not None
    assert site.best.saving.low == pytest.approx(2.505 * 0.5 / 0.65, abs=0.002)
    assert site.best.saving.high == pytest.approx(2.505 * 0.9 / 0.65, abs=0.002)


def test_a_gap_of_a_microsecond_is_no_window():
    """The window right after swiglu is its 1 us gap; it is listed with that hazard and never chosen."""
    site = _site(sequence(PLACES, [back_to_back(LAYER)]), place=2)
    gap = site.windows[0]
    assert not gap.usable
    assert "shorter than 3 us" in gap.hazards[0]


def test_a_window_that_carries_too_little_says_so():
    """3.5 us carry 0.65 x 1.36e6 x 1.5 = 1,326,000 B; with a cap of 0.4 MiB a call is not worth it."""
    kernels = sequence(PLACES, [back_to_back([(0, 30.0), (1, 1.5), (2, 20.5)])])
    assert _site(kernels, place=2).best is not None
    capped = _site(kernels, place=2, rules=replace(RULES, cap_bytes=400 * 1024))
    assert capped.best is None
    assert any("a call is not worth it" in hazard for hazard in capped.windows[1].hazards)


def test_of_windows_that_are_equal_to_the_model_the_shortest_is_taken():
    """The weight's half arrives in a window of 30 us and in one of 50; the longer only adds disturbance."""
    quant = kernel("DynamicQuant", 30.0, 0, "quant", position=1)
    cast = kernel("Cast", 20.0, 0, "move", position=0)
    start = kernel("Start", 5.0, 0, position=9)
    kernels = sequence(
        (start, cast, quant, DOWN), [back_to_back([(0, 5.0), (1, 20.0), (2, 30.0), (3, 20.5)])]
    )
    site = _site(kernels, place=3)
    assert site.best is not None
    assert site.best.size.terms.limited_by == "coefficient"
    assert [each.place for each in site.best.window.inside] == [2]


def test_several_weights_share_the_budget_in_order():
    """MlaProlog behind 8 us: 5,303,808 bytes, 4 MiB for the first weight and the rest for the second."""
    mla = kernel(
        "MlaPrologV3",
        31.3,
        20_000_000,
        "mla_prolog",
        "latency",
        "pipeline",
        weights=[4 * 2**20, 9 * 2**20, 2**20],
        ratios={"aic_mac": 0.1, "aic_mte2": 0.46},
        position=2,
    )
    kernels = sequence((GATE_UP, SWIGLU, mla), [back_to_back([(0, 30.0), (1, 6.0), (2, 31.3)])])
    site = _site(kernels, place=2)
    assert site.best is not None
    assert site.best.calls == (4_194_304, 5_303_808 - 4_194_304, 0)
    assert site.best.size.max_size == sum(site.best.calls)


def test_the_formula_of_a_grouped_matmul_takes_the_whole_weight():
    """201,326,592 bytes of 32 experts: the formula says half of it; the saving counts 5.5 experts of 32."""
    w13 = kernel(
        "GroupedMatmul", 28.7, 205_652_224, "grouped_matmul", "memory", "hbm",
        weights=[201_326_592], experts=32, m=384, position=2,
    )  # fmt: skip
    kernels = sequence((GATE_UP, SWIGLU, w13), [back_to_back([(0, 30.0), (1, 6.0), (2, 28.7)])])
    site = _site(kernels, place=2)
    assert site.best is not None
    assert site.best.size.terms.formula_bytes == 100_663_296
    # (28.7 us x 1.36e6 - 4,325,632) / 6,291,456 = 5.516 experts; 5,303,808 x 5.516 / 32 = 914,240 useful
    # bytes: 0.6722 - 0.2405 = 0.432 us
    assert site.best.saving.mid == pytest.approx(0.432, abs=0.001)


def test_different_kernels_before_a_target_are_different_sites():
    """The gate_up matmul follows the MoE in half of its occurrences and the norm in the others: two rows,
    two windows.
    """
    norm = kernel("Norm", 5.0, 0, position=None, part=None)
    quant = kernel("Quant", 9.0, 0, "quant", position=None, part=None)
    reduce = kernel("HcomAllReduce", 9.0, None, "communication", "communication", "link", part=None)
    target = kernel("gate_up", 30.0, 2 * W, "matmul", "memory", "hbm", weights=[2 * W], part=None)
    step = back_to_back([(2, 9.0), (0, 5.0), (3, 30.0), (2, 9.0), (1, 9.0), (3, 30.0)])
    kernels = sequence((norm, quant, reduce, target), [step, step])
    finder = SiteFinder(kernels, RULES, period=None)
    sites = finder.sites(3, judge_target(target, OPTIONS))
    assert [site.context for site in sites] == [0, 1]
    assert [round(site.best.window.duration_us) for site in sites if site.best] == [7, 11]


def test_accepted_collectives_stay_named():
    """With consent the all-reduce may be inside; the row still says that it is there."""
    reduce = kernel("HcomAllReduce", 9.0, 0, "communication", "communication", "link", position=1)
    kernels = sequence((GATE_UP, reduce, DOWN), [back_to_back([(0, 30.0), (1, 9.0), (2, 20.5)])])
    assert _site(kernels, place=2).best is None
    site = _site(kernels, place=2, rules=replace(RULES, allow_comm_windows=True))
    assert site.best is not None
    assert "accepted by --allow-comm-windows" in site.best.hazards[0]


def test_unsafe_windows_are_shown_but_never_chosen():
    """With --include-unsafe the walk passes attention; the windows are listed as not usable."""
    attention = kernel("FusedInferAttentionScore", 38.0, None, "attention", "unknown", "x", position=1)
    kernels = sequence((GATE_UP, attention, DOWN), [back_to_back([(0, 30.0), (1, 38.0), (2, 20.5)])])
    site = _site(kernels, place=2, rules=replace(RULES, include_unsafe=True))
    assert site.best is None
    assert [each.usable for each in site.windows] == [False, False]
    assert "attention" in site.windows[1].hazards[0]


def test_a_matmul_that_is_memory_bound_at_one_place_is_so_at_all():
    """The matmul o_proj waits for HBM at position 1 and for its pipe at position 4: a window may hold
    neither.
    """
    streaming = kernel("o_proj", 7.0, 6_324_224, "matmul", "memory", "mte2", weights=[6_291_456], position=1)
    slower = kernel(
        "o_proj", 10.5, 6_324_224, "matmul", "latency", "pipeline", weights=[6_291_456], position=4
    )
    assert streaming.signature_id == slower.signature_id
    places = (SWIGLU, streaming, GATE_UP, slower, DOWN)
    step = back_to_back([(0, 6.0), (1, 7.0), (2, 30.0), (0, 6.0), (3, 10.5), (4, 20.5)])
    site = _site(sequence(places, [step]), place=4)
    assert [each.place for each in site.walk.predecessors] == [3]
    assert "at another place" in site.walk.stopped


def test_an_eager_window_must_outlast_the_launch():
    """8 us are a window inside a graph; launched by the host, issuing the call alone takes 10 to 14 us."""
    kernels = sequence(PLACES, [back_to_back(LAYER)])
    assert _site(kernels, place=2).best is not None
    eager = replace(kernels, eager=frozenset({2}))
    site = _site(eager, place=2)
    assert site.best is None
    assert "shorter than 15 us that an eagerly launched call takes" in site.windows[1].hazards[0]
