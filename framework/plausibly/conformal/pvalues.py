"""p-values of queries: test examples and labels, or held-out examples with their one label."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.arrays import Floats, Ints, Masses
from plausibly.conformal.pools import Pools
from plausibly.errors import IncompatibleComponents
from plausibly.kernels.masses import share


class MeanOnly(IncompatibleComponents):
    """A rule asked for the p-values of single replicates where only their mean is known."""

    def __init__(self) -> None:
        super().__init__(
            "pair-incompatible",
            "this combiner needs one p-value a replicate, and only their mean exists",
            expected="a rule of the mean p-value",
            do="combiner average, or calibrator monte-carlo",
            whose="combiner",
        )

    def __reduce__(self) -> tuple[type[MeanOnly], tuple[()]]:
        return MeanOnly, ()


@attrs.frozen(eq=False)
class PValues:
    """p-values of a set of queries, computed when a rule asks for them.

    Attributes
    ----------
    pools : Pools
        What the scores are compared with.
    numerators : ndarray of int, (*query)
        Exact numerators of the mean p-value.
    scores : ndarray, (*query), or None
        Scores of the queries; None where only the mean is known.
    """

    pools: Pools
    numerators: Masses
    scores: Floats | None = None

    @classmethod
    def of(cls, pools: Pools, scores: Floats) -> PValues:
        """Return the p-values of scores, which keep their shape."""
        return cls(pools, pools.pooled.numerators(scores), scores)

    @property
    def m(self) -> int:
        """Number of replicates."""
        return int(self.pools.replicates.scores.shape[0])

    @property
    def size(self) -> int:
        """Number of queries."""
        return int(np.size(self.numerators))

    def mean(self) -> NDArray[np.float64]:
        """Return the mean of the replicates' p-values, (*query).

        An integer ratio, ``(c + m) / (m (n + 1))``, rounded once.
        """
        return share(self.numerators, self.pools.pooled.total)

    def each(self) -> NDArray[np.float64]:
        """Return the p-value of each replicate, (replicate, *query).

        Raises
        ------
        IncompatibleComponents
            Where only the mean exists.
        """
        if self.scores is None or not self.pools.replicates.separate:
            raise MeanOnly
        scores = self.scores
        return np.stack([share(pool.numerators(scores), pool.total) for pool in self.pools.each])

    def at_most(self, other: PValues) -> Ints:
        """Return how many of these mean p-values are at most each of the other's, (*query).

        Both belong to one calibration; numerators are compared, so ties are exact.
        """
        return np.searchsorted(self._ordered, other.numerators, side="right")

    @cached_property
    def _ordered(self) -> Masses:
        return np.sort(self.numerators, axis=None)
