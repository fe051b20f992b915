"""What is said of all candidates together: their sum, its share of a step, and when it is too good."""

from __future__ import annotations

from dataclasses import replace

from npu_roofline.analyzer.candidate_notes import summary_notes
from npu_roofline.analyzer.options import AnalysisOptions
from npu_roofline.analyzer.sites import Rules

from tests.analyzer.kernels import RATES
from tests.reports.answers import CANDIDATE

RULES = Rules(RATES, AnalysisOptions(), 0.5, None, None, allow_comm_windows=False, include_unsafe=False)


def test_the_sum_is_a_share_of_the_step():
    """Two rows of 126 us in a step of 10 ms are 2.5 %: one sentence, no warning."""
    (note,) = summary_notes([CANDIDATE, CANDIDATE], 0, RULES, 10_000.0)
    assert "would save 252.0 us per step, 2.5% of the median step" in note


def test_more_than_a_tenth_is_warned_of():
    """The same 252 us in a step of 2.5 ms are 10.08 %: published gains end at 9 %, and that is said."""
    first, warning = summary_notes([CANDIDATE, CANDIDATE], 0, RULES, 2_500.0)
    assert "10.1%" in first
    assert warning.startswith("Warning: that is more than 10% of a step; published gains are 0-9 %")


def test_what_is_left_out_is_counted_and_rows_without_window_are_not():
    """One candidate, one row without a safe window: the sum is of the first, the sites left out are told."""
    blocked = replace(CANDIDATE, status="no_safe_window", predicted_saving_step_us=None)
    (note,) = summary_notes([CANDIDATE, blocked], 3, RULES, None)
    assert note.startswith("1 candidate, which")
    assert "3 more would pay alone but not beside these" in note
    assert summary_notes([blocked], 0, RULES, 1_000.0) == []
