"""The roofline report: one HTML file that answers what limits a run, for people who were not there.

Order: the answer, how much of the capture it rests on, the device; then the picture, the time, the step, the
kernels, what could be prefetched, and what the report cannot tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from ..analyzer.answer import Answer, StepSpread
from ..analyzer.report_data import ReportInput, Timeline, Undrawn
from ..units import format_duration
from .escape import shown
from .figure_roofline import roofline_figure
from .figure_time import STEPS_SHOWN, steps_figure, time_figure
from .figure_timeline import timeline_figure
from .figures import Figure
from .headline import bound_shares, device_line, headline, percent, plural
from .page import render_page
from .sentences import summary_sentence
from .tables import Table, table
from .translated import translated_table
from .words import Words, words

# Rows that a browser still sorts at once; JSON and CSV have all of them.
HOTSPOT_ROWS: Final = 1000
CANDIDATE_ROWS: Final = 200
# Types without a place in the roofline that are named below it: this share of the AI-core time or more.
UNDRAWN_SHARE: Final = 0.005
UNDRAWN_NAMED: Final = 4


@dataclass(frozen=True)
class Tile:
    """One number at the top of the page."""

    label: str
    value: str
    unit: str = ""
    detail: str = ""


def roofline_report(data: ReportInput, generated_at: str = "", lang: str = "en") -> str:
    """The whole page; `generated_at` is shown as given, so that the same input gives the same bytes.

    `lang`: language of the page; sentences that an analysis composed stay in English.
    """
    text = words(lang)
    summary = data.summary
    steps = tuple(summary.extras.get("steps", ()))
    figures = _figures(data)
    return render_page(
        "roofline.html.j2",
        run=summary.run,
        figures=figures,
        generated_at=generated_at,
        lang=lang,
        heights={name: figure["layout"].get("height", 560) for name, figure in figures.items()},
        headline=summary_sentence(summary, text),
        coverage=summary.coverage,
        device=summary.device,
        device_line=device_line(summary.device) if summary.device else "",
        tiles=_tiles(data, text),
        types=sorted({shown(point.type) for point in data.points}),
        streams=sorted({shown(each) for point in data.points for each in point.streams}, key=_stream_order),
        points_left_out=data.points_left_out,
        undrawn_line=undrawn_line(data),
        undrawn=[undrawn_sentence(each) for each in data.undrawn],
        steps=translated_table(table("summary", "steps", steps, STEPS_SHOWN), text),
        idle=translated_table(table("summary", "idle", tuple(summary.extras.get("idle", ()))), text),
        timeline=data.timeline,
        timeline_sentence=timeline_sentence(data.timeline) if data.timeline else "",
        hotspots=translated_table(table("hotspots", "rows", data.hotspots.rows, HOTSPOT_ROWS), text),
        candidates=translated_table(
            _on_page(table("candidates", "rows", data.candidates.rows, CANDIDATE_ROWS)), text
        ),
        candidates_headline=headline(data.candidates),
        candidates_notes=data.candidates.notes,
        other_engines=_extra_table(summary, "other_engines", text),
        limits=limits_of(data),
    )


def _on_page(whole: Table) -> Table:
    """The table without the columns that would not fit on a page of usual width."""
    kept = [at for at, column in enumerate(whole.columns) if column.on_page]
    return replace(
        whole,
        columns=tuple(whole.columns[at] for at in kept),
        rows=tuple(tuple(row[at] for at in kept) for row in whole.rows),
    )


def _figures(data: ReportInput) -> dict[str, Figure]:
    """Element id -> figure; ids are fixed, they are part of the page's bytes and of links into it."""
    made: dict[str, Figure] = {}
    if data.points:
        made["figure-roofline"] = roofline_figure(data.points, data.roofs)
    if data.types:
        made["figure-time"] = time_figure(data.types)
    if steps := data.summary.extras.get("steps"):
        made["figure-steps"] = steps_figure(steps)
    if data.timeline and data.timeline.kernels:
        made["figure-timeline"] = timeline_figure(data.timeline)
    return made


def _tiles(data: ReportInput, text: Words) -> list[Tile]:
    summary = data.summary
    spread = next((value for value in summary.extras.values() if isinstance(value, StepSpread)), None)
    tiles: list[Tile] = []
    if spread is not None:
        value, unit = format_duration(spread.wall_us).split(" ")
        outliers = ", ".join(map(str, spread.outlier_steps))
        outliers = text("tile.outlier", steps=outliers) if outliers else ""
        median = text("tile.median_of", steps=spread.steps, outliers=outliers)
        tiles.append(Tile(text("tile.step"), value, unit, median))
        idle = format_duration(spread.idle_us)
        tiles.append(Tile(text("tile.idle"), percent(spread.idle_share), "", text("tile.of_step", span=idle)))
    shares = bound_shares(summary.rows)
    total = sum(shares.values())
    for bound, us in sorted(shares.items(), key=lambda item: -item[1])[:2]:
        label = text("tile.bound", bound=text.say(bound))
        tiles.append(Tile(label, percent(us / total), "", text("tile.of_kernels")))
    coverage = summary.coverage
    if coverage and coverage.aicore_us > 0:
        labelled = percent(coverage.labelled_us / coverage.aicore_us)
        time = text("tile.of_aicore", span=format_duration(coverage.aicore_us))
        tiles.append(Tile(text("tile.labelled"), labelled, "", time))
    tiles.append(_candidate_tile(data.candidates, text))
    return tiles


