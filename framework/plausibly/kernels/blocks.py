"""Row blocks, computed by as many threads as there are cores."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import copy_context
from itertools import pairwise
from typing import TypeVar

import numpy as np

from plausibly.kernels.types import Floats

Given = TypeVar("Given")
Made = TypeVar("Made")


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spare() -> int:
    """Return the number of cores that work asked for here may be divided among.

    One in any thread but the main one and in a process that `multiprocessing` started: whoever
    started those, such as a Dask worker or a study, has work for the other cores.
    """
    if threading.current_thread() is not threading.main_thread():
        return 1
    # Where it was not imported, it started nothing.
    started = sys.modules.get("multiprocessing.process")
    if started is not None and started.parent_process() is not None:
        return 1
    return cores()


def at_once(work: Callable[[Given], Made], items: Iterable[Given]) -> list[Made]:
    """Return what is made of each item, in their order."""
    given = list(items)
    number = min(spare(), len(given))
    if number < 2:
        return [work(item) for item in given]
    waiting = deque(enumerate(given))
    made: dict[int, Made] = {}
    failed: dict[int, BaseException] = {}

    def run() -> None:
        while not failed:
            try:
                place, item = waiting.popleft()
            except IndexError:
                return
            try:
                made[place] = work(item)
            except BaseException as reason:  # noqa: BLE001  # raised where the work was asked for
                failed[place] = reason

    # This thread takes its share: a pool of the standard library takes three times as long.
    others = [threading.Thread(target=copy_context().run, args=(run,)) for _ in range(number - 1)]
    for other in others:
        other.start()
    try:
        run()
    finally:
        for other in others:
            other.join()
    if failed:
        raise failed[min(failed)]
    return [made[place] for place in range(len(given))]


def parts(size: int, least: int) -> list[slice]:
    """Return slices that divide a size among the cores; one where a part would be below `least`."""
    number = max(1, min(spare(), size // max(1, least)))
    cuts = [size * part // number for part in range(number + 1)]
    return [slice(start, end) for start, end in pairwise(cuts)]


_MOST = 32  # labels; beyond, a row is long enough
_ROWS = 1 << 13  # in hand at once, so that a column stays in the cache
_WORTH = 1 << 18  # entries that are worth a thread


def largest(values: Floats) -> Floats:
    """Return the largest entry of each row, (example,)."""
    found = np.empty(len(values), dtype=values.dtype)
    of_rows = _largest if 1 < values.shape[1] <= _MOST else _largest_of_many

    def fill(part: slice) -> None:
        of_rows(values[part], found[part])

    at_once(fill, parts(len(values), max(1, _WORTH // max(1, values.shape[1]))))
    return found


def _largest_of_many(values: Floats, found: Floats) -> None:
    np.maximum.reduce(values, axis=1, out=found)


def _largest(values: Floats, found: Floats) -> None:
    for start in range(0, len(values), _ROWS):
        block, out = values[start : start + _ROWS], found[start : start + _ROWS]
        np.maximum(block[:, 0], block[:, 1], out=out)
        for place in range(2, values.shape[1]):
            np.maximum(out, block[:, place], out=out)
