"""One order statistic of numbers that are neither sorted nor gathered: by counts of their bits.

Floats in order are their bits in order (`plausibly.kernels.bits`). Counts by the leading 16 bits
say in which of 65,536 ranges the order statistic is; counts of that range by the next 16 say where
in it, and so on to the last bit. Counts of parts are added up, so that parts may stand in other
files or processes, in any order; what is found has the bits that a sort of all would give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.arrays import Floats, FloatType
from plausibly.kernels.bits import from_bits, ordered_bits

_DIGIT = 16
_RANGES = 1 << _DIGIT
_BLOCK = 1 << 18  # numbers in hand at once
_UNSIGNED: Mapping[int, type[np.uint32 | np.uint64]] = {4: np.uint32, 8: np.uint64}


@attrs.frozen(eq=False)
class Histogram:
    """How many numbers of one range have each value of the 16 bits behind those it shares.

    Attributes
    ----------
    dtype : dtype
        float32 or float64, of all numbers.
    shared : int
        The leading bits that numbers of the range share.
    digits : int
        How many times 16 bits these are.
    counts : ndarray of int64, (65536,)
    """

    dtype: FloatType
    shared: int = 0
    digits: int = 0
    counts: NDArray[np.int64] = attrs.field(factory=lambda: np.zeros(_RANGES, dtype=np.int64))

    def add(self, values: Floats) -> Histogram:
        """Return the histogram with more numbers in it; those of other ranges are passed over.

        Parameters
        ----------
        values : ndarray, of any shape
            Of `dtype`, without NaN.
        """
        flat = values.reshape(-1)
        found = self._first(flat) if not self.digits else self._further(flat)
        return attrs.evolve(self, counts=self.counts + found)

    def _first(self, flat: Floats) -> NDArray[np.int64]:
        """Return counts by the leading bits: as they are, and put in order when all are counted."""
        found = np.zeros(_RANGES, dtype=np.int64)
        unsigned = _UNSIGNED[self.dtype.itemsize]
        # The same few buffers throughout: fresh memory would take longer than all that is done.
        size = min(_BLOCK, flat.size)
        lead, place = np.empty(size, dtype=unsigned), np.empty(size, dtype=np.intp)
        zero, minus_zeros = unsigned(1 << 8 * self.dtype.itemsize - 1), 0
        for start in range(0, flat.size, _BLOCK):
            bits = flat[start : start + _BLOCK].view(unsigned)
            minus_zeros += int(np.count_nonzero(bits == zero))
            np.right_shift(bits, unsigned(self._behind), out=lead[: bits.size])
            place[: bits.size] = lead[: bits.size]
            found += np.bincount(place[: bits.size], minlength=_RANGES)
        found[_RANGES // 2] -= minus_zeros
        found[0] += minus_zeros
        return np.concatenate([found[: _RANGES // 2 - 1 : -1], found[: _RANGES // 2]])

    def _further(self, flat: Floats) -> NDArray[np.int64]:
        """Return counts by further bits, of the numbers of the range."""
        found = np.zeros(_RANGES, dtype=np.int64)
        least, most = self._bounds
        held: list[Floats] = []
        waiting = 0
        for start in range(0, flat.size, _BLOCK):
            values = flat[start : start + _BLOCK]
            # Rid of most numbers by two comparisons; a zero may still be of the next range.
            held.append(values[(values >= least) & (values <= most)])
            waiting += held[-1].size
            # Few numbers are counted together: each count takes a look at all 65,536 places.
            if waiting >= _BLOCK or start + _BLOCK >= flat.size:
                bits = ordered_bits(np.concatenate(held))
                bits = bits[bits >> bits.dtype.type(self._behind + _DIGIT) == self.shared]
                last = (bits >> bits.dtype.type(self._behind)) & bits.dtype.type(_RANGES - 1)
                found += np.bincount(last.astype(np.intp), minlength=_RANGES)
                held, waiting = [], 0
        return found

    @cached_property
    def _bounds(self) -> tuple[float, float]:
        """The least number of the range, and the largest."""
        behind = self._behind + _DIGIT
        least = from_bits(self.shared << behind, self.dtype)
        most = from_bits((self.shared + 1 << behind) - 1, self.dtype)
        # What is beyond infinity is no number; all that is less than NaN would be nothing.
        low = -np.inf if np.isnan(least) else float(least)
        return low, np.inf if np.isnan(most) else float(most)

    def merge(self, other: Histogram) -> Histogram:
        """Return the histogram of the numbers of both, which have one range.

        Raises
        ------
        ValueError
            Where their ranges differ.
        """
        ranges = [(one.dtype, one.shared, one.digits) for one in (self, other)]
        if ranges[0] != ranges[1]:
            raise ValueError(f"histograms of the ranges {ranges[0]} and {ranges[1]}")
        return attrs.evolve(self, counts=self.counts + other.counts)

    @property
    def size(self) -> int:
        """How many numbers are counted."""
        return int(self.counts.sum())

    @property
    def _behind(self) -> int:
        """Bits behind those that are counted by."""
        return 8 * self.dtype.itemsize - _DIGIT * (self.digits + 1)

    def refine(self, rank: int) -> tuple[Histogram, int]:
        """Return an empty histogram of the range that holds a rank, and the rank in it.

        Parameters
        ----------
        rank : int
            From 1 to `size`.
        """
        ends = np.cumsum(self.counts)
        place = int(np.searchsorted(ends, rank))
        inside = rank - int(ends[place] - self.counts[place])
        return Histogram(self.dtype, self.shared << _DIGIT | place, self.digits + 1), inside

    def value(self) -> np.floating[Any] | None:  # Any: the bit width is that of the numbers
        """Return the number that all numbers of the range are; None while they may differ."""
        if self._behind >= 0:
            return None
        return from_bits(self.shared, self.dtype)


Counted = Callable[[Histogram], Iterable[Histogram]]
"""From an empty histogram to those of all parts: one pass over the numbers."""


def order_statistic_of(
    counted: Counted, rank: int, dtype: FloatType
) -> np.floating[Any]:  # Any: the bit width is that of the numbers
    """Return the `rank`-th smallest number of all parts, -inf below rank 1, +inf beyond the last.

    Two passes of float32, four of float64.

    Parameters
    ----------
    counted : callable
        Called once a pass; each part's numbers are counted with `Histogram.add`.
    rank : int
        Counted from one.
    dtype : dtype
        float32 or float64.

    Returns
    -------
    float32 or float64
        0.0 where it is -0.0.
    """
    if rank <= 0:
        return dtype.type(-np.inf)
    empty = Histogram(dtype)
    while True:
        whole = empty
        for part in counted(empty):
            whole = whole.merge(part)
        if rank > whole.size:
            return dtype.type(np.inf)
        empty, rank = whole.refine(rank)
        found = empty.value()
        if found is not None:
            return found


def order_statistic(
    values: Floats, rank: int
) -> np.floating[Any]:  # Any: the bit width is that of the numbers
    """Return the `rank`-th smallest number of an array, which is neither sorted nor copied.

    Beside the array some 6 MiB are needed, whatever its size and whatever is in it.

    Parameters
    ----------
    values : ndarray, of any shape
        float32 or float64, without NaN.
    rank : int
        Counted from one; -inf below, +inf beyond the last.
    """
    return order_statistic_of(lambda empty: [empty.add(values)], rank, values.dtype)
