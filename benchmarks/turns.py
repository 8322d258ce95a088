"""Calls measured in turn in one process, and their ratios: shared by the benchmarks of this folder.

A time alone says more of the machine than of the code; a ratio of two times that were taken one
after the other says something of both.
"""

from __future__ import annotations

import platform
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

import attrs

Calls = Mapping[str, Callable[[], object]]
Taken = Mapping[str, Sequence[float]]


@attrs.frozen(kw_only=True)
class Row:
    """A line of a table.

    Attributes
    ----------
    what, beside : str
        What is measured, and what it is compared with.
    ratio : str
        Median of the ratios, with the least and the largest.
    goal : str
        What is aimed at; empty where nothing is.
    note : str
        Seconds or memory.
    """

    what: str
    beside: str
    ratio: str
    goal: str = ""
    note: str = ""


def in_turn(calls: Calls, rounds: int) -> dict[str, list[float]]:
    """Return the seconds that each call took, one round after the other, after a round to warm up.

    Parameters
    ----------
    calls : mapping
    rounds : int
    """
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(rounds + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if turn:
                taken[name].append(time.perf_counter() - start)
    return taken


def ratio(taken: Taken, name: str, to: str) -> str:
    """Return the median of the ratios of a round, with the least and the largest."""
    ratios = [one / other for one, other in zip(taken[name], taken[to], strict=True)]
    return f"{_shown(statistics.median(ratios))} ({_shown(min(ratios))} to {_shown(max(ratios))})"


def seconds(taken: Taken, name: str) -> str:
    """Return the median time of a call in a unit that suits it."""
    median = statistics.median(taken[name])
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if median * factor >= 1:
            return f"{median * factor:.3g} {unit}"
    return f"{median * 1e6:.3g} us"


def peak(call: Callable[[], object]) -> str:
    """Return the most that was allocated at once during a call."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return f"{most / 2**20:.3g} MiB"


def versions(distributions: Iterable[str]) -> str:
    """Return the versions of Python, of the machine's kind and of what is installed of a list."""
    found = [f"{name} {_version(name)}" for name in distributions if _version(name)]
    python = f"Python {sys.version.partition(' ')[0]}"
    return ", ".join([python, *found, platform.machine()])


def show(title: str, rows: Iterable[Row], about: str) -> None:
    """Print a table in Markdown."""
    print(f"## {title}\n\n{about}\n")
    print("| what | beside | ratio of times | goal | note |\n|---|---|---|---|---|", flush=True)
    for row in rows:
        cells = (row.what, row.beside, row.ratio, row.goal, row.note)
        print(f"| {' | '.join(cells)} |", flush=True)
    print()


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def _shown(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
