"""Orders and ranks: order statistics, stable sorts, ranks in a large pool, places of labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.blocks import map_blocks
from plausibly.kernels.types import Bools, Floats, Ints, Masses

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
            plain: Ints = np.searchsorted(self.ordered, queries, side=side)
            return plain
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


@attrs.frozen(eq=False)
class Places:
    """Labels of some examples in the order of their probabilities, (example, place).

    Attributes
    ----------
    ordered : ndarray, (example, place)
        Probabilities, from the least to the largest.
    """

    ordered: Floats

    @cached_property
    def _ties(self) -> tuple[Ints, Bools]:
        """Examples with probabilities that are equal, and where theirs are larger than before."""
        step = self.ordered[:, 1:] != self.ordered[:, :-1]
        rows = np.flatnonzero(~step.all(axis=1))
        return rows, step[rows]

    @cached_property
    def _tied_first(self) -> Ints:
        """The place of the first label with this probability, of examples with ties."""
        rows, step = self._ties
        first = np.zeros((rows.size, self.ordered.shape[1]), dtype=np.intp)
        np.multiply(step, np.arange(1, self.ordered.shape[1]), out=first[:, 1:])
        places: Ints = np.maximum.accumulate(first, axis=1, out=first)
        return places

    @cached_property
    def first(self) -> Ints:
        """The place of the first label with this probability."""
        return self._places(self._tied_first)

    @cached_property
    def last(self) -> Ints:
        """The place of the last label with this probability."""
        rows, step = self._ties
        end = self.ordered.shape[1] - 1
        last = np.full((rows.size, end + 1), end, dtype=np.intp)
        last[:, :-1] = np.where(step, np.arange(end), end)
        return self._places(np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1])

    def _places(self, tied: Ints) -> Ints:
        """Return places (example, place), or (1, place) where no example has ties."""
        rows, _ = self._ties
        index = np.arange(self.ordered.shape[1])[None, :]
        if not rows.size:
            return index
        places = np.repeat(index, len(self.ordered), axis=0)
        places[rows] = tied
        return places

    @property
    def below(self) -> Floats:
        """Sum of the probabilities that are less than this one, in float64."""
        sums: Floats = np.zeros(self.ordered.shape, dtype=np.float64)
        sums[:, 1:] = self.ordered[:, :-1]
        np.cumsum(sums, axis=1, out=sums)
        rows, _ = self._ties
        if rows.size:
            sums[rows] = np.take_along_axis(sums[rows], self._tied_first, axis=1)
        return sums

    @property
    def tied(self) -> Floats:
        """Sum of the probabilities that are equal to this one, itself among them, in float64."""
        sums: Floats = np.multiply(self.last - self.first + 1, self.ordered, dtype=np.float64)
        return sums

    @property
    def above(self) -> Ints:
        """Number of labels whose probability is larger, broadcast to (example, place)."""
        counts: Ints = self.ordered.shape[1] - 1 - self.last
        return counts

    @property
    def rank(self) -> Ints:
        """Labels as probable or more, broadcast to (example, place): 1 is the likeliest."""
        counts: Ints = self.ordered.shape[1] - self.first
        return counts

    @property
    def largest(self) -> Floats:
        """The largest probability of each example, (example, 1), in float64."""
        return self.ordered[:, -1:].astype(np.float64)


Rule: TypeAlias = Callable[[Places, Floats | None], Floats]
"""From places and a uniform per example, (example, 1), to scores (example, place)."""


def by_places(probabilities: Floats, uniform: Floats | None, rule: Rule) -> Floats:
    """Return what a rule says of the places of all labels, in the order of the labels.

    Parameters
    ----------
    probabilities : ndarray, (..., label)
        Where one is NaN, so are all scores of its example.
    uniform : ndarray, (..., 1), or None
        What the rule gets, as float64: one number per example.
    rule : callable
        Called with some examples at a time, so that temporaries stay small, and in several threads.

    Returns
    -------
    ndarray, (..., label)
        In the dtype of `probabilities`.
    """
    rows = probabilities.reshape(-1, probabilities.shape[-1])
    draws = None if uniform is None else uniform.reshape(-1, 1)
    scores = np.empty(rows.shape, dtype=probabilities.dtype)

    def fill(block: slice) -> None:
        order, ordered = _in_order(rows[block])
        # A huge penalty gives -inf, which still compares.
        with np.errstate(over="ignore", invalid="ignore"):
            values = rule(Places(ordered), None if draws is None else draws[block])
            lost = np.isnan(ordered[:, -1:])
            if lost.any():
                values = np.where(lost, np.nan, values)
            np.put_along_axis(scores[block], order, values, axis=1)

    map_blocks(fill, rows.shape)
    return scores.reshape(probabilities.shape)


def _in_order(rows: Floats) -> tuple[Ints, Floats]:
    """Return which label stands at each place, and its probability."""
    if rows.dtype == np.float32 and not np.signbit(rows).any():
        # Bits of floats from zero up are in the order of the floats, NaN behind all. With the label
        # behind them they fit into 64 bits, and sorting numbers is faster than sorting places.
        packed = rows.view(np.uint32).astype(np.uint64)
        packed <<= np.uint64(32)
        packed |= np.arange(rows.shape[1], dtype=np.uint64)
        packed.sort(axis=1)
        order = (packed & np.uint64(0xFFFFFFFF)).astype(np.intp)
        packed >>= np.uint64(32)
        return order, packed.astype(np.uint32).view(np.float32)
    order = np.argsort(rows, axis=1)
    return order, np.take_along_axis(rows, order, axis=1)
