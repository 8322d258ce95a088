"""Row blocks: temporaries stay small, and many rows are divided among the cores."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Made = TypeVar("Made")

_CELLS = 1 << 16  # a block of this many cells, as float64, stays within the second-level cache
_WORTH = 1 << 20  # cells that are worth a thread
_TIMES = 8  # how many times as large blocks are that are divided among threads


def spare() -> int:
    """Return the number of cores among which work may be divided here.

    One in any thread but the main one and in a process that `multiprocessing` started: what
    started those, such as a Dask worker or a study, has work for the other cores.
    """
    if threading.current_thread() is not threading.main_thread():
        return 1
    # Where it was not imported, it started nothing.
    started = sys.modules.get("multiprocessing.process")
    if started is not None and started.parent_process() is not None:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def row_blocks(shape: tuple[int, ...], times: int = 1) -> Iterator[slice]:
    """Yield slices of the rows of an array (row, ...), of about `times` `_CELLS` cells each."""
    rows = max(1, times * _CELLS // max(1, math.prod(shape[1:])))
    for start in range(0, shape[0], rows):
        yield slice(start, min(start + rows, shape[0]))


def map_blocks(work: Callable[[slice], Made], shape: tuple[int, ...]) -> list[Made]:
    """Return what `work` makes of each block of the rows of an array, in their order."""
    threads = math.prod(shape) // _WORTH
    if threads < 2 or (threads := min(threads, spare())) < 2:
        return [work(block) for block in row_blocks(shape)]
    # Threads wait for each other between the passes of numpy: larger blocks have fewer.
    blocks = list(row_blocks(shape, _TIMES))
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, blocks))
