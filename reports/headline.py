"""The first line of every report: the answer to the question, in words, with its numbers.

Nothing is judged here. Which bound, which candidate and which change counts was decided in the analyzer;
these sentences only add up and say it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..analyzer import answer as records
from ..units import format_bytes, format_duration, format_share
from .palette import BOUNDS

if TYPE_CHECKING:
    from ..analyzer.answer import Answer, CandidateRow, Coverage, DeviceInfo, HotspotRow, SizeRow, SummaryRow
    from ..analyzer.answer_plan import CalibrationRow, PlanCall

_SHAPE_CHARACTERS: Final = 48


def headline(answer: Answer) -> str:
    """One sentence that answers the question of the command; a plain count where no better one is written."""
    said = _SENTENCES.get(answer.command)
    return said(answer) if said else _count(answer)


def device_line(device: DeviceInfo) -> str:
    """The device with its source and confidence: 'Device 910B3 (confidence high), from ….'"""
    if device.soc is None:
        return f"Device not known: {device.source}."
    return f"Device {device.soc} ({device.confidence} confidence), from {device.source.rstrip('.')}."


def coverage_line(coverage: Coverage) -> str:
    """How far the answer can be trusted, in one line; the whole of it is `coverage.sentence`."""
    total = coverage.aicore_us
    parts = []
    if total > 0:
        classes = {
            "modelled": coverage.modelled_us,
            "an upper bound": coverage.upper_bound_us,
            "generic": coverage.generic_us,
            "unresolved": coverage.unresolved_us,
        }
        said = ", ".join(f"{percent(us / total)} {name}" for name, us in classes.items() if us > 0)
        unknown = percent(coverage.unknown_us / total) if coverage.unknown_us > 0 else "none of it"
        parts.append(f"of the AI-core time {said}; {unknown} unlabelled")
    parts.append(f"{coverage.rows_rejected:,} of {coverage.rows_read:,} rows rejected")
    return f"Coverage: {'; '.join(parts)}."


def percent(share: float) -> str:
    """A share for a sentence: '43 %'; never rounded down to nothing or up to everything."""
    share = round(share, 9)  # sums of the same doubles differ in their last digits
    if 0 < share < 0.0005:
        return "<0.1 %"
    if 0.9995 <= share < 1:
        return ">99.9 %"
    whole = 0.0995 <= share < 0.995 or share == 0 or share >= 1
    return format_share(share, 0 if whole else 1)


def plural(count: int, noun: str) -> str:
    """'1 kernel', '2 kernels', with thousands apart."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def bound_shares(rows: Iterable[SummaryRow]) -> dict[str, float]:
    """Time per bound from `summary --by bound` rows, us in a step, in the order of BOUNDS, zero left out.

    Medians over the steps where there are any: a collective that waited once for 14 ms is no property of
    a step.
    """
    totals: dict[str, float] = dict.fromkeys(BOUNDS, 0.0)
    for row in rows:
        bound = row.key.split("/")[0]
        us = row.total_us if row.step_us is None else row.step_us
        totals[bound] = totals.get(bound, 0.0) + us
    return {bound: us for bound, us in totals.items() if us > 0}


def bound_sentence(rows: Iterable[SummaryRow]) -> str:
    """'of the kernel time 43 % is memory-bound, 51 % is latency-bound and 6 % is of unknown bound'."""
    shares = bound_shares(rows)
    total = sum(shares.values())
    if total <= 0:
        return ""
    words = {bound: f"{bound}-bound" for bound in ("memory", "compute", "latency")}
    words["unknown"] = "of unknown bound"
    ordered = sorted(
        shares.items(), key=lambda item: (-item[1], BOUNDS.index(item[0]) if item[0] in BOUNDS else 9)
    )
    parts = [f"{percent(us / total)} is {words.get(bound, bound)}" for bound, us in ordered]
    return "of the kernel time " + _joined(parts)


def step_sentence(answer: Answer) -> str:
    """'A decode step takes 10.7 ms (median of 5 steps); the device is idle for 25 % of it'."""
    spread = _extra(answer, records.StepSpread)
    if spread is None:
        return ""
    phases = {step.phase for step in answer.extras.get("steps", ())} - {"unknown"}
    kind = f"{phases.pop()} step" if len(phases) == 1 else "step"
    over = f"median of {spread.steps} steps" if spread.steps > 1 else "the only step"
    article = "An" if kind[0] in "aeiou" else "A"
    return (
        f"{article} {kind} takes {format_duration(spread.wall_us)} ({over}); "
        f"the device is idle for {percent(spread.idle_share)} of it"
    )


def _summary(answer: Answer) -> str:
    special = {"rank": _ranks, "link": _links}.get(answer.extras.get("by", ""))
    if special is not None and (said := special(answer)):
        return said
    step, bounds = step_sentence(answer), ""
    if all(row.key.split("/")[0] in BOUNDS for row in answer.rows):
        bounds = bound_sentence(answer.rows)
    said = "; ".join(part for part in (step, bounds) if part)
    return f"{said[0].upper()}{said[1:]}." if said else _count(answer)


