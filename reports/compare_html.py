"""The comparison report: one offline HTML file that says first whether the step got faster, and then why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..analyzer.answer import Answer, StepComparison, UsualStep, Verdict
from ..analyzer.compare.target import TargetChange
from ..units import format_duration
from .compare_calls import aligned_figure, spread_figure
from .compare_figures import per_cent, places_figure, steps_figure, waterfall_figure
from .compare_roofline import moves_figure
from .figures import Figure
from .headline import device_line
from .html_report import Tile
from .page import render_page
from .sentences import comparison_sentence
from .tables import Table, table
from .translated import translated_table
from .words import Words, words

# Rows that a browser still sorts at once; JSON and CSV have all of them.
ROWS: Final = 1000
# Extras that are shown as a table each, with the heading's anchor.
_TABLES: Final = (
    *("residual", "waits", "streams", "groups", "types", "signatures", "other_engines", "outputs"),
    *("prefetch", "path_sides", "path"),
)


def compare_report(answer: Answer, generated_at: str = "", lang: str = "en") -> str:
    """The whole page; `generated_at` is shown as given, so that the same answer gives the same bytes.

    `lang`: language of the page; sentences that an analysis composed stay in English.
    """
    text = words(lang)
    step: StepComparison = answer.extras["step"]
    figures = _figures(answer, step)
    came_or_went = [row for row in answer.rows if row.change in ("new", "gone")]
    return render_page(
        "compare.html.j2",
        run=answer.run,
        figures=figures,
        generated_at=generated_at,
        lang=lang,
        heights={name: figure["layout"].get("height", 400) for name, figure in figures.items()},
        sides=answer.extras.get("sides", ("before", "after")),
        runs=[each for each in (answer.extras.get("before"), answer.extras.get("after")) if each is not None],
        headline=comparison_sentence(answer, text),
        coverage=answer.coverage,
        device_line=device_line(answer.device) if answer.device else "",
        tiles=_tiles(answer, step, text),
        step=step,
        rows=_table("rows", answer.rows, text),
        aligned=answer.extras.get("aligned"),
        came_or_went=_table("new_and_gone", came_or_went, text) if came_or_went else None,
        tables={name: made for name in _TABLES if (made := _extra(answer, name, text))},
        verdict=answer.extras.get("verdict"),
        criteria=_criteria(answer.extras.get("verdict"), text),
        notes=answer.notes,
        which_steps=_which_steps(step, answer.extras.get("usual"), text),
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
    if aligned := answer.extras.get("aligned"):
        made["figure-aligned"] = aligned_figure(aligned)
    if spreads := answer.extras.get("distributions"):
        made["figure-spread"] = spread_figure(spreads)
    if any(row.delta_step_us for row in answer.rows):
        made["figure-places"] = places_figure(answer.rows, (step.before.steps, step.after.steps))
    return made


def _tiles(answer: Answer, step: StepComparison, text: Words) -> list[Tile]:
    times = [
        ("step", step.before.wall_us, step.after.wall_us, step.wall_change),
        ("busy", step.before.busy_us, step.after.busy_us, step.busy_change),
        ("idle", step.before.idle_us, step.after.idle_us, step.idle_change),
    ]
    tiles = [_time_tile(*each, text) for each in times]
    counts = {
        change: sum(row.change == change for row in answer.rows)
        for change in ("faster", "slower", "new", "gone", "inconclusive", "same")
    }
    told = f"{counts['faster']} {text.say('faster')}, {counts['slower']} {text.say('slower')}"
    rest = ", ".join(
        f"{counts[each]} {text.say(each)}" for each in ("new", "gone", "inconclusive", "same") if counts[each]
    )
    tiles.append(Tile(text("tile.places"), told, "", rest))
    target: TargetChange | None = answer.extras.get("target")
    if target is not None:
        tiles.insert(0, _target_tile(target, text))
    verdict = answer.extras.get("verdict")
    if verdict is not None:
        tiles.insert(
            0, Tile(text("compare.verdict"), text.say(verdict.outcome), "", text.say(verdict.next_action))
        )
    return tiles


def _target_tile(target: TargetChange, text: Words) -> Tile:
    """The target per call, what its window paid, and what was predicted against what was measured."""
    if target.before_us is None or target.after_us is None:
        return Tile(text("tile.target"), text.say(target.change), "", target.type)
    parts = [f"{target.type}{per_cent(target.delta_pct)}, {text.say(target.change)}"]
    if target.window_delta_pct is not None:
        parts.append(text("tile.window", pct=f"{target.window_delta_pct:+.1f} %"))
    if target.predicted_step_us is not None:
        low, high = target.predicted_step_us
        saved = -(target.delta_step_us + (target.window_delta_step_us or 0.0))
        span = f"{low:,.0f}" if round(low) == round(high) else f"{low:,.0f} ~ {high:,.0f}"
        parts.append(text("tile.predicted", span=span, saved=f"{saved:,.0f}"))
    return Tile(
        text("tile.target"), f"{target.before_us:,.2f} → {target.after_us:,.2f}", "us", "; ".join(parts)
    )


def _time_tile(name: str, before: float, after: float, change: str, text: Words) -> Tile:
    """Both medians in the unit of the larger one; what may be noise has no per cent."""
    scale, unit = (1000.0, "ms") if max(before, after) >= 1000 else (1.0, "us")
    told = before > 0 and change != "inconclusive"
    pct = f"{(after - before) / before * 100:+.1f} %, " if told else ""
    moved = text("tile.more" if after > before else "tile.less", span=format_duration(abs(after - before)))
    detail = f"{pct}{text.say(change)}" if after == before else f"{pct}{moved}, {text.say(change)}"
    digits = 1 if max(before, after) / scale >= 100 else 2
    return Tile(
        text(f"tile.{name}"), f"{before / scale:,.{digits}f} → {after / scale:,.{digits}f}", unit, detail
    )


def _table(name: str, rows: Sequence[object], text: Words) -> Table:
    return translated_table(table("compare", name, rows, ROWS), text)


def _extra(answer: Answer, name: str, text: Words) -> Table | None:
    rows = answer.extras.get(name, ())
    return _table(name, tuple(rows), text) if rows else None


def _criteria(verdict: Verdict | None, text: Words) -> list[dict[str, str]]:
    """The criteria as text: what is not known says so."""
    if verdict is None:
        return []
    met = {True: text("tile.met"), False: text("tile.not_met"), None: text("report.not_known")}
    return [
        {
            "name": text.say(each.name),
            "value": text("report.not_measured")
            if each.value is None
            else _quantity(each.value, text.say(each.unit)),
            "threshold": "" if each.threshold is None else _quantity(each.threshold, text.say(each.unit)),
            "met": met[each.met],
            "css": {True: "faster", False: "slower", None: "inconclusive"}[each.met],
            "note": text.say(each.note),
        }
        for each in verdict.criteria
    ]


def _quantity(value: float, unit: str) -> str:
    """'-1.1 %', '2 places': counts have no decimals."""
    digits = 0 if unit not in ("%", "us") and float(value).is_integer() else 1
    return f"{value:,.{digits}f} {unit}".strip()


def _which_steps(step: StepComparison, usual: UsualStep | None, text: Words) -> str:
    """Which steps the waterfall is the mean of."""
    if usual is None:
        return ""
    told = [
        text(f"tile.steps_{name}", used=used, all=side.steps)
        for name, side, used in (
            ("before", step.before, usual.steps_before),
            ("after", step.after, usual.steps_after),
        )
    ]
    left_out = text("tile.aside") if step.before.set_aside or step.after.set_aside else ""
    return text("tile.mean", before=told[0], after=told[1], left_out=left_out)
