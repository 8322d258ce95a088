"""Loops for numba: plain Python over arrays, so that they give the same without it, slowly.

They add in the order in which the kernels in numpy add, so that the bits are the same.
"""

from __future__ import annotations

import numpy as np

from plausibly.arrays import Floats, Ints
from plausibly.kernels.bits import Bits


def ranks(
    padded: Floats,
    table: Ints,
    longest: int,
    buckets: Ints,
    queries: Floats,
    right: bool,
    out: Ints,
) -> None:
    """Write how many atoms are below each query, or at most it.

    Parameters
    ----------
    padded : ndarray, (atom + longest,)
        Atoms in ascending order, and NaN behind them.
    table : ndarray of int, (bucket + 1,)
        Where among the atoms each bucket begins.
    longest : int
        The first step: a power of two.
    buckets : ndarray of int, (query,)
        The bucket of each query.
    queries : ndarray, (query,)
    right : bool
        Whether an atom that is equal counts.
    out : ndarray of int64, (query,)
    """
    # Step by step for some queries at once, so that none waits for the memory of the one before;
    # and without a sign, since a place below zero would be looked for at the end.
    for start in range(0, queries.size, 256):
        end = min(start + 256, queries.size)
        asked, found, inside = queries[start:end], out[start:end], buckets[start:end]
        for place in range(end - start):
            found[place] = table[np.uint64(inside[place])]
        step = longest
        while step:
            if right:
                for place in range(end - start):
                    low = found[place]
                    passes = padded[np.uint64(low + step - 1)] <= asked[place]
                    found[place] = low + step if passes else low
            else:
                for place in range(end - start):
                    low = found[place]
                    passes = padded[np.uint64(low + step - 1)] < asked[place]
                    found[place] = low + step if passes else low
            step >>= 1


def exchange(first: Ints, second: Ints, keys: Bits, labels: Ints) -> None:
    """Put keys in order by comparisons of two places, and move labels with them.

    Parameters
    ----------
    first, second : ndarray of int, (comparison,)
        Places, of which the first is to get the less.
    keys : ndarray, (place, example)
    labels : ndarray, (place, example)
    """
    examples = keys.shape[1]
    for start in range(0, examples, 256):
        end = min(start + 256, examples)
        for step in range(first.size):
            low, high = keys[first[step], start:end], keys[second[step], start:end]
            one, other = labels[first[step], start:end], labels[second[step], start:end]
            for place in range(end - start):
                # Without a branch, so that several examples are compared at once.
                less, more = low[place], high[place]
                its, theirs = one[place], other[place]
                swapped = less > more
                low[place] = more if swapped else less
                high[place] = less if swapped else more
                one[place] = theirs if swapped else its
                other[place] = its if swapped else theirs


def sums_before(ordered: Floats, out: Floats) -> None:
    """Write the sum of what stands before each place of each row.

    Parameters
    ----------
    ordered : ndarray, (example, place)
    out : ndarray of float64, (example, place)
    """
    rows, places = ordered.shape
    for start in range(0, rows, 8):
        end = min(start + 8, rows)
        for row in range(start, end):
            out[row, 0] = 0.0
        # Eight sums at once: each addition of one waits for the one before it.
        for place in range(1, places):
            for row in range(start, end):
                out[row, place] = out[row, place - 1] + ordered[row, place - 1]


def put(values: Floats, labels: Ints, out: Floats) -> None:
    """Write values by place where their labels stand.

    Parameters
    ----------
    values, labels : ndarray, (example, place)
    out : ndarray, (example, label)
    """
    rows, places = out.shape
    # Eight rows at once: the values may lie place after place.
    for start in range(0, rows, 8):
        end = min(start + 8, rows)
        for place in range(places):
            for row in range(start, end):
                out[row, labels[row, place]] = values[row, place]
