"""Uniforms and draws for examples of which each needs another number of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.random import Keys
from plausibly.kernels.types import Hashes, Ints


def ragged_uniforms(keys: Keys, hashes: Hashes, counts: Ints) -> NDArray[np.float64]:
    """Return `counts` uniforms in [0, 1) of each example, one example after the other.

    Those of an example depend on its hash alone, and the first ones do not depend on its count.

    Parameters
    ----------
    keys : Keys
    hashes : ndarray of uint64, (example,)
    counts : ndarray of int, (example,)
        0 or more.

    Returns
    -------
    ndarray of float64, (sum of counts,)
    """
    starts = np.cumsum(counts) - counts
    found = np.empty(int(counts.sum()), dtype=np.float64)
    # Examples of like size together: a rectangle as wide as the largest of all would be mostly air.
    bits = np.frexp(counts.astype(np.float64))[1]
    for size in np.unique(bits[counts > 0]):
        rows = np.flatnonzero((bits == size) & (counts > 0))
        place = np.arange(int(counts[rows].max()))
        inside = place < counts[rows, None]
        block = keys.uniform(hashes[rows], len(place))
        found[(starts[rows, None] + place)[inside]] = block[inside]
    return found


def drawn_times(
    uniforms: NDArray[np.float64], counts: Ints, units: Ints, owner: Ints
) -> NDArray[np.int64]:
    """Return how often each item is drawn, with replacement, from the items of its example.

    Parameters
    ----------
    uniforms : ndarray of float64, (draw,)
        From `ragged_uniforms`.
    counts : ndarray of int, (example,)
        How many of the uniforms belong to each example.
    units : ndarray of int, (item,)
        Chance of an item, in units; each example that is drawn from has one or more.
    owner : ndarray of int, (item,)
        Example of each item, ascending.

    Returns
    -------
    ndarray of int64, (item,)
    """
    ends = np.cumsum(units)
    total = np.bincount(owner, weights=units, minlength=len(counts)).astype(np.int64)
    start = np.cumsum(total) - total
    of = np.repeat(np.arange(len(counts)), counts)
    # A product that rounds up to the total would belong to the next example.
    step = np.minimum((uniforms * total[of]).astype(np.int64), total[of] - 1)
    place = np.searchsorted(ends, start[of] + step, side="right")
    times: NDArray[np.int64] = np.bincount(place, minlength=len(units))
    return times
