"""Reads that run on a second connection while Python works."""

from __future__ import annotations

import threading

import duckdb
import pytest
from npu_roofline.analyzer.ahead import ReadsAhead
from npu_roofline.analyzer.selection import select

from tests.analyzer.tiny_run import Kernel, session_of


def _forty_two(con: duckdb.DuckDBPyConnection) -> int:
    return con.execute("SELECT 42").fetchall()[0][0]


def _fails(con: duckdb.DuckDBPyConnection) -> int:
    return con.execute("SELECT no_such_column").fetchall()[0][0]


def _endless(con: duckdb.DuckDBPyConnection) -> int:
    return con.execute("SELECT count(*) FROM range(10_000_000) a, range(10_000_000) b").fetchall()[0][0]


def test_a_read_that_was_begun_gives_its_answer_once_asked_for() -> None:
    """A begun read gives its value, from another thread; one that was never begun gives None."""
    ahead = ReadsAhead(duckdb.connect)
    ahead.begin(_forty_two)
    assert ahead.result(_forty_two) == 42
    assert ahead.result(_fails) is None
    ahead.close()


def test_what_goes_wrong_in_a_read_is_raised_where_its_answer_is_needed() -> None:
    """A failing read neither ends the thread nor is swallowed: the next read still answers."""
    ahead = ReadsAhead(duckdb.connect)
    ahead.begin(_fails, _forty_two)
    with pytest.raises(duckdb.BinderException):
        ahead.result(_fails)
    assert ahead.result(_forty_two) == 42
    ahead.close()


def test_closing_stops_a_read_that_nobody_waits_for() -> None:
    """A join of 10^14 rows would run for hours; closing interrupts it and leaves no thread behind."""
    started = threading.Event()

    def begun(con: duckdb.DuckDBPyConnection) -> int:
        started.set()
        return _endless(con)

    ahead = ReadsAhead(duckdb.connect)
    ahead.begin(begun)
    assert started.wait(60)
    ahead.close()
    assert not any(thread.name.startswith("read-ahead") for thread in threading.enumerate())


def test_a_second_connection_sees_the_same_selection() -> None:
    """Two kernels in step 1 and one in step 2: with step 2 selected, both connections count one."""
    session = session_of([Kernel(0, 1), Kernel(2, 1), Kernel(9, 1, step=2)], steps=(2,))
    other = session.con.cursor()
    select(other, 1, 0, (2,), False)
    for con in (session.con, other):
        assert con.execute("SELECT count(*) FROM selected_kernels").fetchall() == [(1,)]


def test_closing_does_not_wait_for_reads_that_were_still_queued() -> None:
    """The first of three reads runs when the question ends: the other two are cancelled and never begin."""
    entered, leave, begun = threading.Event(), threading.Event(), []

    def first(_: object) -> None:
        entered.set()
        leave.wait(10)

    ahead = ReadsAhead(duckdb.connect)
    ahead.begin(first, lambda _: begun.append(2), lambda _: begun.append(3))
    assert entered.wait(10)
    closing = threading.Thread(target=ahead.close, daemon=True)
    closing.start()
    queued = list(ahead._begun.values())[1:]
    for _ in range(1000):
        if all(each.cancelled() for each in queued):
            break
        closing.join(0.01)
    leave.set()
    closing.join(20)
    assert not closing.is_alive()
    assert begun == []
