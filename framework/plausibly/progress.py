"""Progress of long computations: on a terminal, in a notebook, or passed to a function."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from threading import Timer
from typing import TypeAlias

from plausibly import text
from plausibly.errors import counted, visible

Tick: TypeAlias = Callable[[int, int], object]
"""Called with the number of finished steps, and of all."""

Progress: TypeAlias = Tick | bool
"""A function to call after each step; or True for a bar where it can be seen, False for none."""

PATIENCE = 2.0
"""Seconds after which a slow step is named."""

_EVERY = 0.1  # seconds between two pictures of a bar in a notebook


@contextlib.contextmanager
def ticking(progress: Progress | None, what: str) -> Iterator[Tick]:
    """Yield what is called after each step."""
    if callable(progress):
        yield progress
    elif progress is True and in_notebook():
        page = PageBar(what)
        try:
            yield page.tick
        finally:
            page.draw()
    elif progress and sys.stderr.isatty():
        with bar(what) as tick:
            yield tick
    else:
        yield lambda done, total: None


@contextlib.contextmanager
def naming_if_slow(what: str) -> Iterator[None]:
    """Print on a terminal what takes longer than `PATIENCE`, such as a component of others."""
    timer = Timer(PATIENCE, lambda: sys.stderr.write(visible(f"{what} …\n")))
    timer.daemon = True
    if sys.stderr is not None and sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console

    return Console().is_jupyter


@contextlib.contextmanager
def bar(what: str, *, after: float = 0.0) -> Iterator[Tick]:
    """Yield what is called after each step, for a bar on stderr that is wiped off at the end.

    It appears after so many seconds.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn())
    shown = Progress(*columns, console=Console(file=sys.stderr), transient=True)
    task = shown.add_task(escape(visible(what)), total=None)
    timer = Timer(after, shown.start)
    timer.daemon = True
    if after:
        timer.start()
    else:
        shown.start()
    try:
        yield lambda done, total: shown.update(task, completed=done, total=total)
    finally:
        timer.cancel()
        if timer.is_alive():
            timer.join()
        if shown.live.is_started:
            shown.stop()


class PageBar:
    """A bar in the output of a notebook's cell, as HTML without a widget; its last state stays."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._done, self._total = 0, -1
        self._begun, self._drawn = time.monotonic(), 0.0
        self._handle = import_module("IPython.display").display(self, display_id=True)

    def __repr__(self) -> str:
        of = "" if self._total < 0 else f" of {counted(self._total)}"
        seconds = time.monotonic() - self._begun
        return f"{self._what}: {counted(self._done)}{of}, {seconds:.0f} s"

    def _repr_html_(self) -> str:
        known = "" if self._total < 0 else f' max="{self._total}" value="{self._done}"'
        status = text.escaped(repr(self))
        return f'<progress{known} aria-label="{status}"></progress> <span>{status}</span>'

    def tick(self, done: int, total: int) -> None:
        self._done, self._total = done, total
        if time.monotonic() - self._drawn >= _EVERY:
            self.draw()

    def draw(self) -> None:
        self._drawn = time.monotonic()
        self._handle.update(self)
