"""The comparison report: one offline HTML file that says first whether the step got faster, and then why."""

from __future__ import annotations

from typing import Final

from ..analyzer.answer import Answer, StepComparison, UsualStep, Verdict
from ..analyzer.compare.target import TargetChange
from ..units import format_duration
from .compare_figures import per_cent, places_figure, steps_figure, waterfall_figure
from .compare_roofline import moves_figure
from .figures import Figure
from .headline import device_line, headline
from .html_report import Tile
from .page import render_page
from .tables import Table, table

# Rows that a browser still sorts at once; JSON and CSV have all of them.
ROWS: Final = 1000
# Extras that are shown as a table each, with the heading's anchor.
_TABLES: Final = ("residual", "waits", "streams", "groups", "types", "signatures", "other_engines", "outputs")


def compare_report(answer: Answer, generated_at: str = "") -> str:
    """The whole page; `generated_at` is shown as given, so that the same answer gives the same bytes."""
    step: StepComparison = answer.extras["step"]
    figures = _figures(answer, step)
    came_or_went = [row for row in answer.rows if row.change in ("new", "gone")]
    return render_page(
        "compare.html.j2",
        run=answer.run,
        figures=figures,
        generated_at=generated_at,
        heights={name: figure["layout"].get("height", 400) for name, figure in figures.items()},
        sides=answer.extras.get("sides", ("before", "after")),
        runs=[each for each in (answer.extras.get("before"), answer.extras.get("after")) if each is not None],
        headline=headline(answer),
        coverage=answer.coverage,
        device_line=device_line(answer.device) if answer.device else "",
        tiles=_tiles(answer, step),
        step=step,
        rows=table("compare", "rows", answer.rows, ROWS),
        came_or_went=table("compare", "new_and_gone", came_or_went, ROWS) if came_or_went else None,
        tables={name: made for name in _TABLES if (made := _extra(answer, name))},
        verdict=answer.extras.get("verdict"),
        criteria=_criteria(answer.extras.get("verdict")),
        notes=answer.notes,
        which_steps=_which_steps(step, answer.extras.get("usual")),
    )


def _figures(answer: Answer, step: StepComparison) -> dict[str, Figure]:
    """Element id -> figure; ids are fixed, they are part of the page's bytes and of links into it."""
    made: dict[str, Figure] = {}
    usual: UsualStep | None = answer.extras.get("usual")
    if usual is not None and (usual.after_wall_us != usual.before_wall_us):
        made["figure-waterfall"] = waterfall_figure(usual)
    if times := answer.extras.get("step_times"):
        made["figure-steps"] = steps_figure(times)
    if moves := answer.extras.get("roofline"):
        made["figure-roofline"] = moves_figure(moves)
    if any(row.delta_step_us for row in answer.rows):
        made["figure-places"] = places_figure(answer.rows, (step.before.steps, step.after.steps))
    return made


def _tiles(answer: Answer, step: StepComparison) -> list[Tile]:
    tiles = [
        _time_tile("Step", step.before.wall_us, step.after.wall_us, step.wall_change),
        _time_tile("Device busy", step.before.busy_us, step.after.busy_us, step.busy_change),
        _time_tile("Device idle", step.before.idle_us, step.after.idle_us, step.idle_change),
    ]
    counts = {
        change: sum(row.change == change for row in answer.rows)
        for change in ("faster", "slower", "new", "gone", "inconclusive", "same")
    }
    told = f"{counts['faster']} faster, {counts['slower']} slower"
    rest = ", ".join(
        f"{counts[each]} {each}" for each in ("new", "gone", "inconclusive", "same") if counts[each]
    )
    tiles.append(Tile("Places of the step", told, "", rest))
    target: TargetChange | None = answer.extras.get("target")
    if target is not None:
        tiles.insert(0, _target_tile(target))
    verdict = answer.extras.get("verdict")
    if verdict is not None:
        tiles.append(Tile("Verdict", verdict.outcome, "", verdict.next_action))
    return tiles


def _target_tile(target: TargetChange) -> Tile:
    """The target per call, what its window paid, and what was predicted against what was measured."""
    if target.before_us is None or target.after_us is None:
        return Tile("Target", target.change, "", target.type)
    parts = [f"{target.type}{per_cent(target.delta_pct)}, {target.change}"]
    if target.window_delta_pct is not None:
        parts.append(f"its window {target.window_delta_pct:+.1f} %")
    if target.predicted_step_us is not None:
        low, high = target.predicted_step_us
        saved = -(target.delta_step_us + (target.window_delta_step_us or 0.0))
        span = f"{low:,.0f}" if round(low) == round(high) else f"{low:,.0f} to {high:,.0f}"
        parts.append(f"predicted {span} us a step, measured {saved:,.0f} with the window")
    return Tile("Target", f"{target.before_us:,.2f} → {target.after_us:,.2f}", "us", "; ".join(parts))


def _time_tile(label: str, before: float, after: float, change: str) -> Tile:
    """Both medians in the unit of the larger one."""
    scale, unit = (1000.0, "ms") if max(before, after) >= 1000 else (1.0, "us")
    pct = f"{(after - before) / before * 100:+.1f} %, " if before > 0 else ""
    moved = f"{format_duration(abs(after - before))} {'more' if after > before else 'less'}"
    detail = f"{pct}{change}" if after == before else f"{pct}{moved}, {change}"
    digits = 1 if max(before, after) / scale >= 100 else 2
    return Tile(label, f"{before / scale:,.{digits}f} → {after / scale:,.{digits}f}", unit, detail)


def _extra(answer: Answer, name: str) -> Table | None:
    rows = answer.extras.get(name, ())
    return table("compare", name, tuple(rows), ROWS) if rows else None


def _criteria(verdict: Verdict | None) -> list[dict[str, str]]:
    """The criteria as text: what is not known says so."""
    if verdict is None:
        return []
    words = {True: "met", False: "not met", None: "not known"}
    return [
        {
            "name": each.name,
            "value": "not measured" if each.value is None else _quantity(each.value, each.unit),
            "threshold": "" if each.threshold is None else _quantity(each.threshold, each.unit),
            "met": words[each.met],
            "css": {True: "faster", False: "slower", None: "inconclusive"}[each.met],
            "note": each.note,
        }
        for each in verdict.criteria
    ]


def _quantity(value: float, unit: str) -> str:
    """'-1.1 %', '2 places': counts have no decimals."""
    digits = 0 if unit not in ("%", "us") and float(value).is_integer() else 1
    return f"{value:,.{digits}f} {unit}".strip()


def _which_steps(step: StepComparison, usual: UsualStep | None) -> str:
    """Which steps the waterfall is the mean of."""
    if usual is None:
        return ""
    told = [
        f"{used} of {side.steps} steps {name}" if used < side.steps else f"{side.steps} {name}"
        for name, side, used in (
            ("before", step.before, usual.steps_before),
            ("after", step.after, usual.steps_after),
        )
    ]
    left_out = "; the steps set aside are not in it" if step.before.set_aside or step.after.set_aside else ""
    return f"Mean over {' and '.join(told)}{left_out}."
