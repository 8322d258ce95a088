"""Orders and ranks: order statistics, floats as integers in their order, ranks in a large pool.

And hulls along ordered labels, which are values without a hole.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.blocks import map_blocks
from plausibly.kernels.types import Floats, Ints, Masses

Array = TypeVar("Array", bound=NDArray[Any])  # Any: flags or numbers
Bits: TypeAlias = NDArray[np.uint32] | NDArray[np.uint64]


def ordered_bits(values: Floats) -> Bits:
    """Return integers in the order of the floats, none of them NaN; -0.0 and 0.0 are one."""
    # Adding zero turns -0.0 into 0.0, whose bits are others.
    plain = np.add(values, values.dtype.type(0))
    if values.dtype == np.float32:
        bits = plain.view(np.uint32)
        bits ^= np.uint32(1 << 31) | (np.uint32(0) - (bits >> np.uint32(31)))
        return bits
    wide = plain.view(np.uint64)
    wide ^= np.uint64(1 << 63) | (np.uint64(0) - (wide >> np.uint64(63)))
    return wide


def order_statistic(ordered: Floats, rank: int) -> np.floating[Any]:  # Any: the user's bit width
    """Return the `rank`-th smallest score, -inf below rank 1 and +inf beyond the last."""
    if rank <= 0:
        return ordered.dtype.type(-np.inf)
    if rank > len(ordered):
        return ordered.dtype.type(np.inf)
    value: np.floating[Any] = ordered[rank - 1]  # Any: as above
    return value


def weighted_rank(cumulative: Masses, mass: int) -> int:
    """Return the rank of the least atom at which the cumulative mass reaches `mass`."""
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
    """Return the least integer in (low, high] at which a monotone condition holds."""
    while high > low + 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def hull(values: Array) -> Array:
    """Return the least values that are at least these and have no hole along the last axis.

    ``v'_k = min(max_(l <= k) v_l, max_(l >= k) v_l)``: the labels with ``v' >= t`` are those from
    the first to the last with ``v >= t``, for every t. Nothing is rounded.
    """
    below = np.maximum.accumulate(values, axis=-1)
    above = np.maximum.accumulate(values[..., ::-1], axis=-1)[..., ::-1]
    return cast("Array", np.minimum(below, above))


Side: TypeAlias = Literal["left", "right"]

_TABLE_BITS = 20
_LEAST_POOL = 1 << 10  # below, a plain search stays in the nearest cache
_LEAST_QUERIES = 1 << 15


@attrs.frozen(eq=False)
class Ranks:
    """A pool that is asked for ranks; the table is made for the first question worth one."""

    ordered: Floats

    def of(self, queries: Floats, side: Side) -> Ints:
        """Return how many atoms are below each query (``left``), or at most it (``right``)."""
        if self.ordered.size < _LEAST_POOL or queries.size < _LEAST_QUERIES:
            return np.searchsorted(self.ordered, queries, side=side)
        places = np.empty(queries.shape, np.int64)
        flat, out = queries.reshape(-1), places.reshape(-1)
        first, shift, table, longest, padded = self._index  # once, before the threads
        # Behind its bucket a query is less than all atoms, so the end of a bucket needs no look.
        passes = np.less if side == "left" else np.less_equal

        def search(block: slice) -> None:
            block_scores = flat[block]
            bits = ordered_bits(np.clip(block_scores, self.ordered[0], self.ordered[-1]))
            low = table.take(((bits - first) >> shift).astype(np.intp))
            step = longest
            while step:
                held = padded.take(low + (step - 1))
                low += np.multiply(passes(held, block_scores), step, dtype=low.dtype)
                step >>= 1
            out[block] = low

        map_blocks(search, flat.shape)
        return places

    @cached_property
    def _index(
        self,
    ) -> tuple[
        np.unsignedinteger[Any],  # Any: as wide as the floats
        np.unsignedinteger[Any],  # Any: as above
        Ints,
        int,
        Floats,
    ]:
        """Buckets of atoms whose first bits are the same.

        Bits of the first atom, how many of the last bits fall into one bucket, where each bucket
        begins, the first step of a search within one, and the pool with NaN behind it, which no
        query passes, so that no step needs a bound.
        """
        bits = ordered_bits(self.ordered)
        # About as many buckets as atoms: a larger table takes longer to make than it saves.
        most = min(_TABLE_BITS, self.ordered.size.bit_length())
        shift = max(0, (int(bits[-1]) - int(bits[0])).bit_length() - most)
        first, cut = bits[0], bits.dtype.type(shift)
        buckets = ((bits - first) >> cut).astype(np.intp)
        count = np.bincount(buckets, minlength=int(buckets[-1]) + 2)
        # Half the bytes where they suffice: more of the table stays in the cache.
        narrow = self.ordered.size < 1 << 31
        table: Ints = np.zeros(count.size + 1, np.int32 if narrow else np.int64)
        np.cumsum(count, out=table[1:])
        longest = 1 << int(count.max()).bit_length() >> 1
        beyond = np.full(longest, np.nan, self.ordered.dtype)
        return first, cut, table, longest, np.concatenate([self.ordered, beyond])
