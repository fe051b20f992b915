"""Progress of a long command, on stderr and only where a person can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# What the work calls: the stage it is in, how much of it is done, and of how much (None = not known).
Progress = Callable[[str, int, int | None], None]


@contextmanager
def progress_on_terminal() -> Iterator[Progress]:
    """A progress line that follows the calls; nothing at all when stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield _say_nothing
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def update(stage: str, done: int, total: int | None) -> None:
            bar.update(task, description=stage, completed=done, total=total)

        yield update


def _say_nothing(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody could see."""
