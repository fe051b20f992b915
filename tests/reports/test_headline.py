"""The first line of a report says the answer with its numbers."""

from __future__ import annotations

from dataclasses import replace

from npu_roofline.analyzer.answer import Answer, RankSummaryRow, SizeRow, SummaryRow
from npu_roofline.analyzer.answer_links import LinkRow
from npu_roofline.analyzer.answer_plan import CalibrationRow
from npu_roofline.reports.headline import bound_sentence, bound_shares, headline, percent

from tests.reports.answers import (
    CANDIDATE,
    DEVICE,
    candidates_answer,
    explain_answer,
    hotspots_answer,
    summary_answer,
)


def test_summary_says_step_idle_and_bounds() -> None:
    """10,718 us is the median wall; 25 % idle; 100, 60 and 40 of 200 us are 50, 30 and 20 %."""
    assert headline(summary_answer()) == (
        "A decode step takes 10.7 ms (median of 3 steps); the device is idle for 25 % of it; "
        "of the kernel time 50 % is memory-bound, 30 % is latency-bound and 20 % is of unknown bound."
    )


def test_summary_without_steps_says_the_rest() -> None:
    """A capture without steps still says where its time went."""
    answer = replace(summary_answer(), extras={})
    assert headline(answer).startswith("Of the kernel time 50 % is memory-bound")


def test_a_reason_goes_on_in_the_sentence() -> None:
    """What stopped the search follows a colon in lower case, but for a name such as AI_CPU."""
    for why, said in (
        ("No kernel has a weight.", "no kernel has a weight."),
        ("AI_CPU runs.", "AI_CPU runs."),
    ):
        answer = replace(candidates_answer(), rows=(), extras={"stopped": why})
        assert headline(answer) == f"Nothing to prefetch is proposed: {said}"


def test_bound_shares_add_up() -> None:
    """The parts per bound are the whole of the rows: in a step 100 / 3 + 60 / 3 + 40 / 3 us."""
    shares = bound_shares(summary_answer().rows)
    assert shares == {"memory": 100.0 / 3, "latency": 20.0, "unknown": 40.0 / 3}


def test_one_slow_step_does_not_move_the_shares() -> None:
    """A collective of 14 ms in one of three steps is 15 us in a step, so memory is 90 of 105 us, 86 %."""
    rows = (
        SummaryRow("memory/hbm", 9, 270.0, None, 90.0, 270.0, 0.0),
        SummaryRow("communication/link", 3, 14_030.0, None, 15.0, 0.0, 14_030.0),
    )
    assert bound_sentence(rows) == "of the kernel time 86 % is memory-bound and 14 % is communication"


def test_candidates_say_the_best_or_that_there_is_none() -> None:
    """The best candidate with window, size and range; without one, how many targets were looked at.

    The count is that of all candidates, also where --top shows fewer.
    """
    assert headline(candidates_answer()) == (
        "1 prefetch candidate; the best: QuantBatchMatmulV3 4,3072;384,192,16,32;12288 behind "
        "MoeDistributeCombineV2 + DynamicQuant (43.2 us), max_size 18.0 MiB, 84.0 us to 168.0 us per step by "
        "the model."
    )
    cut = replace(candidates_answer(), extras={"matching": 12})
    assert headline(cut).startswith("12 prefetch candidates; the best: ")
    none = replace(CANDIDATE, status="no_safe_window")
    assert headline(Answer("candidates", None, DEVICE, None, (none,))) == (
        "Nothing to prefetch is proposed: 1 target looked at, no safe window."
    )


def test_explain_repeats_label_and_reason() -> None:
    """The label is never shown without the numbers behind it."""
    assert headline(explain_answer()) == (
        "k-11223344 QuantBatchMatmulV3 is memory/hbm (medium confidence): 38.0 MB in 29.70 us is 1280 GB/s, "
        "80 % of 1600 GB/s, with mte2 at 0.82."
    )


