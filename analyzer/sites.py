"""From a target's windows to its best one: sizes and net savings of each, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..units import format_bytes
from .answer import Saving
from .benefit import MemoryRates, TargetLoad, grouped_load, net_saving
from .labels import LabelledGroup
from .options import AnalysisOptions
from .prefetch import NOTHING_TAKEN, Size, Taken, l2_budget_bytes, max_size, share_out, window_bytes
from .sequence import KernelSequence
from .targets import Judgement
from .walk import COLLECTIVE, MEMORY, Verdict, accepted, judge, streams_elsewhere
from .windows import BlockingKernels, Indexes, Walk, Window, walk_back, windows_of


@dataclass(frozen=True)
class Rules:
    """What the user and the device fix for one question."""

    rates: MemoryRates
    options: AnalysisOptions  # with the user's eta laid in
    coefficient: float
    cap_bytes: int | None
    cmo_gb_s: float | None
    allow_comm_windows: bool
    include_unsafe: bool


@dataclass(frozen=True)
class SizedWindow:
    """One window with what it could carry and save; `usable` = safe, or its collectives were accepted."""

    window: Window
    size: Size
    calls: tuple[int, ...]  # bytes per weight, in the order of Work.weights
    saving: Saving  # per occurrence
    hazards: tuple[str, ...]
    usable: bool
    occurrences_per_step: float
    taken: Taken = NOTHING_TAKEN  # by other calls of the plan, already off the terms

    @property
    def gain_us(self) -> float:
        """Net saving per step, us, at the default eta."""
        return self.saving.mid * self.occurrences_per_step


@dataclass(frozen=True)
class Site:
    """One target at one place in the code: same kernel, same position, same kernel before it."""

    place: int
    group: LabelledGroup
    judgement: Judgement
    occurrences: Indexes
    walk: Walk
    windows: tuple[SizedWindow, ...]  # the shortest first
    best: SizedWindow | None
    elsewhere: int  # occurrences of this position that follow other kernels and are not in this site
    context: int  # 0 = the most common predecessor, 1 = the next, …
    order: int | None = None  # of its call among those of the plan, as they are issued
    left_out: str | None = None  # why the plan as a whole does without it, though it would pay by itself


class SiteFinder:
    """Walks back from targets over one kernel sequence; verdicts are given once per place."""

    def __init__(self, sequence: KernelSequence, rules: Rules, period: int | None) -> None:
        self.sequence = sequence
        self.rules = rules
        options = rules.options
        self.max_depth = min(period or options.walk_max_kernels, options.walk_max_kernels)
        self._verdicts = self._judge_all()
        self._blocking = BlockingKernels.of(sequence, self.judged, self._blocks, options)

    def judged(self, place: int) -> Verdict:
        """The verdict on the kernel at one place."""
        return self._verdicts[place]

    def _judge_all(self) -> list[Verdict]:
        """One verdict per place; a matmul that is memory-bound at one of its places is so at all of them."""
        places = self.sequence.places
        verdicts = [judge(each, self.rules.rates, self.rules.options) for each in places]
        streaming = {
            each.signature_id
            for each, verdict in zip(places, verdicts, strict=True)
            if verdict.kind == MEMORY and each.work.weights
        }
        return [
            streams_elsewhere(verdict) if verdict.safe and each.signature_id in streaming else verdict
            for each, verdict in zip(places, verdicts, strict=True)
        ]

    def _blocks(self, verdict: Verdict) -> bool:
        return not accepted(verdict.kind, self.rules.allow_comm_windows, include_unsafe=False)

    def sites(self, place: int, judgement: Judgement) -> list[Site]:
        """The sites of one place, one per kind of kernel directly before it that is common enough."""
        occurrences = self.sequence.kernels_at(place)
        contexts = _contexts(self.sequence, occurrences, self.rules.options)
        kept = sum(len(each) for each in contexts)
        return [
            self._site(place, judgement, each, len(occurrences) - kept, number)
            for number, each in enumerate(contexts)
        ]

    def _site(
        self, place: int, judgement: Judgement, occurrences: Indexes, elsewhere: int, context: int
    ) -> Site:
        rules, group = self.rules, self.sequence.places[place]
        walk = walk_back(
            self.sequence,
            occurrences,
            self.judged,
            lambda verdict: accepted(verdict.kind, rules.allow_comm_windows, rules.include_unsafe),
            self.max_depth,
            rules.options,
        )
        found = windows_of(self.sequence, walk, self._blocking, rules.rates, rules.options)
        load = target_load(group, rules)
        sized = tuple(self._sized(each, place, load) for each in found)
        best = choose([each for each in sized if each.usable], rules.options)
        return Site(place, group, judgement, occurrences, walk, sized, best, elsewhere, context)

    def beside(self, sized: SizedWindow, place: int, taken: Taken) -> SizedWindow:
        """The same window with what other calls leave of it."""
        return self._sized(sized.window, place, target_load(self.sequence.places[place], self.rules), taken)

    def rate(self, window: Window) -> float:
        """Bytes per us that a copy gets in a window at the default eta."""
        if window.duration_us <= 0:
            return 0.0
        spare = self.rules.options.eta * window.spare_bytes / window.duration_us
        return spare if self.rules.cmo_gb_s is None else min(spare, self.rules.cmo_gb_s * 1e3)

    def _sized(
        self, window: Window, place: int, load: TargetLoad, taken: Taken = NOTHING_TAKEN
    ) -> SizedWindow:
        rules, options = self.rules, self.rules.options
        weights = [each.bytes for each in self.sequence.places[place].work.weights]
        l2 = l2_budget_bytes(rules.rates.l2_bytes, window.busy_bytes + taken.l2_bytes, options)

        def size_at(eta: float) -> Size:
            carried = window_bytes(window.spare_bytes, window.duration_us, eta, options, rules.cmo_gb_s)
            left = max(0, int(carried - taken.window_bytes))
            return max_size(sum(weights), rules.coefficient, left, l2, rules.cap_bytes, options)

        def arriving(eta: float) -> float:
            return float(sum(share_out(size_at(eta).max_size, weights, options)))

        size = size_at(options.eta)
        calls = share_out(size.max_size, weights, options)
        size = Size(sum(calls), size.terms)
        hazards, harmful = self._hazards(window, size, place in self.sequence.eager)
        return SizedWindow(
            window=window,
            size=size,
            calls=calls,
            saving=net_saving(arriving, load, window.utilisation, rules.rates, options),
            hazards=hazards,
            usable=not harmful,
            occurrences_per_step=len(window.occurrences) / self.sequence.steps,
            taken=taken,
        )

    def _hazards(self, window: Window, size: Size, eager: bool) -> tuple[tuple[str, ...], bool]:
        """What speaks against a window, and whether any of it was not accepted by the user."""
        options, hazards, harmful = self.rules.options, [], False
        for each in window.inside:
            if each.verdict.safe:
                continue
            taken = each.verdict.kind == COLLECTIVE and self.rules.allow_comm_windows
            harmful = harmful or not taken
            name = self._name(each.place)
            note = " (accepted by --allow-comm-windows)" if taken else ""
            hazards.append(f"{name} inside is {each.verdict.kind}{note}: {each.verdict.reason}")
        if window.overlapped_by is not None and window.overlapped_by not in {
            each.place for each in window.inside
        }:
            harmful = True
            hazards.append(
                f"{self._name(window.overlapped_by)} of another stream still runs inside in "
                f"{window.overlapped_share:.0%} of the occurrences: {self.judged(window.overlapped_by).kind}"
            )
        shortest = options.min_window_eager_us if eager else options.min_window_us
        if window.duration_us < shortest:
            harmful = True
            mode = " that an eagerly launched call takes" if eager else ""
            hazards.append(f"{window.duration_us:.1f} us, shorter than {shortest:g} us{mode}")
        elif size.max_size < options.min_prefetch_bytes:
            harmful = True
            hazards.append(
                f"carries {format_bytes(size.max_size)}; below {format_bytes(options.min_prefetch_bytes)} "
                "a call is not worth it"
            )
        return tuple(hazards), harmful

    def _name(self, place: int) -> str:
        return self.sequence.places[place].row.type or "a kernel without type"


def _contexts(sequence: KernelSequence, occurrences: Indexes, options: AnalysisOptions) -> list[Indexes]:
    """Occurrences split by the kernel directly before them, the most common first; rare ones are left out."""
    before = np.where(occurrences > 0, sequence.place[occurrences - 1], -1)
    same_step = sequence.step[occurrences - 1] == sequence.step[occurrences]
    before = np.where((occurrences > 0) & same_step, before, -1)
    counts = np.bincount(before + 1)  # from 1, so that the -1 of a step's first kernel counts too
    common = sorted((-int(counts[kind]), int(kind) - 1) for kind in np.flatnonzero(counts))
    enough = options.context_min_share * len(occurrences)
    kept = [kind for number, (count, kind) in enumerate(common) if number == 0 or -count >= enough]
    return [occurrences[before == kind] for kind in kept]


def target_load(group: LabelledGroup, rules: Rules) -> TargetLoad:
    """What the benefit model needs to know of a target, from its median duration and its floors."""
    work, floors = group.work, group.label.floors
    duration = group.statistics.median_us
    limits = [each for each in (floors.compute_us, floors.l2_us, floors.overhead_us) if each is not None]
    other = max(limits, default=0.0)
    weight = work.weight_bytes or 0
    if work.experts and work.experts > 1:
        upper = float(work.bytes_hi or weight)
        return grouped_load(
            duration, upper, weight / work.experts, work.experts, work.m, other, rules.rates, rules.options
        )
    return TargetLoad(duration, float(weight), other)


def choose(usable: list[SizedWindow], options: AnalysisOptions) -> SizedWindow | None:
    """The window with the largest net saving per step; of those as good within the tie, the shortest."""
    paying = [each for each in usable if each.gain_us > 0]
    if not paying:
        return None
    largest = max(each.gain_us for each in paying)
    return next(each for each in paying if each.gain_us >= largest * (1.0 - options.window_tie_share))
