"""Which phase a step is: train, decode, prefill, or unknown, each with the evidence in one sentence."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from .labels import publish_labels, training_evidence
from .sqlfiles import sql

if TYPE_CHECKING:
    from .session import Session

_TYPES_SHOWN = 3  # gradient or optimizer types named in a sentence


@dataclass(frozen=True)
class Phase:
    """'train', 'decode', 'prefill' or 'unknown' ('mixed' for a run whose steps differ), and why."""

    phase: str
    evidence: str


def phases(session: Session) -> dict[int, Phase]:
    """The phase of each selected step.

    Gradient or optimizer kernels anywhere in the rank make every step training. Else the attention operator
    tells, else the rows (M) of the matmuls, time-weighted; when the two contradict each other the phase is
    unknown.
    """
    if "phases" not in session.cache:
        session.cache["phases"] = _phases(session)
    return session.cache["phases"]


def run_phase(session: Session) -> Phase:
    """The phase that all selected steps share; 'mixed' when they differ."""
    found = list(phases(session).values())
    names = sorted({each.phase for each in found})
    if len(names) == 1:
        return found[0]
    counted = ", ".join(f"{sum(each.phase == name for each in found)} {name}" for name in names)
    return Phase("mixed" if names else "unknown", f"the steps differ: {counted}" if names else "no steps")


def training_note(session: Session) -> list[str]:
    """A note when the capture is training, because then no weight is a prefetch target; else nothing."""
    found = training_evidence(session)
    return [_training_sentence(found) + ": no weight of it is a prefetch target"] if found else []


def _phases(session: Session) -> dict[int, Phase]:
    found = training_evidence(session)
    if found:
        return dict.fromkeys(session.step_ids, Phase("train", _training_sentence(found)))
    publish_labels(session)
    rows_by_step = dict(session.con.execute(sql("phases.sql")).fetchall())
    attention = _attention_by_step(session)
    return {
        step: _judge(rows_by_step.get(step), attention.get(step, frozenset()), session)
        for step in session.step_ids
    }


def _judge(m: int | None, attention: frozenset[tuple[str, str]], session: Session) -> Phase:
    """One step, from the time-weighted M of its matmuls and the telling attention types in it."""
    by_rows = _phase_of_rows(m, session)
    told = {phase for phase, _ in attention}
    names = ", ".join(sorted({name for _, name in attention}))
    rows_text = (
        "the export tells no M of the matmuls" if m is None else f"matmuls work on {m} rows, time-weighted"
    )
    if len(told) == 1:
        phase = told.pop()
        if by_rows not in ("unknown", phase) and phase == "decode":
            return Phase("unknown", f"{names} says decode, but {rows_text}")
        return Phase(phase, f"{names} is the attention of {phase}; {rows_text}")
    if told:
        return Phase("unknown", f"{names} occur in one step: prefill and decode are batched together")
    return Phase(by_rows, rows_text)


def _phase_of_rows(m: int | None, session: Session) -> str:
    options = session.options
    if m is None:
        return "unknown"
    if m <= options.decode_max_rows:
        return "decode"
    return "prefill" if m >= options.prefill_min_rows else "unknown"


def _attention_by_step(session: Session) -> dict[int, frozenset[tuple[str, str]]]:
    """(phase, type) of the telling attention operators of each step."""
    phase_of = {}
    for row in session.rows("SELECT DISTINCT type FROM selected_signatures WHERE type IS NOT NULL"):
        phase = attention_phase(row["type"])
        if phase is not None:
            phase_of[row["type"]] = phase
    if not phase_of:
        return {}
    rows = session.rows(
        "SELECT k.step_id, list_sort(list(DISTINCT s.type)) AS types FROM selected_kernels k "
        "JOIN selected_signatures s USING (signature_id) WHERE list_contains(?, s.type) GROUP BY k.step_id",
        [sorted(phase_of)],
    )
    return {row["step_id"]: frozenset((phase_of[name], name) for name in row["types"]) for row in rows}


def attention_phase(operator_type: str) -> str | None:
    """'decode' or 'prefill' for an attention operator that serves only one of them; None for every
    other type.
    """
    for pattern, phase in _attention_rules():
        if operator_type == pattern or (pattern.endswith("*") and operator_type.startswith(pattern[:-1])):
            return phase
    return None


@cache
def _attention_rules() -> tuple[tuple[str, str], ...]:
    text = resources.files("npu_roofline.analyzer").joinpath("phases.toml").read_text(encoding="utf-8")
    return tuple((rule["type"], rule["phase"]) for rule in tomllib.loads(text)["attention"])


def _training_sentence(types: tuple[str, ...]) -> str:
    more = f" and {len(types) - _TYPES_SHOWN} more" if len(types) > _TYPES_SHOWN else ""
    named = ", ".join(types[:_TYPES_SHOWN]) + more
    return f"gradient or optimizer kernels ({named}) make this a training capture"
