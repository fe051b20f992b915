"""The JSON names that other programs rely on: every command answers with the names that the design fixes."""

from __future__ import annotations

import pytest

from tests.samples.conftest import Profiles

BEFORE, AFTER = "moe_decode_before", "moe_decode_after"
ENVELOPE = "schema run device coverage rows notes"
HOTSPOTS = """
id type core input_shapes input_dtypes input_formats count total_us median_us p10_us p90_us share bound
limiter confidence reason flops flops_hi bytes_lo bytes_hi weight_bytes arithmetic_intensity ridge floor_us
headroom_us potential_us achieved_tflops achieved_gb_s hbm_fraction
"""
CANDIDATES = """
id target_type target_shapes target_us bound confidence role layer_scope occurrences_per_step weight_bytes
weights window alternatives max_size max_size_terms predicted_saving_us predicted_saving_step_us status reason
"""
WINDOW = "dependency kernels duration_us spare_bytes safe hazards"
TERMS = "formula_bytes window_bytes l2_bytes cap_bytes limited_by"
SAVING = "low mid high"
COMPARE = """
key layer position type before_us after_us before_step_us after_step_us delta_us delta_pct ci_low_us
ci_high_us n_before n_after change
"""
VERDICT = "outcome criteria failure_signals next_action"

BOUNDS = {"memory", "compute", "latency", "communication", "other", "unknown"}
CONFIDENCES = {"high", "medium", "low"}
CHANGES = {"faster", "slower", "same", "new", "gone", "inconclusive"}


def names(text: str) -> set[str]:
    """The names in a text."""
    return set(text.split())


@pytest.mark.parametrize(
    ("question", "schema"),
    [
        ("summary", "npu-roofline.summary/1"),
        ("hotspots", "npu-roofline.hotspots/1"),
        ("candidates", "npu-roofline.candidates/1"),
        (f"compare {BEFORE} {AFTER}", "npu-roofline.compare/1"),
    ],
)
def test_every_answer_comes_in_the_envelope(question: str, schema: str, profiles: Profiles) -> None:
    """Schema with version, run, device, coverage, rows, notes; the device says soc, source, confidence."""
    answer = profiles.ask(BEFORE, question)
    assert answer["schema"] == schema
    assert names(ENVELOPE) <= answer.keys()
    assert names("soc source confidence") <= answer["device"].keys()
    assert answer["rows"]


def test_hotspots_have_their_names(profiles: Profiles) -> None:
    """Every row has every name, with words from the fixed lists and texts without the export's quotes."""
    for row in profiles.ask(BEFORE, "hotspots")["rows"]:
        assert names(HOTSPOTS) <= row.keys()
        assert row["bound"] in BOUNDS
        assert row["confidence"] in CONFIDENCES
        assert '"' not in (row["input_shapes"] or "")


def test_candidates_have_their_names(profiles: Profiles) -> None:
    """Rows, windows, alternatives, the terms of max_size and the range of the saving are named as fixed."""
    for row in profiles.ask(BEFORE, "candidates --top 100")["rows"]:
        assert names(CANDIDATES) <= row.keys()
        assert row["status"] in {"candidate", "no_safe_window", "rejected"}
        assert row["layer_scope"] in {"same_layer", "previous_layer"}
        for window in [row["window"], *row["alternatives"]]:
            assert names(WINDOW) <= window.keys()
        assert names(TERMS) <= row["max_size_terms"].keys()
        assert row["max_size_terms"]["limited_by"] in {"coefficient", "window", "l2", "cap"}
        assert names(SAVING) <= row["predicted_saving_us"].keys()
        assert all("bytes" in weight for weight in row["weights"])


def test_the_smallest_term_is_the_size(profiles: Profiles) -> None:
    """max_size is the minimum of its terms, rounded down to 512 bytes, and what limits it is named."""
    limits = {"coefficient": "formula_bytes", "window": "window_bytes", "l2": "l2_bytes", "cap": "cap_bytes"}
    for row in profiles.ask(BEFORE, "candidates --top 100")["rows"]:
        terms = row["max_size_terms"]
        smallest = min(terms[name] for name in limits.values() if terms[name] is not None)
        assert terms[limits[terms["limited_by"]]] == smallest
        assert 0 <= smallest - row["max_size"] < 512 * len(row["weights"])
        assert row["max_size"] <= row["weight_bytes"]


@pytest.mark.parametrize(
    ("option", "size", "limit"),
    [
        ("--coefficient 0.25", 10485760, "coefficient"),
        ("--coefficient 1.0", 34514432, "window"),
        ("--cap-mib 4", 4194304, "cap"),
    ],
)
def test_the_options_of_the_size_are_obeyed(option: str, size: int, limit: str, profiles: Profiles) -> None:
    """Gate-up behind the MoE: a quarter of 41,943,040; the 34.5 MB of the window; 4 MiB."""
    rows = profiles.ask(BEFORE, f"candidates --top 100 {option}")["rows"]
    gate_ups = [row for row in rows if row["weight_bytes"] == 41943040]
    row = next(row for row in gate_ups if row["window"]["dependency"] == "GroupedMatmul")
    assert row["max_size"] == pytest.approx(size, abs=512)
    assert row["max_size_terms"]["limited_by"] == limit


def test_comparisons_have_their_names(profiles: Profiles) -> None:
    """Rows, step, residual and verdict are named as fixed."""
    answer = profiles.ask(BEFORE, f"compare {BEFORE} {AFTER}")
    assert names("step residual verdict") <= answer.keys()
    assert names(VERDICT) <= answer["verdict"].keys()
    assert names("before after") <= answer["step"].keys()
    for row in answer["rows"]:
        assert names(COMPARE) <= row.keys()
        assert row["change"] in CHANGES


@pytest.mark.parametrize(
    "question", ["summary", "hotspots", "candidates --top 100", f"compare {BEFORE} {AFTER}"]
)
def test_the_same_question_gets_the_same_answer(question: str, profiles: Profiles) -> None:
    """Asked twice, an answer is equal to the last digit."""
    assert profiles.ask(BEFORE, question) == profiles.ask(BEFORE, question)
