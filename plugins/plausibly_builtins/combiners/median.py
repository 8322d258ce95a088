"""Twice the median of the replicates' p-values."""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np

from plausibly.plugin import CalibrationSummary, Claim, Floats, Guarantee, Ints
from plausibly_builtins.combiners._merging import Merging, capped, promised


def half(count: int) -> int:
    """Return ``ceil(count / 2)``."""
    return -(-count // 2)


@attrs.frozen(kw_only=True)
class Median(Merging):
    """Take the median and double it: ``min(1, p_(k) m / k)``, k = ceil(m / 2).

    p_(k) is the k-th smallest. The factor is 2 for an even number of replicates and a little less
    for an odd one. Valid for p-values of any dependence.

    References
    ----------
    Rüger, Das maximale Signifikanzniveau des Tests "Lehne H0 ab, wenn k unter n gegebenen Tests zur
    Ablehnung führen", Metrika 1978.
    """

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        m, k = len(values), half(len(values))
        return capped(m * np.sort(values, axis=0)[k - 1] / (k * unit))

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return the promise of 1 - alpha."""
        m = summary.m
        return promised(
            claim,
            summary,
            alpha,
            factor=Fraction(m, half(m)),
            why="k of m p-values are at most alpha k / m with probability at most alpha (Markov's "
            "inequality for their number)",
            reference="Rüger, Metrika 25, 1978",
        )
