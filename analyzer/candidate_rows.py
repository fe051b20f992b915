"""Sites -> rows of the answer: ids, order, and every field of a candidate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .answer import CandidateRow, Saving, WalkStep, WeightRow, WindowKernelRow, WindowRow
from .candidate_notes import Names, SiteNotes, assumptions, names_of
from .labels import LabelledGroup
from .roles_match import RoleName, RoleNames
from .sequence import Example, KernelSequence
from .sites import Rules, Site, SizedWindow
from .targets import Judgement
from .windows import Predecessor

if TYPE_CHECKING:
    from .session import Session

SAME, PREVIOUS = "same_layer", "previous_layer"
_PART_LETTER = {"layer": "", "before": "b", "between": "g", "after": "a"}
_CONTEXT_LETTER = ("", "b", "c", "d", "e", "f", "g", "h", "i", "j")  # at least a tenth each: at most ten


def candidate_id(group: LabelledGroup, context: int = 0) -> str:
    """'c-', the first 8 hex digits of the signature, '-', its position ('b3' = before the layers, 'a0' =
    after).

    'x' stands for a kernel without position; a letter behind tells sites apart that follow different
    kernels.
    """
    place = "x" if group.part is None else f"{_PART_LETTER.get(group.part, '')}{group.position}"
    return f"c-{group.row.hex_id[:8]}-{place}{_CONTEXT_LETTER[context]}"


def ordered(rows: Iterable[CandidateRow]) -> tuple[CandidateRow, ...]:
    """Candidates by falling saving per step, then targets without a safe window by time; ties by id."""
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                row.status != "candidate",
                -(row.predicted_saving_step_us or 0.0),
                -row.target_us * row.occurrences_per_step,
                row.id,
            ),
        )
    )


def rejected_row(
    group: LabelledGroup, judgement: Judgement, per_step: float, role: RoleName | None = None
) -> CandidateRow:
    """A weight-carrying kernel that is no target, with the reason; `per_step` counts its occurrences."""
    return CandidateRow(
        id=f"c-{group.row.hex_id[:8]}-all",
        target_type=group.row.type or "",
        target_shapes=group.row.input_shapes,
        target_us=group.statistics.median_us,
        bound=group.label.bound,
        limiter=group.label.limiter,
        confidence=group.label.confidence,
        role=role.name if role else None,
        role_source=role.source if role else "",
        layer_scope=SAME,
        occurrences_per_step=per_step,
        weight_bytes=group.work.weight_bytes,
        weights=_weights(group, None, role),
        window=None,
        alternatives=(),
        max_size=None,
        max_size_terms=None,
        predicted_saving_us=None,
        predicted_saving_step_us=None,
        status="rejected",
        reason=judgement.reason,
        position=group.position,
        p10_us=group.statistics.p10_us,
        p90_us=group.statistics.p90_us,
        description=group.row.type or "",
    )


def _weights(group: LabelledGroup, best: SizedWindow | None, role: RoleName | None) -> tuple[WeightRow, ...]:
    calls = best.calls if best is not None else (None,) * len(group.work.weights)
    names = role.weights_of(len(calls)) if role else (None,) * len(calls)
    return tuple(
        WeightRow(
            slot=weight.slot,
            bytes=weight.bytes,
            dtype=weight.dtype,
            format=weight.format,
            shape=",".join(str(dim) for dim in weight.logical),
            experts=weight.experts,
            max_size=call or None,  # 0 bytes: no call for this weight
            role=name,
        )
        for weight, call, name in zip(group.work.weights, calls, names, strict=True)
    )


class RowWriter:
    """Writes the rows of one question; names, streams and layers are looked up once for all of them."""

    def __init__(
        self, session: Session, sequence: KernelSequence, rules: Rules, roles: RoleNames | None = None
    ) -> None:
        self._session = session
        self._roles = roles or RoleNames({}, {})
        self._sequence = sequence
        self._rules = rules
        self._names = Names({})

    def rows(self, sites: list[Site]) -> tuple[list[CandidateRow], dict[str, Site], list[CandidateRow]]:
        """Rows of all sites, the sites by row id, and the rows whose safe windows do not pay."""
        self._names = names_of(self._session, self._sequence, sites)
        notes = SiteNotes(self._session, self._sequence, self._names)
        rows, by_id, unprofitable = [], {}, []
        for site in sites:
            row = self._row(site, notes)
            by_id[row.id] = site
            (unprofitable if row.status == "rejected" else rows).append(row)
        return rows, by_id, unprofitable

    def _predecessor(self, each: Predecessor) -> tuple[LabelledGroup, Example]:
        return self._sequence.places[each.place], self._names.of(int(each.occurrences[0]) - each.depth)

    def _row(self, site: Site, notes: SiteNotes) -> CandidateRow:
        group, best, steps = site.group, site.best, self._sequence.steps
        status, reason = self._status(site)
        role = self._roles.of(site.place)
        targets = best.window.occurrences if best else site.occurrences
        per_step = len(targets) / steps
        saving = best.saving if best else None
        return CandidateRow(
            id=candidate_id(group, site.context),
            target_type=group.row.type or "",
            target_shapes=group.row.input_shapes,
            target_us=group.statistics.median_us,
            bound=group.label.bound,
            limiter=group.label.limiter,
            confidence=site.judgement.confidence,
            role=role.name if role else None,
            role_source=role.source if role else "",
            layer_scope=_scope(best.window.dependency) if best else SAME,
            occurrences_per_step=per_step,
            weight_bytes=group.work.weight_bytes,
            weights=_weights(group, best if status == "candidate" else None, role),
            window=self._window(best) if best else None,
            alternatives=tuple(
                self._window(each) for each in site.windows if not best or each.window is not best.window
            ),
            max_size=best.size.max_size if best else None,
            max_size_terms=best.size.terms if best else None,
            predicted_saving_us=saving,
            predicted_saving_step_us=saving.mid * per_step if saving else None,
            predicted_saving_step_range_us=_times(saving, per_step),
            status=status,
            reason=reason,
            position=group.position,
            layers=self._layers(site),
            p10_us=group.statistics.p10_us,
            p90_us=group.statistics.p90_us,
            walk=tuple(self._walk_step(each) for each in site.walk.predecessors),
            assumptions=assumptions(self._rules) if best else (),
            notes=notes.of(site),
            description=self._description(site),
            issue_order=site.order,
        )

    def _status(self, site: Site) -> tuple[str, str]:
        stopped = site.walk.stopped_in_short
        if site.best is not None:
            return "candidate", f"{site.judgement.in_short}; {stopped}"
        if site.left_out is not None:
            return "rejected", f"{site.left_out}; {stopped}"
        usable = [each for each in site.windows if each.usable]
        if usable:
            most = max(usable, key=lambda each: each.gain_us)
            return (
                "rejected",
                f"the best window would save {most.saving.mid:.2f} us net, which is nothing; {stopped}",
            )
        blocked = "; ".join(dict.fromkeys(hazard for each in site.windows for hazard in each.hazards))
        return "no_safe_window", f"no safe window: {blocked + '; ' if blocked else ''}{stopped}"

    def _window(self, sized: SizedWindow) -> WindowRow:
        window = sized.window
        group, example = self._predecessor(window.dependency)
        return WindowRow(
            dependency=group.row.type or "",
            dependency_name=example.name,
            dependency_shapes=group.row.input_shapes,
            dependency_position=group.position,
            kernels=tuple(self._kernel(each) for each in window.inside),
            duration_us=window.duration_us,
            median_us=window.median_us,
            spare_bytes=int(window.spare_bytes),
            safe=sized.usable,
            hazards=sized.hazards,
            layer_scope=_scope(window.dependency),
            window_bytes=sized.size.terms.window_bytes,
            working_set_bytes=int(window.busy_bytes),
            net_saving_us=sized.saving.mid,
            max_size=sized.size.max_size,
            occurrences_per_step=sized.occurrences_per_step,
            taken_window_bytes=int(sized.taken.window_bytes),
            taken_l2_bytes=int(sized.taken.l2_bytes),
        )

    def _kernel(self, each: Predecessor) -> WindowKernelRow:
        group, example = self._predecessor(each)
        return WindowKernelRow(
            type=group.row.type or "",
            name=example.name,
            duration_us=group.statistics.median_us,
            bound=group.label.bound,
            limiter=group.label.limiter,
            hbm_utilisation=each.verdict.utilisation,
            layer_scope=_scope(each),
            verdict="usable" if each.verdict.safe else "hazard",
            reason=each.verdict.reason,
            communication=group.label.bound == "communication",
            position=group.position,
        )

    def _walk_step(self, each: Predecessor) -> WalkStep:
        group, example = self._predecessor(each)
        return WalkStep(
            index=each.depth,
            type=group.row.type or "",
            name=example.name,
            duration_us=group.statistics.median_us,
            verdict="usable" if each.verdict.safe else "hazard",
            reason=each.verdict.reason
            if each.verdict.safe
            else f"{each.verdict.kind}: {each.verdict.reason}",
            layer_scope=_scope(each),
        )

    def _layers(self, site: Site) -> tuple[int, ...]:
        first = site.occurrences[
            self._sequence.step[site.occurrences] == self._sequence.step[site.occurrences[0]]
        ]
        found = {self._names.of(entry).layer for entry in first.tolist()}
        return tuple(sorted(layer for layer in found if layer is not None))

    def _description(self, site: Site) -> str:
        """A label for people: the target and what its window holds, or what runs before it."""
        if site.best is not None and site.best.window.inside:
            before = [self._sequence.places[each.place].row.type or "" for each in site.best.window.inside]
        else:
            before = [self._sequence.places[each.place].row.type or "" for each in site.walk.predecessors[:1]]
        return f"{site.group.row.type} after {' + '.join(before)}" if before else site.group.row.type or ""


def _scope(each: Predecessor) -> str:
    return PREVIOUS if each.previous_layer else SAME


def _times(saving: Saving | None, factor: float) -> Saving | None:
    if saving is None:
        return None
    return Saving(saving.low * factor, saving.mid * factor, saving.high * factor)
