"""From sites that each look good alone to a plan whose calls can all be made: who gets which window.

Sites are taken in by falling saving. Each brings the window with which the plan as a whole saves most; the
sizes of all calls are then those that the shared queue, bandwidth and L2 leave. A site that adds nothing is
left out, with what it would have collided with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..units import format_us
from .schedule import Call, Queue
from .sites import Site, SiteFinder, SizedWindow

_WINDOWS_TRIED = 4  # per site, by falling saving: shorter ones that collide less
_ROUNDS = 4  # a call that shrinks leaves more to those behind it


@dataclass(frozen=True)
class _Choice:
    site: int
    sized: SizedWindow  # as it is when alone
    within: SizedWindow  # as the plan leaves it

    @property
    def gain_us(self) -> float:
        return self.within.gain_us


def feasible(sites: Sequence[Site], finder: SiteFinder) -> list[Site]:
    """The sites in their order, with the windows and sizes of a plan that is feasible as a whole.

    A site without a place in the plan keeps its windows, has no best one, and says why in `left_out`. Each
    occurrence of a target is in one site, and each site has one window: no weight is fetched twice.
    """
    queue = Queue(finder.sequence, finder.rules.options)
    chosen: list[_Choice] = []
    without: dict[int, str] = {}
    ranked = sorted(
        (number for number, site in enumerate(sites) if site.best is not None),
        key=lambda number: (-_gain(sites[number]), number),
    )
    for number in ranked:
        better, clash = _with_site(chosen, number, sites, finder, queue)
        if better is None:
            without[number] = clash
        else:
            chosen = better
    found = {choice.site: choice.within for choice in chosen}
    order = {number: place for place, number in enumerate(_issue_order(chosen))}
    return [
        replace(site, best=found.get(number), order=order.get(number), left_out=without.get(number))
        for number, site in enumerate(sites)
    ]


def _gain(site: Site) -> float:
    return site.best.gain_us if site.best else 0.0


def _with_site(
    chosen: list[_Choice], number: int, sites: Sequence[Site], finder: SiteFinder, queue: Queue
) -> tuple[list[_Choice] | None, str]:
    """The plan with one more site, or None and the reason why it is better without."""
    site = sites[number]
    before = sum(choice.gain_us for choice in chosen)
    best: list[_Choice] | None = None
    for sized in _windows(site):
        new = _Choice(number, sized, sized)
        if not _met(new, chosen, queue):
            tried = [*chosen, new]
        else:
            tried = _settled([*chosen, new], sites, finder, queue)
        gain = sum(choice.gain_us for choice in tried)
        lost = any(not choice.within.usable or choice.gain_us <= 0 for choice in tried)
        if not lost and gain > before and (best is None or gain > sum(each.gain_us for each in best)):
            best = tried
        if best is not None and best[-1].within is site.best:
            break  # alone in its best window: no other can do better
    if best is not None:
        return best, ""
    return None, _clash(site, number, chosen, sites, queue)


def _windows(site: Site) -> list[SizedWindow]:
    """The best window first, then others that pay, by falling saving."""
    others = [each for each in site.windows if each.usable and each.gain_us > 0 and each is not site.best]
    others.sort(key=lambda each: -each.gain_us)
    return [*([site.best] if site.best else []), *others][:_WINDOWS_TRIED]


def _settled(
    choices: list[_Choice], sites: Sequence[Site], finder: SiteFinder, queue: Queue
) -> list[_Choice]:
    """The same choices with the sizes that they leave each other."""
    settled = choices
    for _ in range(_ROUNDS):
        calls = [_call(choice, finder) for choice in settled]
        taken = queue.taken(calls)
        after = [
            choice
            if choice.within.taken == each
            else replace(choice, within=finder.beside(choice.sized, sites[choice.site].place, each))
            for choice, each in zip(settled, taken, strict=True)
        ]
        if [each.within.size for each in after] == [each.within.size for each in settled]:
            return after
        settled = after
    return settled


def _call(choice: _Choice, finder: SiteFinder) -> Call:
    window = choice.sized.window
    return Call(window, choice.within.size.max_size, finder.rate(window))


def _clash(site: Site, number: int, chosen: list[_Choice], sites: Sequence[Site], queue: Queue) -> str:
    """Which calls the best window of a site meets, in words."""
    best = site.best
    assert best is not None
    met = _met(_Choice(number, best, best), chosen, queue)
    names = " and ".join(dict.fromkeys(sites[choice.site].group.row.type or "a kernel" for choice in met))
    return (
        f"left out of the plan: alone it would save {format_us(best.gain_us)} per step, but its copy shares "
        f"queue, bandwidth or L2 with that of {names}, and the plan saves more without it"
    )


def _met(choice: _Choice, chosen: list[_Choice], queue: Queue) -> list[_Choice]:
    """Those of `chosen` whose calls are in flight together with this one."""
    own = choice.sized.window
    return [
        each
        for each in chosen
        if queue.meeting(own, each.sized.window) or queue.meeting(each.sized.window, own)
    ]


def _issue_order(chosen: list[_Choice]) -> list[int]:
    """Sites in the order in which their calls are issued in a step: by dependency, then by target."""

    def key(choice: _Choice) -> tuple[int, int]:
        window = choice.within.window
        return int((window.occurrences - window.dependency.depth)[0]), int(window.occurrences[0])

    return [choice.site for choice in sorted(chosen, key=key)]
