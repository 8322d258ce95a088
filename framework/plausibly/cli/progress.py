"""What is going on, on a terminal, for whatever takes more than two seconds."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from threading import Timer
from typing import TypeAlias

PATIENCE = 2.0
"""Seconds that people wait without a word."""

Tick: TypeAlias = Callable[[int, int], None]
"""Called with the number of finished steps, and of all."""


@contextlib.contextmanager
def working(what: str, *, shown: bool = True) -> Iterator[Tick]:
    """Show progress on stderr after `PATIENCE` seconds, and erase it at the end."""
    if not shown or not sys.stderr.isatty():
        yield _silent
        return
    # Only now: ``--help`` imports this module, and the bar imports more than help needs.
    from plausibly.progress import Bar

    bar = Bar(what)
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
