"""How much of the capture the labels rest on: the first line of every report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..errors import InternalError
from ..units import format_duration
from .answer import Coverage
from .kernel_reads import class_totals
from .labels import LabelledGroup, labelled_groups

if TYPE_CHECKING:
    from .session import Session

# Relative difference that summing the same doubles in another order can make.
_ROUNDING = 1e-9


def coverage(session: Session) -> Coverage:
    """Time by how well it is modelled and labelled, with rejects, duplicates and other engines.

    Raises InternalError when the classes do not add up to the total: no number of the answer could be
    believed.
    """
    if "coverage" not in session.cache:
        session.cache["coverage"] = _coverage(session)
    return session.cache["coverage"]


def _coverage(session: Session) -> Coverage:
    groups = [group for group in labelled_groups(session) if group.is_aicore]
    counted = dict(session.read(class_totals))
    by_model = {name: _total(groups, name) for name in ("modelled", "upper_bound", "generic", "unresolved")}
    unknown_us = sum(group.statistics.total_us for group in groups if group.label.bound == "unknown")
    labelled_us = sum(group.statistics.total_us for group in groups if group.label.bound != "unknown")
    aicore_us = counted["aicore_us"]
    check_sum("time by work model", sum(by_model.values()), aicore_us)
    check_sum("time by label", labelled_us + unknown_us, aicore_us)
    read = session.rows(
        "SELECT rows_read, rows_kept, rows_rejected FROM runs WHERE run_id = ?", [session.run.run_id]
    )[0]
    if read["rows_read"] != read["rows_kept"] + read["rows_rejected"]:
        raise InternalError(
            f"rows in ({read['rows_read']}) are not rows kept + rejected", "ingest the run again"
        )
    values: dict[str, Any] = {
        **read,
        **counted,
        **{f"{name}_us": value for name, value in by_model.items()},
        "labelled_us": labelled_us,
        "unknown_us": unknown_us,
        "steps": len(session.step_ids),
    }
    return Coverage(**values, sentence=_sentence(values))


def check_sum(what: str, parts: float, total: float) -> None:
    """Conservation: the parts must add up to the total, but for rounding."""
    if not math.isclose(parts, total, rel_tol=_ROUNDING, abs_tol=1e-6):
        raise InternalError(
            f"{what}: the parts add up to {parts} us, the total is {total} us", "please report this"
        )


def model_class(group: LabelledGroup) -> str:
    """How the group's work is known: modelled, upper_bound, generic (type without a model) or unresolved."""
    if group.work.outcome == "unresolved":
        return "unresolved"
    if group.work.family == "generic":
        return "generic"
    return "upper_bound" if group.work.outcome == "upper_bound" else "modelled"


def _total(groups: list[LabelledGroup], name: str) -> float:
    return sum(group.statistics.total_us for group in groups if model_class(group) == name)


def _sentence(values: dict[str, Any]) -> str:
    """One line: the time, how it is modelled, how much is labelled, what was set aside."""
    total = values["aicore_us"]
    steps, kernels = _plural(values["steps"], "step"), _plural(values["aicore_rows"], "AI-core kernel")
    parts = [f"{kernels} take {format_duration(total)} in {steps}"]
    if total > 0:
        parts += [_modelled(values), _labelled(values)]
    if values["communication_rows"]:
        collectives = _plural(values["communication_rows"], "communication kernel")
        parts.append(f"{collectives} {format_duration(values['communication_us'])}")
    if values["other_engine_rows"]:
        others = _plural(values["other_engine_rows"], "row")
        parts.append(
            f"AI_CPU and other engines apart: {others}, {format_duration(values['other_engine_us'])}"
        )
    parts.append(
        f"{values['rows_kept']:,} of {values['rows_read']:,} rows kept, {values['rows_rejected']:,} rejected"
    )
    if values["duplicate_rows"]:
        parts.append(f"{values['duplicate_rows']:,} listed twice and counted once")
    return f"Coverage: {'; '.join(parts)}."


def _modelled(values: dict[str, Any]) -> str:
    """'98.1 % modelled, 1.2 % an upper bound, …': classes without time are left out."""
    words = {
        "modelled_us": "modelled",
        "upper_bound_us": "an upper bound",
        "generic_us": "generic (type without a model)",
        "unresolved_us": "unresolved (shapes missing or contradictory)",
    }
    total = values["aicore_us"]
    return ", ".join(
        f"{_percent(values[key], total)} {word}" for key, word in words.items() if values[key] > 0
    )


def _labelled(values: dict[str, Any]) -> str:
    total = values["aicore_us"]
    return (
        f"{_percent(values['labelled_us'], total)} labelled, {_percent(values['unknown_us'], total)} unknown"
    )


def _percent(part: float, total: float) -> str:
    """A share that is neither rounded up to 100 % nor down to 0 % unless it is."""
    share = round(part / total * 100, 9)  # sums of the same doubles differ in their last digits
    if 0 < share < 0.05:
        return "<0.1 %"
    if 99.95 <= share < 100:
        return ">99.9 %"
    return f"{share:.1f} %" if 0 < share < 100 else f"{share:.0f} %"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
