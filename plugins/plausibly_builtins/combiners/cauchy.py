"""The Cauchy combination of the replicates' p-values, which has no guarantee."""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np

from plausibly.plugin import CalibrationSummary, Claim, Floats, Guarantee, Ints
from plausibly_builtins.combiners._merging import Merging, between, in_order, unproved


@attrs.frozen(kw_only=True)
class Cauchy(Merging):
    """Average on the scale of a Cauchy variable: ``arccot(mean_j cot(pi p_j)) / pi``.

    Known to hold only as alpha goes to 0. At alpha = 0.1, exchangeable p-values exist with which it
    misses with probability 0.2 (measured in docs/combiners.md).

    References
    ----------
    Liu & Xie, Cauchy combination test, Journal of the American Statistical Association 2020.
    """

    def _merged(self, values: Floats | Ints, unit: int) -> Floats:
        cotangents = 1.0 / np.tan(np.pi * (values / unit))
        merged = np.arctan2(1.0, in_order(cotangents) / len(values)) / np.pi
        return between(merged, values, unit)

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return that there is none with several replicates, where the user allowed that."""
        return unproved(
            claim,
            summary,
            alpha,
            "a bound at this alpha; cauchy's holds only as alpha goes to 0",
            reference="Liu & Xie 2020; counter-example in docs/combiners.md",
        )
