"""Pools: the atoms of a calibration in ascending order, with their cumulative integer masses."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np

from plausibly.arrays import Floats, FloatType, Masses
from plausibly.conformal.evidence import Replicates
from plausibly.kernels.masses import common_masses


@attrs.frozen(eq=False)
class Pool:
    """One bag of atoms.

    Attributes
    ----------
    ordered : ndarray, (atom,)
        Scores in ascending order.
    cumulative : ndarray of int64 or of Python integers, (atom + 1,)
        Cumulative masses, from zero.
    own : int
        Mass of the test example.
    total : int
        Mass of all atoms and of the test example.
    """

    ordered: Floats
    cumulative: Masses
    own: int
    total: int

    def numerators(self, scores: Floats) -> Masses:
        """Return the mass of the atoms at most each score, and the test example's own.

        This over `total` is the p-value: ``p(s) = (mass of atoms <= s + own) / total``.
        """
        at_most = np.searchsorted(self.ordered, scores, side="right")
        numerators: Masses = self.cumulative[at_most] + self.own
        return numerators


def _counting(scores: Floats, own: int) -> Pool:
    ordered = np.sort(scores, axis=None)
    cumulative = np.arange(ordered.size + 1, dtype=np.int64)
    return Pool(ordered, cumulative, own, ordered.size + own)


@attrs.frozen(eq=False)
class Pools:
    """The pool of the averaged p-value and, where they exist, one a replicate."""

    replicates: Replicates

    @property
    def dtype(self) -> FloatType:
        """Float type of the scores, in which test scores are compared."""
        return self.replicates.scores.dtype

    @cached_property
    def pooled(self) -> Pool:
        """Pool whose ratio is the mean of the replicates' p-values.

        With m replicates of n atoms each, ``mean_j (c_j + 1) / (n + 1) = (c + m) / (m (n + 1))``:
        one pooled count. With masses, the test example weighs as much as one example.
        """
        replicates = self.replicates
        scores = replicates.scores
        if replicates.units is None or replicates.row is None or replicates.denominator is None:
            return _counting(scores, own=scores.shape[0])
        masses, one = common_masses(replicates.units, replicates.row, replicates.denominator)
        order = np.argsort(scores[0], kind="stable")
        whole = one * replicates.examples
        cumulative = np.zeros(len(order) + 1, dtype=masses.dtype)
        np.cumsum(masses[order], out=cumulative[1:])
        # Masses that were rounded up may pass the examples' own by a hair.
        cumulative = np.minimum(cumulative, whole)
        return Pool(scores[0][order], cumulative, one, whole + one)

    @cached_property
    def each(self) -> tuple[Pool, ...]:
        """One pool a replicate, each compared with own mass one."""
        return tuple(_counting(row, own=1) for row in self.replicates.scores)
