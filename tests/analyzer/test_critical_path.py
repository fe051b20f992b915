"""The critical path: by hand over streams, events and the host, and refused where a trace does not tell."""

from __future__ import annotations

import numpy as np
import pytest
from npu_roofline.analyzer.critical_path import critical_path
from npu_roofline.analyzer.session import Session

from .conftest import OpenReal
from .tiny_run import Kernel, session_of
from .traced import Task, add_call, add_trace

MAIN, COMM = "kernels of the main stream", "communication"
BETWEEN, HOST, OPEN = "events and gaps between tasks", "host", "not explained"


def known(session: Session) -> dict[str, float]:
    """What the validated path is made of, parts of 0 left out; us."""
    path = critical_path(session)
    assert path.status == "validated", path.reason
    assert sum(path.spent_us.values()) == pytest.approx(path.wall_us)
    return {name: round(us, 2) for name, us in path.spent_us.items() if us}


def collective_step(*more: Task) -> Session:
    """Kernels 0-10, 10.02-20 and 50-60 on stream 2, which waits from 20 on for stream 4, busy until 49.6."""
    kernels = [Kernel(0.0, 10.0), Kernel(10.02, 9.98, "Mul"), Kernel(50.0, 10.0, "Div")]
    tasks = [
        Task("event_record", 2, 10.0, 10.02),
        Task("event_wait", 2, 20.0, 50.0),
        Task("event_wait", 4, 0.0, 10.4),
        Task("sdma", 4, 11.0, 49.6),
        Task("event_record", 4, 49.6, 49.62),
    ]
    return add_trace(session_of(kernels), [*tasks, *more])


def test_the_path_follows_the_events() -> None:
    """60 us: kernels 10 + 10, transfer 38.6, and between: 0.38 + 0.02 to the record, 0.6 gap, 0.38 + 0.02."""
    assert known(collective_step()) == {MAIN: 20.0, COMM: 38.6, BETWEEN: 1.4}


def test_a_kernel_beside_the_path_is_told_from_one_on_it() -> None:
    """Kernel 1 runs while stream 4 transfers: of kernels 0 and 1 only the first is on the path, 10 us."""
    path = critical_path(collective_step(), np.array([0, 1]))
    assert (path.calls, path.calls_on_path, path.calls_on_path_us) == (2, 1, 10.0)
    assert path.crossings == 2


def test_a_wait_is_matched_with_one_stream_only() -> None:
    """Another record 0.1 us before the end of the wait is of stream 7: which one ended it is not known."""
    path = critical_path(collective_step(Task("event_record", 7, 49.88, 49.9)))
    assert (path.status, path.refused) == ("refused", 1)
    assert path.reason.startswith(
        "30.0 us of the step have no reason in the trace, the longest part 30.0 us on stream 2; event waits"
    )


def test_a_record_asked_for_after_the_wait_ended_nothing() -> None:
    """The same with that record launched at 45, the wait at 15: it was not waited for; the path is known."""
    session = collective_step(Task("event_record", 7, 49.88, 49.9, connection=9))
    session.con.execute(
        "UPDATE trace_tasks SET connection_id = 8 WHERE kind = 'event_wait' AND stream_id = 2"
    )
    add_call(session, "aclrtStreamWaitEvent", 15.0, 15.5, 8)
    add_call(session, "aclrtRecordEvent", 45.0, 45.5, 9)
    assert known(session) == {MAIN: 20.0, COMM: 38.6, BETWEEN: 1.4}


def test_without_events_two_streams_are_refused() -> None:
    """Two streams and no record or wait: no edge is invented between them."""
    path = critical_path(add_trace(session_of([Kernel(0.0, 10.0), Kernel(12.0, 5.0, "Mul", stream=4)])))
    assert (path.status, "event waits were not recorded" in path.reason) == ("refused", True)


def host_bound(*waits: tuple[float, float]) -> Session:
    """Kernels 0-10 and 35-45, the second launched at 30; the host waited for the device in `waits`."""
    session = add_trace(session_of([Kernel(0.0, 10.0), Kernel(35.0, 10.0, "Mul")]))
    add_call(session, "aclnnMul", 30.0, 31.0, 100_001)
    for start, end in waits:
        add_call(session, "aclrtSynchronizeStream", start, end)
    return session


