"""Twice the average, improved for replicates that are exchangeable."""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np

from plausibly.plugin import CalibrationSummary, Claim, Floats, Guarantee, Ints
from plausibly_builtins.combiners._merging import GASPARIN, Merging, promised


@attrs.frozen(kw_only=True)
class ExchangeableAverage(Merging):
    """Take the least over prefixes of the replicates of an improved double average.

    ``min_l min_r 2 (p_(1) + ... + p_(r)) / (2 r - l)`` over l = 1..m and l/2 < r <= l, with p_(i)
    the i-th smallest of the first l p-values, in draw order; at most 1. At level alpha it rejects
    where the mean of ``max(0, 2 - 2 p_i / alpha)`` over some prefix reaches 1.

    References
    ----------
    Gasparin, Wang & Ramdas, Combining exchangeable p-values, arXiv 2404.03484, section 6.
    """

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        least = np.ones(values.shape[1:], dtype=np.float64)
        for length in range(1, len(values) + 1):
            sums = np.cumsum(np.sort(values[:length], axis=0), axis=0)
            for kept in range(length // 2 + 1, length + 1):
                np.minimum(least, 2 * sums[kept - 1] / ((2 * kept - length) * unit), out=least)
        return least

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return the promise of 1 - alpha."""
        return promised(
            claim,
            summary,
            alpha,
            factor=Fraction(2),
            why="prefix means of exchangeable e-values reach 1 / alpha with probability at most "
            "alpha (exchangeable Markov inequality)",
            reference=GASPARIN,
            exchangeable=True,
        )
