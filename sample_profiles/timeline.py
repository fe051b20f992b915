"""Kernels one after the other on the device clock: the rows of one capture, in start order.

Gaps, side streams, doubled collectives, task ids and wait times follow the exporter: `Wait Time` is the start
minus the end of the row before it in start order, never below zero, whatever stream that row is on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from .noise import between, fraction
from .scenario import Kernel, Scenario, Side
from .timing import run, to_ns, to_ticks

EAGER_MODEL = 4294967295


@dataclass(frozen=True)
class Row:
    """One exported row. Times are integer ns; None is what the exporter writes as N/A."""

    step: int
    kernel: Kernel
    name: str
    start_ns: int
    duration_ns: int
    stream: int | None
    task: int | None
    model: int
    pmu: Mapping[str, float] = field(default_factory=dict)
    shadow: bool = False
    wait_ns: int = 0

    @property
    def end_ns(self) -> int:
        """Start plus Duration, as a reader of the export computes it."""
        return self.start_ns + self.duration_ns


@dataclass
class _Clock:
    """Where the device is: ticks since the capture began, task ids, numbers of names."""

    ticks: int = 0
    eager_task: int = 4312
    tasks: dict[int, int] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    side_free: dict[int, int] = field(default_factory=dict)


def rows_of(scenario: Scenario) -> list[Row]:
    """Every row of the capture, sorted by start, with wait times. About 250 rows per step."""
    clock = _Clock()
    rows: list[Row] = []
    for number in range(scenario.capture.steps):
        rows += _step(scenario, clock, number)
        clock.ticks += to_ticks(scenario.capture.step_gap_us)
    rows.sort(key=lambda row: row.start_ns)
    return list(_with_waits(rows))


def _with_waits(rows: list[Row]) -> Iterator[Row]:
    end_ns: int | None = None
    for row in rows:
        wait_ns = 0 if end_ns is None else max(0, row.start_ns - end_ns)
        yield replace(row, wait_ns=wait_ns)
        end_ns = row.end_ns


def _step(scenario: Scenario, clock: _Clock, number: int) -> Iterator[Row]:
    clock.tasks.clear()
    clock.names.clear()
    capture = scenario.capture
    sequence: list[tuple[int | None, str]] = [(None, key) for key in scenario.before]
    sequence += [(layer, key) for layer in range(capture.layers) for key in scenario.layer]
    sequence += [(None, key) for key in scenario.after]
    for order, (layer, key) in enumerate(sequence):
        kernel = scenario.kernels[key]
        step = capture.first_step + number
        where = (scenario.name, step, layer, order, key)
        stalled = scenario.change.stall_us.get(f"{step}:{key}", 0.0)
        clock.ticks += to_ticks(between(*kernel.wait_us, "wait", *where) + stalled)
        timed = run(kernel, scenario, step, layer, order)
        begin = clock.ticks
        clock.ticks += timed.ticks
        row = _row(scenario, clock, kernel, step, begin, timed.pmu)
        yield from _with_shadow(row, clock, number, where)
        for side in scenario.sides:
            if key in side.anchor:
                yield _side_row(scenario, clock, side, step, begin, where)


def _row(
    scenario: Scenario, clock: _Clock, kernel: Kernel, step: int, begin: int, pmu: Mapping[str, float]
) -> Row:
    capture = scenario.capture
    eager = kernel.state == "dynamic" or capture.model_id == EAGER_MODEL
    stream = kernel.stream if kernel.stream is not None else capture.main_stream
    if eager:
        clock.eager_task += 1
        task = clock.eager_task
    else:
        task = clock.tasks[stream] = clock.tasks.get(stream, -1) + 1
    return Row(
        step=step,
        kernel=kernel,
        name=_name(kernel, clock, capture.numbered_names and not eager),
        start_ns=capture.start_ns + to_ns(begin),
        duration_ns=to_ns(clock.ticks - begin),
        stream=stream,
        task=task,
        model=EAGER_MODEL if eager else capture.model_id,
        pmu=pmu,
    )


def _name(kernel: Kernel, clock: _Clock, numbered: bool) -> str:
    """Graph names are numbered in graph order (MatMul, MatMul_1, ...) and repeat in every step."""
    name = kernel.name or kernel.type
    if not numbered or kernel.collective:
        return name
    count = clock.names[name] = clock.names.get(name, -1) + 1
    if count == 0:
        return name
    node, slash, part = name.partition("/")
    return f"{node}_{count}{slash}{part}"


def _with_shadow(row: Row, clock: _Clock, number: int, where: tuple) -> Iterator[Row]:
    """A collective on vector cores is exported twice; which row comes first varies."""
    if not row.kernel.collective:
        yield row
        return
    count = clock.names[row.kernel.type] = clock.names.get(row.kernel.type, -1) + 1
    name = row.kernel.collective.format(next=count + 1, index=count, repeat=number + 1)
    shadow = Row(
        row.step, row.kernel, name, row.start_ns, row.duration_ns, None, None, row.model, shadow=True
    )
    yield from (row, shadow) if fraction("order", *where) < 0.6 else (shadow, row)


def _side_row(scenario: Scenario, clock: _Clock, side: Side, step: int, begin: int, where: tuple) -> Row:
    wanted = begin + to_ticks(between(*side.offset_us, "offset", *where))
    begin = max(wanted, clock.side_free.get(side.stream, 0))
    duration = to_ticks(between(*side.duration_us, "side", *where))
    clock.side_free[side.stream] = begin + duration
    task = clock.tasks[side.stream] = clock.tasks.get(side.stream, -3) + 3
    return Row(
        step=step,
        kernel=Kernel(key="side", type=side.type, core=side.core),
        name=side.type,
        start_ns=scenario.capture.start_ns + to_ns(begin),
        duration_ns=to_ns(duration),
        stream=side.stream,
        task=task,
        model=EAGER_MODEL,
        shadow=True,
    )
