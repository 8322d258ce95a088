"""One order statistic of an array in memory: between two bounds that a few of its numbers give.

Numbers at fixed places, spread over the array, are ordered; two of them enclose the wanted rank
but for a few cases in 100,000. One pass counts what is not above the lower bound and keeps what is
between the two, about one number in 200, among which the order statistic then is. Where it is not,
or where too many are kept, it comes from counts of bits: what is found is exact whatever the
numbers are, and in whatever order.

References
----------
Floyd and Rivest, Expected time bounds for selection, Communications of the ACM 18(3), 1975.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import attrs
import numpy as np

from plausibly.arrays import Bools, Floats
from plausibly.kernels import radix
from plausibly.kernels.threads import at_once, parts

_BLOCK = 1 << 20  # bytes in hand at once, so that they stay in the cache
_WORTH = 1 << 20  # numbers that are worth a thread
_WORTH_APART = 1 << 15  # numbers that are worth a thread where each has to be fetched by itself
_ORDERED = 1 << 18  # of the numbers that give the bounds, the most
_MARGIN = 4.0  # standard deviations of the rank of a bound, on either side
_KEPT = 12 << 20  # bytes of the numbers between the bounds, the most
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 by the golden ratio


class _Bounds(NamedTuple):
    """Two numbers of an array, or infinity, and which part of it is expected between them."""

    low: np.floating[Any]  # Any: the bit width is that of the numbers
    high: np.floating[Any]  # Any: as above
    share: float


def order_statistic(
    values: Floats, rank: int
) -> np.floating[Any]:  # Any: the bit width is that of the numbers
    """Return the `rank`-th smallest number of an array, which is neither sorted nor copied.

    Beside the array at most some 30 MiB are needed, whatever its size and whatever is in it.

    Parameters
    ----------
    values : ndarray, of any shape
        float32 or float64, without NaN.
    rank : int
        Counted from one; -inf below, +inf beyond the last.

    Returns
    -------
    float32 or float64
        0.0 where it is -0.0.
    """
    flat = _flat(values)
    if rank <= 0 or rank > flat.size:
        return flat.dtype.type(-np.inf if rank <= 0 else np.inf)
    bounds = _bounds(flat, rank)
    found = None
    if bounds.share * flat.nbytes <= 0.9 * _KEPT:
        found = _between(flat, rank, bounds)
    # Adding zero turns -0.0 into 0.0.
    return radix.order_statistic(flat, rank) if found is None else found + flat.dtype.type(0)


def least(values: Floats) -> np.floating[Any]:  # Any: the bit width is that of the numbers
    """Return the least number of an array that has one; NaN where one is.

    Parameters
    ----------
    values : ndarray, of any shape
        float32 or float64.
    """
    flat = _flat(values)
    ends = at_once(lambda part: flat[part].min(), parts(flat.size, _WORTH))
    found: np.floating[Any] = np.min(ends)  # Any: as above
    return found


def _flat(values: Floats) -> Floats:
    """Return all numbers in a row, copied only where they do not stand beside each other."""
    return values if values.ndim == 1 else values.ravel(order="K")


def _bounds(flat: Floats, rank: int) -> _Bounds:
    """Return numbers that the wanted one is hardly ever outside of."""
    few = max(1, min(_ORDERED, int(flat.size ** (2 / 3))))
    stretch = np.uint64(flat.size // few)

    def read(part: slice) -> Floats:
        # One place in each of as many stretches, not always the same: numbers may repeat in a
        # period.
        step = np.arange(part.start, part.stop, dtype=np.uint64)
        inside = (step * _SPREAD >> np.uint64(32)) % stretch
        found: Floats = flat.take((step * stretch + inside).astype(np.intp))
        return found

    some: Floats = np.concatenate(at_once(read, parts(few, _WORTH_APART)))
    part = rank / flat.size
    margin = 1 + _MARGIN * math.sqrt(few * part * (1 - part))
    low, high = math.floor(few * part - margin), math.ceil(few * part + margin)
    within = [place for place in (low, high) if 0 <= place < few]
    if within:
        some.partition(within)
    return _Bounds(
        some[low] if low >= 0 else flat.dtype.type(-np.inf),
        some[high] if high < few else flat.dtype.type(np.inf),
        (high - low) / few,
    )


def _between(
    flat: Floats, rank: int, bounds: _Bounds
) -> np.floating[Any] | None:  # Any: the bit width is that of the numbers
    """Return the wanted number where it is one of the bounds or between them, else None."""
    low, high, _ = bounds
    value = low
    if low < high:
        kept = _Kept(low, high)
        not_above = sum(at_once(lambda part: kept.add(flat[part]), parts(flat.size, _WORTH)))
        if not kept.whole:
            return None
        inside = np.concatenate(kept.pieces)
        if not_above < rank <= not_above + inside.size:
            place = rank - not_above - 1
            inside.partition(place)
            found: np.floating[Any] = inside[place]  # Any: as above
            return found
        value = low if rank <= not_above else high
    # Numbers that many share are not kept, but counted.
    counts = at_once(lambda part: _counts(flat[part], value), parts(flat.size, _WORTH))
    below, at_most = (sum(column) for column in zip(*counts, strict=True))
    return value if below < rank <= at_most else None


@attrs.define(eq=False)
class _Kept:
    """The numbers between two bounds, in any order; several threads may add to them.

    Attributes
    ----------
    low, high : float
        The bounds, neither of which is kept.
    pieces : list of ndarray
    room : int
        Bytes that there is still room for, but for some blocks where two threads take it at once.
    whole : bool
        Whether all are kept: never again once they are not, whoever counts the room.
    """

    low: np.floating[Any]  # Any: the bit width is that of the numbers
    high: np.floating[Any]  # Any: as above
    pieces: list[Floats] = attrs.field(factory=list)
    room: int = attrs.field(factory=lambda: _KEPT)
    whole: bool = True

    def add(self, flat: Floats) -> int:
        """Keep what is between the bounds, and return how many numbers are at most the lower."""
        size = min(_BLOCK // flat.itemsize, flat.size)
        at_most, below = np.empty(size, dtype=bool), np.empty(size, dtype=bool)
        count = 0
        for start in range(0, flat.size, size):
            block = flat[start : start + size]
            passed, wanted = at_most[: block.size], below[: block.size]
            np.less_equal(block, self.low, out=passed)
            np.less(block, self.high, out=wanted)
            count += int(np.count_nonzero(passed))
            np.logical_xor(wanted, passed, out=wanted)
            chosen = _chosen(block, wanted)
            self.pieces.append(chosen)
            self.room -= chosen.nbytes
            if self.room < 0:
                self.whole = False
                break
        return count


def _chosen(block: Floats, wanted: Bools) -> Floats:
    """Return the wanted numbers, of which there are few: eight others are passed over at a time."""
    if block.size % 8:
        return block[wanted]
    eights = wanted.view(np.uint64)
    some = np.flatnonzero(eights != 0)
    near = block.reshape(-1, 8).take(some, axis=0).ravel()
    found: Floats = near.compress(eights.take(some).view(bool))
    return found


def _counts(
    flat: Floats,
    value: np.floating[Any],  # Any: the bit width is that of the numbers
) -> tuple[int, int]:
    """Return how many numbers are below one of them, and how many at most it."""
    size = min(_BLOCK // flat.itemsize, flat.size)
    passed = np.empty(size, dtype=bool)
    below = at_most = 0
    for start in range(0, flat.size, size):
        block = flat[start : start + size]
        below += int(np.count_nonzero(np.less(block, value, out=passed[: block.size])))
        at_most += int(np.count_nonzero(np.less_equal(block, value, out=passed[: block.size])))
    return below, at_most
