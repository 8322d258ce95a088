"""Resamples of the examples, or of clusters of them, keyed by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.arrays import Bools, Floats, Hashes, Ints
from plausibly.keys import Keys

if TYPE_CHECKING:
    from scipy import sparse  # slow to import, and not every command needs it

_BLOCK = 4_000_000  # entries of the matrix of times at once
_LEAST_FINITE = 0.9  # share of the resamples that must have a value

Matrix: TypeAlias = "sparse.csr_array"
"""Numbers that are mostly 0."""

Sums: TypeAlias = Mapping[str, NDArray[np.float64]]
"""Sums over examples of each feature, (feature, replicate)."""


@attrs.frozen(kw_only=True, eq=False)
class Resampling:
    """How examples are resampled.

    Attributes
    ----------
    hashes : ndarray of uint64, (unit,)
        Of the names of what is resampled with replacement, ascending.
    of : ndarray of int, (example,)
        The unit of each example.
    resamples : int
    keys : Keys
    confidence : float
    """

    hashes: Hashes
    of: Ints
    resamples: int
    keys: Keys
    confidence: float

    def times(self) -> Iterator[NDArray[np.float64]]:
        """Yield how often each example is in each resample, (example, replicate), in blocks.

        Nothing is yielded where there is nothing to resample. Each unit of a resample is one of
        all, chosen by a uniform that belongs to the name of the unit in whose place it stands.
        """
        units = len(self.hashes)
        if not units:
            return
        size = max(1, min(_BLOCK // max(len(self.of), units, 1), self.resamples))
        done = 0
        while done < self.resamples:
            now = min(size, self.resamples - done)
            found = np.empty((units, now))
            for column in range(now):
                stream = self.keys.child(f"resample-{done + column}")
                uniform = stream.uniform(self.hashes)[:, 0]
                drawn = (uniform * units).astype(np.int64)
                found[:, column] = np.bincount(drawn, minlength=units)
            done += now
            yield found[self.of]

    def ends(self, values: NDArray[np.float64]) -> tuple[float, float]:
        """Return the percentile interval of replicates; NaN where too few have a value."""
        finite = values[np.isfinite(values)]
        if len(self.hashes) < 2 or finite.size < _LEAST_FINITE * len(values) or not finite.size:
            return np.nan, np.nan
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(finite, [tail, 1 - tail])
        return float(low), float(high)


def summed(features: Mapping[str, Matrix], times: NDArray[np.float64]) -> Sums:
    """Return sums of the features (example, feature) of the examples of each resample."""
    return {name: np.asarray(matrix.T @ times) for name, matrix in features.items()}


def matrix(values: Floats | Ints, rows: Ints, columns: Ints, shape: tuple[int, int]) -> Matrix:
    """Return a matrix of values at places; of those at the same place the sum."""
    from scipy import sparse

    entries = (np.asarray(values, dtype=np.float64), (rows, columns))
    return sparse.csr_array(entries, shape=shape)


def column(values: Floats | Ints | Bools) -> Matrix:
    """Return one number an example as a feature, (example, 1)."""
    place = np.arange(len(values))
    return matrix(np.asarray(values, dtype=np.float64), place, 0 * place, (len(values), 1))


def scaled(
    given: Matrix,
    *,
    rows: NDArray[np.float64] | None = None,
    columns: NDArray[np.float64] | None = None,
) -> Matrix:
    """Return a matrix with its rows and columns multiplied by numbers."""
    found: Matrix = given.copy()
    if rows is not None:
        found.data = found.data * np.repeat(rows, np.diff(found.indptr))
    if columns is not None:
        found.data = found.data * columns[found.indices]
    return found
