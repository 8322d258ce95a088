"""What is going on, on a terminal, for whatever takes more than two seconds."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from threading import Lock, Timer
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 2.0
"""Seconds that people wait without a word."""

Tick: TypeAlias = Callable[[int, int], None]
"""Called with the number of finished steps, and of all."""


@contextlib.contextmanager
def working(what: str, *, shown: bool = True) -> Iterator[Tick]:
    """Say on stderr what is going on, once it takes longer than `PATIENCE`, and wipe it off after.

    Parameters
    ----------
    what : str
        Such as ``"reading votes.csv"``.
    shown : bool
        Whether to say anything; nothing is ever said where stderr is no terminal.

    Yields
    ------
    callable
        Takes the number of finished steps, and of all; a bar then shows them.
    """
    if not shown or not sys.stderr.isatty():
        yield _silent
        return
    bar = _Bar(what)
    timer = Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield bar.tick
    finally:
        timer.cancel()
        bar.stop()


def _silent(done: int, total: int) -> None:
    """Take note of progress that nobody sees."""


class _Bar:
    """A bar that a timer starts while the work goes on in the main thread."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = Lock()
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._done = 0
        self._total: int | None = None
        self._over = False

    def start(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        columns = [TextColumn("{task.description}"), BarColumn()]
        with self._lock:
            if self._over:
                return
            counts = [MofNCompleteColumn()] if self._total is not None else []
            console = Console(file=sys.stderr)
            self._progress = Progress(
                *columns, *counts, TimeElapsedColumn(), console=console, transient=True
            )
            self._task = self._progress.add_task(
                self._what, completed=self._done, total=self._total
            )
            self._progress.start()

    def tick(self, done: int, total: int) -> None:
        with self._lock:
            self._done, self._total = done, total
            if self._progress is not None and self._task is not None:
                self._progress.update(self._task, completed=done, total=total)

    def stop(self) -> None:
        with self._lock:
            self._over = True
            if self._progress is not None:
                self._progress.stop()
