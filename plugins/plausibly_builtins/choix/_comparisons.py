"""Rankings taken apart into comparisons of two labels, and what choix makes of them.

Labels stand in the order of their names, and comparisons are sorted: what choix adds up does not
depend on the order of rows, labels or annotators.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import (
    InputError,
    Rows,
    answered_rows,
    listed,
    names,
    require,
    several,
    warn,
)

ACCEPTS: frozenset[str] = frozenset({"partial-ranking"})

Column = NDArray[np.float64]
Times = dict[tuple[int, int], float]
"""How often a label, by its place, was put above another."""

Estimate = Callable[..., Any]  # Any: choix has no types in its older versions
"""From comparisons to log utilities (label,)."""

Form = Literal["list", "matrix"]
"""What an estimate reads: how many labels and a list of pairs (winner, loser), or a matrix."""


def choix(called: str) -> ModuleType:
    """Return the library, or raise ``extra-missing``."""
    return require("choix", extra="ranking", whose=f"aggregator choix:{called}")


@attrs.frozen(kw_only=True, eq=False)
class Compared:
    """What was compared in one example.

    Attributes
    ----------
    labels : list of int
        Codes of the labels that a response names, in the order of their names: a place is an index
        into it.
    times : dict
        By (winner, loser), sorted.
    """

    labels: list[int]
    times: Times

    @property
    def one_sided(self) -> bool:
        """Whether some group of labels never loses to a label outside it, or never meets one.

        Then no finite utilities are the most likely ones (Ford 1957).
        """
        above = np.eye(len(self.labels), dtype=bool)
        for winner, loser in self.times:
            above[winner, loser] = True
        for through in range(len(self.labels)):
            above |= above[:, through, None] & above[through]
        return not above.all()

    def given(self, form: Form) -> tuple[int, list[tuple[int, int]]] | tuple[Column]:
        """Return the comparisons as an estimate reads them."""
        size = len(self.labels)
        if form == "list":
            return size, [pair for pair, times in self.times.items() for _ in range(int(times))]
        found = np.zeros((size, size))
        for pair, times in self.times.items():
            found[pair] = times
        return (found,)


def aggregated(
    annotations: xr.Dataset,
    estimate: Estimate,
    *,
    called: str,
    form: Form,
    regularisation: float,
    iterations: int | None = None,
) -> xr.DataArray:
    """Return plausibilities (example, label): the softmax of the utilities of each example.

    Parameters
    ----------
    annotations : Dataset
        A table of partial rankings.
    estimate : callable
    called : str
        Name of the component.
    form : {"list", "matrix"}
        What `estimate` reads.
    regularisation : float
        What it was told to add.
    iterations : int, optional
        What it was allowed.
    """
    rows = answered_rows(annotations, ACCEPTS)
    if form == "list" and not rows.counts:
        raise InputError(
            "weights-broken",
            f"choix:{called} counts comparisons, and responses count a broken number of times",
            expected="responses that count a whole number of times",
            got=f"{names.RESPONSE_WEIGHT} that is none",
            do="aggregator choix:i-lsr, choix:lsr or plackett-luce",
            whose=f"aggregator choix:{called}",
        )
    examples = _compared(rows)
    _tell(examples, rows, called, regularisation)
    found = np.zeros((rows.n, rows.labels))
    failed: list[tuple[int, Exception]] = []
    for at, one in enumerate(examples):
        share = np.full(len(one.labels), 1.0 / max(len(one.labels), 1))
        if one.times:
            try:
                with np.errstate(all="ignore"):
                    share = _softmax(estimate(*one.given(form)))
            except (RuntimeError, ValueError, FloatingPointError) as error:
                failed.append((at, error))
        found[at, one.labels] = share
    if failed:
        raise _failure(failed, rows, called, iterations)
    return rows.plausibilities(found)


def _compared(rows: Rows) -> list[Compared]:
    """Return what was compared in each example."""
    excluded = rows.table.attrs[names.UNLISTED] == "excluded"
    by_name = np.argsort(rows.table[names.LABEL].values, kind="stable")
    rank = np.empty(rows.labels, np.intp)
    rank[by_name] = np.arange(rows.labels)
    said: list[list[tuple[float, dict[int, int]]]] = [[] for _ in range(rows.n)]
    ends = np.cumsum(rows.mentions)
    for response, end in enumerate(ends.tolist()):
        mine = slice(end - int(rows.mentions[response]), end)
        blocks = dict(zip(rank[rows.label[mine]].tolist(), rows.block[mine].tolist(), strict=True))
        if blocks and rows.weight[response] > 0:
            said[rows.example[response]].append((float(rows.weight[response]), blocks))
    return [_of_example(responses, by_name, excluded=excluded) for responses in said]


def _of_example(
    responses: list[tuple[float, dict[int, int]]], by_name: NDArray[np.intp], *, excluded: bool
) -> Compared:
    ranks = sorted({rank for _, blocks in responses for rank in blocks})
    place = {rank: at for at, rank in enumerate(ranks)}
    weights: dict[tuple[int, int], list[float]] = defaultdict(list)
    for weight, blocks in responses:
        for winner, block in blocks.items():
            for loser in ranks if excluded else blocks:
                if loser not in blocks or blocks[loser] > block:
                    weights[place[winner], place[loser]].append(weight)
    times = {pair: float(np.sort(weights[pair]).sum()) for pair in sorted(weights)}
    return Compared(labels=by_name[ranks].tolist(), times=times)


def _softmax(logs: Column) -> Column:
    if not np.isfinite(logs).all():
        raise FloatingPointError("utilities that are no finite numbers")
    share: Column = np.exp(logs - np.max(logs))
    share /= share.sum()
    return share


def _tell(examples: list[Compared], rows: Rows, called: str, regularisation: float) -> None:
    """Warn of examples whose utilities hang on the regularisation, or refuse them without one."""
    hanging = [at for at, one in enumerate(examples) if one.one_sided]
    if not hanging:
        return
    shown = _named(rows, hanging)
    what = f"comparisons of {several(len(shown), 'example')} ({listed(shown)})"
    told: dict[str, Any] = {  # Any: arguments of two functions
        "expected": "labels each of which beats every other, if by way of others",
        "got": "labels that are never beaten by some others, or never compared with them",
        "whose": "annotations",
        "details": {"examples": shown},
    }
    if regularisation == 0:
        raise InputError(
            "ranking-one-sided",
            f"without regularisation, the {what} fit infinite utilities best",
            do="regularisation = 0.1, or aggregator plackett-luce",
            **told,
        )
    warn(
        "ranking-one-sided",
        f"in the {what} some labels only win: how far they are ahead is what choix:{called} makes "
        f"of regularisation {regularisation:g}",
        do=f"compare with regularisation = {10 * regularisation:g}; plackett-luce has a prior that "
        "counts like votes",
        stacklevel=4,
        **told,
    )


def _failure(
    failed: list[tuple[int, Exception]], rows: Rows, called: str, iterations: int | None
) -> InputError:
    shown = _named(rows, [at for at, _ in failed])
    more = "" if iterations is None else f"iterations = {10 * iterations}, "
    return InputError(
        "not-converged",
        f"choix:{called} finds no utilities for {several(len(shown), 'example')} ({listed(shown)})",
        expected="an estimate that settles",
        got=f'"{" ".join(str(failed[0][1]).split())}"',
        do=f"{more}a larger regularisation, or aggregator plackett-luce",
        whose=f"aggregator choix:{called}",
        details={"examples": shown},
    )


def _named(rows: Rows, places: list[int]) -> list[str]:
    return [str(name) for name in rows.table.indexes[names.EXAMPLE][places]]
