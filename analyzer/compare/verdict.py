"""What a pair of runs proves: every criterion with its number, an outcome, and what to do next.

Accepted is a change whose target or step is faster beyond noise, whose window, step and outputs are intact,
and nothing less. The specification's rule, two of four, is passed by a change that does nothing at all; it is
shown beside it. What was not measured is said, and nothing is accepted without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..answer_compare import CompareRow, CriterionRow, StepComparison, StreamChange, Verdict
from ..options import AnalysisOptions
from .outputs import OutputsComparison
from .paths import NO_PATH, PathEvidence
from .prefetch_checks import NO_TRACE, PrefetchEvidence
from .signals import fitting
from .target import TargetChange

# What one trace shows, whatever the noise: more steps of the same would show it again.
_SEEN = ("prefetch_missing", "prefetch_same_stream", "prefetch_twice")


@dataclass(frozen=True)
class Evidence:
    """What is known about an experiment; a target or outputs that were not given are None."""

    rows: Sequence[CompareRow]
    step: StepComparison
    streams: Sequence[StreamChange]
    target: TargetChange | None
    outputs: OutputsComparison | None
    options: AnalysisOptions
    prefetches: PrefetchEvidence = NO_TRACE
    path: PathEvidence = NO_PATH

    @property
    def told(self) -> bool:
        """Whether the noise of any row is known; with one step a side nothing can be told.

        Not whether an interval is: equal numbers have one of zero width, however few they are.
        """
        return any(row.noise_us is not None for row in self.rows)


def verdict(evidence: Evidence) -> Verdict:
    """Judge the experiment. Outcome: accepted, rejected, or inconclusive where something is not known."""
    facts = facts_of(evidence)
    fits = fitting(facts)
    outcome = _outcome(facts, evidence)
    weak = _two_of_four(evidence)
    return Verdict(
        outcome=outcome,
        criteria=_criteria(evidence),
        failure_signals=tuple(rule.signal for rule in fits),
        next_action=_next_action(outcome, facts, fits[0].action if fits else "", evidence),
        two_of_four=weak,
        two_of_four_met=sum(each.met is True for each in weak),
        facts=tuple(name for name, holds in facts.items() if holds),
    )


def facts_of(evidence: Evidence) -> dict[str, bool]:
    """The facts that rules are made of; each is true only where it was measured."""
    step, target, outputs = evidence.step, evidence.target, evidence.outputs
    window = target.window_delta_pct if target else None
    # Windows hold communication whose length varies by a quarter: slower is what is so beyond noise.
    told = target is not None and bool(target.window_slower)
    worse, severe = (
        told and window is not None and window >= share * 100
        for share in (evidence.options.window_worse_share, evidence.options.window_severe_share)
    )
    change = target.change if target else ""
    labels = {row.change for row in evidence.rows}
    return {
        "outputs_differ": outputs is not None and not outputs.equal,
        "outputs_equal": outputs is not None and outputs.equal,
        "target_known": target is not None,
        "target_faster": change == "faster",
        "target_slower": change == "slower",
        "target_not_faster": target is not None and evidence.told and change != "faster",
        "target_unclear": evidence.told and change in ("same", "inconclusive"),
        "window_worse": worse,
        "window_severe": severe,
        "window_stable": window is not None and window < evidence.options.window_worse_share * 100,
        "window_slower": target is not None and bool(target.window_slower),
        "step_faster": step.wall_change == "faster",
        "step_not_faster": step.wall_change in ("slower", "same", "inconclusive"),
        "step_slower": step.wall_change == "slower",
        "kernels_faster": step.busy_change == "faster",
        "waits_longer": step.idle_change == "slower",
        "tail_longer": any(stream.longer_tail for stream in evidence.streams),
        "only_slower": "slower" in labels and "faster" not in labels,
        **evidence.prefetches.facts(),
        "target_off_path": evidence.path.target_off,
        "nothing_changed": step.wall_change == "same" and not labels & {"faster", "slower", "new", "gone"},
    }


def two_of_four_note(found: Verdict) -> str:
    """The specification's rule and how far it is met, beside the stricter one."""
    words = {True: "yes", False: "no", None: "not measured"}
    told = "; ".join(f"{each.name}: {words[each.met]}" for each in found.two_of_four)
    return (
        f"the specification asks for two of four, and {found.two_of_four_met} of 4 hold ({told}); a "
        "change that does nothing meets the last two, so acceptance here asks for a gain beyond noise and "
        "for every guard"
    )


def _outcome(facts: dict[str, bool], evidence: Evidence) -> str:
    broken = ("outputs_differ", "step_slower", "target_slower", "window_worse")
    if any(facts[name] for name in broken) or (facts["tail_longer"] and not facts["step_faster"]):
        return "rejected"
    window_known = evidence.target is None or facts["window_stable"]
    gained = facts["target_faster"] or facts["step_faster"]
    return "accepted" if gained and window_known and facts["outputs_equal"] else "inconclusive"


