"""Figures of a comparison: what the step's change is made of, every step, and what changed most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..analyzer.answer import CompareRow, GroupChange, Residual, StepTime, UsualStep
from .figures import CLEAR, MUTED, Figure, axis, frame, hover, short
from .palette import css_variable

GROUPS_SHOWN: Final = 9
PLACES_SHOWN: Final = 14
# Bars shorter than this share of the longest cannot be seen; they are drawn as one, or left to the table.
VISIBLE_SHARE: Final = 0.004
_ROW_PX: Final = 26
CHANGE_COLOURS: Final = {
    "faster": css_variable("good"),
    "gone": css_variable("good"),
    "slower": css_variable("bad"),
    "new": css_variable("bad"),
    "same": css_variable("idle"),
    "inconclusive": css_variable("bound-unknown"),
}
# What a colour means; new and gone are certain, whatever the noise.
_LEGEND: Final = (
    ("faster or gone", ("faster", "gone")),
    ("slower or new", ("slower", "new")),
    ("inconclusive", ("inconclusive",)),
    ("the same", ("same",)),
)


def waterfall_figure(usual: UsualStep) -> Figure:
    """From the mean step before to the mean step after: kernels by group, then what no kernel explains.

    The bars between the two ends add up to their difference. The axis does not begin at zero: changes are a
    few per cent of a step.
    """
    names, changes, hovers = _parts(usual.groups, usual.residual)
    before, after = usual.before_wall_us, usual.after_wall_us
    reached = [before]
    for change in changes:
        reached.append(reached[-1] + change)
    low, high = min(*reached, after), max(*reached, after)
    room = max((high - low) * 0.18, high * 0.002)
    data = [
        {
            "type": "waterfall",
            "orientation": "h",
            "measure": ["absolute", *["relative"] * len(changes), "total"],
            "y": ["before", *names, "after"],
            "x": [_us(before), *map(_us, changes), 0],
            "text": [f"{before:,.1f} us", *map(_signed, changes), f"{after:,.1f} us"],
            "textposition": "outside",
            "textfont": {"size": 12},
            "cliponaxis": False,
            "connector": {"line": {"color": MUTED, "width": 1, "dash": "dot"}},
            "increasing": {"marker": {"color": css_variable("bad")}},
            "decreasing": {"marker": {"color": css_variable("good")}},
            "totals": {"marker": {"color": css_variable("accent")}},
            "hoverinfo": "text",
            "hovertext": [
                hover("before", (("mean step:", f"{before:,.1f} us"),)),
                *hovers,
                hover("after", (("mean step:", f"{after:,.1f} us"),)),
            ],
        }
    ]
    layout = frame(
        xaxis=axis(
            "us per step, not from 0",
            range=[low - room, high + room],
            tickformat=",",
        ),
        yaxis=axis("", autorange="reversed", type="category", gridcolor=CLEAR, ticksuffix=" "),
        height=110 + _ROW_PX * (len(names) + 2),
        bargap=0.3,
        showlegend=False,
        dragmode=False,
    )
    return {"data": data, "layout": layout}


def _parts(
    groups: Sequence[GroupChange], residual: Sequence[Residual]
) -> tuple[list[str], list[float], list[str]]:
    """Names, changes and hover texts of the bars between the ends; the smaller groups in one bar."""
    least = VISIBLE_SHARE * max((abs(group.delta_step_us) for group in groups), default=0.0)
    moved = [group for group in groups if group.delta_step_us != 0]
    seen = [group for group in moved[:GROUPS_SHOWN] if abs(group.delta_step_us) >= least]
    parts = [(short(group.name, 26), group.delta_step_us, _group_hover(group)) for group in seen]
    if rest := moved[len(seen) :]:
        name, change = f"{len(rest)} other groups", sum(group.delta_step_us for group in rest)
        parts.append((name, change, hover(name, (("change:", f"{change:+,.1f} us per step"),))))
    for part in residual:
        facts = (("before:", f"{part.before_us:,.1f} us"), ("after:", f"{part.after_us:,.1f} us"))
        parts.append((part.name, part.delta_us, hover(part.name, facts, part.meaning)))
    return [p[0] for p in parts], [p[1] for p in parts], [p[2] for p in parts]


def _group_hover(group: GroupChange) -> str:
    return hover(
        group.name,
        (
            ("per step:", f"{group.before_step_us:,.1f} → {group.after_step_us:,.1f} us"),
            ("change:", f"{group.delta_step_us:+,.1f} us" + per_cent(group.delta_pct)),
            ("calls per step:", f"{group.kernels_before:,.1f} → {group.kernels_after:,.1f}"),
        ),
    )


def steps_figure(steps: Sequence[StepTime]) -> Figure:
    """A point per step and side at its wall time; steps that are not used to judge are drawn as crosses."""
    data = []
    for side in ("before", "after"):
        for aside in (False, True):
            chosen = [each for each in steps if each.side == side and bool(each.set_aside) == aside]
            if chosen:
                data.append(_strip(side, aside, chosen))
    layout = frame(
        xaxis=axis("wall time of a step, ms", tickformat=",", rangemode="normal"),
        yaxis=axis(
            "",
            tickmode="array",
            tickvals=[1, 0],
            ticktext=["before", "after"],
            range=[-0.6, 1.6],
            gridcolor=CLEAR,
            ticksuffix=" ",
        ),
        height=170,
        dragmode=False,
        showlegend=False,  # the axis names the sides, the text above the crosses
    )
    return {"data": data, "layout": layout}


def _strip(side: str, aside: bool, steps: Sequence[StepTime]) -> dict[str, Any]:
    """Points are spread over the height by their order, so that equal times do not hide each other."""
    level = 1.0 if side == "before" else 0.0
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{side}, not used to judge" if aside else side,
        "x": [round(each.wall_us / 1e3, 4) for each in steps],
        "y": [round(level + 0.22 * ((at * 0.618034) % 1 - 0.5), 4) for at in range(len(steps))],
        "marker": {
            "color": css_variable("warn" if aside else "accent" if side == "after" else "muted"),
            "size": 10,
            "symbol": "x" if aside else "circle",
            "opacity": 0.85,
        },
        "hoverinfo": "text",
        "hovertext": [
            hover(
                each.step,
                (
                    ("wall:", f"{each.wall_us:,.1f} us"),
                    ("busy:", f"{each.busy_us:,.1f} us"),
                    ("idle:", f"{each.idle_us:,.1f} us"),
                ),
                each.set_aside,
            )
            for each in steps
        ],
    }


def places_figure(rows: Sequence[CompareRow], steps: tuple[int, int]) -> Figure:
    """The places with the largest change in a usual step, coloured by what can be said about them.

    A bar is the change of the median call times the calls of a step, which one slow step does not move;
    `steps` of either side.
    """
    changes = [(usual_change(row, steps), row) for row in rows]
    changes.sort(key=lambda each: (-abs(each[0]), each[1].key))
    least = VISIBLE_SHARE * max((abs(change) for change, _ in changes), default=0.0)
    shown = [(change, row) for change, row in changes[:PLACES_SHOWN] if change and abs(change) >= least]
    labels = _labels([row for _, row in shown])
    data = []
    for name, words in _LEGEND:
        chosen = [
            (label, change, row)
            for label, (change, row) in zip(labels, shown, strict=True)
            if row.change in words
        ]
        if not chosen:
            continue
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                "y": [label for label, _, _ in chosen],
                "x": [_us(change) for _, change, _ in chosen],
                "marker": {"color": CHANGE_COLOURS[words[0]]},
                "hoverinfo": "text",
                "hovertext": [_row_hover(row) for _, _, row in chosen],
                "textposition": "none",
            }
        )
    layout = frame(
        barmode="overlay",
        bargap=0.3,
        xaxis=axis(
            "change in us per step",
            tickformat=",",
            zeroline=True,
            zerolinecolor=MUTED,
        ),
        yaxis=axis(
            "",
            type="category",
            categoryorder="array",
            categoryarray=labels[::-1],
            gridcolor=CLEAR,
            ticksuffix=" ",
        ),
        height=120 + _ROW_PX * max(len(shown), 1),
        dragmode=False,
    )
    return {"data": data, "layout": layout}


def usual_change(row: CompareRow, steps: tuple[int, int]) -> float:
    """Change of a place in a usual step, us: of its median call times its calls; all of it if new or gone."""
    before = (row.before_us or 0.0) * row.n_before / max(steps[0], 1)
    after = (row.after_us or 0.0) * row.n_after / max(steps[1], 1)
    return after - before


def _labels(rows: Sequence[CompareRow]) -> list[str]:
    """Type and place of each row; equal labels get a number, because a category axis would merge them."""
    labels: list[str] = []
    for row in rows:
        place = f" · {row.part or 'step'} {row.position}" if row.position is not None else ""
        label = short(f"{row.type}", 30) + short(place, 18)
        times = sum(each == label or each.startswith(f"{label} (") for each in labels)
        labels.append(f"{label} ({times + 1})" if times else label)
    return labels


def _row_hover(row: CompareRow) -> str:
    per_call = None
    if row.before_us is not None and row.after_us is not None:
        per_call = f"{row.before_us:,.2f} → {row.after_us:,.2f} us{per_cent(row.delta_pct)}"
    interval = None
    if row.ci_low_us is not None and row.ci_high_us is not None:
        interval = f"{row.ci_low_us:+,.2f} to {row.ci_high_us:+,.2f} us"
    return hover(
        f"{row.type} {row.input_shapes or ''}",
        (
            ("what can be said:", row.change),
            ("median per call:", per_call),
            ("95 % interval of the change:", interval),
            ("mean per step:", f"{row.delta_step_us or 0.0:+,.1f} us"),
            ("place:", row.key),
            ("calls:", f"{row.n_before:,} → {row.n_after:,}"),
        ),
        row.note,
    )


def per_cent(value: float | None) -> str:
    """' (-1.1 %)' to stand behind a number; empty where it is not known."""
    return "" if value is None else f" ({value:+.1f} %)"


def _signed(value: float) -> str:
    """'+1.2', '-0.5', and '0.0' for what rounds to nothing."""
    text = f"{value:+,.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def _us(value: float) -> float:
    return round(value, 3)
