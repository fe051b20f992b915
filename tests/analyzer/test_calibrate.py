"""The model read backwards: rates and shares out of a before/after pair, against figures worked by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.analyzer.benefit import TargetLoad, cost_us, saved_us
from npu_roofline.analyzer.calibrate import AT_LEAST, MEASURED, calibrate, fit
from npu_roofline.analyzer.load import ingest_run
from npu_roofline.analyzer.options import AnalysisOptions
from npu_roofline.analyzer.session import open_session
from npu_roofline.analyzer.walk import Verdict
from npu_roofline.analyzer.windows import Predecessor, Window
from npu_roofline.errors import WrongUsage
from npu_roofline.sample_profiles.generate import write_samples

from tests.analyzer.kernels import RATES

OPTIONS = AnalysisOptions()
MB = 1_000_000
LOAD = TargetLoad(duration_us=30.0, weight_bytes=36 * MB, other_floor_us=1.0)


def _window(us: float, utilisation: float = 0.0) -> Window:
    dependency = Predecessor(2, 0, "gate_up", np.array([2]), Verdict("usable", "", 0.0, 0.0), False)
    spare = max(0.0, (1.36e6 - utilisation * 1.6e6) * us)
    return Window(dependency, (), us, us, spare, utilisation * 1.6e6 * us, utilisation, None, 0.0)


def test_a_copy_that_fills_its_window_is_measured():
    """3 us saved / (1 / 1.36e6 - 1 / 3.8016e6) = 6,352,500 bytes of 18.9 MB, in 12 - 2 us: 635 GB/s.

    The window is idle, 1.36e6 B/us are spare: eta 0.467. It tells nothing about beta.
    """
    found = fit(_window(12.0), LOAD, 3.0, 0.0, 18_874_368, RATES, OPTIONS)
    assert found.bound == MEASURED
    assert found.arrived_bytes == pytest.approx(6_352_500, rel=1e-3)
    assert found.rate == pytest.approx(635_250, rel=1e-3)
    assert found.eta == pytest.approx(0.467, abs=0.001)
    assert found.beta is None


def test_a_copy_that_was_done_early_is_a_lower_bound():
    """8.9 us saved are all of 18,874,368 bytes: at least 18.9 MB / 41 us = 460 GB/s, however fast it was."""
    found = fit(_window(43.0), LOAD, 8.9, 0.0, 18_874_368, RATES, OPTIONS)
    assert found.bound == AT_LEAST
    assert found.rate == pytest.approx(18_874_368 / 41.0)
    assert found.arrived_bytes == pytest.approx(18_845_900, rel=1e-3)


def test_a_window_that_got_slower_gives_beta():
    """The copy of 18.9 MB takes 13.88 us at 1.36e6 B/us; at 20 % HBM use a loss of 1 us is beta 0.36."""
    found = fit(_window(43.0, 0.2), LOAD, 8.9, 1.0, 18_874_368, RATES, OPTIONS)
    assert found.beta == pytest.approx(1.0 / (13.878 * 0.2), rel=1e-3)


@given(arrived=st.floats(1e5, 1.4e7), beta=st.floats(0.0, 2.0))
def test_what_the_model_predicts_is_read_back(arrived, beta):
    """Property: the bytes and the beta behind a predicted saving and cost come out again."""
    saved = saved_us(arrived, LOAD, RATES, OPTIONS)
    lost = cost_us(18_874_368, 0.3, RATES, AnalysisOptions(beta=beta))
    found = fit(_window(12.0, 0.3), LOAD, saved, lost, 18_874_368, RATES, OPTIONS)
    assert found.arrived_bytes == pytest.approx(arrived, rel=1e-6)
    assert found.beta == pytest.approx(beta, abs=1e-6)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample pair of which one prefetch of 20,971,520 bytes is the difference."""
    home = tmp_path_factory.mktemp("calibrate")
    samples = write_samples(home / "samples")
    for name in ("before", "after"):
        ingest_run([samples[f"moe_decode_{name}"]], home / "pair.duckdb", name=name)
    return home / "pair.duckdb"


def test_the_sample_pair(pair: Path):
    """All 20,971,520 bytes arrived in 43.2 - 2 us: at least 509 GB/s, 0.39 of what was spare; beta from +0.9.

    The target gained 9.05 us; Combine and DynamicQuant lost 0.9 us while a copy of 15.42 us met 3.4 % use.
    """
    with open_session(pair, run="before") as before, open_session(pair, run="after") as after:
        answer = calibrate(before, after, "c-772c5e02-17", 20_971_520)
        rows = {row.name: row for row in answer.rows}
        with pytest.raises(WrongUsage, match="did not get faster"):
            calibrate(before, before, "c-772c5e02-17")
        with pytest.raises(WrongUsage, match="no prefetch"):
            calibrate(before, after, "c-772c5e02-17", 0)
    assert rows["cmo_gb_s"].bound == rows["eta"].bound == AT_LEAST
    assert rows["cmo_gb_s"].value == pytest.approx(20_971_520 / (43.2 - 2.0) / 1e3, rel=0.01)
    assert rows["eta"].value == pytest.approx(0.39, abs=0.01)
    assert rows["beta"].value == pytest.approx(0.9 / (15.42 * 0.034), rel=0.15)
