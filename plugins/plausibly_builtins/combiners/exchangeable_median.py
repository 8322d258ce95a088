"""Twice the median, improved for replicates that are exchangeable."""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np

from plausibly.plugin import CalibrationSummary, Claim, Floats, Guarantee, Ints
from plausibly_builtins.combiners._merging import GASPARIN, Merging, capped, promised
from plausibly_builtins.combiners.median import half


@attrs.frozen(kw_only=True)
class ExchangeableMedian(Merging):
    """Take the least over prefixes of twice the median: ``min_l 2 p_(ceil(l / 2))``, at most 1.

    p_(i) is the i-th smallest of the first l p-values, in draw order. At level alpha it rejects
    where half of some prefix is at most alpha / 2.

    References
    ----------
    Gasparin, Wang & Ramdas, Combining exchangeable p-values, arXiv 2404.03484, section 4.
    """

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        least = values[0]
        for length in range(2, len(values) + 1):
            ordered = np.sort(values[:length], axis=0)
            least = np.minimum(least, ordered[half(length) - 1])
        return capped(2 * least / unit)

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return the promise of 1 - alpha."""
        return promised(
            claim,
            summary,
            alpha,
            factor=Fraction(2),
            why="in some prefix of exchangeable p-values half are at most alpha / 2 with "
            "probability at most alpha (exchangeable Markov inequality)",
            reference=GASPARIN,
            exchangeable=True,
        )
