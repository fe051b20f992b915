"""Changes of the ledger: a new analysis, a try begun, its outcome, a confirmation, a request for an
operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...errors import WrongUsage
from ..answer import Answer
from ..answer_fusion import CodeCandidate, FusionRow, LedgerRow, ModuleRow, RequestRow, TryRow
from .finding import CHECK, EXCLUDED, FITS
from .ledger_state import DONE, Analysis, Attempt, Entry, Ledger, Request, State
from .opindex import OperatorIndex
from .review import review_rows

# Sub-chains that an attention or expert class must show before its analysis is complete.
_NEEDED = {"attention": ("QKV and O projection", "RoPE", "KV cache write", "attention core")}
_EXPERTS = ("gate", "routing and dispatch", "experts", "finalize and combine")
# Words of an answer of a decision tree that leaves the question open.
_OPEN = ("not told", "decides", "no config", "not in this code")
_WITHOUT_SHOWN = 10
_FIRST_CHECK_KERNELS = (
    "replace it in one layer, compare that layer's output, then `npu-roofline compare` two runs"
)
_TRY_FIELDS = (
    *("outcome", "before", "after", "step_before_us", "step_after_us", "step_change", "accuracy", "error"),
    *("reason", "next"),
)


@dataclass(frozen=True)
class Evidence:
    """What an outcome rests on: the answer of `compare`, the outputs compared, and what the person says."""

    compared: Answer | None = None
    before: str = ""
    after: str = ""
    outputs_equal: bool | None = None  # None = no outputs were compared
    outputs_text: str = ""
    accuracy: str = ""
    error: str = ""
    reason: str = ""


def analysed(
    ledger: Ledger, scan: Answer | None, model: Answer | None, indexes: Sequence[OperatorIndex]
) -> Ledger:
    """The ledger with the candidates of a scan and of model code; what was tried already is kept.

    A candidate that is known keeps its state and attempts; one that is no longer found stays in the list.
    """
    found = [*_from_scan(scan, indexes), *_from_model(model, indexes)]
    known = {each.id: each for each in ledger.entries}
    merged = {
        each.id: replace(each, state=known[each.id].state, attempts=known[each.id].attempts)
        if each.id in known and known[each.id].attempts
        else each
        for each in found
    }
    entries = (*(merged.get(each.id, each) for each in ledger.entries),
               *(each for name, each in merged.items() if name not in known))  # fmt: skip
    return replace(ledger, analysis=_analysis(ledger.analysis, scan, model, indexes), entries=tuple(entries))


def _from_scan(scan: Answer | None, indexes: Sequence[OperatorIndex]) -> list[Entry]:
    rows: Sequence[FusionRow] = scan.rows if scan else ()
    return [
        Entry(
            id=row.id,
            kind="kernels",
            api=row.api,
            rule=row.rule,
            place=f"{row.sequence}, {row.count:g} per step"
            + (f", {'; '.join(row.code)}" if row.code else ""),
            state="not_adaptable" if row.status == EXCLUDED else "open",
            prepare=(row.prepare,) if row.prepare else (),
            check=row.to_check,
            constraint=row.failing,
            saving_low_us=row.saving_low_us,
            saving_high_us=row.saving_high_us,
            first_check=_FIRST_CHECK_KERNELS,
            documented=_is_known(row.api, indexes),
        )
        for row in rows
        if row.api and row.status in (FITS, CHECK, EXCLUDED)
    ]


def _from_model(model: Answer | None, indexes: Sequence[OperatorIndex]) -> list[Entry]:
    rows: Sequence[CodeCandidate] = model.rows if model else ()
    return [
        Entry(
            id=row.id,
            kind="code",
            api=row.api,
            rule=row.rule,
            place=f"{row.module} ({', '.join(row.code)})",
            state="not_adaptable" if row.constraint else "open",
            prepare=row.prepare,
            check=row.check,
            constraint=row.constraint,
            first_check=f"replace {row.code[0]} only, compare the output of {row.module}, then two runs",
            documented=_is_known(row.api, indexes),
        )
        for row in rows
    ]


def _is_known(api: str, indexes: Sequence[OperatorIndex]) -> bool | None:
    return any(api.split(" ")[0] in index.operators for index in indexes) if indexes else None


def _analysis(
    old: Analysis, scan: Answer | None, model: Answer | None, indexes: Sequence[OperatorIndex]
) -> Analysis:
    new = old
    if scan is not None:
        left = [row for row in scan.rows if row.status == "no_operator"][:_WITHOUT_SHOWN]
        texts = tuple(f"{row.sequence}: {row.step_us:.1f} us per step" for row in left)
        new = replace(new, run=scan.run.name if scan.run else None, without_operator=texts)
    if indexes:
        new = replace(new, torch_npu=tuple(index.version or index.label for index in indexes))
    if model is not None:
        new = _with_model(new, model)
    return new


def _with_model(analysis: Analysis, model: Answer) -> Analysis:
    rows = model.extras["modules"]
    found = {(row.kind, row.module, row.chain.split(":")[0]) for row in rows if row.chain}
    steps = model.extras["trees"]
    open_steps = [step for step in steps if any(words in step.answer for words in _OPEN)]
    return replace(
        analysis,
        files=tuple(model.extras["files"]),
        chains_found=tuple(f"{kind}: {part} of {module}" for kind, module, part in sorted(found)),
        chains_missing=tuple(_chains_missing(rows)),
        trees=tuple(f"{step.tree} {step.question}: {step.answer}" for step in steps),
        trees_open=tuple(f"{step.tree} {step.question}: {step.answer}" for step in open_steps),
    )


def _chains_missing(rows: Sequence[ModuleRow]) -> list[str]:
    """Parts that every network has and this code does not show.

    Of each attention class; of the experts as a whole, since router, experts and block may be three classes.
    """
    parts = {(row.module, row.chain.split(":")[0]) for row in rows}
    whole = {row.module for row in rows if row.chain.startswith("whole prolog")}
    classes = [row for row in rows if not row.chain]
    missing = [
        f"{row.kind}: {part} of {row.module}"
        for row in classes
        if row.kind in _NEEDED and row.module not in whole
        for part in _NEEDED[row.kind]
        if (row.module, part) not in parts
    ]
    experts = [row.module for row in classes if row.kind in ("moe", "router")]
    return missing + [
        f"moe: {part} of {', '.join(experts)}"
        for part in (_EXPERTS if experts else ())
        if not any((module, part) in parts for module in experts)
    ]


def begun(ledger: Ledger, entry_id: str) -> Ledger:
    """Mark a candidate as being tried. WrongUsage while another one is: one change at a time."""
    entry = ledger.entry(entry_id)
    busy = next(
        (each for each in ledger.entries if each.state == "in_progress" and each.id != entry.id), None
    )
    if busy is not None:
        raise WrongUsage(
            f"{busy.id} ({busy.api}) is being tried, so {entry.id} cannot be: one change at a time",
            f"record its outcome first: `npu-roofline fuse ledger record {busy.id} --outcome …`",
        )
    return _with_entry(ledger, replace(entry, state="in_progress"))


def recorded(
    ledger: Ledger, entry_id: str, outcome: State, evidence: Evidence, next_step: str = ""
) -> Ledger:
    """Record what became of a try. WrongUsage when the evidence that the outcome needs is missing.

    kept: outputs that agree and two runs compared, not slower. rolled_back and skipped: a reason. blocked:
    the error.
    """
    entry = ledger.entry(entry_id)
    begun(ledger, entry_id)  # refuses while another one is being tried
    _check_evidence(outcome, evidence)
    attempt = _attempt(outcome, evidence, next_step)
    return _with_entry(ledger, replace(entry, state=outcome, attempts=(*entry.attempts, attempt)))


def _check_evidence(outcome: State, evidence: Evidence) -> None:
    missing = []
    if outcome == "kept":
        if evidence.compared is None:
            missing.append("two runs compared (--before, --after)")
        if evidence.outputs_equal is None and not evidence.accuracy:
            missing.append("accuracy (--outputs BEFORE AFTER, or --accuracy TEXT)")
        if evidence.outputs_equal is False:
            raise WrongUsage(
                f"the outputs differ, so the change cannot be kept: {evidence.outputs_text}",
                "record it as rolled_back; where another rounding is expected, say how it was judged with "
                "--accuracy TEXT instead of --outputs",
            )
        if evidence.compared is not None and evidence.compared.extras["step"].wall_change == "slower":
            raise WrongUsage("the step got slower, so the change cannot be kept", "record it as rolled_back")
    if outcome in ("rolled_back", "skipped") and not evidence.reason:
        missing.append("why (--reason TEXT)")
    if outcome == "blocked" and not (evidence.error and evidence.reason):
        missing.append("the error and the conclusion (--error TEXT --reason TEXT)")
    if missing:
        raise WrongUsage(
            f"{outcome} needs {' and '.join(missing)}", "nothing is recorded without its evidence"
        )


def _attempt(outcome: State, evidence: Evidence, next_step: str) -> Attempt:
    step = evidence.compared.extras["step"] if evidence.compared is not None else None
    verdict = evidence.compared.extras["verdict"] if evidence.compared is not None else None
    return Attempt(
        outcome=outcome,
        before=evidence.before,
        after=evidence.after,
        step_before_us=None if step is None else step.before.wall_us,
        step_after_us=None if step is None else step.after.wall_us,
        step_change="" if step is None else step.wall_change,
        verdict="" if verdict is None else verdict.outcome,
        accuracy="; ".join(text for text in (evidence.outputs_text, evidence.accuracy) if text),
        error=evidence.error,
        reason=evidence.reason,
        next=next_step,
    )


def confirmed(ledger: Ledger, item: str, reason: str) -> Ledger:
    """Settle something that the review asks for: limits of a candidate (its id), or a missing part by its
    text.
    """
    if not reason.strip():
        raise WrongUsage("a confirmation needs a reason", "say what you looked at: --reason TEXT")
    open_items = (*ledger.analysis.chains_missing, *ledger.analysis.trees_open)
    known = [each for each in open_items if each.startswith(item)]
    key = known[0] if len(known) == 1 else ledger.entry(item).id
    others = {name: text for name, text in ledger.confirmed.items() if name != key}
    return replace(ledger, confirmed={**others, key: reason})  # the last one is the newest


def requested(ledger: Ledger, request: Request) -> Ledger:
    """Add a request for an operator that does not exist; it may name the candidate that it came from."""
    if not all((request.location, request.semantics, request.why_not, request.expected)):
        raise WrongUsage("a request needs its location, semantics, why none fits, and the expected form", "")
    if request.entry:
        request = replace(request, entry=ledger.entry(request.entry).id)
    return replace(ledger, requests=(*ledger.requests, request))


def _with_entry(ledger: Ledger, entry: Entry) -> Ledger:
    return replace(ledger, entries=tuple(entry if each.id == entry.id else each for each in ledger.entries))


def ledger_answer(ledger: Ledger, lang: str = "en") -> Answer:
    """Every candidate with its state, every try, every request, and what the review still misses."""
    rows = tuple(
        LedgerRow(
            each.id, each.state, each.api, each.place, each.saving_low_us, each.saving_high_us, each.prepare,
            each.constraint or (each.attempts[-1].reason if each.attempts else ""), len(each.attempts),
        )
        for each in ledger.entries
    )  # fmt: skip
    tries = tuple(
        TryRow(id=each.id, number=number, **{name: getattr(attempt, name) for name in _TRY_FIELDS})
        for each in ledger.entries
        for number, attempt in enumerate(each.attempts, start=1)
    )
    requests = tuple(
        RequestRow(each.location, each.semantics, each.why_not, each.expected, each.entry)
        for each in ledger.requests
    )
    review = review_rows(ledger)
    done = sum(each.state in DONE for each in ledger.entries)
    kept = sum(each.state == "kept" for each in ledger.entries)
    sentence = (
        f"{done} of {len(rows)} candidates are settled, {kept} kept; "
        f"{sum(len(row.missing) for row in review)} things are missing in the review."
    )
    return Answer(
        "fuse-ledger", None, None, None, rows, (),
        {"sentence": sentence, "tries": tries, "requests": requests, "review": review, "lang": lang,
         "without_operator": ledger.analysis.without_operator},
    )  # fmt: skip
