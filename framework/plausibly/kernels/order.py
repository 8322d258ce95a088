"""Order statistics, and the order of floats as the order of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plausibly.kernels.threads import at_once, parts
from plausibly.kernels.types import Bools, Floats, Masses

_WORTH = 1 << 22  # comparisons that are worth a thread


def order_statistic(ordered: Floats, rank: int) -> np.floating[Any]:  # Any: the user's bit width
    """Return the `rank`-th smallest score, -inf below rank 1 and +inf beyond the last.

    Parameters
    ----------
    ordered : ndarray, (atom,)
        Scores in ascending order.
    rank : int
        Counted from one.
    """
    if rank <= 0:
        return ordered.dtype.type(-np.inf)
    if rank > len(ordered):
        return ordered.dtype.type(np.inf)
    value: np.floating[Any] = ordered[rank - 1]  # Any: as above
    return value


def at_least(
    scores: Floats,
    taus: Floats | np.floating[Any],  # Any: the user's bit width
    out: Bools | None = None,
) -> Bools:
    """Return which scores reach their threshold: prediction sets by one comparison.

    Parameters
    ----------
    scores : ndarray, (label,) or (example, label)
    taus : float or ndarray
        One for all, one a label, (label,), or one an example, (example, 1).
    out : ndarray of bool, of the shape of `scores`, optional
        What they are written into.
    """
    if scores.ndim != 2 or scores.size < 2 * _WORTH:
        few: Bools = np.greater_equal(scores, taus, out=out)
        return few
    kept = np.empty_like(scores, dtype=bool) if out is None else out
    whole = np.broadcast_to(taus, scores.shape)

    def compare(rows: slice) -> None:
        np.greater_equal(scores[rows], whole[rows], out=kept[rows])

    at_once(compare, parts(len(scores), max(1, _WORTH // scores.shape[1])))
    return kept


def weighted_rank(cumulative: Masses, mass: int) -> int:
    """Return the rank of the least atom at which the cumulative mass reaches `mass`.

    Parameters
    ----------
    cumulative : ndarray, (atom + 1,)
        Cumulative masses of the ordered atoms, from zero.
    mass : int
        The mass to reach; zero or less is reached before the first atom.
    """
    return int(np.searchsorted(cumulative, mass, side="left")) if mass > 0 else 0


def to_ordered(value: np.floating[Any]) -> int:  # Any: float32 or float64
    """Return the integer whose order among integers is the float's order among floats."""
    signed = np.int64 if value.dtype == np.float64 else np.int32
    bits = int(value.view(signed))
    return bits if bits >= 0 else -(bits & np.iinfo(signed).max)


def from_ordered(position: int, dtype: np.dtype[Any]) -> np.floating[Any]:  # Any: as above
    """Return the float at a position in the order of all floats of `dtype`."""
    signed = np.int64 if dtype == np.float64 else np.int32
    magnitude: np.floating[Any] = signed(abs(position)).view(dtype.type)  # Any: as above
    return magnitude if position >= 0 else dtype.type(-magnitude)


def least_true(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least integer in (low, high] at which a monotone condition holds.

    Parameters
    ----------
    holds : callable
        False at `low`, True at `high`, and never False again once True.
    low, high : int
        Python integers, so that their sum cannot overflow.
    """
    while high > low + 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high
