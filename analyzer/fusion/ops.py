"""`ops`: which operators a torch_npu has, what their documentation says, and which of them fit a word."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...errors import InputMissing
from ..answer import Answer
from ..answer_fusion import OperatorRow, OperatorSection, OperatorSourceRow
from .opindex import Operator, OperatorIndex, operator_index
from .opsource import opdocs_table, operator_source
from .rules import Rule, rule_book

ABSENT = "absent"
# Order in which sections are shown; anything else follows.
_SECTIONS = (
    *("description", "prototype", "parameters", "returns", "constraints", "products", "torch_versions"),
    "examples",
)
_WEIGHTS = {"name": 8, "description": 4, "head": 2}  # of a hit; any other section counts one
_NEAREST = 3
_NO_DOCSTRING = "no docstring in this torch_npu; the function exists and can be called"


def open_indexes(wheels: Sequence[Path], cache: Path | None = None) -> tuple[OperatorIndex, ...]:
    """The index of every source named, or of the installed torch_npu. Raises InputMissing or
    UnsupportedExport.
    """
    return tuple(operator_index(operator_source(where), cache) for where in (wheels or (None,)))


def ops_list(indexes: Sequence[OperatorIndex], prefix: str = "", everything: bool = False) -> Answer:
    """Every operator with its status in each source; gradients only when `everything` is asked for."""
    names = sorted({name for index in indexes for name in index.operators})
    kept = [
        name for name in names if name.startswith(prefix) and (everything or not _is_gradient(name, indexes))
    ]
    rows = tuple(_row(name, indexes) for name in kept)
    return _answer("ops-list", indexes, rows)


def ops_show(indexes: Sequence[OperatorIndex], name: str) -> Answer:
    """All that is known about one operator: docstring, signatures, rules, availability; each with its source.

    Raises InputMissing with the nearest names for one that is in no source.
    """
    wanted = name.removeprefix("torch_npu.")
    holder = next((index for index in indexes if wanted in index.operators), None)
    if holder is None:
        raise _unknown(wanted, indexes)
    best = next(
        (each for each in indexes if wanted in each.operators and each.operators[wanted].documented), holder
    )
    row = _row(wanted, indexes)
    remarks = (f"{wanted}: {remark}" for remark in best.operators[wanted].remarks)
    rows = tuple(_sections(best.operators[wanted], best, _rules_of(wanted)))
    answer = _answer("ops-show", indexes, rows)
    return Answer(
        answer.command, None, None, None, rows,
        (*answer.notes, *remarks, *_status_note(row)),
        {"operator": row, "documentation": dict(best.operators[wanted].sections), **answer.extras},
    )  # fmt: skip


def ops_search(
    indexes: Sequence[OperatorIndex], query: str, prefix: str = "", top: int | None = None
) -> Answer:
    """Operators in which every word of the query occurs, in English or Chinese; the best fit first."""
    words = [each for each in re.split(r"[\s,\uff0c\u3001]+", query.strip()) if each]
    scored: list[OperatorRow] = []
    for name in sorted({name for index in indexes for name in index.operators}):
        index = next(each for each in indexes if name in each.operators)
        score = _score(index.operators[name], words)
        if score and name.startswith(prefix) and not _is_gradient(name, indexes):
            scored.append(_row(name, indexes, score))
    rows = sorted(scored, key=lambda row: (-(row.score or 0), row.name))
    answer = _answer("ops-search", indexes, tuple(rows if top is None else rows[:top]))
    return Answer(
        answer.command, None, None, None, answer.rows, answer.notes, {"matching": len(rows), **answer.extras}
    )


def _answer(command: str, indexes: Sequence[OperatorIndex], rows: tuple[object, ...]) -> Answer:
    sources = tuple(
        OperatorSourceRow(
            index.label, index.version, index.documented,
            sum(each.status == "schema_only" and not each.is_gradient for each in index.operators.values()),
            len(index.operators),
        )
        for index in indexes
    )  # fmt: skip
    notes = [note for index in indexes for note in index.notes]
    if len(indexes) > 1:
        order = ", ".join(index.version or index.label for index in indexes)
        notes.append(f"availability is in the order {order}; versions of torch do not tell which is newer")
    return Answer(command, None, None, None, rows, tuple(notes), {"sources": sources})


def _row(name: str, indexes: Sequence[OperatorIndex], score: int | None = None) -> OperatorRow:
    found = [index.operators.get(name) for index in indexes]
    known = [each for each in found if each is not None]
    documented = next((each for each in known if each.documented), known[0])
    signature = next((each.schemas[0] for each in known if each.schemas), "")
    return OperatorRow(
        name=name,
        status=known[0].status,
        availability=tuple(ABSENT if each is None else each.status for each in found),
        description=_first_sentence(documented),
        signature=signature,
        rules=tuple(rule.id for rule in _rules_of(name)),
        score=score,
    )


def _sections(operator: Operator, index: OperatorIndex, rules: Iterable[Rule]) -> Iterable[OperatorSection]:
    where = f"docstring, torch_npu {index.version or index.label}"
    for text in operator.schemas:
        yield OperatorSection("signature", text, f"function list, torch_npu {index.version or index.label}")
    if not operator.documented:
        yield OperatorSection(
            "description",
            "no docstring in this torch_npu; the function exists and can be called",
            "function list",
        )
    known = [kind for kind in ("head", *_SECTIONS) if kind in operator.sections]
    for kind in known:
        lines = [line.rstrip() for line in operator.sections[kind].split("\n")]
        for number, line in enumerate(line for line in lines if line):
            yield OperatorSection("" if number else kind, line, "" if number else where)
    for rule in rules:
        limits = [str(each.values["text"]) for each in rule.constraints if "text" in each.values]
        text = (
            "; ".join(part for part in (rule.prepare, *limits) if part) or "no limit beyond shapes and dtypes"
        )
        text = text or "no limit beyond shapes and dtypes"
        yield OperatorSection(f"rule {rule.id}", text, f"rules of npu-roofline: {rule.source}")


def _rules_of(name: str) -> tuple[Rule, ...]:
    """The rules that propose a call, whatever remark stands behind its name."""
    return tuple(
        rule for rule in rule_book().rules if name in (rule.api.split(" ")[0], *rule.also) and rule.api
    )


def _status_note(row: OperatorRow) -> list[str]:
    return (
        []
        if row.signature or row.status == "documented"
        else [f"{row.name} has a docstring, but no signature"]
    )


def _first_sentence(operator: Operator) -> str:
    """The first sentence of the description, for a list."""
    text = operator.sections.get("description") or (
        "" if not operator.documented else operator.sections.get("head", "")
    )
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines:
        return ""
    return re.split(r"(?<=[\u3002\uff1b])|(?<=[.;])\s", lines[0], maxsplit=1)[0]


def _is_gradient(name: str, indexes: Sequence[OperatorIndex]) -> bool:
    """Whether it is a gradient without a docstring anywhere."""
    found = [index.operators[name] for index in indexes if name in index.operators]
    return found[0].is_gradient and not any(each.documented for each in found)


def _score(operator: Operator, words: Sequence[str]) -> int:
    """The sum over the words of their best hits; 0 when a word, or one that means the same, is nowhere."""
    texts = {"name": operator.name, **operator.sections, "signature": " ".join(operator.schemas)}
    total = 0
    for word in words:
        same = _same_words(word)
        hits = [
            _WEIGHTS.get(kind, 1)
            for kind, text in texts.items()
            if any(each in text.lower() for each in same)
        ]
        if not hits:
            return 0
        total += max(hits) * 10 + len(hits)
    return total


def _same_words(word: str) -> set[str]:
    lowered = word.lower()
    found = {lowered}
    for line in opdocs_table()["words"]["same"]:
        if lowered in {each.lower() for each in line}:
            found |= {each.lower() for each in line}
    return found


def _unknown(name: str, indexes: Sequence[OperatorIndex]) -> InputMissing:
    names = sorted({each for index in indexes for each in index.operators})
    names = [each for each in names if not _is_gradient(each, indexes)]
    near = difflib.get_close_matches(name, names, _NEAREST)
    hint = f"did you mean {', '.join(near)}?" if near else "`npu-roofline ops search WORD` finds names"
    where = ", ".join(index.version or index.label for index in indexes)
    return InputMissing(
        f"no operator {name!r} in torch_npu {where}, neither documented nor in its functions", hint
    )