def test_hotspots_of_one_group_are_singular() -> None:
    """One group is not 'the longest of 1 groups'."""
    only = hotspots_answer(hotspots_answer().rows[0])
    assert headline(only).startswith("The only one of 1 kernel group: QuantBatchMatmulV3")


def test_compare_says_what_the_comparison_decided() -> None:
    """The first line of a comparison is its own sentence, word for word: reports judge nothing."""
    said = "Step 10.00 → 9.50 ms (-5.0 %, faster); no kernel changed beyond noise."
    assert headline(Answer("compare", None, None, None, (), (), {"sentence": said})) == said
    assert headline(Answer("compare", None, None, None, ())) == "compare: 0 rows."


def test_a_small_share_is_not_nothing() -> None:
    """0.4 % is not rounded to 0 %, 99.6 % not to 100 %, and whole shares have no decimals."""
    shares = (0.0, 0.0001, 0.004, 0.094, 0.43, 0.996, 0.9999, 1.0)
    texts = ["0 %", "<0.1 %", "0.4 %", "9.4 %", "43 %", "99.6 %", ">99.9 %", "100 %"]
    assert [percent(share) for share in shares] == texts


def test_one_size_is_held_against_its_weight() -> None:
    """Half of 144 MiB is 72: the sentence holds both, so that neither is taken for the other."""
    weight = 144 * 2**20
    row = SizeRow(
        "weight", "6144,24576", "int8", weight, 0.5, weight // 2, None, None, weight // 2, "coefficient", ""
    )
    answer = replace(candidates_answer(), command="size", rows=(row,), extras={})
    assert headline(answer) == "max_size 72.00 MiB of a weight of 144.00 MiB, limited by coefficient."


def test_a_calibration_says_what_the_pair_shows() -> None:
    """A rate that is a least one, and a measured beta beside what is assumed without it."""
    rows = (
        CalibrationRow("cmo_gb_s", 508.68, "at least", "--cmo-gb-s", None, "gain of the target"),
        CalibrationRow("beta", 1.697, "measured", "[analysis] beta", 0.5, "loss of the window"),
    )
    answer = replace(candidates_answer(), command="calibrate", rows=rows, extras={})
    assert headline(answer) == "The pair says cmo_gb_s at least 508.7, beta 1.697 (assumed: 0.5)."


def test_ranks_are_held_against_the_median_rank() -> None:
    """7.4 ms of AI-core time where the median rank takes 6.0 ms is 1.23 times; one rank says its step."""

    def rank(number: int, step_us: float, of_median: float | None) -> RankSummaryRow:
        return RankSummaryRow(
            f"rank {number}", 9, step_us, None, step_us, step_us, 0.0, rank=number,
            aicore_step_us=step_us, aicore_of_median=of_median,
        )  # fmt: skip

    rows = (rank(0, 6_000.0, 1.0), rank(3, 7_400.0, 7_400 / 6_000), rank(5, 5_900.0, 0.98))
    answer = replace(summary_answer(), rows=rows, extras={"by": "rank"})
    assert headline(answer) == (
        "Rank 3 works longest of 3 ranks: 7.4 ms of AI-core time a step, 1.23 times that of the median rank."
    )
    alone = replace(summary_answer(), rows=(rank(0, 6_000.0, None),))
    assert headline(replace(alone, extras=alone.extras | {"by": "rank"})).startswith("A decode step takes")


def test_links_say_the_slowest_kind_or_that_none_was_measured() -> None:
    """14 GB/s of 28 GB/s is half of what one link moves."""
    rows = (
        LinkRow("HCCS", 12, 7e6, 500.0, 14.0, 28.0, "links", 0.5),
        LinkRow("SDMA", 2, 1e6, 10.0, 100.0, None, None, None),
    )
    answer = replace(summary_answer(), rows=rows, extras={"by": "link"})
    assert headline(answer) == (
        "HCCS took longest of the links: 12 collectives, 500.0 us of transfers at 14.0 GB/s a transfer, "
        "50 % of what one link of the device moves."
    )
    assert headline(replace(answer, rows=())).startswith("Nothing is known of the links")
