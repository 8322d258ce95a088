"""Twice the mean of the replicates' p-values."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import attrs
import numpy as np

from plausibly.plugin import CalibrationSummary, Claim, Floats, Guarantee, Needs, PValues


@attrs.frozen(kw_only=True)
class TwiceAverage:
    """Average the p-values and double: ``min(1, 2 mean_j p_j)``.

    Valid for p-values of any dependence. Where all replicates share one test score, as drawn
    labels do, it is the plain average at alpha / 2, hence 1 - alpha / 2.

    References
    ----------
    Vovk & Wang, Combining p-values via averaging, Biometrika 2020.
    """

    held_out: ClassVar[float] = 0.0
    needs: ClassVar[Needs] = "mean"

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        """Return twice the mean p-value of each query, at most 1."""
        return np.minimum(2 * p.mean(), 1.0)

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        """Return the promise of 1 - alpha / 2, or of 1 - alpha without a shared test score."""
        if not summary.shared_score and summary.m > 1:
            least = Fraction(2, summary.n + 1)
            return summary.guarantee(
                claim,
                alpha,
                1 - alpha,
                why="twice the average of p-values of any dependence is at most alpha with "
                "probability at most alpha",
                reference="Vovk & Wang, Combining p-values via averaging, Biometrika 2020",
                needed=math.ceil(2 / alpha) - 1,
                least_alpha=float(least) if least < 1 else None,
                vacuous=alpha < least,
            )
        return summary.guarantee_of_rank(
            claim,
            alpha,
            why="twice the mean is at most alpha where the mean is at most alpha / 2",
            reference="Vovk & Wang 2020; conformal risk control, arXiv 2208.02814",
            factor=2,
            notes=("the plain average already has 1 - alpha, with smaller sets",),
        )
