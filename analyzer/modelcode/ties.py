"""Kernel sequences of a capture tied to the lines of model code that produce them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ..answer import Answer
from ..answer_fusion import CodeCandidate, FusionRow
from ..fusion.rules import rule_book
from ..fusion.types import normalised
from .candidates import CodePattern, code_candidates, match_tokens, used_operators
from .config import read_config
from .conventions import conventions
from .events import ModelCode, read_model
from .facts import facts, has_paged_cache, modules

_WITHIN = 3  # steps of code between two that follow each other as kernels
_SHOWN = 6  # places of one sequence
# Operations that stand in every function: alone they point nowhere.
_ANYWHERE = frozenset({"add", "adds", "mul", "muls", "cast"})


def tie_to_code(scan: Answer, files: Sequence[Path], model_config: Path | None = None) -> Answer:
    """The scan with the lines behind each row, and a note on candidates of the code that no kernel shows.

    A trace's own source lines come first, where the capture has them. Then: the calls and operations of a
    function in the order of the kernels; the candidate of the same rule; the embedding for what runs before
    the layers. What is not found stays without a line.
    """
    code = read_model(files)
    config = read_config(model_config)
    candidates = code_candidates(code, config, has_paged_cache(facts(code, config)))
    rows = tuple(replace(row, code=row.code or _places(row, code, candidates)) for row in scan.rows)
    shown = {row.rule for row in rows}
    unseen = [each for each in candidates if each.rule not in shown]
    notes = [*scan.notes, *code.notes]
    tied = sum(bool(row.code) for row in rows)
    notes.append(
        f"{tied} of {len(rows)} sequences are tied to code, by the order of calls in a function or by the "
        "rule; a line is where to look, the capture does not prove it"
    )
    if unseen:
        places = "; ".join(f"{each.api} at {each.code[0]}" for each in unseen)
        notes.append(f"candidates in the code that no kernel of this selection shows: {places}")
    return replace(scan, rows=rows, notes=tuple(notes))


def _places(row: FusionRow, code: ModelCode, candidates: Iterable[CodeCandidate]) -> tuple[str, ...]:
    found = _by_order(row, code)
    if not found and row.rule:
        found = [place for each in candidates if each.rule == row.rule for place in each.code]
    if not found:
        found = _by_call(row, code)
    if not found and row.part == "before" and _looks_up(row):
        found = [each.code for each in modules(code) if each.kind == "embedding"]
    return tuple(dict.fromkeys(found))[:_SHOWN]


def _looks_up(row: FusionRow) -> bool:
    """Whether the kernels take rows of a table, as an embedding does; masks and positions do not."""
    return any("embedding" in _tokens(each) for each in row.types)


def _by_order(row: FusionRow, code: ModelCode) -> list[str]:
    """Functions in which the operations of the sequence follow each other as its kernels do."""
    types = _in_order(row)
    if not 2 <= len(types) <= _SHOWN or set(map(normalised, types)) <= _ANYWHERE:
        return []
    tokens = tuple((_tokens(each), False) for each in types)
    if not all(names for names, _ in tokens):
        return []
    pattern = CodePattern(row.rule, tokens, frozenset(), frozenset(), _WITHIN, frozenset(), (), ())
    places = []
    for each in code.classes:
        for function in each.functions:
            for events in match_tokens(function.events, pattern):
                first, last = events[0].line, events[-1].line
                places.append(f"{each.file}:{first}" if first == last else f"{each.file}:{first}-{last}")
    return places


def _in_order(row: FusionRow) -> tuple[str, ...]:
    """The types of the sequence as the stream has them: those that stay stand where the rule says."""
    if not row.context:
        return row.types
    first = 0 in rule_book().rule(row.rule).context
    return (*row.context, *row.types) if first else (*row.types, *row.context)


def _tokens(operator_type: str) -> frozenset[str]:
    """What a kernel type is called in code: calls of its fused operator, and plain operations."""
    name = normalised(operator_type)
    found = set(conventions()["kernels"].get(name, ()))
    rule = rule_book().fused.get(name)
    if rule is not None:
        calls = {call.split(" ")[0] for call in (rule.api, *rule.also)}
        # A rule may stand for a pair, such as dispatch and combine: the name tells which one it is.
        named = {call for call in calls if name in call.replace("_", "")}
        found |= named or ({rule_book().calls[name]} if name in rule_book().calls else calls)
    return frozenset(found)


def _by_call(row: FusionRow, code: ModelCode) -> list[str]:
    """Calls of the fused operators among the kernels."""
    wanted = {
        name for each in (*row.types, *row.context) for name in _tokens(each) if name.startswith("npu_")
    }
    if len(row.types) > _SHOWN:
        return []
    return [
        f"{place} {each.operator}"
        for each in used_operators(code)
        if each.operator in wanted
        for place in each.code
    ]
