"""The ledger: candidates kept in a file, one change at a time, every outcome with its evidence, and the
review.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.analyzer.fusion import fuse_scan
from npu_roofline.analyzer.fusion.ledger import (
    Evidence,
    analysed,
    begun,
    confirmed,
    ledger_answer,
    recorded,
    requested,
)
from npu_roofline.analyzer.fusion.ledger_state import Ledger, Request, read_ledger, write_ledger
from npu_roofline.analyzer.fusion.opindex import build_index
from npu_roofline.analyzer.fusion.opsource import operator_source
from npu_roofline.analyzer.fusion.review import fuse_review
from npu_roofline.analyzer.modelcode.model import fuse_model
from npu_roofline.errors import InputMissing, UnsupportedExport, WrongUsage
from npu_roofline.reports.render import render

from tests.analyzer.fusion.sequences import kernels, session_with
from tests.analyzer.fusion.wheels import make_wheel
from tests.analyzer.modelcode.samples import PLAIN, write
from tests.analyzer.modelcode.test_constructs import EXPERTS


@pytest.fixture(scope="module")
def scan() -> Answer:
    """A scan with a sequence that fits, one to check, and one that a limit refuses."""
    text = "Add RmsNorm MatMulV3 MlaPrologV3 Muls MatMulV3 SwiGlu(4,9000 bf16 -> 4,4500 bf16) DynamicQuant"
    return fuse_scan(
        session_with(kernels(text.replace("DynamicQuant", "DynamicQuant(4,4500 bf16 -> 4,4500 int8)")))
    )


@pytest.fixture
def ledger(scan: Answer) -> Ledger:
    """A ledger of the scan alone."""
    return analysed(Ledger(), scan, None, ())


def id_of(ledger: Ledger, rule: str) -> str:
    """The id of the entry of a rule."""
    return next(each.id for each in ledger.entries if each.rule == rule)


def compared(change: str = "faster") -> Any:
    """What `compare` answers, as far as the ledger reads it."""
    times = SimpleNamespace(wall_us=100.0), SimpleNamespace(wall_us=90.0)
    step = SimpleNamespace(before=times[0], after=times[1], wall_change=change)
    return SimpleNamespace(extras={"step": step, "verdict": SimpleNamespace(outcome="accepted")})


KEPT = Evidence(
    compared=compared(), before="a", after="b", outputs_equal=True, outputs_text="3 arrays are equal"
)


def test_candidates_of_a_scan_become_entries(ledger: Ledger) -> None:
    """What fits and what is to be checked is open; what a limit refuses is listed too, with the limit."""
    assert {each.rule: each.state for each in ledger.entries} == {
        "add_rms_norm": "open",
        "scale_into_mla_prolog": "open",
        "swiglu_quant": "not_adaptable",
    }
    refused = next(each for each in ledger.entries if each.state == "not_adaptable")
    assert "at most 8192" in (refused.constraint or "")


def test_one_change_at_a_time(ledger: Ledger) -> None:
    """While one candidate is being tried no other can be, nor be recorded; after its outcome the next may."""
    first, second = id_of(ledger, "add_rms_norm"), id_of(ledger, "scale_into_mla_prolog")
    busy = begun(ledger, first)
    with pytest.raises(WrongUsage, match="one change at a time"):
        begun(busy, second)
    with pytest.raises(WrongUsage, match="one change at a time"):
        recorded(busy, second, "skipped", Evidence(reason="later"))
    assert begun(recorded(busy, first, "kept", KEPT), second).entry(second).state == "in_progress"


@pytest.mark.parametrize(
    ("outcome", "evidence", "message"),
    [
        ("kept", Evidence(), "two runs compared .* and accuracy"),
        ("kept", replace(KEPT, outputs_equal=None), "accuracy"),
        ("kept", replace(KEPT, outputs_equal=False), "outputs differ"),
        ("kept", replace(KEPT, compared=compared("slower")), "got slower"),
        ("rolled_back", Evidence(), "why"),
        ("skipped", Evidence(), "why"),
        ("blocked", Evidence(error="EZ9999"), "the error and the conclusion"),
        ("blocked", Evidence(reason="no"), "the error and the conclusion"),
    ],
)
def test_no_outcome_without_its_evidence(
    ledger: Ledger, outcome: Any, evidence: Evidence, message: str
) -> None:
    """Nothing leaves the list silently: each outcome needs what the specification asks for."""
    with pytest.raises(WrongUsage, match=message):
        recorded(ledger, id_of(ledger, "add_rms_norm"), outcome, evidence)


def test_a_new_analysis_keeps_what_was_tried(scan: Answer, ledger: Ledger) -> None:
    """After a second start the tried candidate has its state and its try, and none is in the list twice."""
    tried = recorded(ledger, id_of(ledger, "add_rms_norm"), "rolled_back", Evidence(reason="accuracy"))
    again = analysed(tried, scan, None, ())
    assert len(again.entries) == 3
    entry = again.entry(id_of(again, "add_rms_norm"))
    assert (entry.state, entry.attempts[0].reason) == ("rolled_back", "accuracy")
    gone = analysed(tried, replace(scan, rows=()), None, ())
    assert len(gone.entries) == 3


def test_the_file_gives_back_the_ledger(ledger: Ledger, tmp_path: Path) -> None:
    """Written and read it is the same; another file, a damaged one and a missing one are errors that say
    so.
    """
    full = requested(
        recorded(ledger, id_of(ledger, "add_rms_norm"), "kept", KEPT, "the next layer"),
        Request("Block 31", "x + y + z, then norm", "takes two", "npu_add3_rms_norm"),
    )
    file = tmp_path / "l.json"
    write_ledger(full, file)
    assert read_ledger(file) == full
    file.write_text('{"schema": "npu-roofline.fuse-ledger/1", "entries": [{"id": 1}]}', encoding="utf-8")
    with pytest.raises(UnsupportedExport, match=r"entries\.0"):
        read_ledger(file)
    with pytest.raises(InputMissing, match="no ledger"):
        read_ledger(tmp_path / "absent.json")


def test_the_review_of_an_empty_ledger_misses_everything_of_the_analysis() -> None:
    """Nothing was read, so all four items of the analysis are incomplete and say what to do."""
    rows = fuse_review(Ledger()).rows
    assert [row.status for row in rows] == [*["missing"] * 4, *["complete"] * 3]
    assert "fuse ledger start" in rows[0].missing[0]


def test_the_review_becomes_complete(scan: Answer, tmp_path: Path) -> None:
    """With code, a torch_npu, confirmations and an outcome for each candidate every item is complete."""
    model = fuse_model(
        [write(tmp_path, "m.py", PLAIN)], write(tmp_path, "config.json", '{"num_attention_heads": 4}')
    )
    members = {"torch_npu/csrc/aten/npu_native_functions_by_codegen.yaml": _functions(scan, model)}
    index = build_index(operator_source(make_wheel(tmp_path / "a.whl", members)))
    ledger = analysed(Ledger(), scan, model, [index])
    missing = {row.item: row.missing for row in fuse_review(ledger).rows}
    assert missing["modules are decomposed to replaceable chains"] == (
        "moe: routing and dispatch of TinySparseMoeBlock was not found",
    )
    ledger = confirmed(ledger, "moe: routing", "the loop over experts needs none")
    for each in ledger.entries:
        ledger = confirmed(ledger, each.id, "read in the documentation")
    assert {row.status for row in fuse_review(ledger, analysis_only=True).rows} == {"complete"}
    assert any(row.status == "missing" for row in fuse_review(ledger).rows)
    for each in ledger.entries:
        if each.state == "open":
            ledger = recorded(ledger, each.id, "kept", KEPT)
    assert {row.status for row in fuse_review(ledger).rows} == {"complete"}


def _functions(scan: Answer, model: Answer) -> str:
    """A function list with every call that is proposed."""
    calls = {row.api.split(" ")[0] for row in (*scan.rows, *model.rows) if row.api}
    return "custom:\n" + "".join(f"- func: {call}(Tensor x) -> Tensor\n" for call in sorted(calls))


def test_a_call_that_the_torch_npu_lacks_is_missing(scan: Answer, tmp_path: Path) -> None:
    """A torch_npu without the call makes the review say so, for that candidate."""
    index = build_index(operator_source(make_wheel(tmp_path / "a.whl")))  # has npu_add_rms_norm only
    missing = fuse_review(analysed(Ledger(), scan, None, [index])).rows[2].missing
    assert any(
        "npu_mla_prolog_v3 (qc_qr_scale, kc_scale) is not in the torch_npu" in text for text in missing
    )
    assert not any("npu_add_rms_norm is not" in text for text in missing)


@pytest.mark.parametrize(
    ("lang", "title"), [("en", "# Fused operators: ledger"), ("zh", "# 融合算子优化台账")]
)
def test_the_report_holds_every_candidate_try_and_request(ledger: Ledger, lang: str, title: str) -> None:
    """Both languages name all ids, the measured times, the error and the request, and no raw markup of a
    text.
    """
    full = recorded(ledger, id_of(ledger, "add_rms_norm"), "kept", KEPT)
    full = recorded(
        full, id_of(full, "scale_into_mla_prolog"), "blocked", Evidence(error="EZ<9>", reason="[no](x)")
    )
    full = requested(full, Request("Block", "a|b", "none", "one"))
    text = render(ledger_answer(full, lang), "md")
    assert text.startswith(title)
    for each in full.entries:
        assert each.id in text
    assert "100.0" in text
    assert "90.0" in text
    assert "EZ<9>" not in text
    assert "a|b" not in text
    assert "a\\|b" in text


def test_a_confirmation_and_a_request_need_their_reasons(ledger: Ledger) -> None:
    """An empty reason confirms nothing, an unknown item is an error, a request without a form is none."""
    with pytest.raises(WrongUsage, match="reason"):
        confirmed(ledger, ledger.entries[0].id, " ")
    with pytest.raises(InputMissing, match="no candidate"):
        confirmed(ledger, "x-nothing", "because")
    with pytest.raises(WrongUsage, match="request"):
        requested(ledger, Request("Block", "sum", "none", ""))


def test_experts_over_several_classes_are_one_network(tmp_path: Path) -> None:
    """Router and experts stand in two classes: gate (line 28), routing (8), loop (10) and sum (15) are all
    there, so nothing of the experts is missing; without the router the gate is.
    """
    file = write(tmp_path, "m.py", EXPERTS)
    assert analysed(Ledger(), None, fuse_model([file]), ()).analysis.chains_missing == ()
    alone = write(tmp_path, "m.py", EXPERTS[: EXPERTS.index("class SmallRouter")])
    missing = analysed(Ledger(), None, fuse_model([alone]), ()).analysis.chains_missing
    assert missing == ("moe: gate of SmallExperts",)


def test_the_report_shows_no_empty_range_and_no_broken_line(ledger: Ledger) -> None:
    """A saving that is not known is one dash; an error of two lines stays on one line of the list."""
    entry = id_of(ledger, "add_rms_norm")
    tried = recorded(ledger, entry, "blocked", Evidence(error="RuntimeError: a\n  at b", reason="no kernel"))
    text = render(ledger_answer(tried, "en"), "md")
    assert "- Error: RuntimeError: a / at b" in text
    assert "- to -" not in text
