"""e times the geometric mean, improved for replicates that are exchangeable."""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np

from plausibly.plugin import CalibrationSummary, Claim, Floats, Guarantee, Ints
from plausibly_builtins.combiners._merging import GASPARIN, Merging, capped, euler, promised


@attrs.frozen(kw_only=True)
class ExchangeableGeometric(Merging):
    """Take the least over prefixes of an improved multiple of the geometric mean.

    ``min_l min_r exp((l + log p_(1) + ... + log p_(r)) / r)`` over l = 1..m and r = 1..l, with
    p_(i) the i-th smallest of the first l p-values, in draw order; at most 1. At level alpha it
    rejects where the mean of ``max(0, log(alpha / p_i))`` over some prefix reaches 1.

    References
    ----------
    Gasparin, Wang & Ramdas, Combining exchangeable p-values, arXiv 2404.03484, section 8.
    """

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        logs = np.log(values / unit)
        least = np.zeros(values.shape[1:], dtype=np.float64)
        for length in range(1, len(values) + 1):
            sums = np.cumsum(np.sort(logs[:length], axis=0), axis=0)
            for kept in range(1, length + 1):
                np.minimum(least, (length + sums[kept - 1]) / kept, out=least)
        return capped(np.exp(least))

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return the promise of 1 - alpha."""
        return promised(
            claim,
            summary,
            alpha,
            factor=euler(),
            why="prefix means of exchangeable e-values reach 1 / alpha with probability at most "
            "alpha (exchangeable Markov inequality)",
            reference=GASPARIN,
            exchangeable=True,
        )
