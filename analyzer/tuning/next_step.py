"""The one change to try next: the size with the place fixed, then the place, at last another target.

The order is the specification's; a pure function of the ledger, so that the same ledger always gets the
same advice. What is proposed differs from the experiment it builds on in the size or in the place, never
in both.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from ..answer_tune import NextStep
from .readings import BROKEN, GAIN, HARM, MEANING, MOVED, SEVERE, UNCLEAR, best, knee, latest, reading
from .records import HEADLINE, Experiment, Tuning
from .words import at_place, gain_text, size_text

ALIGN_BYTES = 512  # as max_size is aligned, see AnalysisOptions.align_bytes


@dataclass(frozen=True)
class Ladder:
    """The rungs of ladder.toml."""

    rungs: tuple[float, ...]
    first: float
    positions: int


@functools.cache
def ladder() -> Ladder:
    """The ladder that ladder.toml declares."""
    text = resources.files("npu_roofline.analyzer.tuning").joinpath("ladder.toml").read_text("utf-8")
    found = tomllib.loads(text)
    return Ladder(tuple(found["rungs"]), found["first"], found["positions"])


@dataclass(frozen=True)
class Settled:
    """A place at which no other size is worth trying, with the experiment that fixes the size, and why."""

    at: Experiment
    why: str


def next_step(tuning: Tuning, experiments: Sequence[Experiment]) -> NextStep:
    """Exactly one change, a repeat, or the reason to stop."""
    if not experiments:
        return _first(tuning)
    last = experiments[-1]
    if reading(last) == BROKEN:
        return _stop(
            "outputs", None, "a prefetch moves bytes and changes no arithmetic: find what else differs "
            "between the two runs before any time is looked at",
        )  # fmt: skip
    if reading(last) == UNCLEAR and not _repeated(experiments):
        return NextStep(
            "repeat", _stage(experiments), f"the same again with more steps: {_where(last)}",
            max_size=last.max_size, coefficient=last.coefficient, dependency=last.dependency,
            from_experiment=last.experiment_id, why=f"experiment {last.experiment_id} is {MEANING[UNCLEAR]}",
        )  # fmt: skip
    home = _home(experiments)
    found = _size(tuning, [each for each in experiments if each.dependency == home])
    if isinstance(found, NextStep):
        return found
    return _place(tuning, experiments, found) or _last(tuning, experiments, found)


def _first(tuning: Tuning) -> NextStep:
    size = tuning.first_bytes
    share = size / tuning.weight_bytes if size and tuning.weight_bytes else None
    return NextStep(
        "try",
        "size",
        f"prefetch {size_text(size, share)}{at_place(tuning.dependency)}",
        max_size=size,
        coefficient=share,
        dependency=tuning.dependency,
        why="a first size is small on purpose: one that asks for too much takes its window's bandwidth",
    )


def _home(experiments: Sequence[Experiment]) -> str | None:
    """The place at which sizes are tried: the first that gained, else the first."""
    gained = [each.dependency for each in latest(experiments) if reading(each) == GAIN]
    order = list(dict.fromkeys(each.dependency for each in experiments))
    return next((place for place in order if place in gained), order[0])


def _repeated(experiments: Sequence[Experiment]) -> bool:
    last = experiments[-1]
    return any((e.max_size, e.dependency) == (last.max_size, last.dependency) for e in experiments[:-1])


def _stage(experiments: Sequence[Experiment]) -> str:
    return "size" if experiments[-1].dependency == _home(experiments) else "position"


def _size(tuning: Tuning, here: Sequence[Experiment]) -> NextStep | Settled:
    """The next size at one place, or why there is none."""
    last = here[-1]
    known, said = latest(here), reading(last)
    smaller = best([each for each in known if each.max_size < last.max_size])
    larger = [each for each in known if each.max_size > last.max_size]
    if said in (SEVERE, MOVED):
        return Settled(smaller or last, f"at {_at(last)}: {MEANING[said]}; size does not mend that")
    if said == HARM:
        if smaller:
            return Settled(smaller, f"{_at(last)} is too much ({MEANING[HARM]}), {_at(smaller)} is not")
        return _down(tuning, last, min(known, key=lambda each: each.max_size))
    if said == GAIN and not larger:
        return _up_from_gain(tuning, last, smaller, known)
    if said == GAIN:
        kept = knee(known) or last
        return Settled(kept, f"larger sizes were tried already, {size_text(kept.max_size)} is enough")
    if smaller:
        return Settled(knee(known) or smaller, f"at {_at(last)} there is no gain any more")
    share = last.coefficient
    untried = share is None and len(known) == 1
    if not larger and (untried or (share is not None and share < ladder().first)):
        return _up(tuning, last, f"{_at(last)} brings nothing and does no harm, and is little")
    return Settled(last, f"{MEANING[said]} at {_at(last)}: what this prefetch can win here is limited")


def _up_from_gain(
    tuning: Tuning, last: Experiment, smaller: Experiment | None, known: Sequence[Experiment]
) -> NextStep | Settled:
    if smaller is None or ((last.gain_pct or 0) > (smaller.gain_pct or 0) and last.apart(smaller)):
        return _up(tuning, last, f"faster at {_at(last)}, and its window is stable")
    kept = knee(known) or smaller
    if last.apart(smaller):
        text = f"at {_at(last)} the gain falls, from {gain_text(smaller)} at {size_text(smaller.max_size)}"
    else:
        text = f"{_at(last)} brings no more than {_at(smaller)}"
    return Settled(kept, text + _equals(kept, known))


def _equals(kept: Experiment, known: Sequence[Experiment]) -> str:
    """The sizes that are as good as the one kept, said with the difference: the smaller is preferred."""
    same = [e for e in known if e.max_size > kept.max_size and reading(e) == GAIN and not e.apart(kept)]
    if not same:
        return ""
    listed = " and ".join(size_text(each.max_size) for each in (kept, *same))
    widest = max(abs((each.gain_pct or 0) - (kept.gain_pct or 0)) for each in same)
    return f"; {listed} are equal within noise ({widest:.2f} % apart), so the smaller is preferred"


def _up(tuning: Tuning, last: Experiment, why: str) -> NextStep | Settled:
    if tuning.weight_bytes is None or last.coefficient is None:
        return NextStep(
            "try", "size", f"a larger max_size than {size_text(last.max_size)}, at the same place",
            dependency=last.dependency, from_experiment=last.experiment_id,
            why=f"{why}; no rung can be named, because the size of the weight is not known",
        )  # fmt: skip
    for rung in ladder().rungs:
        size = _rung_bytes(tuning, rung)
        if size > last.max_size and rung > last.coefficient:
            return _resized(last, size, size / tuning.weight_bytes, why)
    limit = "the whole weight" if last.max_size >= tuning.weight_bytes else "what L2 and the cap allow"
    return Settled(last, f"{why}, and {size_text(last.max_size)} is {limit}")


def _down(tuning: Tuning, last: Experiment, smallest: Experiment) -> NextStep | Settled:
    why = f"{MEANING[HARM]} at {_at(last)}"
    if tuning.weight_bytes is None or smallest.coefficient is None:
        return NextStep(
            "try", "size", f"a smaller max_size than {size_text(smallest.max_size)}, at the same place",
            dependency=last.dependency, from_experiment=last.experiment_id,
            why=f"{why}; no rung can be named, because the size of the weight is not known",
        )  # fmt: skip
    for rung in reversed(ladder().rungs):
        size = _rung_bytes(tuning, rung)
        if 0 < size < smallest.max_size and rung < smallest.coefficient:
            return _resized(last, size, size / tuning.weight_bytes, why)
    return Settled(smallest, f"{why}, and no smaller rung is left")


def _rung_bytes(tuning: Tuning, rung: float) -> int:
    size = int((tuning.weight_bytes or 0) * rung)
    size = size if tuning.most_bytes is None else min(size, tuning.most_bytes)
    return size // ALIGN_BYTES * ALIGN_BYTES


def _resized(last: Experiment, size: int, share: float, why: str) -> NextStep:
    return NextStep(
        "try",
        "size",
        f"max_size {size_text(last.max_size, last.coefficient)} → {size_text(size, share)}; "
        f"everything else as in experiment {last.experiment_id}",
        max_size=size,
        coefficient=share,
        dependency=last.dependency,
        from_experiment=last.experiment_id,
        why=why,
    )


def _place(tuning: Tuning, experiments: Sequence[Experiment], settled: Settled) -> NextStep | None:
    """The next dependency that was not tried, with the size fixed; None when all were."""
    tried = {each.dependency for each in experiments}
    left = [each for each in tuning.dependencies[: ladder().positions] if each not in tried]
    if not left:
        return None
    at = settled.at
    return NextStep(
        "try",
        "position",
        f"dependency {at.dependency or 'not named'} → {left[0]}; "
        f"max_size stays {size_text(at.max_size, at.coefficient)}",
        max_size=at.max_size,
        coefficient=at.coefficient,
        dependency=left[0],
        from_experiment=at.experiment_id,
        why=f"the size is settled: {settled.why}",
    )


def _last(tuning: Tuning, experiments: Sequence[Experiment], settled: Settled) -> NextStep:
    """Sizes and places are tried: check what is kept, stack the next target, or stop."""
    kept = knee(experiments)
    if kept is None:
        return _stop("give_up", None, f"no size and no place brought a gain: {settled.why}")
    why = f"{settled.why}; experiment {kept.experiment_id} gains {gain_text(kept)}"
    if kept.gain_of == HEADLINE:
        return _stop("keep", kept, f"{why}. A quoted gain: nothing here was measured on captures")
    if kept.outcome != "accepted":
        return NextStep(
            "repeat", "size", f"the same again with the outputs of both runs (--outputs): {_where(kept)}",
            max_size=kept.max_size, coefficient=kept.coefficient, dependency=kept.dependency,
            from_experiment=kept.experiment_id, keep=kept.experiment_id,
            why=f"{why}; but it is {kept.outcome} until the outputs are known to be equal",
        )  # fmt: skip
    if tuning.others:
        return NextStep(
            "stack", "stacking", f"npu-roofline tune start {tuning.others[0]} --keep {tuning.name}",
            keep=kept.experiment_id, why=f"{why}. One target is settled: the next may be added to it",
        )  # fmt: skip
    return _stop("keep", kept, why)


def _stop(stage: str, kept: Experiment | None, why: str) -> NextStep:
    words = {"give_up": "stop: give this prefetch up", "outputs": "stop: the outputs differ"}
    if kept is not None:
        words["keep"] = f"stop: keep experiment {kept.experiment_id}, {_where(kept)}"
    return NextStep(
        "stop",
        stage,
        words[stage],
        max_size=kept.max_size if kept else None,
        coefficient=kept.coefficient if kept else None,
        dependency=kept.dependency if kept else None,
        keep=kept.experiment_id if kept else None,
        why=why,
    )


def _at(each: Experiment) -> str:
    return f"{size_text(each.max_size, each.coefficient)} ({gain_text(each)})"


def _where(each: Experiment) -> str:
    return f"{size_text(each.max_size, each.coefficient)}{at_place(each.dependency)}"
