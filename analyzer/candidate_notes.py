"""What a reader must know about a candidate besides its numbers, and what all candidates mean together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..units import format_bytes, format_us
from .answer import CandidateRow
from .sequence import Example, KernelSequence, cpu_work, examples
from .sites import Rules, Site
from .windows import Indexes

if TYPE_CHECKING:
    from .session import Session


@dataclass(frozen=True)
class Names:
    """Name, stream and layer of the kernels that are shown, by their index in the sequence."""

    known: Mapping[int, Example]

    def of(self, entry: int) -> Example:
        """What the export says of one kernel; empty for one that was not looked up."""
        return self.known.get(entry, Example("", None, None))


def names_of(session: Session, sequence: KernelSequence, sites: Sequence[Site]) -> Names:
    """Look up one occurrence of everything that is shown, and every target of the first step, at once."""
    entries: set[int] = set()
    for site in sites:
        first_step = sequence.step[site.occurrences] == sequence.step[site.occurrences[0]]
        entries.update(site.occurrences[first_step].tolist())
        entries.update(int(each.occurrences[0]) - each.depth for each in site.walk.predecessors)
    if not entries:
        return Names({})
    entry_of = {(sequence.step_ids[sequence.step[each]], int(sequence.index[each])): each for each in entries}
    return Names({entry_of[where]: example for where, example in examples(session, entry_of).items()})


class SiteNotes:
    """Notes of one row each."""

    def __init__(self, session: Session, sequence: KernelSequence, names: Names) -> None:
        self._session = session
        self._sequence = sequence
        self._names = names

    def of(self, site: Site) -> tuple[str, ...]:
        """Every note of one site, in the order of their weight."""
        if site.best is None:
            return tuple(self._elsewhere(site))
        return (
            *self._elsewhere(site),
            *_experts(site),
            *_left_out(site),
            *self._other_stream(site),
            *self._ai_cpu(site),
        )

    def _elsewhere(self, site: Site) -> list[str]:
        shown = len(site.best.window.occurrences if site.best else site.occurrences)
        missing = (len(site.occurrences) + site.elsewhere - shown) / self._sequence.steps
        if not missing or site.context:
            return []
        return [
            f"{missing:g} more per step follow other kernels (as in a first layer) and are not in this row."
        ]

    def _other_stream(self, site: Site) -> list[str]:
        assert site.best is not None
        dependency = site.best.window.dependency
        own = self._names.of(int(site.occurrences[0])).stream_id
        other = self._names.of(int(dependency.occurrences[0]) - dependency.depth).stream_id
        if own == other or None in (own, other):
            return []
        name = self._sequence.places[dependency.place].row.type
        return [
            f"{name} ran on stream {other}, the target on {own}; it ended first in every occurrence, "
            "but the export has no events that would prove the order."
        ]

    def _ai_cpu(self, site: Site) -> list[str]:
        """AI_CPU work that overlaps the window: it is not walked, and its HBM use is not known."""
        assert site.best is not None
        window = site.best.window
        opens = self._sequence.end_ns[window.occurrences - window.dependency.depth]
        closes = self._sequence.start_ns[window.occurrences]
        share, types = cpu_work(self._session).overlap(opens, closes)
        if share == 0.0:
            return []
        return [f"AI_CPU work ({', '.join(types)}) overlaps the window in {share:.0%} of the occurrences."]


def _experts(site: Site) -> list[str]:
    experts = site.group.work.experts
    if not experts or experts < 2:
        return []
    return [
        f"Of {experts} experts only those hit are read, and which is not known when the prefetch starts: "
        "the saving counts the most that HBM can have delivered meanwhile, so it is an upper bound; "
        "max_size counts the whole weight."
    ]


def _left_out(site: Site) -> list[str]:
    assert site.best is not None
    slots = [
        str(weight.slot)
        for weight, call in zip(site.group.work.weights, site.best.calls, strict=True)
        if not call
    ]
    return [f"The budget is used up before the weights of slots {', '.join(slots)}."] if slots else []


def with_shared_windows(rows: Sequence[CandidateRow], sites: Mapping[str, Site]) -> list[CandidateRow]:
    """Name, in every candidate, the others whose window holds the same kernels; rows keep their order."""
    noted = []
    for row in rows:
        notes = [
            f"Shares {' + '.join(types)} with {other.id}; {_share_of(row, other)}"
            for other in rows
            if other.id != row.id and (types := _shared(sites[row.id], sites[other.id]))
        ]
        noted.append(replace(row, notes=(*row.notes, *notes)))
    return noted


def _share_of(row: CandidateRow, other: CandidateRow) -> str:
    """Who is served first, and what that leaves."""
    if (row.issue_order or 0) < (other.issue_order or 0):
        return "this call is issued first, and the other gets what is left."
    taken = row.window.taken_window_bytes if row.window else 0
    return f"that call is issued first; {format_bytes(taken)} of this window go to calls before this one."


def _shared(site: Site, other: Site) -> list[str]:
    """Types of the kernels that stand in both best windows, in start order.

    Equal places are not enough: the last layer's norm before lm_head is not the one before the next layer.
    """
    if site.best is None or other.best is None:
        return []
    own, theirs = site.best.window, other.best.window
    places = {each.place for each in theirs.inside}
    return [
        each.type
        for each in own.inside
        if each.place in places and _meet(own.kernels_at(each.place), theirs.kernels_at(each.place))
    ]


def _meet(first: Indexes, second: Indexes) -> bool:
    """Whether two ascending lists of indexes have one in common."""
    where = np.searchsorted(second, first)
    inside = where < len(second)
    return bool((second[where[inside]] == first[inside]).any())


def summary_notes(
    rows: Sequence[CandidateRow], left_out: int, rules: Rules, wall_us: float | None
) -> list[str]:
    """The sum over the calls of the plan, and a warning when it is too good to be true.

    left_out: sites that would pay alone and are not in the plan. wall_us: median step, us, None where not
    known.
    """
    taken = [row for row in rows if row.status == "candidate"]
    total = sum(row.predicted_saving_step_us or 0.0 for row in taken)
    if not taken:
        return []
    share = f", {total / wall_us:.1%} of the median step" if wall_us else ""
    beside = f"; {left_out} more would pay alone but not beside these" if left_out else ""
    count = "1 candidate" if len(taken) == 1 else f"{len(taken)} candidates"
    notes = [
        f"{count}, which share queue, bandwidth and L2 as one plan, would save "
        f"{format_us(total)} per step{share}, by the model{beside}. Apply and measure them one by one."
    ]
    limit = rules.options.saving_warning_share
    if wall_us and total > limit * wall_us:
        notes.append(
            f"Warning: that is more than {limit:.0%} of a step; published gains are 0-9 %. "
            "Believe it only when measured."
        )
    return notes


def assumptions(rules: Rules) -> tuple[str, ...]:
    """What every size and saving rests on, with the numbers used."""
    options, rates = rules.options, rules.rates
    lines = [
        f"HBM {rates.hbm_bytes_s / 1e9:,.0f} GB/s nominal, {options.eff_hbm:.0%} of it achievable",
        f"a prefetch gets {options.eta:g} of the spare bandwidth "
        f"({options.eta_low:g} to {options.eta_high:g})",
        f"a prefetch starts {options.t_lat_us:g} us after its dependency",
        f"at most {options.alpha:.0%} of the L2 of {format_bytes(rates.l2_bytes)} holds prefetched bytes",
        f"L2 delivers {options.l2_read_efficiency:.0%} of {rates.l2_read_bytes_s / 1e9:,.0f} GB/s; "
        "HBM and L2 reads follow each other",
        f"a busy window loses {options.beta:g} x the copy's time x its HBM utilisation",
        "nothing else is evicted and the host does not stall",
    ]
    if rules.cmo_gb_s is not None:
        lines.append(f"the copy engine moves at most {rules.cmo_gb_s:g} GB/s, as measured by the user")
    return tuple(lines)
