"""The walk back through one step: from its last task to what each task waited for, until the step begins.

A task starts when the task before it on its stream has ended, when the record that its stream waits for has
been reached, or when the host has launched it: whichever came last is what it waited for. Between two places
where that is not the task before, a stretch of a stream is on the path as a whole, so that only those places
are looked at singly.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

# What a stretch of the path is spent on, in the order of a report.
KINDS = (
    "kernels of the main stream",
    "kernels of other streams",
    "communication",
    "copies",
    "prefetch",
    "other engines and tasks",
    "events and gaps between tasks",
    "host",
    "not explained",
)
_BETWEEN, _HOST, _OPEN = KINDS.index("events and gaps between tasks"), KINDS.index("host"), len(KINDS) - 1


@dataclass(frozen=True)
class StepTasks:
    """The tasks of one step, sorted by stream and start; times ns, -1 where there is none or not known."""

    stream: Numbers
    start: Numbers
    end: Numbers
    kind: NDArray[np.int64]  # index into KINDS
    is_work: NDArray[np.bool_]  # neither a record nor a wait
    launched: Numbers  # when the host asked for it
    record: Numbers  # place of the record that ended this wait
    syncs: Numbers  # [n, 2] beginning and end of calls in which the host waited for the device, by their end
    gap_ns: int  # longest gap between two tasks of a stream that needs no reason

    @property
    def first(self) -> NDArray[np.bool_]:
        """Whether a task is the first of its stream."""
        return np.concatenate([[True], self.stream[1:] != self.stream[:-1]])

    @property
    def before_ns(self) -> Numbers:
        """End of the task before on the same stream; -1 for the first."""
        return np.where(self.first, -1, np.concatenate([[-1], self.end[:-1]]))


@dataclass
class Path:
    """The path of one step: time by kind, which tasks are on it, how it moved between streams."""

    spent_ns: Numbers = field(default_factory=lambda: np.zeros(len(KINDS), np.int64))
    on_path: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    crossings: int = 0  # from one stream to another through an event
    longest_open: tuple[int, int] = (0, -1)  # ns of the longest part without a reason, and its stream


def largest_overlap_ns(tasks: StepTasks) -> int:
    """By how much a task started before the one before it on its stream had ended, at most; 0 = never."""
    inside = tasks.before_ns >= 0
    return int(max(0, (tasks.before_ns - tasks.start)[inside].max(initial=0)))


def walk(tasks: StepTasks, begin_ns: int, end_ns: int) -> Path | None:
    """The path that ends with the last work of the step; its times add up to end - begin.

    None = it leads nowhere. A gap with no reason, and a wait whose record is not known, are not explained.
    """
    path = Path(on_path=np.zeros(len(tasks.start), np.bool_))
    before = tasks.before_ns
    host = (tasks.launched >= begin_ns) & (tasks.launched > before) & (tasks.launched < tasks.start)
    waits = _HostWaits.of(tasks)
    turns = (tasks.record >= 0) | host | tasks.first
    last_turn = np.maximum.accumulate(np.where(turns, np.arange(len(turns)), 0))
    work = np.flatnonzero(tasks.is_work & (tasks.end <= end_ns + tasks.gap_ns))
    if not len(work):
        return None
    at = int(work[np.argmax(tasks.end[work])])
    _add_rest(path, tasks, at, int(tasks.end[at]), end_ns)
    now = min(int(tasks.end[at]), end_ns)
    for _ in range(int(turns.sum()) + 1):
        turn = int(last_turn[at])
        now = _stretch(path, tasks, before, turn, at, now, begin_ns)
        if now <= begin_ns:
            return path
        following = _turn(path, tasks, turn, now, begin_ns, waits if host[turn] else None)
        if following is None:
            return path
        at, now = following
    return None


def _stretch(
    path: Path, tasks: StepTasks, before: Numbers, first: int, last: int, now: int, begin_ns: int
) -> int:
    """Put the tasks first..last of a stream on the path, the gaps between them too; the time it is then."""
    span = slice(first, last + 1)
    start = np.maximum(tasks.start[span], begin_ns)
    end = np.minimum(tasks.end[span], now)
    if tasks.record[first] >= 0:  # a wait is no work: the path goes on where its record is
        start[0] = end[0]
    seen = end > begin_ns
    path.on_path[span] |= seen & (end > start)
    lasted = np.maximum(0, end - np.maximum(start, np.concatenate([[start[0]], end[:-1]])))
    np.add.at(path.spent_ns, tasks.kind[span], np.where(seen, lasted, 0))
    gaps = np.maximum(0, start[1:] - np.maximum(before[first + 1 : last + 1], begin_ns))
    path.spent_ns[_OPEN] += gaps[gaps > tasks.gap_ns].sum()
    no_reason = max(gaps.max(initial=0), lasted[tasks.kind[span] == _OPEN].max(initial=0))
    if no_reason > tasks.gap_ns:
        path.longest_open = max(path.longest_open, (int(no_reason), int(tasks.stream[first])))
    path.spent_ns[_BETWEEN] += gaps[gaps <= tasks.gap_ns].sum()
    return int(start[0])


def _turn(
    path: Path, tasks: StepTasks, turn: int, now: int, begin_ns: int, waits: _HostWaits | None
) -> tuple[int, int] | None:
    """Where the path comes from at a turn: (task, time); None = from the beginning of the step."""
    record = int(tasks.record[turn])
    if record >= 0:
        reached = int(tasks.end[record])
        _add(path, _BETWEEN, reached, now)
        path.crossings += 1
        return record, reached
    if waits is None:
        _add_rest(path, tasks, turn, begin_ns, now)
        return None
    found = waits.before(int(tasks.launched[turn]))
    reached = max(begin_ns, int(tasks.end[found])) if found is not None else begin_ns
    _add(path, _HOST, reached, now)
    return None if found is None or reached <= begin_ns else (found, reached)


@dataclass(frozen=True)
class _HostWaits:
    """When the host had waited for the device, and for which task: the last to end while it waited."""

    ended: Numbers
    task: Numbers

    @classmethod
    def of(cls, tasks: StepTasks) -> _HostWaits:
        """Calls that returned at once waited for nothing."""
        work = np.flatnonzero(tasks.is_work)
        work = work[np.argsort(tasks.end[work], kind="stable")]
        last = np.searchsorted(tasks.end[work], tasks.syncs[:, 1], "right") - 1
        found = np.where(last >= 0, work[np.maximum(last, 0)], -1) if len(work) else np.full(len(last), -1)
        real = (found >= 0) & (tasks.end[found] > tasks.syncs[:, 0])
        return cls(tasks.syncs[real, 1], found[real])

    def before(self, launched_ns: int) -> int | None:
        """The task that the host had waited for last when it launched; None = it waited for none."""
        at = int(np.searchsorted(self.ended, launched_ns, "right")) - 1
        return int(self.task[at]) if at >= 0 else None


def _add_rest(path: Path, tasks: StepTasks, at: int, since_ns: int, until_ns: int) -> None:
    """Time before the first task of a stream or behind the last of the step: a gap, or without a reason."""
    lasted = max(0, until_ns - since_ns)
    path.spent_ns[_OPEN if lasted > tasks.gap_ns else _BETWEEN] += lasted
    if lasted > tasks.gap_ns:
        path.longest_open = max(path.longest_open, (lasted, int(tasks.stream[at])))


def _add(path: Path, kind: int, since_ns: int, until_ns: int) -> None:
    path.spent_ns[kind] += max(0, until_ns - since_ns)
