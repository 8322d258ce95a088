"""Ranks of many scores in a large pool: a table over the leading bits, then halving.

The order of floats is the order of their bits read as integers. A table says where in the ordered
pool each range of bits begins, so that a query starts its search in a few atoms instead of all. The
ranks are those of `numpy.searchsorted`, to the last one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.bits import Bits, ordered_bits
from plausibly.kernels.threads import at_once, parts
from plausibly.kernels.types import Floats, Ints

Side: TypeAlias = Literal["left", "right"]

_TABLE_BITS = 20
_BLOCK = 1 << 16
_LEAST_POOL = 1 << 10  # below, a plain search stays in the nearest cache
_LEAST_QUERIES = 1 << 15  # also of a thread


@attrs.frozen(eq=False)
class Ranks:
    """A pool that is asked for ranks; the table is made for the first question worth one.

    Attributes
    ----------
    ordered : ndarray, (atom,)
        Scores in ascending order, without NaN.
    """

    ordered: Floats

    def of(self, queries: Floats, side: Side) -> Ints:
        """Return how many atoms are below each query (``left``), or at most it (``right``).

        Parameters
        ----------
        queries : ndarray, (*query)
            Of the float type of the pool, without NaN.
        side : {"left", "right"}
        """
        if self.ordered.size < _LEAST_POOL or queries.size < _LEAST_QUERIES:
            plain: Ints = np.searchsorted(self.ordered, queries, side=side)
            return plain
        found = np.empty(queries.shape, np.int64)
        flat, out = queries.reshape(-1), found.reshape(-1)
        _ = self._padded  # once, before the threads

        def search(part: slice) -> None:
            for start in range(part.start, part.stop, _BLOCK):
                block = slice(start, min(start + _BLOCK, part.stop))
                self._search(flat[block], side, out[block])

        at_once(search, parts(flat.size, _LEAST_QUERIES))
        return found

    @cached_property
    def _span(self) -> tuple[int, int]:
        """Bits of the first atom, and how many of the last bits one place of the table takes."""
        first, last = (int(one) for one in ordered_bits(self.ordered[[0, -1]]))
        # About as many places as atoms: a larger table takes longer to make than it saves.
        bits = min(_TABLE_BITS, self.ordered.size.bit_length())
        return first, max(0, (last - first).bit_length() - bits)

    @cached_property
    def _table(self) -> Ints:
        buckets = self._buckets(ordered_bits(self.ordered))
        count = np.bincount(buckets, minlength=int(buckets[-1]) + 2)
        # Half the bytes where they suffice: more of the table stays in the cache.
        narrow = self.ordered.size < 1 << 31
        table: Ints = np.zeros(count.size + 1, np.int32 if narrow else np.int64)
        np.cumsum(count, out=table[1:])
        return table

    def _buckets(self, bits: Bits) -> NDArray[np.intp]:
        first, shift = self._span
        moved = bits - bits.dtype.type(first)
        return (moved >> bits.dtype.type(shift)).astype(np.intp)

    @cached_property
    def _padded(self) -> Floats:
        """The pool and NaN behind it, which no query passes: no step needs a bound."""
        beyond = np.full(self._longest, np.nan, self.ordered.dtype)
        padded: Floats = np.concatenate([self.ordered, beyond])
        return padded

    @cached_property
    def _longest(self) -> int:
        """The first step of the search: the power of two within the largest bucket."""
        return 1 << int(np.diff(self._table).max()).bit_length() >> 1

    def _search(self, queries: Floats, side: Side, out: Ints) -> None:
        inside = np.clip(queries, self.ordered[0], self.ordered[-1])
        buckets = self._buckets(ordered_bits(inside))
        # Behind its bucket a query is less than all atoms, so the end of a bucket needs no look.
        passes = np.less if side == "left" else np.less_equal
        low = self._table.take(buckets)
        step = self._longest
        while step:
            held = self._padded.take(low + (step - 1))
            low += np.multiply(passes(held, queries), step, dtype=low.dtype)
            step >>= 1
        out[...] = low