@pytest.mark.parametrize(
    ("waits", "expected"),
    [
        ([], {MAIN: 10.0, HOST: 35.0}),  # nothing makes the host wait: the first kernel is not on the path
        ([(5.0, 14.0)], {MAIN: 20.0, HOST: 25.0}),  # it waited for the first kernel: 10 + (35 - 10) + 10
        ([(12.0, 13.0)], {MAIN: 10.0, HOST: 35.0}),  # nothing ran any more when it asked
    ],
)
def test_the_host(waits: list[tuple[float, float]], expected: dict[str, float]) -> None:
    """A launch after the stream was empty leads to the host, and on to what the host had waited for."""
    assert known(host_bound(*waits)) == expected


def test_a_late_launch_without_calls_is_refused() -> None:
    """The arrow tells that the host was late; without its calls, whether it waited for the device is open."""
    session = add_trace(session_of([Kernel(0.0, 10.0), Kernel(35.0, 10.0, "Mul")]))
    session.con.execute(
        "INSERT INTO trace_flows BY NAME SELECT 1 AS run_id, 0 AS rank_id, 'HostToDevice' AS category, "
        "start_ns - 5000 AS from_ns, start_ns AS to_ns, 2 AS to_thread_id FROM kernels WHERE kernel_id = 1"
    )
    path = critical_path(session)
    assert path.status == "refused"
    assert path.reason.startswith("for 78 % of the step the host launched too late")  # 35 of 45 us


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (
            Kernel(40.0, 10.0, "Mul"),
            "30.0 us of the step have no reason in the trace, the longest part 30.0 us on stream 2: "
            "no event wait explains it, and no launch by the host is recorded",
        ),
        (Kernel(5.0, 10.0, "Mul"), "tasks of one stream overlap by up to 5.0 us"),
    ],
)
def test_what_the_trace_does_not_explain_is_refused(second: Kernel, reason: str) -> None:
    """A gap of 30 us with no wait and no late launch; a task that begins before the last one has ended."""
    path = critical_path(add_trace(session_of([Kernel(0.0, 10.0), second])))
    assert path.status == "refused"
    assert path.reason.startswith(reason)


def test_a_trace_of_another_extent_is_refused() -> None:
    """Of two kernels the trace holds one."""
    session = add_trace(session_of([Kernel(0.0, 10.0), Kernel(11.0, 10.0)]))
    session.con.execute("DELETE FROM trace_tasks WHERE kernel_id = 0")
    assert critical_path(session).reason == "the trace holds 1 of the step's 2 kernels"


def test_without_a_trace_nothing_is_measured() -> None:
    """No task at all: not measured, and what to ingest is said."""
    path = critical_path(session_of([Kernel(0.0, 10.0)]))
    assert (path.status, path.wall_us, path.spent_us) == ("not measured", 0.0, {})
    assert "trace_view.json" in path.reason


@pytest.mark.parametrize(
    ("profile", "wall_us", "main_us", "comm_us"),
    [
        ("d02_text_level1/rank0_ascend_pt", 136_581.009, 2_408.205, 105_991.878),
        ("d05_db_level1_insight_touched/rank0_ascend_pt", 132_233.522, 2_381.0, 102_121.5),
    ],
)
def test_real_captures(
    real_session: OpenReal, profile: str, wall_us: float, main_us: float, comm_us: float
) -> None:
    """Every held-up wait of these training steps is matched; four all-reduces are most of the path.

    The four collectives of d02 last 105,992 us in its kernel table: one after the other, all on the path.
    Its 8.9 ms of kernels mostly run while the host or the first collective is waited for: 2.4 ms count.
    """
    with real_session(profile) as session:
        path = critical_path(session)
    assert path.status == "validated", path.reason
    assert path.wall_us == pytest.approx(wall_us, abs=0.1)
    assert sum(path.spent_us.values()) == pytest.approx(wall_us, abs=0.1)
    assert path.spent_us[MAIN] == pytest.approx(main_us, abs=0.1)
    assert path.spent_us[COMM] == pytest.approx(comm_us, abs=0.1)
    assert path.spent_us[OPEN] < 0.02 * wall_us


def test_a_real_capture_without_host_calls_is_refused(real_session: OpenReal) -> None:
    """Text export of level 0: whether the late host had waited for the device is not in it."""
    with real_session("d01_text_level0/rank0_ascend_pt") as session:
        path = critical_path(session)
    assert (path.status, "not in this export" in path.reason) == ("refused", True)
