"""From what was gathered of a sequence to its row: times, savings, reasons in words."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from ..answer_fusion import FusionRow
from ..labels import LabelledGroup
from .finding import CHECK, FITS, NO_OPERATOR, Found
from .lanes import StepKind, microseconds
from .leftovers import Chain
from .rules import LEVELS

_TYPES_NAMED = 6  # of a long chain, the most frequent
_TYPES_IN_SEQUENCE = 8  # a longer chain is told by its number of kernels
# A table that is this many times larger than what is taken from it is looked up, not copied.
_LOOKUP_RATIO = 100


@dataclass
class Gathered:
    """What one row is made of, over kinds of steps."""

    first: Found | Chain
    groups: tuple[LabelledGroup, ...]  # the kernels that would go
    context: tuple[LabelledGroup, ...]
    part: str
    streams: set[int] = field(default_factory=set)
    layers: set[int] = field(default_factory=set)
    positions: set[int] = field(default_factory=set)
    us: dict[int, float] = field(default_factory=dict)  # by step
    count: dict[int, int] = field(default_factory=dict)
    kernels: dict[int, int] = field(default_factory=dict)
    fallbacks: dict[str, None] = field(default_factory=dict)
    _kind: StepKind | None = None
    _members: list[tuple[int, ...]] = field(default_factory=list)

    def add(self, kind: StepKind, members: tuple[int, ...]) -> None:
        """Note one occurrence; `close` sums them up when the kind of step is done."""
        if self._kind is not kind:
            self.close()
            self._kind = kind
        self._members.append(members)

    def close(self) -> None:
        """Add the noted occurrences, in every step of their kind."""
        kind, self._kind = self._kind, None
        if kind is None:
            return
        first = np.array([members[0] for members in self._members])
        chosen = np.concatenate([np.asarray(members) for members in self._members])
        occurrences, self._members = len(self._members), []
        sums = microseconds(kind.durations_ps[:, chosen].sum(axis=1))
        for step, us in zip(kind.step_ids, sums.tolist(), strict=True):
            self.us[step] = self.us.get(step, 0.0) + us
            self.count[step] = self.count.get(step, 0) + occurrences
            self.kernels[step] = self.kernels.get(step, 0) + len(chosen)
        self.streams |= set(np.unique(kind.stream[chosen]).tolist())
        self.positions |= set(np.unique(kind.position[first]).tolist())
        self.layers |= {layer for layer in np.unique(kind.layer[first]).tolist() if layer >= 0}


def row_of(entry: Gathered) -> FusionRow:
    """The row of a sequence or chain, over all its occurrences."""
    entry.close()
    first = entry.first
    step_us, count = median(entry.us), median(entry.count)
    plain = FusionRow(
        id="",
        status=NO_OPERATOR,
        api="",
        rule="",
        level=LEVELS["I"],
        sequence=_sequence(entry),
        types=tuple(each.row.type or "" for each in entry.groups),
        context=tuple(each.row.type or "" for each in entry.context),
        input_shapes=entry.groups[0].row.input_shapes,
        part=entry.part,
        streams=tuple(sorted(entry.streams)),
        layers=len(entry.layers),
        positions=tuple(sorted(each for each in entry.positions if each >= 0)),
        steps=len(entry.us),
        count=count,
        kernels=median(entry.kernels),
        step_us=step_us,
        total_us=sum(entry.us.values()),
        sequence_us=sum(each.statistics.median_us for each in entry.groups),
        floor_us=None,
        expected_us=None,
        saving_low_us=None,
        saving_high_us=None,
        failing=None,
        to_check=(),
        fallbacks=tuple(entry.fallbacks),
        also=(),
        prepare="",
        priority=None,
        source="",
    )
    row = _with_rule(plain, first) if isinstance(first, Found) else _with_chain(plain, entry, first)
    return replace(row, id=_id(row, entry.groups))


def _sequence(entry: Gathered) -> str:
    """'Muls [after MlaPrologV3]', 'Add + RmsNorm', '183 kernels of 19 types'."""
    types = [each.row.type or "" for each in entry.groups]
    if len(types) > _TYPES_IN_SEQUENCE:
        return f"{len(types)} kernels of {len(set(types))} types"
    text = " + ".join(types)
    if not entry.context or not isinstance(entry.first, Found):
        return text
    side = (
        "before"
        if entry.first.claimed[0] < min(set(entry.first.kernels) - set(entry.first.claimed))
        else "after"
    )
    return f"{text} [{side} {' + '.join(each.row.type or '' for each in entry.context)}]"


def _with_rule(row: FusionRow, found: Found) -> FusionRow:
    rule, judged = found.match.rule, found.judged
    row = replace(
        row,
        status=judged.status,
        api=rule.api,
        rule=rule.id,
        level=LEVELS[rule.level],
        failing=judged.failing,
        to_check=judged.to_check,
        also=rule.also,
        prepare=rule.prepare,
        priority=rule.priority,
        source=rule.source,
    )
    row = replace(row, reason=_reason(row))
    if judged.status not in (FITS, CHECK):
        return row
    if judged.time is None:
        # Without bytes or a device there is no floor; the most that can go is what the kernels take, but for
        # matmul, attention and exchange, whose work remains.
        share = judged.removable_us / judged.sequence_us if judged.sequence_us else 0.0
        return replace(row, saving_high_us=row.step_us * share)
    time = judged.time
    return replace(
        row,
        floor_us=time.floor_us,
        expected_us=time.expected_us,
        saving_low_us=_saving(row, time.expected_us),
        saving_high_us=_saving(row, time.floor_us),
    )


def _reason(row: FusionRow) -> str:
    """What speaks against it, else what is left to check, and what to do first, as one text."""
    said = [f"not possible here: {row.failing}"] if row.failing else []
    if not row.api:
        said.append("no operator known")
    if not row.failing and row.to_check:
        said.append(f"check: {'; '.join(row.to_check)}")
    if row.prepare and not row.failing:
        said.append(row.prepare)
    return "; ".join(said)


def _saving(row: FusionRow, fused_us: float) -> float:
    """Per step, us: the time of the kernels minus that of the fused ones, between 0 and all of it."""
    return min(row.step_us, max(0.0, row.step_us - row.count * fused_us))


def _with_chain(row: FusionRow, entry: Gathered, chain: Chain) -> FusionRow:
    counts = Counter(row.types)
    if len(chain.kernels) == 1:
        return row  # the row says all there is: the kernel, and no call
    named = ", ".join(f"{number} {name}" for name, number in counts.most_common(_TYPES_NAMED))
    more = len(counts) - _TYPES_NAMED
    what = "everything on its stream before the first layer" if chain.whole_prologue else "a chain"
    note = f"no operator known for {what}: {named}" + (
        f" and {more} more type{'s' if more > 1 else ''}" if more > 0 else ""
    )
    tables = [each for each in entry.groups if each.work.family == "move" and _is_lookup(each)]
    if chain.whole_prologue and tables:
        note += f"; {len(tables)} lookup{'s' if len(tables) > 1 else ''} in tables, so this is the embedding"
    return replace(row, reason=note)


def _is_lookup(group: LabelledGroup) -> bool:
    """A gather of rows from a table that is far larger than what it returns."""
    inputs, outputs = group.signature.inputs, group.signature.outputs
    if not (group.row.type or "").startswith("Gather") or not inputs or not outputs:
        return False
    table, rows = inputs[0], outputs[0]
    return table is not None and rows is not None and table.elements > _LOOKUP_RATIO * max(1, rows.elements)


def _id(row: FusionRow, groups: tuple[LabelledGroup, ...]) -> str:
    text = "|".join([row.rule, row.part, *(each.row.hex_id for each in groups)])
    return f"f-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def median(values: dict[int, float] | dict[int, int]) -> float:
    """The median over the steps that have it, 0 without any."""
    return float(np.median(list(values.values()))) if values else 0.0
