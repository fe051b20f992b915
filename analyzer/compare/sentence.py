"""The first line of a comparison, the verdict first, and its regressions: the numbers in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...units import format_duration
from ..answer_compare import CompareRow, SignatureChange, StepComparison, StreamChange, Verdict
from .target import TargetChange

_SHOWN = 1  # kernels of each kind named in the first line


# Why an experiment is rejected, by the first fact that holds.
_REJECTED = (
    ("outputs_differ", "the outputs differ"),
    ("step_slower", "the step is slower"),
    ("target_slower", "the target is slower"),
    ("window_worse", "the window got slower"),
    ("tail_longer", "another stream got a longer tail"),
)


def headline(found: Verdict, changes: str) -> str:
    """The verdict, why it is no better one, and after a colon what changed."""
    facts = set(found.facts)
    lead = found.outcome.capitalize()
    if found.outcome == "rejected":
        lead += f", because {next(words for fact, words in _REJECTED if fact in facts)}"
    elif found.outcome == "inconclusive" and "nothing_changed" in facts:
        lead = "No change beyond noise"
    elif found.outcome == "inconclusive" and facts & {"target_faster", "step_faster"}:
        missing = "outputs_equal" not in facts
        lead += (
            " until the outputs are compared" if missing else ", because nothing is known about the window"
        )
    return f"{lead}: {changes}"


def what_changed(
    rows: Sequence[CompareRow],
    step: StepComparison,
    identical: bool,
    streams: Sequence[StreamChange] = (),
    signatures: Sequence[SignatureChange] = (),
    target: TargetChange | None = None,
) -> str:
    """One sentence: the step, what is behind its change, the target, the kernels that changed.

    A change of the step that cannot be told from noise is never said in per cent: it would be read as one.
    """
    if identical:
        return f"the same numbers on both sides; the step takes {_span(step.before.wall_us)}."
    parts = [_step(step)]
    if behind := _busy_or_idle(step):
        parts.append(behind)
    if target is not None:
        parts.append(_target(target))
    others = [row for row in rows if target is None or row.key not in (target.key, *target.window_keys)]
    if target is None or any(row.change not in ("same", "inconclusive") for row in others):
        parts.append(_kernels(others, only_together(rows, signatures)))
    if tails := sum(stream.longer_tail for stream in streams):
        parts.append(f"{_plural(tails, 'other stream')} with a longer tail")
    return "; ".join(parts) + "."


def regressions(
    rows: Sequence[CompareRow],
    step: StepComparison,
    threshold_pct: float = 0.0,
    signatures: Sequence[SignatureChange] = (),
) -> tuple[str, ...]:
    """One line per accepted slow-down above the threshold (per cent): the step, then kernels by time lost.

    A signature whose places are only together slow enough to be told gets a line, too.
    """
    lines = []
    if step.wall_change == "slower" and (step.wall_delta_pct or 0.0) > threshold_pct:
        lines.append(
            f"step: {_arrow(step.before.wall_us, step.after.wall_us)} ({step.wall_delta_pct:+.1f} %)"
        )
    slower: list[CompareRow | SignatureChange] = [*rows, *only_together(rows, signatures)]
    found = [each for each in slower if each.change == "slower" and (each.delta_pct or 0.0) > threshold_pct]
    for each in sorted(found, key=lambda each: (-(each.delta_step_us or 0.0), _where(each))):
        lines.append(
            f"{named(each)} at {_where(each)}: {each.before_us:.2f} -> {each.after_us:.2f} us "
            f"({each.delta_pct:+.1f} %), {each.delta_step_us:+.1f} us per step"
        )
    return tuple(lines)


def only_together(
    rows: Sequence[CompareRow], signatures: Sequence[SignatureChange]
) -> tuple[SignatureChange, ...]:
    """Signatures that changed beyond noise while none of their places did by itself."""
    told = {(row.type, row.input_shapes, row.change) for row in rows}
    return tuple(
        each
        for each in signatures
        if each.change in ("faster", "slower") and (each.name, each.input_shapes, each.change) not in told
    )


def _where(changed: CompareRow | SignatureChange) -> str:
    return changed.key if isinstance(changed, CompareRow) else f"all its {changed.places} places"


def named(row: CompareRow | SignatureChange) -> str:
    """A kernel in a sentence: its type and, where recorded, its input shapes, cut to a readable length."""
    shapes = row.input_shapes or ""
    type_name = row.type if isinstance(row, CompareRow) else row.name
    return f"{type_name} {shapes[:40] + '…' if len(shapes) > 40 else shapes}".strip()


def _step(step: StepComparison) -> str:
    moved = f"step {_arrow(step.before.wall_us, step.after.wall_us)}"
    if step.wall_change == "inconclusive":
        return f"{moved} cannot be told from noise{f' ({step.why})' if step.why else ''}"
    pct = "" if step.wall_delta_pct is None else f"{step.wall_delta_pct:+.1f} %, "
    return f"{moved} ({pct}{'the same' if step.wall_change == 'same' else step.wall_change})"


def _busy_or_idle(step: StepComparison) -> str:
    """What the step's change is made of, where idle time is a real part of it or works against kernels."""
    wall, busy, idle = step.wall_delta_us, step.busy_delta_us, step.idle_delta_us
    if all(each in ("inconclusive", "same") for each in (step.busy_change, step.idle_change)):
        return ""
    if abs(idle) < 0.25 * abs(wall) and abs(idle) < 0.25 * abs(busy):
        return ""
    kernels = f"kernels {'ran' if busy <= 0 else 'took'} {_span(abs(busy))} {'less' if busy <= 0 else 'more'}"
    waited = f"the device waited {_span(abs(idle))} {'less' if idle <= 0 else 'longer'}"
    if wall > 0 and busy < 0 < idle:
        return f"it rose because {waited} (for the host, or what this export does not show) while {kernels}"
    if wall < 0 and idle < 0 < busy:
        return f"it fell because {waited} while {kernels}"
    return f"{kernels}, {waited}"


