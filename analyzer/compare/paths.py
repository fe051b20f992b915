"""The critical path of both sides through streams and events, where their traces are enough to tell it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..answer_compare import PathRow, PathSide
from ..critical_path import NOT_MEASURED, CriticalPath, critical_path
from ..path_walk import KINDS, Numbers
from ..prefetch_tasks import has_trace
from .pairing import Pair, Place
from .sides import Side
from .target import TargetChange

if TYPE_CHECKING:
    from ..session import Session

_CALLS = """
SELECT kernel_id FROM selected_kernels
WHERE signature_id = ? AND part IS NOT DISTINCT FROM ?::VARCHAR
    AND (?::INTEGER IS NULL
        OR coalesce(position, CASE WHEN part IS NULL THEN sequence_index END) = ?::INTEGER)
"""


@dataclass(frozen=True)
class PathEvidence:
    """The path of either side; `with_target`: whether a target was looked for on it."""

    before: CriticalPath
    after: CriticalPath
    with_target: bool = False

    @property
    def validated(self) -> bool:
        """Whether both sides have a path that is believed."""
        return self.before.status == self.after.status == "validated"

    @property
    def measured(self) -> bool:
        """Whether any side has a trace."""
        return not self.before.status == self.after.status == "not measured"

    @property
    def target_off(self) -> bool:
        """Whether no call of the target was on the path before: then a shorter target shortens no step."""
        return self.before.status == "validated" and self.before.calls > 0 and not self.before.calls_on_path


NO_PATH = PathEvidence(NOT_MEASURED, NOT_MEASURED)


def path_evidence(
    sides: tuple[Side, Side], pairs: Sequence[Pair], keys: Sequence[str], target: TargetChange | None
) -> PathEvidence:
    """Walk the steps of both sides; `keys` are the names of the pairs in their order."""
    pair = pairs[keys.index(target.key)] if target and target.key in keys else None
    before = _side(sides[0], pair.before if pair else ())
    after = _side(sides[1], pair.after if pair else ())
    return PathEvidence(before, after, pair is not None)


def _side(side: Side, places: Sequence[Place]) -> CriticalPath:
    """The path of a side over all its repeats: means over the validated steps of all of them."""
    if not any(has_trace(session) for session in side.sessions):
        return NOT_MEASURED
    if len(side.repeats[0]) > 1:
        return CriticalPath("refused", reason="a step in several captures has no single path")
    return together([critical_path(session, _calls(session, places)) for session in side.sessions])


def together(paths: Sequence[CriticalPath]) -> CriticalPath:
    """The paths of repeats as one; those that are not validated count as refused steps."""
    good = [each for each in paths if each.steps]
    reason = next((each.reason for each in paths if each.reason), "")
    if not good:
        return replace(paths[0], refused=sum(each.refused for each in paths), reason=reason)
    steps = sum(each.steps for each in good)

    def mean(value: Callable[[CriticalPath], float]) -> float:
        return sum(value(each) * each.steps for each in good) / steps

    return CriticalPath(
        "validated",
        steps=steps,
        refused=sum(each.refused for each in paths),
        reason=reason,
        wall_us=mean(lambda each: each.wall_us),
        spent_us={name: mean(lambda each, name=name: each.spent_us[name]) for name in KINDS},
        crossings=mean(lambda each: each.crossings),
        calls=sum(each.calls for each in good),
        calls_on_path=sum(each.calls_on_path for each in good),
        calls_on_path_us=mean(lambda each: each.calls_on_path_us),
    )


def _calls(session: Session, places: Sequence[Place]) -> Numbers | None:
    """The kernels that stand at these places; None where there is no place."""
    found = [
        session.con.execute(
            _CALLS, [place.signature, place.part, place.position, place.position]
        ).fetchnumpy()
        for place in places
    ]
    return np.concatenate([each["kernel_id"] for each in found]) if found else None


def path_rows(found: PathEvidence) -> tuple[PathRow, ...]:
    """What the paths are made of; () where no side has one."""
    sides = (found.before, found.after)
    if not any(each.status == "validated" for each in sides):
        return ()
    rows = []
    for name in KINDS:
        before, after = (each.spent_us.get(name) for each in sides)
        if not before and not after:
            continue
        shares = [
            us / each.wall_us if us is not None and each.wall_us else None
            for us, each in zip((before, after), sides, strict=True)
        ]
        delta = after - before if before is not None and after is not None else None
        rows.append(PathRow(name, before, after, delta, shares[0], shares[1]))
    return tuple(rows)


def path_sides(found: PathEvidence) -> tuple[PathSide, ...]:
    """Whether each side's path is believed; () where no side has a trace."""
    if not found.measured:
        return ()
    return tuple(
        PathSide(
            side=name,
            status=each.status,
            steps=each.steps,
            refused=each.refused,
            target_calls=each.calls if found.with_target and each.steps else None,
            target_on_path=each.calls_on_path if found.with_target and each.steps else None,
            reason=each.reason,
        )
        for name, each in (("before", found.before), ("after", found.after))
    )
