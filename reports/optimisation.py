"""The optimisation report that the specification asks for, as Markdown in either language.

Every heading is there whatever was measured: where nothing was, the report says so and which command would.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any, Final

import jinja2

from ..analyzer.answer import CompareRow, CriterionRow, StepComparison, Verdict
from ..analyzer.compare import OptimisationReport
from ..analyzer.compare.target import TargetChange
from ..units import NOT_KNOWN, format_bytes, format_duration, format_share
from .escape import markdown
from .formats import format_named
from .headline import device_line
from .sentences import comparison_sentence
from .words import Words, words

_LONGEST: Final = 1200
_ROWS: Final = 30  # changed kernels listed; the comparison has all
# check of the specification -> criterion of the verdict that answers it
_CHECKS: Final = (
    ("target", ("target faster",)),
    ("path", ("step faster",)),
    ("window", ("window stable",)),
    ("tails", ("no longer tail on another stream",)),
    ("outputs", ("outputs equal",)),
)


class Ready(str):
    """Text that is Markdown already: our own, or escaped."""


def optimisation_document(found: OptimisationReport, lang: str = "en") -> str:
    """The report as Markdown, ending in a line end. Raises WrongUsage for an unknown language."""
    text = words(lang)
    answer = found.compared
    verdict: Verdict = answer.extras["verdict"]
    target: TargetChange | None = answer.extras.get("target")
    context: dict[str, Any] = {
        "found": found,
        "answer": answer,
        "sides": answer.extras["sides"],
        "run_before": answer.extras["before"].name,  # a side may be several runs, --run takes one
        "step": answer.extras["step"],
        "times": _times(answer.extras["step"], target),
        "verdict": verdict,
        "headline": comparison_sentence(answer, text),
        "target": target,
        "candidate": found.candidate,
        "size": _size(found, target),
        "changed": [row for row in answer.rows if row.change in ("faster", "slower")][:_ROWS],
        "counts": _counts(answer.rows),
        "checks": _checks(verdict),
        "device_line": device_line(answer.device) if answer.device else "",
        "saved": None if target is None else -(target.delta_step_us + (target.window_delta_step_us or 0.0)),
        "command": _command(answer.extras["sides"], target),
        "prefetch": _prefetches(found, text),
        "prefetch_checks": answer.extras.get("prefetch", ()),
        "path": answer.extras.get("path", ()),
        "path_sides": answer.extras.get("path_sides", ()),
    }
    return _environment(text).get_template("optimisation.md.j2").render(context).rstrip("\n") + "\n"


def _times(step: StepComparison, target: TargetChange | None) -> list[dict[str, Any]]:
    """The rows of the performance table: key of the name, before, after, per cent, judgement."""
    rows = [
        ("wall", step.before.wall_us, step.after.wall_us, step.wall_change),
        ("busy", step.before.busy_us, step.after.busy_us, step.busy_change),
        ("idle", step.before.idle_us, step.after.idle_us, step.idle_change),
    ]
    found = [_time(*row) for row in rows]
    if target is not None:
        found.append(_time("target", target.before_us, target.after_us, target.change))
        slower = "slower" if target.window_slower else "inconclusive"
        found.append(_time("window", target.window_before_us, target.window_after_us, slower))
    return found


def _time(name: str, before: float | None, after: float | None, change: str) -> dict[str, Any]:
    known = before is not None and after is not None
    delta = after - before if before is not None and after is not None else None
    told = delta is not None and change != "inconclusive"
    return {
        "name": name,
        "before": before,
        "after": after,
        "delta": delta,
        "pct": delta / before * 100
        if told and delta is not None and before
        else None,  # a change that may be noise is no percentage
        "change": change if known else None,
    }


def _prefetches(found: OptimisationReport, text: Words) -> str | None:
    """The copy tasks of the run after, counted; None where no trace was ingested."""
    tasks = found.prefetches
    if tasks is None:
        return None
    if not tasks:
        return text("report.checklist.no_tasks")
    steps = found.compared.extras["step"].after.steps
    middle = median(task.duration_us for task in tasks)
    return text("report.checklist.tasks", count=len(tasks), steps=steps, middle=f"{middle:,.1f}")


def _size(found: OptimisationReport, target: TargetChange | None) -> dict[str, Any] | None:
    """The terms of max_size with the one that limits it; None where no candidate stands at the target."""
    row = found.candidate
    if row is None or row.max_size_terms is None or not row.weight_bytes or target is None:
        return None
    terms = row.max_size_terms
    return {
        "terms": [
            (name, size)
            for name, size in (
                ("formula", terms.formula_bytes),
                ("window", terms.window_bytes),
                ("l2", terms.l2_bytes),
                ("cap", terms.cap_bytes),
            )
            if size is not None
        ],
        "limited_by": "formula" if terms.limited_by == "coefficient" else terms.limited_by,
        "weight": format_bytes(row.weight_bytes),
        "coefficient": f"{(terms.formula_bytes or 0) / row.weight_bytes:.2g}",
    }


def _counts(rows: Sequence[CompareRow]) -> dict[str, int]:
    counts = {name: sum(row.change == name for row in rows) for name in ("new", "gone")}
    return counts | {"rest": sum(row.change in ("same", "inconclusive") for row in rows)}


def _checks(verdict: Verdict) -> list[tuple[str, CriterionRow | None]]:
    """The five checks of the specification, each with its criterion; None where it was not asked."""
    by_name = {each.name: each for each in verdict.criteria}
    return [
        (name, next((by_name[each] for each in asked if each in by_name), None)) for name, asked in _CHECKS
    ]


def _command(sides: tuple[str, str], target: TargetChange | None) -> str:
    aimed = f" --target {target.id}" if target else " --target c-..."
    return f"npu-roofline compare {sides[0]} {sides[1]}{aimed} --outputs before.npz after.npz"


def _two_of_four(verdict: Verdict, text: Words) -> str:
    """'target takes less time: yes; …': the specification's weaker rule, line by line."""
    met = {True: text("report.checklist.yes"), False: text("report.checklist.no")}
    unknown = text("report.checklist.unknown")
    return "; ".join(
        f"{text.say(each.name)}: {unknown if each.met is None else met[each.met]}"
        for each in verdict.two_of_four
    )