def _next_action(outcome: str, facts: dict[str, bool], rule: str, evidence: Evidence) -> str:
    """What to do next: say what is missing before anything is tried, else what the first rule says."""
    usable = min(evidence.step.before.usable_steps, evidence.step.after.usable_steps)
    gained = facts["target_faster"] or facts["step_faster"]
    if any(facts[name] for name in _SEEN) and rule:
        return rule
    if outcome == "inconclusive" and facts["nothing_changed"]:
        return "nothing changed beyond noise: keep the code as it was"
    if outcome == "inconclusive" and not gained and usable < evidence.options.min_usable_steps:
        least = evidence.options.min_usable_steps
        return f"capture at least {least} usable steps a side, better 20, with the same batch"
    if outcome == "inconclusive" and gained and evidence.outputs is None:
        return "compare the outputs of both runs (--outputs BEFORE AFTER); then judge again"
    return rule or "capture more steps a side; what changed is within the noise of these"


def _criteria(evidence: Evidence) -> tuple[CriterionRow, ...]:
    step, options = evidence.step, evidence.options
    outside = set(evidence.target.window_keys) if evidence.target else set()
    slower = [row for row in evidence.rows if row.change == "slower" and row.key not in outside]
    faster = [row for row in evidence.rows if row.change == "faster"]
    tails = [stream for stream in evidence.streams if stream.longer_tail]
    share = None
    if step.wall_min_effect_us is not None and step.before.wall_us > 0:
        share = -step.wall_min_effect_us / step.before.wall_us * 100
    told = step.wall_change != "inconclusive"
    return (
        *_target_criteria(evidence),
        CriterionRow(
            "step faster",
            step.wall_delta_pct,
            share,
            "%",
            step.wall_change == "faster" if told else None,
            step.why,
        ),
        CriterionRow(
            "a kernel faster", float(len(faster)), 1.0, "places", bool(faster) if evidence.told else None
        ),
        CriterionRow(
            "no kernel slower outside the window" if outside else "no kernel slower",
            float(len(slower)),
            0.0,
            "places",
            not slower if evidence.told else None,
            "a place counts when it is slower beyond noise and beyond the smallest effect",
        ),
        CriterionRow(
            "no longer tail on another stream",
            float(len(tails)),
            0.0,
            "streams",
            not tails if evidence.told else None,
            f"a tail counts from {options.idle_gap_us:g} us, beyond noise",
        ),
        _outputs_criterion(evidence.outputs),
    )


def _target_criteria(evidence: Evidence) -> tuple[CriterionRow, ...]:
    target = evidence.target
    if target is None:
        return ()
    told = target.change in ("faster", "slower", "same")
    worse = evidence.options.window_worse_share * 100
    pct = target.window_delta_pct
    return (
        CriterionRow(
            "target faster",
            target.delta_pct,
            target.min_effect_pct,
            "%",
            target.change == "faster" if told else None,
            target.key,
        ),
        CriterionRow(
            "window stable",
            pct,
            worse,
            "%",
            None
            if pct is None or not evidence.told or (pct >= worse and not target.window_slower)
            else pct < worse,
            ", ".join(target.window_keys) or "no window is known for this target",
        ),
    )


def _outputs_criterion(outputs: OutputsComparison | None) -> CriterionRow:
    name, unit = "outputs equal", "largest difference"
    if outputs is None:
        return CriterionRow(name, None, None, "", None, "not measured: a capture holds no outputs")
    apart = [row.max_abs for row in outputs.rows if row.max_abs is not None]
    different = [row.name for row in outputs.rows if not row.equal]
    count = len(outputs.rows)
    if different:
        note = f"{len(different)} of {count} arrays differ, first {different[0]}"
    elif outputs.identical:
        note = f"{count} arrays are equal to the bit"
    else:
        note = f"{count} arrays are within the tolerance of their data types"
    return CriterionRow(name, max(apart, default=None), None, unit, outputs.equal, note)


def _two_of_four(evidence: Evidence) -> tuple[CriterionRow, ...]:
    """The specification's success rule; `met` is None where a line was not measured."""
    target = evidence.target
    facts = facts_of(evidence)
    step = evidence.step
    judged = step.wall_change != "inconclusive"
    equal = None if evidence.outputs is None else evidence.outputs.equal
    return (
        CriterionRow(
            "target takes less time",
            target.delta_pct if target else None,
            None,
            "%",
            facts["target_faster"] if target and evidence.told else None,
        ),
        CriterionRow(
            "critical path is shorter",
            step.wall_delta_pct,
            None,
            "%",
            facts["step_faster"] if judged else None,
            "the step's wall time, which the validated path through streams and events explains"
            if evidence.path.validated
            else "taken from the step's wall time",
        ),
        CriterionRow(
            "window has not got clearly worse",
            target.window_delta_pct if target else None,
            None,
            "%",
            facts["window_stable"] if target and target.window_delta_pct is not None else None,
        ),
        CriterionRow("results do not differ", None, None, "", equal),
    )
