"""Reads that need no label run on a second connection while Python works out the labels."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

    Read = Callable[[duckdb.DuckDBPyConnection], Any]

_INTERRUPT_EVERY_S = 0.01


class ReadsAhead:
    """One thread with a connection of its own, opened when the first read is asked for.

    DuckDB lets go of Python's lock while it works, so a question over a million kernels waits for the longer
    of the two and not for their sum. Nothing depends on it: what was not begun is read when it is needed.
    """

    def __init__(self, connect: Callable[[], duckdb.DuckDBPyConnection]) -> None:
        self._connect = connect
        self._thread: ThreadPoolExecutor | None = None
        self._con: duckdb.DuckDBPyConnection | None = None
        self._begun: dict[Read, Future[Any]] = {}

    def begin(self, *reads: Read) -> None:
        """Start the reads, one after the other in the order given; one that has begun is not begun again."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="read-ahead")
        for read in reads:
            if read not in self._begun:
                self._begun[read] = self._thread.submit(self._run, read)

    def result(self, read: Read) -> Any | None:
        """What the read gave, waiting for it; None when it was never begun. Raises what the read raised."""
        begun = self._begun.get(read)
        return None if begun is None else begun.result()

    def close(self) -> None:
        """Stop what still runs: an answer was given without it, or the question failed."""
        if self._thread is None:
            return
        self._thread.shutdown(wait=False, cancel_futures=True)
        # One that was cancelled while it was queued is never told so, and would be waited for without end.
        running = [each for each in self._begun.values() if not each.cancelled()]
        # Again and again: an interrupt that comes just before a statement starts is lost.
        while wait(running, timeout=_INTERRUPT_EVERY_S).not_done:
            if self._con is not None:
                self._con.interrupt()
        if self._con is not None:
            self._con.close()

    def _run(self, read: Read) -> Any:
        if self._con is None:
            self._con = self._connect()
        return read(self._con)
