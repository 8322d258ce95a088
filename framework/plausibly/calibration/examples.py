"""Names of calibration examples, hashed when needed, and scores in memory."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.kernels import blocks
from plausibly.kernels.types import Floats, FloatType, Hashes, Ints, still, unwritable

if TYPE_CHECKING:
    from plausibly.data.names import Names


@attrs.frozen(eq=False)
class ArrayScores:
    """Scores in memory, (example, label), which may be predictions as they stand.

    Zero is added to what is read, which turns -0.0 into 0.0: they compare equal and are different
    bits.
    """

    values: Floats = attrs.field(converter=unwritable)

    @property
    def dtype(self) -> FloatType:
        """Float type of the scores."""
        return self.values.dtype

    def at(self, row: Ints, label: Ints) -> Floats:
        """Return the scores of pairs of example and label, of any shape."""
        found = self.values[row, label]
        return np.add(found, self.dtype.type(0), out=found)

    def take(self, rows: NDArray[np.intp]) -> ArrayScores:
        """Return the scores of some examples."""
        return ArrayScores(self.values[rows])

    def largest(self) -> Floats:
        """Return the largest score of each example, (example,)."""
        found = blocks.largest(self.values)
        return np.add(found, self.dtype.type(0), out=found)

    def dense(self) -> Floats:
        """Return all scores."""
        return still(np.add(self.values, self.dtype.type(0), order="C"))


@attrs.frozen(eq=False)
class Examples:
    """Examples by name, or by the hashes of names that a file kept."""

    given: Names | Hashes
    numbered: bool = False

    def __len__(self) -> int:
        return len(self.given)

    @property
    def hashes(self) -> Hashes:
        """Hashes of the names, (example,)."""
        given = self.given
        return unwritable(given if isinstance(given, np.ndarray) else given.hashes)

    @cached_property
    def _ordered(self) -> Hashes:
        ordered: Hashes = np.sort(self.hashes)
        return ordered

    def take(self, rows: NDArray[np.intp] | slice) -> Examples:
        """Return some of the examples."""
        given = self.given
        some = given[rows] if isinstance(given, np.ndarray) else given.take(rows)
        return Examples(some, self.numbered)

    def common(self, others: Examples) -> int:
        """Return how many of other examples are among these."""
        if self.numbered or others.numbered:
            return 0
        if not isinstance(self.given, np.ndarray) and not isinstance(others.given, np.ndarray):
            return self.given.common(others.given)
        if not len(self):
            return 0
        place = np.searchsorted(self._ordered, others.hashes)
        np.minimum(place, len(self) - 1, out=place)
        return int(np.count_nonzero(self._ordered[place] == others.hashes))
