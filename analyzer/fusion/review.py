"""`fuse review`: the checklist of the analysis and of the implementation, worked out from the ledger."""

from __future__ import annotations

from collections.abc import Iterable

from ..answer import Answer
from ..answer_fusion import ReviewRow
from .ledger_state import Ledger

ANALYSIS, IMPLEMENTATION = "analysis", "implementation"


def fuse_review(ledger: Ledger, analysis_only: bool = False) -> Answer:
    """Each item of the checklist: complete, or what is missing. `analysis_only` leaves the implementation
    out.
    """
    rows = tuple(row for row in review_rows(ledger) if row.stage == ANALYSIS or not analysis_only)
    missing = sum(len(row.missing) for row in rows)
    incomplete = sum(row.status == "missing" for row in rows)
    sentence = (
        f"All {len(rows)} items of the review are complete."
        if not incomplete
        else f"{incomplete} of {len(rows)} items of the review are incomplete; {missing} things are missing."
    )
    return Answer("fuse-review", None, None, None, rows, (), {"sentence": sentence})


def review_rows(ledger: Ledger) -> tuple[ReviewRow, ...]:
    """The checklist of the specification: four items of the analysis, three of the implementation."""
    return (
        _row(ANALYSIS, "modules are decomposed to replaceable chains", _modules(ledger)),
        _row(ANALYSIS, "each module is matched to a reference chain, or to none", _trees(ledger)),
        _row(ANALYSIS, "operator limits are confirmed from documentation", _limits(ledger)),
        _row(ANALYSIS, "each candidate has preparation, first check and blocking point", _candidates(ledger)),
        _row(IMPLEMENTATION, "every candidate is settled", _settled(ledger)),
        _row(IMPLEMENTATION, "kept changes have accuracy and performance evidence", _evidence(ledger)),
        _row(IMPLEMENTATION, "failed changes have error, attempt and conclusion", _failures(ledger)),
    )


def _row(stage: str, item: str, missing: Iterable[str]) -> ReviewRow:
    texts = tuple(missing)
    return ReviewRow(stage, item, "missing" if texts else "complete", texts)


def _modules(ledger: Ledger) -> list[str]:
    analysis = ledger.analysis
    if not analysis.files:
        return ["no model code was read: `fuse ledger start --model FILE`"]
    return [f"{each} was not found" for each in analysis.chains_missing if each not in ledger.confirmed]


def _trees(ledger: Ledger) -> list[str]:
    if not ledger.analysis.trees:
        return ["no decision tree was worked out: model code is needed"]
    return [each for each in ledger.analysis.trees_open if each not in ledger.confirmed]


def _limits(ledger: Ledger) -> list[str]:
    missing = [] if ledger.analysis.torch_npu else ["no torch_npu documentation was read: --wheel FILE"]
    for each in ledger.entries:
        if each.state == "not_adaptable" or each.id in ledger.confirmed:
            continue
        if each.documented is False:
            missing.append(f"{each.id}: {each.api} is not in the torch_npu that was read")
        missing += [f"{each.id}: {text}" for text in each.check]
    return missing


def _candidates(ledger: Ledger) -> list[str]:
    if not ledger.entries:
        return ["the list of candidates is empty: `fuse ledger start`"]
    missing = []
    for each in ledger.entries:
        if not each.first_check:
            missing.append(f"{each.id}: how it is checked first")
        if each.state == "not_adaptable" and not (each.constraint or each.attempts):
            missing.append(f"{each.id}: the limit that refuses it")
    return missing


def _settled(ledger: Ledger) -> list[str]:
    return [f"{each.id}: {each.api} is {each.state.replace('_', ' ')}" for each in ledger.entries
            if each.state in ("open", "in_progress")]  # fmt: skip


def _evidence(ledger: Ledger) -> list[str]:
    missing = []
    for each in ledger.entries:
        if each.state != "kept":
            continue
        last = each.attempts[-1] if each.attempts else None
        if last is None or not last.accuracy:
            missing.append(f"{each.id}: no accuracy evidence")
        if last is None or last.step_after_us is None:
            missing.append(f"{each.id}: no performance evidence")
    return missing


def _failures(ledger: Ledger) -> list[str]:
    missing = []
    for each in ledger.entries:
        last = each.attempts[-1] if each.attempts else None
        if each.state == "blocked" and (last is None or not last.error):
            missing.append(f"{each.id}: no error")
        if each.state in ("blocked", "rolled_back", "skipped") and (last is None or not last.reason):
            missing.append(f"{each.id}: no conclusion")
    return missing