def _ranks(answer: Answer) -> str:
    """'Rank 3 of 8 works longest: 1.24 times the median rank'; nothing for a single rank."""
    compared = [row for row in answer.rows if row.aicore_of_median is not None]
    if len(compared) < 2:
        return ""
    most = max(compared, key=lambda row: row.aicore_of_median)
    return (
        f"Rank {most.rank} works longest of {len(compared)} ranks: {format_duration(most.aicore_step_us)} of "
        f"AI-core time a step, {most.aicore_of_median:.2f} times that of the median rank."
    )


def _links(answer: Answer) -> str:
    """What the busiest kind of link moved, or that no link was measured."""
    if not answer.rows:
        return "Nothing is known of the links: no collective was measured in this run."
    most = max(answer.rows, key=lambda row: (row.transit_us, row.key))
    rate = "" if most.gb_s is None else f" at {most.gb_s:,.1f} GB/s a transfer"
    of = "" if most.of_device is None else f", {percent(most.of_device)} of what one link of the device moves"
    return (
        f"{most.key} took longest of the links: {plural(most.collectives, 'collective')}, "
        f"{format_duration(most.transit_us)} of transfers{rate}{of}."
    )


def _hotspots(answer: Answer) -> str:
    rows: tuple[HotspotRow, ...] = answer.rows
    if not rows:
        return "No kernel matches."
    first = rows[0]
    of = f" = {percent(first.share)} of the AI-core time" if first.share is not None else ""
    shapes = _shapes(first.input_shapes)
    matching = answer.extras.get("matching", len(rows))  # --top shows fewer than there are
    lead = "The longest of" if matching > 1 else "The only one of"
    return (
        f"{lead} {plural(matching, 'kernel group')}: {first.type}{shapes}, {plural(first.count, 'call')}, "
        f"{_a_step(first)}{of}, {first.bound}/{first.limiter} ({first.confidence} confidence)."
    )


def _a_step(row: HotspotRow) -> str:
    return format_duration(row.total_us) if row.step_us is None else f"{format_duration(row.step_us)} a step"


def _candidates(answer: Answer) -> str:
    ready = [row for row in answer.rows if row.status == "candidate"]
    stopped = answer.extras.get("stopped")
    if stopped:
        why = stopped.removeprefix("Nothing is proposed: ").rstrip(".")
        why = why[0].lower() + why[1:] if why[1:2].islower() else why  # not of AI_CPU or HBM
        return f"Nothing to prefetch is proposed: {why}."
    if not ready:
        looked = (
            f"{plural(len(answer.rows), 'target')} looked at, no safe window" if answer.rows else "no target"
        )
        return f"Nothing to prefetch is proposed: {looked}."
    matching = answer.extras.get("matching", len(ready))  # --top shows fewer than there are
    return f"{plural(matching, 'prefetch candidate')}; the best: {candidate_sentence(ready[0])}."


def candidate_sentence(row: CandidateRow) -> str:
    """'QuantBatchMatmulV3 4,3072;… behind A + B (43 us), max_size 18.0 MiB, 84.0 us to …'."""
    shapes = _shapes(row.target_shapes)
    kernel = f"{row.target_type}{shapes}"
    text = f"{row.role} ({kernel})" if row.role else kernel
    if row.window:
        inside = " + ".join(kernel.type for kernel in row.window.kernels) or "gaps only"
        text += f" behind {inside} ({format_duration(row.window.duration_us)})"
    if row.max_size is not None:
        text += f", max_size {format_bytes(row.max_size)}"
    if (span := row.predicted_saving_step_range_us) is not None:
        text += f", {between((span.low, span.high), format_duration)} per step by the model"
    return text


def _plan(answer: Answer) -> str:
    if not answer.rows:
        return _candidates(answer)
    return (
        f"{plural(len(answer.rows), 'prefetch call')} for {answer.extras['mode']}, which would save "
        f"{between(plan_saving(answer.rows), format_duration)} per step by the model."
    )


def plan_saving(calls: Iterable[PlanCall]) -> tuple[float, float]:
    """The least and the most that the calls of a plan together save in a step by the model, us."""
    spans = [span for call in calls if (span := call.row.predicted_saving_step_range_us) is not None]
    return sum(span.low for span in spans), sum(span.high for span in spans)


def between(values: tuple[float, float], say: Callable[[float], str], word: str = "to") -> str:
    """'107 us to 121 us', or the one text that both are."""
    low, high = map(say, values)
    return low if low == high else f"{low} {word} {high}"


def _compare(answer: Answer) -> str:
    """The sentence that the answer brings: what counts, and what comes next, was decided there."""
    return answer.extras.get("sentence") or _count(answer)


