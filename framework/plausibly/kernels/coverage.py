"""Coverage of prediction sets: of plausibilities, of their voted label, and the set sizes.

Every function walks over blocks of rows, so that temporaries stay small, and sums each row from
its own values alone: an example has the same coverage alone and in a batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from plausibly.arrays import Bools, Floats, Ints

Ties: TypeAlias = Literal["first", "random", "fractional", "any", "all"]
TIES: tuple[Ties, ...] = get_args(Ties)

_CELLS = 1 << 17  # a block of this many cells, as float64, stays within the second-level cache


def _blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield slices of rows that hold about `_CELLS` cells each."""
    rows = max(1, _CELLS // max(1, shape[1]))
    for start in range(0, shape[0], rows):
        yield slice(start, start + rows)


def aggregated(sets: Bools, plausibilities: Floats) -> NDArray[np.float64]:
    """Return the plausibility inside each set: ``sum_k lambda_k 1[k in C(x)]``.

    Parameters
    ----------
    sets : ndarray of bool, (example, label)
    plausibilities : ndarray, (example, label)
        Finite; rows sum to 1. float32 is summed in float64.

    Returns
    -------
    ndarray of float64, (example,)
        In [0, 1]: a row that sums to more than 1 by rounding is not covered more than wholly.

    Notes
    -----
    The mean over examples is the aggregated coverage of Stutz et al. (2023).
    """
    covered = np.empty(sets.shape[0])
    inside = np.empty((max(1, _CELLS // max(1, sets.shape[1])), sets.shape[1]))
    for rows in _blocks(sets.shape):
        some = inside[: sets[rows].shape[0]]
        np.multiply(plausibilities[rows], sets[rows], out=some)
        np.add.reduce(some, axis=1, out=covered[rows])
    return np.minimum(covered, 1.0, out=covered)


def tie_counts(plausibilities: Floats) -> NDArray[np.int64]:
    """Return how many labels share the largest plausibility of each example.

    Parameters
    ----------
    plausibilities : ndarray, (example, label)

    Returns
    -------
    ndarray of int64, (example,)
        1 where the vote is not tied.
    """
    counts = np.empty(plausibilities.shape[0], dtype=np.int64)
    for rows in _blocks(plausibilities.shape):
        counts[rows] = np.count_nonzero(_tied(plausibilities[rows]), axis=1)
    return counts


def voted(
    sets: Bools,
    plausibilities: Floats,
    ties: Ties = "first",
    uniform: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return whether each set holds the voted label, the one with the largest plausibility.

    Parameters
    ----------
    sets : ndarray of bool, (example, label)
    plausibilities : ndarray, (example, label)
    ties : {"first", "random", "fractional", "any", "all"}
        What counts where L > 1 labels share the largest plausibility: the first of them in label
        order, the one that `uniform` picks, each of them with credit 1/L, any, or all.
    uniform : ndarray of float64, (example,), optional
        In [0, 1); one an example, for ``"random"`` alone.

    Returns
    -------
    ndarray of float64, (example,)
        0 or 1, and multiples of 1/L for ``"fractional"``.

    Raises
    ------
    ValueError
        For ``"random"`` without uniforms: the choice must belong to the example, not to a state.
    """
    if ties == "random" and uniform is None:
        raise ValueError('ties "random" needs one uniform an example')
    covered = np.empty(sets.shape[0])
    for rows in _blocks(sets.shape):
        inside, tied = sets[rows], _tied(plausibilities[rows])
        if ties == "any":
            covered[rows] = (inside & tied).any(axis=1)
        elif ties == "all":
            covered[rows] = (inside | ~tied).all(axis=1)
        elif ties == "fractional":
            share = np.count_nonzero(inside & tied, axis=1) / np.count_nonzero(tied, axis=1)
            covered[rows] = share
        else:
            chosen = np.argmax(tied, axis=1) if uniform is None else _nth_tied(tied, uniform[rows])
            covered[rows] = inside[np.arange(len(chosen)), chosen]
    return covered


def sizes(sets: Bools) -> NDArray[np.int64]:
    """Return the number of labels in each set.

    Parameters
    ----------
    sets : ndarray of bool, (example, label)

    Returns
    -------
    ndarray of int64, (example,)
    """
    # Added as bytes: counting what is not zero along a short axis takes twice as long.
    counts: NDArray[np.uint32] = np.add.reduce(sets.view(np.uint8), axis=1, dtype=np.uint32)
    return counts.astype(np.int64)


def _tied(plausibilities: Floats) -> Bools:
    """Return which labels have the largest plausibility of their row."""
    tied: Bools = plausibilities == plausibilities.max(axis=1, keepdims=True)
    return tied


def _nth_tied(tied: Bools, uniform: NDArray[np.float64]) -> Ints:
    """Return the code of the tied label that each uniform picks, each with the same chance."""
    wanted = np.floor(uniform * np.count_nonzero(tied, axis=1)).astype(np.int64)
    place = np.cumsum(tied, axis=1) > wanted[:, None]
    codes: Ints = np.argmax(place, axis=1)
    return codes
