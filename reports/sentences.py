"""The first line of a document in its language, from the same numbers."""

from __future__ import annotations

from ..analyzer.answer import Answer, StepComparison, StepSpread, Verdict
from ..analyzer.compare.target import TargetChange
from ..units import format_duration
from .headline import bound_shares, headline, percent
from .words import Words


def comparison_sentence(answer: Answer, text: Words) -> str:
    """The sentence of the analysis in English; in other languages the same facts, put together again.

    A change of the step that may be noise has no per cent here, either.
    """
    if text.lang == "en" or "verdict" not in answer.extras:
        return headline(answer)
    step: StepComparison = answer.extras["step"]
    verdict: Verdict = answer.extras["verdict"]
    if answer.extras["sentence"].startswith("No difference"):
        return text("sentence.no_difference")
    said = _step(step, text.say(verdict.outcome), text)
    target: TargetChange | None = answer.extras.get("target")
    if target is not None and target.delta_us is not None:
        delta, judged = f"{target.delta_us:+.2f}", text.say(target.change)
        said += text("sentence.target", type=target.type, delta=delta, judged=judged)
        if target.window_delta_pct is not None:
            said += text("sentence.window", pct=f"{target.window_delta_pct:+.1f} %")
    counts = {
        name: sum(row.change == name for row in answer.rows) for name in ("faster", "slower", "new", "gone")
    }
    return said + text("sentence.kernels", **counts) + text("sentence.end")


def summary_sentence(answer: Answer, text: Words) -> str:
    """The first line of the roofline report: the step, its idle share, and what bounds the kernel time."""
    spread = next((each for each in answer.extras.values() if isinstance(each, StepSpread)), None)
    shares = bound_shares(answer.rows)
    if text.lang == "en" or spread is None or not shares:
        return headline(answer)
    total = sum(shares.values())
    listed = [
        text("sentence.bound", share=percent(us / total), bound=text.say(bound))
        for bound, us in sorted(shares.items(), key=lambda each: -each[1])
    ]
    said = text(
        "sentence.summary",
        wall=format_duration(spread.wall_us),
        steps=spread.steps,
        idle=percent(spread.idle_share),
        bounds=text("sentence.comma").join(listed),
    )
    return said + text("sentence.end")


def _step(step: StepComparison, outcome: str, text: Words) -> str:
    before, after = (format_duration(side.wall_us, 2) for side in (step.before, step.after))
    if step.wall_change == "inconclusive":
        return text("sentence.untold", outcome=outcome, before=before, after=after, why=text.say(step.why))
    judged = text.say(step.wall_change)
    if step.wall_delta_pct is not None:
        judged = f"{step.wall_delta_pct:+.1f} % ({judged})"
    return text("sentence.lead", outcome=outcome, before=before, after=after, judged=judged)
