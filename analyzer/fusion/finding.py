"""From the kernels of a step to the sequences in it: every kernel in one at most, what fits before what
does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...roofline.fused import MAIN_FAMILIES, FusedTime, Part, fused_time
from ..phases import run_phase
from .constraints import FAILS, UNKNOWN, Finding, Member, Situation, decide
from .flow import flow_status, saved_bytes
from .lanes import Lanes, StepKind
from .matching import Alphabet, Match, Pattern, matches_in, patterns
from .opindex import OperatorIndex
from .rules import Rule, RuleBook
from .types import normalised

if TYPE_CHECKING:
    from ..session import Session

FITS, CHECK, EXCLUDED, NO_OPERATOR, INFORM = "fits", "check", "excluded", "no_operator", "inform"
# What may take kernels first: a call that can be used, then a documented refusal, then what is only said.
PASSES = (frozenset({FITS, CHECK}), frozenset({EXCLUDED}), frozenset({NO_OPERATOR, INFORM}))


@dataclass(frozen=True)
class Judged:
    """A rule on certain signatures: whether it can be used, what fails, what is left to check, and the
    times.
    """

    status: str
    failing: str | None
    to_check: tuple[str, ...]
    time: FusedTime | None
    sequence_us: float  # of the kernels that would go
    removable_us: float  # of them without matmul, attention and exchange, whose work remains


@dataclass(frozen=True)
class Found:
    """A match in one kind of step: kernel indexes in it, all and those that would go, and the judgement."""

    match: Match
    kernels: tuple[int, ...]
    claimed: tuple[int, ...]
    judged: Judged
    fallbacks: tuple[str, ...] = ()


@dataclass
class Judge:
    """Judges matches; the same rule on the same signatures is judged once."""

    session: Session
    lanes: Lanes
    situation: Situation
    indexes: tuple[OperatorIndex, ...] = ()  # where the calls are looked up; empty = nowhere
    _known: dict[tuple[object, ...], Judged | None] = field(default_factory=dict)

    @classmethod
    def of(cls, session: Session, lanes: Lanes, indexes: Sequence[OperatorIndex] = ()) -> Judge:
        """The judge of a selection: its phase and device decide what the kernels do not."""
        device = session.device.device
        situation = Situation(run_phase(session).phase, None if device is None else device.family)
        return cls(session, lanes, situation, tuple(indexes))

    def judge(self, match: Match, groups: tuple[int, ...]) -> Judged | None:
        """The judgement; None where the kernels are not this pattern at all (a near miss)."""
        key = (match.rule.id, match.sequence, match.places, groups)
        if key not in self._known:
            self._known[key] = self._judge(match, groups)
        return self._known[key]

    def _judge(self, match: Match, groups: tuple[int, ...]) -> Judged | None:
        rule = match.rule
        members = [
            Member(place, normalised(self.lanes.groups[group].row.type or ""), self.lanes.groups[group])
            for place, group in zip(match.places, groups, strict=True)
        ]
        flow = flow_status(rule, members)
        conditions = self._findings(rule, members, of_pattern=True)
        if flow == FAILS or any(each.status == FAILS for each in conditions):
            return None
        limits = self._findings(rule, members, of_pattern=False)
        failing = next((f"{each.text} ({each.source})" for each in limits if each.status == FAILS), None)
        failing = failing or self._absent(rule)
        unknown = [f"{each.text} ({each.source})" for each in limits if each.status == UNKNOWN]
        unknown += [each.text for each in conditions if each.status == UNKNOWN]
        if flow == UNKNOWN:
            unknown.insert(0, "shapes are not recorded: whether these kernels hand results on is not known")
        saved = saved_bytes(rule, members)
        going = [
            (each, bytes_)
            for each, bytes_ in zip(members, saved, strict=True)
            if each.place not in rule.context
        ]
        return Judged(
            _status(rule, failing, unknown),
            failing,
            tuple(unknown),
            self._time(rule, going),
            sum(each.group.statistics.median_us for each, _ in going),
            sum(
                each.group.statistics.median_us
                for each, _ in going
                if rule.replaces_main or each.group.work.family not in MAIN_FAMILIES
            ),
        )

    def _absent(self, rule: Rule) -> str | None:
        """That a call is in none of the torch_npu given, neither documented nor as a function."""
        call = rule.api.split(" ")[0]
        if not self.indexes or not call.startswith("npu_"):
            return None
        if any(each in index.operators for index in self.indexes for each in (call, *rule.also)):
            return None  # a call of the same kind will do
        where = ", ".join(index.version or index.label for index in self.indexes)
        return f"{call} is not in torch_npu {where}: not documented, no function"

    def _findings(self, rule: Rule, members: list[Member], of_pattern: bool) -> list[Finding]:
        checks = rule.when if of_pattern else rule.constraints
        found = (decide(check, members, self.situation) for check in checks)
        return [each for each in found if each is not None]

    def _time(self, rule: Rule, going: list[tuple[Member, int]]) -> FusedTime | None:
        """Time of the fused kernel; where kernels move into one that stays, the time their work still
        needs.
        """
        if not rule.api:
            return None
        parts = [
            Part(each.group.work, each.group.statistics.median_us, saved, each.group.label.fed_by_l2)
            for each, saved in going
        ]
        device, options = self.session.device.device, self.session.roofline_options
        time = fused_time(parts, device, options, rule.replaces_main)
        if time is None or not rule.context:
            return time
        return FusedTime(0.0, max(0.0, time.floor_us))


def _status(rule: Rule, failing: str | None, unknown: list[str]) -> str:
    if not rule.api:
        return NO_OPERATOR
    if rule.level == "I":
        return INFORM
    if failing is not None:
        return EXCLUDED
    return CHECK if unknown or rule.level in "CM" else FITS


def find_in(
    kind: StepKind, lanes: Lanes, book: RuleBook, judge: Judge
) -> tuple[list[Found], NDArray[np.bool_]]:
    """The sequences of one kind of step, and which of its kernels are taken by one.

    Longest first, then the smaller priority number; a kernel goes to one sequence only. Calls that can be
    used come before ones that a documented limit refuses.
    """
    alphabet = Alphabet({name: code for code, name in enumerate(lanes.types)})
    known = patterns(book, alphabet)
    taken = np.zeros(len(kind.code), dtype=bool)
    found: list[Found] = []
    for wanted in PASSES:
        collided = True
        while collided:  # what lost its kernels to a longer sequence may fit at other ones
            candidates = _candidates(kind, alphabet, known, judge, taken, wanted)
            fresh = _claim(candidates, taken)
            found += fresh
            collided = 0 < len(fresh) < len(candidates)
    return _with_fallbacks(found, kind, alphabet, known, judge), taken


def _candidates(
    kind: StepKind,
    alphabet: Alphabet,
    known: tuple[Pattern, ...],
    judge: Judge,
    taken: NDArray[np.bool_],
    wanted: frozenset[str],
) -> list[Found]:
    free = (kind.group >= 0) & ~taken
    found = []
    for lane, of_lane in _lanes_with_patterns(kind, known):
        text = alphabet.text(kind.code[lane], free[lane])
        for pattern in of_lane:
            found += [
                each for each in _found(text, pattern, kind, lane, judge) if each.judged.status in wanted
            ]
    return found


def _lanes_with_patterns(
    kind: StepKind, known: tuple[Pattern, ...]
) -> Iterator[tuple[NDArray[np.int64], list[Pattern]]]:
    plain = [each for each in known if not each.rule.with_collectives]
    for lane in kind.lanes:
        yield lane, plain
    yield kind.with_collectives, [each for each in known if each.rule.with_collectives]


def _found(
    text: str, pattern: Pattern, kind: StepKind, lane: NDArray[np.int64], judge: Judge
) -> Iterator[Found]:
    for match in matches_in(text, pattern):
        kernels = lane[list(match.kernels)]
        judged = judge.judge(match, tuple(kind.group[kernels].tolist()))
        if judged is not None:
            yield Found(match, tuple(kernels.tolist()), tuple(lane[list(match.claimed)].tolist()), judged)


def _claim(candidates: list[Found], taken: NDArray[np.bool_]) -> list[Found]:
    """Give kernels to the longest sequences; marks them in `taken`."""

    def order(each: Found) -> tuple[int, int, int]:
        length = sum(place >= 0 for place in each.match.places)
        return -length, each.match.rule.priority, each.kernels[0]

    chosen = []
    busy: set[int] = set()
    for each in sorted(candidates, key=order):
        if busy.isdisjoint(each.kernels):
            chosen.append(each)
            busy.update(each.kernels)
            taken[list(each.claimed)] = True
    return chosen


def _with_fallbacks(
    found: list[Found], kind: StepKind, alphabet: Alphabet, known: tuple[Pattern, ...], judge: Judge
) -> list[Found]:
    """The same with the smaller calls that fit inside each; equal sequences are looked into once."""
    inside: dict[tuple[object, ...], tuple[str, ...]] = {}
    completed = []
    for each in found:
        key = (each.match.rule.id, *kind.group[list(each.kernels)].tolist())
        if key not in inside:
            inside[key] = _inside(each, kind, alphabet, known, judge)
        completed.append(replace(each, fallbacks=inside[key]) if inside[key] else each)
    return completed


def _inside(
    found: Found, kind: StepKind, alphabet: Alphabet, known: tuple[Pattern, ...], judge: Judge
) -> tuple[str, ...]:
    kernels = np.array(found.kernels)
    text = alphabet.text(kind.code[kernels], np.ones(len(kernels), dtype=bool))
    calls: dict[str, None] = {}
    for pattern in known:
        rule = pattern.rule
        if rule.id == found.match.rule.id or not rule.api or rule.level == "I":
            continue
        for each in _found(text, pattern, kind, kernels, judge):
            if each.judged.status in PASSES[0] and len(each.kernels) < len(kernels):
                calls[rule.api] = None
    return tuple(calls)
