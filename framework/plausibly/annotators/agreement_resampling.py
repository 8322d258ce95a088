"""Resamples of the examples, or of clusters of them, keyed by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.random import Keys
from plausibly.kernels.types import Bools, Floats, Hashes, Ints

if TYPE_CHECKING:
    from scipy import sparse  # slow to import, and not every command needs it

_BLOCK = 4_000_000  # entries of the matrix of times at once
_LEAST_FINITE = 0.9  # share of the resamples that must have a value
_PARTS = 100  # of the units, for the jackknife: their skewness says that of the units
_SAME = 1e-12  # replicates closer than this are equal but for rounding
_FLOOR = 0.1  # of the denominator of BCa, which is 0 or less where very few units are very skew

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

        Nothing is yielded where there is nothing to resample. What comes first are all examples,
        and all but a few units at a time (the jackknife). Each unit of a resample is one of all,
        chosen by a uniform that belongs to the name of the unit in whose place it stands.
        """
        units = len(self.hashes)
        if not units or not self.resamples:
            return
        size = max(1, min(_BLOCK // max(len(self.of), units, 1), self.resamples))
        part = self.of[:, None] % self._parts
        for start in range(-1, self._parts, size):
            yield 1.0 - (part == np.arange(start, min(start + size, self._parts)))
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

    @property
    def _parts(self) -> int:
        return min(len(self.hashes), _PARTS)

    def ends(self, values: NDArray[np.float64]) -> tuple[float, float]:
        """Return an interval from values of all that `times` yields; NaN where too few have one.

        Notes
        -----
        BCa (Efron 1987): percentiles at levels that the bias of the replicates and the skewness of
        the jackknife correct; with quantiles of Student's t times sqrt(n / (n - 1)) in the place
        of normal ones, since a resample of n units varies less than n new ones. NaN where all
        replicates are equal: then nothing is known of how others would vary.
        """
        from scipy.special import ndtr, ndtri, stdtrit

        units, first = len(self.hashes), self._parts + 1
        drawn = values[first:]
        finite = drawn[np.isfinite(drawn)]
        if units < 2 or finite.size < max(_LEAST_FINITE * len(drawn), 1):
            return np.nan, np.nan
        if np.ptp(finite) < _SAME:
            return np.nan, np.nan
        off = values[0] - values[1:first][np.isfinite(values[1:first])]
        off = off - off.mean()
        spread = max(float(np.square(off).sum()) ** 1.5, np.finfo(float).tiny)
        skewness = float((off**3).sum()) / (6 * spread)
        below = (finite < values[0] - _SAME).mean() + (abs(finite - values[0]) <= _SAME).mean() / 2
        bias = ndtri(np.clip(below, 0.5 / finite.size, 1 - 0.5 / finite.size))
        tail = (1 - self.confidence) / 2
        wide = bias + stdtrit(units - 1, [tail, 1 - tail]) * np.sqrt(units / (units - 1))
        levels = ndtr(bias + wide / np.maximum(1 - skewness * wide, _FLOOR))
        low, high = np.quantile(finite, levels)
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