def _explain(answer: Answer) -> str:
    row = answer.rows[0] if answer.rows else None
    if isinstance(row, records.HotspotRow):
        return f"{row.id} {row.type} is {row.bound}/{row.limiter} ({row.confidence} confidence): {row.reason}"
    if isinstance(row, records.CandidateRow):
        return f"{row.id} {row.status.replace('_', ' ')}: {candidate_sentence(row)}. {row.reason}"
    return _count(answer)


def _calibrate(answer: Answer) -> str:
    rows: Sequence[CalibrationRow] = answer.rows
    said = [
        f"{row.name} {'at least ' if row.bound == 'at least' else ''}{row.value:,.4g}"
        + ("" if row.default is None else f" (assumed: {row.default:g})")
        for row in rows
    ]
    return f"The pair says {', '.join(said)}." if said else "The pair says nothing about the model."


def _size(answer: Answer) -> str:
    if len(answer.rows) == 1:
        row: SizeRow = answer.rows[0]
        size, weight = format_bytes(row.max_size, 2), format_bytes(row.weight_bytes, 2)
        return f"max_size {size} of a weight of {weight}, limited by {row.limited_by}."
    sizes = [f"{row.name} {format_bytes(row.max_size, 2)}" for row in answer.rows]
    return f"max_size: {', '.join(sizes)}." if sizes else "No size."


def _ingest(answer: Answer) -> str:
    said = answer.extras
    ranks = plural(len(said.get("ranks", ())), "rank")
    return (
        f"Run {said.get('name')}: {plural(said.get('rows_read', 0), 'row')} read from "
        f"{plural(sum(row.status == 'read' for row in answer.rows), 'file')} of {ranks}, "
        f"{said.get('rows_kept', 0):,} kept, {said.get('rows_rejected', 0):,} rejected."
    )


def _devices(answer: Answer) -> str:
    rows = answer.rows
    if rows and isinstance(rows[0], records.DeviceListRow):
        return f"{plural(len(rows), 'device')} in the hardware table."
    if rows and isinstance(rows[0], records.DeviceRow):
        return f"{rows[0].soc}: {plural(len(rows), 'number')}, each with its source."
    return device_line(answer.device) if answer.device else _count(answer)


def _runs(answer: Answer) -> str:
    if "questions" not in answer.extras:
        return f"{plural(len(answer.rows), 'run')} in the database."
    statuses = [row.status for row in answer.extras["questions"]]
    return (
        f"Run {answer.rows[0].name} can answer {statuses.count('yes')} of "
        f"{plural(len(statuses), 'question')}, {statuses.count('partly')} more in part."
    )


def _ops(answer: Answer) -> str:
    sources = answer.extras["sources"]
    read = "; ".join(
        f"torch_npu {each.version or each.source}: {plural(each.documented, 'documented name')}, "
        f"{each.schema_only:,} more known by signature only"
        for each in sources
    )
    operator = answer.extras.get("operator")
    if operator is not None:
        return (
            f"{operator.name} is {' | '.join(operator.availability).replace('_', ' ')} in {_named(sources)}."
        )
    matching = answer.extras.get("matching")
    found = f"{plural(matching, 'operator')} found; " if matching is not None else ""
    return f"{found}{read}."


def _named(sources: Iterable[Any]) -> str:
    return ", ".join(f"torch_npu {each.version or each.source}" for each in sources)


def _query(answer: Answer) -> str:
    return f"{plural(len(answer.rows), 'row')}."


def _count(answer: Answer) -> str:
    return f"{answer.command}: {plural(len(answer.rows), 'row')}."


def _shapes(text: str | None) -> str:
    """Shapes for a sentence: a blank and the first ones; a fused kernel has a dozen operands."""
    if not text:
        return ""
    return f" {text}" if len(text) <= _SHAPE_CHARACTERS else f" {text[:_SHAPE_CHARACTERS]}…"


def _extra(answer: Answer, kind: type) -> Any:
    return next((value for value in answer.extras.values() if isinstance(value, kind)), None)


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


_SENTENCES: Final[Mapping[str, Callable[[Answer], str]]] = {
    "summary": _summary,
    "hotspots": _hotspots,
    "candidates": _candidates,
    "plan": _plan,
    "compare": _compare,
    "tune": _compare,
    "explain": _explain,
    "calibrate": _calibrate,
    "size": _size,
    "ingest": _ingest,
    "devices": _devices,
    "runs": _runs,
    "query": _query,
    "fuse-scan": _compare,
    "fuse-model": _compare,
    "fuse-review": _compare,
    "fuse-ledger": _compare,
    "fuse-rules": lambda answer: f"{plural(len(answer.rows), 'rule')}, tried longest sequence first.",
    "ops-list": _ops,
    "ops-show": _ops,
    "ops-search": _ops,
}
