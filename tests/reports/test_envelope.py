"""The JSON envelope: stable names, null for unknown, never NaN."""

from __future__ import annotations

import datetime
import decimal
import json
import math
from dataclasses import replace

import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.errors import InternalError
from npu_roofline.reports.envelope import envelope, plain
from npu_roofline.reports.render import render

from tests.reports.answers import (
    CANDIDATE,
    GATE_UP,
    candidates_answer,
    every_answer,
    hotspots_answer,
    summary_answer,
)

# The names that other programs rely on. Removing one is a new schema version; adding one is not.
ENVELOPE = ["schema", "run", "device", "coverage", "rows", "notes"]
HOTSPOT = [
    "id",
    "type",
    "core",
    "input_shapes",
    "input_dtypes",
    "input_formats",
    "count",
    "total_us",
    "median_us",
    "p10_us",
    "p90_us",
    "share",
    "bound",
    "limiter",
    "confidence",
    "reason",
    "flops",
    "flops_hi",
    "bytes_lo",
    "bytes_hi",
    "weight_bytes",
    "arithmetic_intensity",
    "ridge",
    "floor_us",
    "headroom_us",
    "potential_us",
    "achieved_tflops",
    "achieved_gb_s",
    "hbm_fraction",
]
CANDIDATE_NAMES = [
    "id",
    "target_type",
    "target_shapes",
    "target_us",
    "bound",
    "confidence",
    "role",
    "layer_scope",
    "occurrences_per_step",
    "weight_bytes",
    "weights",
    "window",
    "alternatives",
    "max_size",
    "max_size_terms",
    "predicted_saving_us",
    "predicted_saving_step_us",
    "status",
    "reason",
]
WINDOW = ["dependency", "kernels", "duration_us", "spare_bytes", "safe", "hazards"]
TERMS = ["formula_bytes", "window_bytes", "l2_bytes", "cap_bytes", "limited_by"]


@pytest.mark.parametrize("command", every_answer())
def test_the_envelope_has_its_names(command: str) -> None:
    """Schema, run, device, coverage, rows and notes stand first in every answer, extras behind."""
    read = json.loads(render(every_answer()[command], "json"))
    assert list(read)[: len(ENVELOPE)] == ENVELOPE
    assert read["schema"] == f"npu-roofline.{command}/1"


def test_the_rows_have_the_promised_names() -> None:
    """Every name that the design promises for hotspots and candidates is in their rows."""
    hotspot = json.loads(render(hotspots_answer(), "json"))["rows"][0]
    candidate = json.loads(render(candidates_answer(), "json"))["rows"][0]
    assert [name for name in HOTSPOT if name not in hotspot] == []
    assert [name for name in CANDIDATE_NAMES if name not in candidate] == []
    assert [name for name in WINDOW if name not in candidate["window"]] == []
    assert [name for name in TERMS if name not in candidate["max_size_terms"]] == []
    assert set(candidate["predicted_saving_us"]) == {"low", "mid", "high"}
    device = json.loads(render(hotspots_answer(), "json"))["device"]
    assert {"soc", "source", "confidence"} <= set(device)


def test_extras_stand_beside_the_rows() -> None:
    """The steps of a summary are at the top level under their own name."""
    read = json.loads(render(summary_answer(), "json"))
    assert [step["wall_us"] for step in read["steps"]] == [25626.0, 10666.0, 10718.0]


def test_an_extra_may_not_hide_the_envelope() -> None:
    """An extra named like a field of the envelope is a bug of ours and is refused."""
    with pytest.raises(InternalError, match="hide the envelope"):
        envelope(Answer("query", None, None, None, (), (), {"rows": ()}))


def test_unknown_is_null_and_numbers_are_numbers() -> None:
    """None, NaN and infinity are null; zero stays zero; a count is a number and no text."""
    row = replace(GATE_UP, headroom_us=0.0, floor_us=None, ridge=math.nan, achieved_gb_s=math.inf)
    read = json.loads(render(hotspots_answer(row), "json"))["rows"][0]
    assert (read["headroom_us"], read["floor_us"], read["ridge"], read["achieved_gb_s"]) == (
        0.0,
        None,
        None,
        None,
    )
    assert read["count"] == 6
    assert isinstance(read["count"], int)


def test_values_of_a_query_become_json() -> None:
    """What SQL can return has a JSON form: dates, decimals, bytes, sets, nested lists."""
    assert plain(datetime.date(2026, 1, 2)) == "2026-01-02"
    assert plain(decimal.Decimal("12")) == 12
    assert plain(decimal.Decimal("1.5")) == 1.5
    assert plain(b"\x01\xff") == "01ff"
    assert plain(frozenset({"b", "a"})) == ["a", "b"]
    assert plain((CANDIDATE.window,))[0]["kernels"][0]["type"] == "MoeDistributeCombineV2"


def test_the_same_answer_gives_the_same_bytes() -> None:
    """Rendering twice gives equal text in every format."""
    for answer in every_answer().values():
        for format in ("table", "json", "csv", "md", "html"):
            assert render(answer, format) == render(answer, format)