def _one_line(value: object) -> str:
    """Text that cannot leave a span or a block of code."""
    return " ".join(str(value).replace("`", "").split())


def _environment(text: Words) -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("npu_roofline.reports"),
        autoescape=False,  # Markdown, not HTML: `finalize` escapes everything that is not Ready
        finalize=lambda value: value if isinstance(value, Ready) else markdown(str(value), _LONGEST),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )

    def filled(key: str, /, **values: Any) -> Ready:
        escaped = {
            name: value if isinstance(value, Ready) else markdown(str(value), _LONGEST)
            for name, value in values.items()
        }
        return Ready(text(f"report.{key}", **escaped))

    made.globals["t"] = filled
    made.globals["say"] = lambda value: text.say(str(value))
    made.globals["two_of_four"] = lambda verdict: _two_of_four(verdict, text)
    made.globals["path_parts"] = lambda rows: ", ".join(
        f"{text.say(row.name)} {format_share(row.before_share, 1)}" for row in rows if row.before_share
    )
    made.globals["code_text"] = lambda value: Ready(_one_line(value))
    made.globals["code"] = lambda value: Ready(f"`{_one_line(value)}`")
    made.filters |= {
        "quantity": lambda value: NOT_KNOWN if value is None else format_named("quantity").print(value),
        "us": lambda value: NOT_KNOWN if value is None else f"{value:,.2f}",
        "signed": lambda value: NOT_KNOWN if value is None else f"{value:+,.2f}",
        "pct": lambda value: NOT_KNOWN if value is None else f"{value:+.1f} %",
        "share": lambda value: NOT_KNOWN if value is None else format_share(value, 0),
        "span": lambda value: format_duration(value, 2),
        "bytes": lambda value: format_bytes(value, 1),
    }
    return made
