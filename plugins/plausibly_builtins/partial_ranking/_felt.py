"""How much one sweep of a chain has to do with the next."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly_builtins.partial_ranking._gamma import Column

Codes = NDArray[np.intp]


@attrs.frozen(kw_only=True, eq=False)
class Felt:
    """Sums by which the correlation of two sweeps in a row is known, for each example.

    Attributes
    ----------
    count : float
        Pairs of sweeps that an item has had.
    example : ndarray of int, (item,)
    sums : ndarray of float64, (sum, item)
        Of the earlier share, the later one, the squares of both, and their product.
    n : int
        Number of examples.
    """

    count: float
    example: Codes
    sums: Column
    n: int

    @classmethod
    def none(cls, n: int) -> Felt:
        """Return no sums."""
        return cls(count=0.0, example=np.zeros(0, np.intp), sums=np.zeros((5, 0)), n=n)

    @classmethod
    def of(cls, before: Column, now: Column, example: Codes, n: int, copies: int) -> Felt:
        """Return the sums of two sweeps of so many draws in a row."""
        terms = np.stack([before, now, before * before, now * now, before * now])
        folded = terms.reshape(5, copies, -1).sum(axis=1)
        return cls(count=float(copies), example=example[: folded.shape[1]], sums=folded, n=n)

    def plus(self, other: Felt) -> Felt:
        """Return the sums of both."""
        if not self.count:
            return other
        return attrs.evolve(self, count=self.count + other.count, sums=self.sums + other.sums)

    def correlation(self) -> Column:
        """Return the correlation, between 0 and 1, over all items of an example: (example,)."""
        if not self.count:
            return np.zeros(self.n)
        first, second, squares, later, products = self.sums / self.count
        together = np.bincount(self.example, products - first * second, self.n)
        spread = np.bincount(self.example, squares - first**2 + later - second**2, self.n) / 2.0
        seen = spread > 1e-12
        found = np.where(seen, together, 0.0) / np.where(seen, spread, 1.0)
        clipped: Column = np.clip(found, 0.0, 1.0)
        return clipped
