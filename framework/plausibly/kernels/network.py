"""Rows of few labels in order: one comparison of two places is made for all rows at once.

Sorting a row of ten takes longer to begin than to do. A sorting network compares the same places
whatever is in them, so that whole columns are compared, which processors do many at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from plausibly.arrays import Floats, Ints
from plausibly.kernels import loops
from plausibly.kernels.bits import Bits
from plausibly.kernels.compiled import NUMBA

MOST = 32
"""Labels up to which this is quicker than sorting row by row."""


def fits(rows: Floats) -> bool:
    """Return whether rows are few labels from zero up, with no -0.0, or NaN."""
    return rows.shape[1] <= MOST and rows.itemsize in _BITS and not np.signbit(rows).any()


def in_order(rows: Floats, *, fast: bool = False) -> tuple[Ints, Floats]:
    """Return which label stands at each place, from the least, and its probability; NaN last.

    Parameters
    ----------
    rows : ndarray, (example, label)
        That `fits`.
    fast : bool
        Whether to try numba.

    Returns
    -------
    (ndarray of uint8, ndarray), both (example, place)
        Laid out place after place.
    """
    # Bits of floats from zero up are in the order of the floats, NaN behind all.
    keys = np.array(rows.T, order="C").view(_BITS[rows.itemsize])
    labels = np.empty(keys.shape, dtype=np.uint8)
    labels[:] = np.arange(len(keys), dtype=np.uint8)[:, None]
    if not (fast and NUMBA.run(loops.exchange, *_places(len(keys)), keys, labels, written=2)):
        _exchange(keys, labels)
    return labels.T, keys.view(rows.dtype).T


def _exchange(keys: Bits, labels: Ints) -> None:
    """Put keys (place, example) in order, and move labels with them: `loops.exchange` in numpy."""
    least, moved = np.empty_like(keys[0]), np.empty_like(labels[0])
    for one, other in _comparisons(len(keys)):
        low, high = keys[one], keys[other]
        np.greater(low, high, out=moved.view(np.bool_))
        np.minimum(low, high, out=least)
        np.maximum(low, high, out=high)
        low[:] = least
        # 0 or 255, so that what differs is exchanged where the keys were.
        np.negative(moved, out=moved)
        moved &= labels[one] ^ labels[other]
        labels[one] ^= moved
        labels[other] ^= moved


def sums_before(ordered: Floats) -> Floats:
    """Return the sum of what stands before each place, in float64, added from the left.

    Parameters
    ----------
    ordered : ndarray, (example, place)

    Returns
    -------
    ndarray of float64, (example, place)
        Laid out place after place; the bits of a cumulative sum of each row.
    """
    sums = np.zeros(ordered.shape[::-1], dtype=np.float64)
    for place in range(1, len(sums)):
        np.add(sums[place - 1], ordered[:, place - 1], out=sums[place])
    return sums.T


def put(values: Floats, labels: Ints, out: Floats) -> None:
    """Write values by place where their labels stand.

    Parameters
    ----------
    values : ndarray, (example, place)
    labels : ndarray of int, (example, place)
        Each label once.
    out : ndarray, (example, label)
        Contiguous.
    """
    flat, starts = out.reshape(-1), np.arange(0, out.size, out.shape[1])
    where, found = np.empty_like(starts), np.empty(len(out), dtype=out.dtype)
    for place in range(out.shape[1]):
        np.add(starts, labels[:, place], out=where)
        found[:] = values[:, place]
        flat[where] = found


_BITS = {4: np.uint32, 8: np.uint64}


@lru_cache(maxsize=MOST)
def _comparisons(size: int) -> tuple[tuple[int, int], ...]:
    return tuple(_merged(size))


@lru_cache(maxsize=MOST)
def _places(size: int) -> tuple[Ints, Ints]:
    """Return the first and the second place of each comparison."""
    pairs = np.array(_comparisons(size), dtype=np.int64).reshape(-1, 2)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def _merged(size: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of places, the first of which is to get the less: Batcher's merge exchange."""
    part = 1
    while part < size:
        step = part
        while step:
            for start in range(step % part, size - step, 2 * step):
                for low in range(start, min(start + step, size - step)):
                    if low // (2 * part) == (low + step) // (2 * part):
                        yield low, low + step
            step //= 2
        part *= 2
