"""Work on parts of arrays, by as many threads as there are cores: numpy lets go of the lock.

What is made of a part must depend on that part alone, so that no result depends on their number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def at_once(work: Callable[[Given], Made], items: Iterable[Given]) -> list[Made]:
    """Return what is made of each item, in their order.

    Parameters
    ----------
    work : callable
        Called in several threads.
    items : iterable
        What it is called with.

    Raises
    ------
    Exception
        What `work` raises; of several, that of the first item.
    """
    given = list(items)
    threads = min(cores(), len(given))
    if threads < 2:
        return [work(item) for item in given]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, given))


def parts(size: int, least: int) -> list[slice]:
    """Return slices that divide a size among the cores; one where a part would be below `least`.

    Parameters
    ----------
    size : int
        How many there are.
    least : int
        Fewest that are worth a thread.
    """
    number = max(1, min(cores(), size // max(1, least)))
    cuts = [size * part // number for part in range(number + 1)]
    return [slice(start, end) for start, end in pairwise(cuts)]