def _kernels(rows: Sequence[CompareRow], together: Sequence[SignatureChange]) -> str:
    """The kernels that changed beyond noise, the most important first, and what came or went."""
    changed = [row for row in rows if row.change in ("faster", "slower")]
    types = Counter(row.type for row in changed)
    said = []
    for change in ("faster", "slower"):
        found = sorted(
            (row for row in changed if row.change == change),
            key=lambda row: (-abs(row.delta_step_us or 0.0), row.key),
        )
        if not found:
            continue
        listed = ", ".join(
            f"{named(row) if types[row.type] > 1 else row.type} {abs(row.delta_us or 0.0):.1f} us {change} "
            f"a call ({_signed(row.delta_step_us)} a step)"
            for row in found[:_SHOWN]
        )
        more = f" and {len(found) - _SHOWN} more {change}" if len(found) > _SHOWN else ""
        said.append(listed + more)
    said += [
        f"{named(each)} {abs(each.delta_us):.1f} us {each.change} a call over its {each.places} places "
        f"({_signed(each.delta_step_us)} a step)"
        for each in together[:_SHOWN]
    ]
    for change in ("new", "gone"):
        left = [row for row in rows if row.change == change]
        if left:
            total = sum(row.delta_step_us or 0.0 for row in left)
            said.append(f"{_plural(len(left), 'place')} {change} ({_signed(total)} a step)")
    return ", ".join(said) if said else "no kernel changed beyond noise"


def _target(target: TargetChange) -> str:
    """The target and its window: what was won and what it cost."""
    name = f"target {target.type}"
    if target.delta_us is None:
        return f"{name} is {target.change}"
    word = target.change if target.change in ("faster", "slower") else f"changed ({target.change})"
    said = f"{name} {abs(target.delta_us):.1f} us {word} a call ({_signed(target.delta_step_us)} a step)"
    if target.window_before_us is None or target.window_after_us is None:
        return f"{said}, no window is known for it"
    moved = target.window_after_us - target.window_before_us
    if not target.window_slower and abs(target.window_delta_pct or 0.0) < 1:
        return f"{said}, its window unchanged"
    direction = "slower" if moved > 0 else "faster"
    return f"{said}, its window {abs(moved):.1f} us {direction} ({target.window_delta_pct:+.1f} %)"


def _arrow(before_us: float, after_us: float) -> str:
    """'10.67 -> 10.55 ms', in one unit that fits both."""
    unit, scale = ("ms", 1000.0) if max(before_us, after_us) >= 1000 else ("us", 1.0)
    return f"{before_us / scale:.2f} → {after_us / scale:.2f} {unit}"


def _span(us: float) -> str:
    return format_duration(us, 2 if us >= 1000 else 1)


def _signed(us: float | None) -> str:
    return f"{us or 0.0:+.1f} us"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