def _candidate_tile(answer: Answer, text: Words) -> Tile:
    best = next((row for row in answer.rows if row.status == "candidate"), None)
    if best is None:
        return Tile(text("roofline.prefetch"), text("tile.no_prefetch"), "", _nothing_proposed(answer))
    if best.predicted_saving_step_us is None:
        return Tile(text("tile.best_prefetch"), best.target_type, "", text("tile.saving_unknown"))
    value, unit = format_duration(best.predicted_saving_step_us, 0).split(" ")
    unit, made_for = text("tile.per_step", unit=unit), text("tile.predicted_for", type=best.target_type)
    return Tile(text("tile.best_prefetch"), f"~{value}", unit, made_for)


def _nothing_proposed(answer: Answer) -> str:
    """The reason of the first line of `candidates`, without the words that the tile says itself."""
    return headline(answer).removeprefix("Nothing to prefetch is proposed: ")


def _stream_order(stream: str) -> tuple[bool, int, str]:
    return (not stream.isdigit(), int(stream) if stream.isdigit() else 0, stream)


def _extra_table(answer: Answer, name: str, text: Words) -> Table | None:
    rows = answer.extras.get(name)
    return translated_table(table(answer.command, name, rows), text) if rows else None


def undrawn_sentence(undrawn: Undrawn) -> str:
    """'12 kernel groups (3.4 ms): moves data without arithmetic …'."""
    return f"{plural(undrawn.groups, 'kernel group')} ({format_duration(undrawn.total_us)}): {undrawn.reason}"


def undrawn_line(data: ReportInput) -> str:
    """'Not in the figure: FusedInferAttentionScore (21 % of the AI-core time; FLOPs are not known), …'."""
    coverage = data.summary.coverage
    if coverage is None or coverage.aicore_us <= 0:
        return ""
    named = sorted(
        (
            (us, name, re.split(r"[:(]", each.reason)[0].strip())
            for each in data.undrawn
            for name, us in each.types
        ),
        key=lambda each: (-each[0], each[1]),
    )
    seen = [each for each in named if each[0] >= UNDRAWN_SHARE * coverage.aicore_us][:UNDRAWN_NAMED]
    parts = [f"{name} ({percent(us / coverage.aicore_us)}: {why})" for us, name, why in seen]
    if not parts:
        return ""
    total = sum(each.total_us for each in data.undrawn)
    return (
        f"Not in the figure: {percent(total / coverage.aicore_us)} of the AI-core time, "
        f"most of it {'; '.join(parts)}."
    )


def timeline_sentence(timeline: Timeline) -> str:
    """Which step is shown, and what its picture leaves out."""
    step = timeline.step
    chosen = f", the median of {timeline.steps} by wall time" if timeline.steps > 1 else ""
    text = (
        f"Step {step.step_id}{chosen}: {format_duration(step.wall_us)}, "
        f"{format_duration(step.idle_us)} of it idle. "
    )
    if timeline.gaps:
        stretches = "stretch" if timeline.all_gaps == 1 else "stretches"
        text += (
            "No AI-core and no communication kernel runs in "
            f"{timeline.all_gaps:,} {stretches} of at least {timeline.least_gap_us:g} us, "
            f"{format_duration(timeline.all_gaps_us)} together{_marked(timeline)}; the rest of the idle time "
            "is in shorter gaps between kernels. "
        )
    if timeline.left_out:
        left_out = format_duration(timeline.left_out_us)
        text += f"The {timeline.left_out:,} shortest kernels ({left_out}) are not drawn."
    return text.strip()


def _marked(timeline: Timeline) -> str:
    shown = len(timeline.gaps)
    return f" (the {shown:,} longest are marked)" if shown < timeline.all_gaps else ""


def limits_of(data: ReportInput) -> list[str]:
    """What the report cannot tell: the notes of its answers, each once, and what coverage leaves open."""
    said: dict[str, None] = {}
    for answer in (data.summary, data.hotspots):  # those of the candidates stand with them
        said.update(dict.fromkeys(answer.notes))
    return [*said, *_coverage_limits(data.summary)]


def _coverage_limits(answer: Answer) -> Iterable[str]:
    coverage = answer.coverage
    if coverage is None or coverage.aicore_us <= 0:
        return
    for us, told in (
        (coverage.unknown_us, "has no label: its bound is unknown"),
        (coverage.upper_bound_us, "has bytes known only as a range; it is labelled from the least bytes"),
        (
            coverage.generic_us,
            "is of types without a model of their own: inputs and outputs are counted once",
        ),
    ):
        if us > 0:
            yield f"{percent(us / coverage.aicore_us)} of the AI-core time {told}."
    if coverage.rows_rejected:
        rejected = plural(coverage.rows_rejected, "row")
        yield f"Set aside because they could not be read: {rejected} of the export."
