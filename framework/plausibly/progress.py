"""Progress of long computations: on a terminal, in a notebook, or passed to a function."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from plausibly import text
from plausibly.errors import counted, visible

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress, TaskID

Tick: TypeAlias = Callable[[int, int], object]
"""Called with the number of finished steps, and of all."""

Progress: TypeAlias = Tick | bool
"""A function to call after each step; or True for a bar where it can be seen, False for none."""

_EVERY = 0.1  # seconds between two pictures of a bar in a notebook


@contextlib.contextmanager
def ticking(progress: Progress | None, what: str) -> Iterator[Tick]:
    """Yield what is called after each step."""
    in_page = progress is True and in_notebook()
    if callable(progress):
        yield progress
    elif in_page or (progress and sys.stderr.isatty()):
        bar = PageBar(what) if in_page else Bar(what)
        bar.start()
        try:
            yield bar.tick
        finally:
            bar.stop()
    else:
        yield lambda done, total: None


def in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console

    return Console().is_jupyter


class Bar:
    """A bar on stderr, which is wiped off when it stops; steps may come from another thread."""

    def __init__(self, what: str) -> None:
        self._what = visible(what)
        self._lock = Lock()
        self._progress: RichProgress | None = None
        self._task: TaskID | None = None
        self._done = 0
        self._total: int | None = None
        self._over = False

    def start(self) -> None:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

        columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn())
        with self._lock:
            if self._over:
                return
            self._progress = Progress(*columns, console=Console(file=sys.stderr), transient=True)
            what, total = escape(self._what), self._total
            self._task = self._progress.add_task(what, total=total, completed=self._done)
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


class PageBar:
    """A bar in the output of a notebook's cell, as HTML without a widget; its last state stays."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._handle: Any = None  # Any: of IPython, which may not be installed
        self._begun = self._shown_at = 0.0
        self._done = 0
        self._total: int | None = None

    def __repr__(self) -> str:
        of = "" if self._total is None else f" of {counted(self._total)}"
        seconds = time.monotonic() - self._begun
        return f"{self._what}: {counted(self._done)}{of}, {seconds:.0f} s"

    def _repr_html_(self) -> str:
        known = "" if self._total is None else f' max="{self._total}" value="{self._done}"'
        status = text.escaped(repr(self))
        return f'<progress{known} aria-label="{status}"></progress> <span>{status}</span>'

    def start(self) -> None:
        self._begun = time.monotonic()
        self._handle = import_module("IPython.display").display(self, display_id=True)

    def tick(self, done: int, total: int) -> None:
        self._done, self._total = done, total
        now = time.monotonic()
        if now - self._shown_at >= _EVERY:
            self._shown_at = now
            self.stop()

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.update(self)
